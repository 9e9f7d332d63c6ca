import fc from "fast-check";
import { expect, it } from "vitest";
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
    "---",
    "    code",
  ],
);

it("finds the same in a file taken in pieces as in one that is not", () => {
  // Long lines make every few of them a piece; the same structure with short ones is parsed at once.
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

it("looks only at the beginning of what goes on and on without a heading", () => {
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
