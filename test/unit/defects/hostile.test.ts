import { expect, it } from "vitest";
import { entriesProjection, parseFile } from "../../../src/insight/defects/defects.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import { startWithDevice } from "../../support/instance.ts";

const HALF = 512 * 1024;

/** Processor time of this thread, in milliseconds; the better of two runs. */
function cost(work: () => void): number {
  const runs = [0, 0].map(() => {
    const before = process.threadCpuUsage();
    work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}

const filled = (unit: string, size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size);

const UNITS: [string, string, string][] = [
  ["dated headings", "", "## 2026-01-01\n"],
  ["undated headings", "", "## x\n"],
  ["underlined headings", "", "2026-01-01\n---\n"],
  ["rules", "## 2026-01-01 A\n", "**Prevention rule:** x\n"],
  ["rules on one line", "## 2026-01-01 A\n", "**Prevention rule "],
  ["rules to each heading", "", "## 2026-01-01\n**Prevention rule:**\n"],
  ["statuses", "## 2026-01-01 A\n", "Status: x\n"],
  ["statuses on one line", "## 2026-01-01 A\n", "| status "],
  ["statuses without an end", "## 2026-01-01 A\n", "**status("],
  ["backticks", "## 2026-01-01 A\n", "`"],
  ["backticks in a heading", "## 2026-01-01 ", "`"],
  ["brackets in a heading", "## 2026-01-01 ", "["],
  ["stars in a heading", "## ", "*"],
  ["colons in a heading", "## ", ":_"],
  ["fences", "", "```\n## 2026-01-01\n"],
  ["comments that don't end", "", "<!--\n## 2026-01-01\n"],
  ["tags", "", "<div>\n## 2026-01-01\n"],
  ["quotes", "## 2026-01-01 A\n", "> "],
  ["deep lists", "## 2026-01-01 A\n", "- "],
  ["lists", "## 2026-01-01 A\n", "- a\n"],
  ["lists under headings", "", "## 2026-01-01\n- a\n"],
  ["spaces", "## 2026-01-01 A\n**status", " "],
  ["digits", "## 2026-01-01 A\n", "1234567"],
  ["hexadecimals", "## 2026-01-01 A\n", "a1b2c3d."],
  ["paths", "## 2026-01-01 A\n", "a/b.c/"],
  ["brackets of links", "## 2026-01-01 A\n", "](a"],
  ["closing brackets", "## 2026-01-01 A\n", "a/)"],
  ["arrows", "## 2026-01-01 A\nstatus: ", "->"],
  ["tildes", "## 2026-01-01 A\nstatus: ", "~~"],
  ["dates", "## ", "2026-01-01 - "],
  ["a line in a fence", "## 2026-01-01 A\n```\n", '{"a":1},'],
  ["a line in a comment", "## 2026-01-01 A\n<!--\n", "c"],
  ["a line in a tag", "## 2026-01-01 A\n<pre>\n", "x "],
  ["fences close to headings", "", "## 2026-01-01\n```\nx\n```\n"],
  ["fences in lists", "", "- ```\n\n  ## 2026-01-01\n"],
  ["line ends", "## 2026-01-01 A\n", "\r"],
];

it.each(UNITS)("reads a MiB of %s in time that grows with its size", { timeout: 60_000 }, (_what, before, unit) => {
  const [half, whole] = [HALF, 2 * HALF].map((size) => before + filled(unit, size - before.length)) as [string, string];
  const [a, b] = [cost(() => parseFile(half)), cost(() => parseFile(whole))];
  expect(b).toBeLessThan(4 * a + 50);
  expect(b).toBeLessThan(3_000);
});

it.each([
  ["spaces and edges within a rule in a table", "## 2026-01-01 A\n| **Prevention rule:** a", "| ", "b |"],
  ["spaces within a rule's label", "## 2026-01-01 A\n**Prevention rule", " ", "x**: b"],
  ["dashes within a rule's label", "## 2026-01-01 A\n**Prevention rule 1", " -", "x**: b"],
  ["spaces within a rule", "## 2026-01-01 A\n**Prevention rule:** a", " ", "b"],
  ["signs within a heading", "## 2026-01-01 a", " ~*", "b"],
  ["signs within a word", "## 2026-01-01 A\nsrc/a", '".', "b.ts"],
])(
  "reads a run of %s that does not stand at the end in time that grows with it",
  { timeout: 60_000 },
  (_what, before, unit, after) => {
    // Expressions that end in a run start anew at each of its characters.
    expect(cost(() => parseFile(`${before}${filled(unit, HALF)}${after}\n`))).toBeLessThan(5_000);
  },
);

it("follows a brain whose thousands of entries of today are all of one class", { timeout: 300_000 }, async () => {
  const { t, token } = await startWithDevice();
  const files = [0, 1, 2, 3].map((n) => ({
    path: `${n}/.claude/brain/errors.md`,
    content: "## 2026-11-21 The same again\n".repeat(5_000),
  }));
  const json = { version: 1, repoKey: "acme/shop", files };
  expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
  const before = process.threadCpuUsage();
  await catchUp(t.instance.core, entriesProjection);
  const { user, system } = process.threadCpuUsage(before);
  expect(t.rows("SELECT occurrences, repos, first_repo FROM triage_classes")).toEqual([
    { occurrences: 20_000, repos: '["acme/shop"]', first_repo: "acme/shop" },
  ]);
  // Each entry used to count all entries before it.
  expect((user + system) / 1000).toBeLessThan(8_000);
});
