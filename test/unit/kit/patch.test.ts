import { expect, it } from "vitest";
import { readPatch } from "../../../src/kit/patch.ts";

const marks = { same: " ", added: "+", removed: "-" } as const;
const spell = (text: string) =>
  readPatch(text).map(({ path, numbered, hunks }) => [
    path,
    numbered,
    ...hunks.map(({ oldStart, newStart, lines }) => [
      oldStart,
      newStart,
      lines.map(({ kind, text }) => marks[kind] + text).join("|"),
    ]),
  ]);

it("reads a unified diff of several files", () => {
  const text = [
    ...["diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -3,2 +3,3 @@ head", " a", "-b", "+c", "+d"],
    ...["@@ -9 +10 @@", "-e", "+f", "\\ No newline at end of file", "--- a/y", "+++ b/y", "@@ -0,0 +1 @@", "+new"],
  ].join("\n");
  expect(spell(text)).toEqual([
    ["x", true, [3, 3, " a|-b|+c|+d"], [9, 10, "-e|+f"]],
    ["y", true, [0, 1, "+new"]],
  ]);
});

it("reads the names of files before the times that diff writes behind them, and before line ends of Windows", () => {
  const head = ["--- a b.txt\t2026-11-20 08:00:00.000000000 +0000", "+++ a b.txt\t2026-11-21 08:00:00.000000000 +0000"];
  expect(spell([...head, "@@ -1 +1 @@", "-a", "+b"].join("\n"))).toEqual([["a b.txt", true, [1, 1, "-a|+b"]]]);
  const windows = ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"].join("\r\n");
  expect(spell(windows)).toEqual([["x", true, [1, 1, "-a|+b"]]]);
});

it("takes a line that begins with dashes or plus signs for one of the file, as comments of SQL do", () => {
  const text = [
    "--- a/x.sql",
    "+++ b/x.sql",
    "@@ -1,2 +1,2 @@",
    "--- the old",
    "+-- the new",
    "+++ i",
    " select 1;",
  ].join("\n");
  expect(spell(text)).toEqual([["x.sql", true, [1, 1, "--- the old|+-- the new|+++ i| select 1;"]]]);
});

it("reads a hunk without its file", () => {
  expect(spell("@@ -1 +1 @@\n-a\n+b")).toEqual([[null, true, [1, 1, "-a|+b"]]]);
});

it("reads Codex's patches, which have no numbers", () => {
  const text = [
    ...["*** Begin Patch", "*** Update File: src/a.ts", "@@ function total", " x", "-y", "+z"],
    ...["*** Add File: b.md", "+# B", "*** Delete File: c.md", "*** End Patch"],
  ].join("\n");
  expect(spell(text)).toEqual([
    ["src/a.ts", false, [1, 1, " x|-y|+z"]],
    ["b.md", false, [1, 1, "+# B"]],
  ]);
});

it("ignores what is no patch, and comes to an end with very long ones", () => {
  expect(spell("just\ntext\n-not a patch")).toEqual([]);
  const [file] = readPatch(`@@ -1 +1 @@\n${"+x\n".repeat(20_000)}`);
  expect(file?.hunks[0]?.lines.length).toBeLessThan(5_000);
});
