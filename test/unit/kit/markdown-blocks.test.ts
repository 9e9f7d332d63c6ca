import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { expect, it, onTestFinished, vi } from "vitest";
import { plainText, splitLines, textBlocks } from "../../../src/kit/markdown-blocks.ts";

const blocksOf = (markdown: string) => [...textBlocks(splitLines(markdown))].flat();

it("gives headings and paragraphs with their lines, and says which stand in a list or quote", () => {
  const markdown =
    "# A\n\ntext\nmore\n\n- item\n  ## inner\n\n> quote\n\nB\n---\n\n```\n# code\n```\n\n<div>\n# html\n</div>\n";
  expect(
    blocksOf(markdown).map(({ level, underlined, top, text, line }) => [level, underlined, top, text, line]),
  ).toEqual([
    [1, false, true, "A", 1],
    [0, false, true, "text\nmore", 3],
    [0, false, false, "item", 6],
    [2, false, false, "inner", 7],
    [0, false, false, "quote", 9],
    [2, true, true, "B", 11],
  ]);
});

/** Pieces that open, close or look like something, so that a cut in the wrong place would show. */
const piece = fc.constantFrom(
  ...[
    "# a",
    "## b",
    "  ## c",
    "text",
    "",
    "- x",
    "  y",
    "> z",
    "```",
    "~~~",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "- ```",
    "> ~~~",
    "*",
    "1. n",
    "2026-01-01 d",
    "**bold**",
    "### e",
    "===",
    "---",
    "    code",
  ],
);

it("finds the same in a file read in pieces as in one read at once", () => {
  // Lines so long that every few of them make a piece. With short lines the same file is parsed at once.
  const filler = "w".repeat(6_000);
  const long = (line: string) => (/^(?:text|code|w)/.test(line.trim()) ? line.replace(/\w+$/, filler) : line);
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 60 }), (lines) => {
      const shape = (all: readonly string[]) =>
        blocksOf(all.join("\n")).map(({ level, underlined, top, line }) => [level, underlined, top, line]);
      expect(shape(lines.map(long))).toEqual(shape(lines));
    }),
  );
});

const KIB = 1024;
/** Structures that may go on for long: opening, a line within, closing. */
const LONG: Record<string, [string, (size: number) => string, string]> = {
  fence: ["```json", (size) => '{"a":1},'.repeat(size / 8), "```"],
  tildes: ["~~~~", (size) => "y".repeat(size), "~~~~"],
  pre: ["<pre>", (size) => "z".repeat(size), "</pre>"],
  comment: ["<!--", (size) => "c".repeat(size), "-->"],
  details: ["<details>", (size) => "d".repeat(size), "</details>\n"],
  list: ["- a", (size) => `- ${"l".repeat(size)}`, "- b"],
  quote: ["> a", (size) => `> ${"q".repeat(size)}`, ""],
  paragraph: ["a", (size) => "p".repeat(size), ""],
};
/** Sizes near those at which a piece ends, is cut, or is enlarged. */
const size = fc.oneof(
  fc
    .tuple(fc.constantFrom(8, 16, 32, 64, 128, 256), fc.integer({ min: -24, max: 24 }))
    .map(([kib, more]) => kib * KIB + more),
  fc.integer({ min: 0, max: 200 }),
);
const part = fc.record({
  kind: fc.constantFrom(...Object.keys(LONG)),
  sizes: fc.array(size, { minLength: 1, maxLength: 3 }),
  inside: fc.constantFrom("", "\n", "# no heading\n", "\n## 2026-01-01 none either\n"),
  closed: fc.boolean(),
  apart: fc.boolean(),
});

/** The blocks of a file parsed in one go, by a parser of the test's own. */
function unbroken(markdown: string): unknown[] {
  const parser = new MarkdownIt("zero", { html: true }).enable([
    "heading",
    "lheading",
    "fence",
    "code",
    "blockquote",
    "html_block",
    "hr",
    "list",
  ]);
  parser.core.ruler.enableOnly(["normalize", "block"]);
  const tokens = parser.parse(markdown, {});
  return tokens.flatMap((token, i) => {
    const holder = tokens[i - 1];
    if (token.type !== "inline" || !holder) return [];
    return [[holder.type === "heading_open" ? Number(holder.tag.slice(1)) : 0, (token.map?.[0] ?? 0) + 1]];
  });
}

it("finishes whatever goes on for long, closed or not, and finds what is before and behind", () => {
  const parsed = vi.spyOn(MarkdownIt.prototype, "parse");
  onTestFinished(() => parsed.mockRestore());
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      const markdown = parts
        .map(({ kind, sizes, inside, closed, apart }, i) => {
          const [opening, line, closing] = LONG[kind] as (typeof LONG)[string];
          const own = /^[lqp]/.test(kind) ? "" : inside;
          const lines = [`## ${i}`, opening, ...sizes.map((one) => `${line(one)}\n${own}`.trimEnd()), own];
          return `${[...lines, ...(closed ? [closing] : [])].join("\n")}${apart ? "\n\n" : "\n"}`;
        })
        .join("");
      parsed.mockClear();
      const found = blocksOf(markdown).map(({ level, line }) => [level, line]);
      const work = parsed.mock.calls.reduce((sum, [text]) => sum + text.length, 0);
      expect(work).toBeLessThanOrEqual(4 * markdown.length + 256 * KIB);
      const all = unbroken(markdown);
      // Outside code and HTML only the beginning of a very long block is read, so some paragraphs may be missing.
      const known = new Set(all.map(String));
      expect(found.filter((one) => !known.has(String(one)))).toEqual([]);
      const headings = (some: readonly unknown[]) => some.map(String).filter((one) => !one.startsWith("0"));
      expect(headings(found)).toEqual(headings(all));
    }),
    { numRuns: 300 },
  );
});

it.each(["```", "~~~", "<!--", "<pre>"])("does not take a comment within %s for a heading", (opening) => {
  // An empty line is where a piece would end.
  const markdown = `${opening}\n${"w".repeat(17 * KIB)}\n\n# install\n\n## 2026-01-01\n`;
  expect(blocksOf(markdown)).toEqual([]);
});

it("reads a long file to its end that has only underlined headings, or none", () => {
  const headings = blocksOf("2026-01-01 A\n---\n".repeat(20_000));
  expect([headings.length, headings.at(-1)]).toEqual([20_000, expect.objectContaining({ level: 2, line: 39_999 })]);
  expect(blocksOf("Some words.\nMore words.\n\n".repeat(10_000))).toHaveLength(10_000);
});

it("reads only the beginning of a very long block without a heading", () => {
  const blocks = blocksOf(`# A\n${"- item\n".repeat(40_000)}# B\n`);
  expect(blocks.length).toBeLessThan(10_000);
  expect(blocks.at(-1)).toMatchObject({ text: "B", line: 40_002 });
});

it.each([
  ["plain text", "plain text"],
  ["**bold** and *italic* and __both__", "bold and italic and both"],
  ["`code` and [link](https://example.com) and ![picture](x.png)", "code and link and picture"],
  ["~~gone~~ <b>tag</b> &amp; \\*", "gone tag & *"],
  ["[no link] 2 * 3 * 4 snake_case_name", "[no link] 2 * 3 * 4 snake_case_name"],
  ["**two**\nlines", "two\nlines"],
])("reads %j as %j", (markdown, text) => {
  expect(plainText(markdown)).toBe(text);
});
