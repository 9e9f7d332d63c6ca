import { expect, it } from "vitest";
import { parseFile } from "../../../src/insight/defects/defects.ts";

const only = (markdown: string) => parseFile(markdown).entries.map(({ date, title, open }) => [date, title, open]);

it.each([
  ["## 2026-11-20 Login loop"],
  ["## 2026-11-20 - Login loop"],
  ["## 2026-11-20 – Login loop"],
  ["## 2026-11-20 — Login loop"],
  ["## 2026-11-20: Login loop"],
  ["## 2026-11-20 | Login loop"],
  ["## 2026-11-20 · Login loop"],
  ["## [2026-11-20] Login loop"],
  ["## [2026-11-20]: Login loop"],
  ["## [2026-11-20](../log.md) Login loop"],
  ["## (2026-11-20) Login loop"],
  ["## **2026-11-20** – Login loop"],
  ["## **2026-11-20:**Login loop"],
  ["## **2026-11-20 Login loop**"],
  ["## __2026-11-20__ Login loop"],
  ["## `2026-11-20` Login loop"],
  ["## ~~2026-11-20 Login loop~~"],
  ["## 2026-11-20 ~~Login~~ **loop**"],
  ["## 2026-11-20 [Login](https://example.com/1) `loop`"],
  ["## ✅ 2026-11-20 Login loop"],
  ["## 🏗️ 2026-11-20 - Login loop"],
  ["## [x] 2026-11-20 Login loop"],
  ["## :bug: 2026-11-20 Login loop"],
  ["## 2026‑11‑20 Login loop"],
  ["## 2026-11-20 14:05 Login loop"],
  ["## 2026-11-20 14:05:59 UTC – Login loop"],
  ["## 2026-11-20T14:05:59.123Z Login loop"],
  ["## 2026-11-20T14:05+02:00 – Login loop"],
  ["## [2026-11-20 14:05] Login loop"],
  ["## 2026-11-20 – 2026-11-22 – Login loop"],
  ["##\t2026-11-20\tLogin loop"],
  ["   ## 2026-11-20 Login loop ##"],
  ["2026-11-20 Login loop\n---------------------"],
  ["\uFEFF## 2026-11-20 Login loop"],
])("reads day and title of %j", (heading) => {
  expect(only(heading)).toEqual([["2026-11-20", "Login loop", false]]);
  expect(only(`${heading}\n\ntext\n\n# End\n`)).toEqual([["2026-11-20", "Login loop", false]]);
});

it.each([
  ["## ⏳ 2026-11-20 Login loop"],
  ["## ⌛️ [2026-11-20]: Login loop"],
  ["## 🚧 2026-11-20 Login loop"],
  ["## ⚠ 2026-11-20 Login loop"],
  ["## ⚠️ 2026-11-20 Login loop"],
  ["## ⚠️ **2026-11-20** – Login loop"],
  ["## **⚠️ 2026-11-20 – Login loop**"],
  ["## ❗2026-11-20 Login loop"],
  ["## ‼️ 2026-11-20 Login loop"],
  ["## ! 2026-11-20 Login loop"],
  ["## [!] 2026-11-20 Login loop"],
  ["## !!! 2026-11-20 Login loop"],
  ["## :warning: 2026-11-20 Login loop"],
  ["## :hourglass_flowing_sand: 2026-11-20 Login loop"],
])("takes %j for open", (heading) => {
  expect(only(heading)).toEqual([["2026-11-20", "Login loop", true]]);
});

it.each([
  ["## 2026-11-20 ⚠️ Login loop"],
  ["## ✅ 2026-11-20 ⚠️ Login loop"],
  ["## 2026-11-20 Login loop!"],
  ["## ~~⚠️ 2026-11-20 Login loop~~"],
])("does not take %j for open: it does not begin with a mark, or is struck through", (heading) => {
  expect(only(heading).map(([, , open]) => open)).toEqual([false]);
});

it.each([
  ["## Login loop of 2026-11-20"],
  ["## Run 2026-11-20 12:00"],
  ["## [0.4.2] - 2026-11-20"],
  ["## 2026-02-30 No such day"],
  ["## 2026-13-01 No such month"],
  ["## 2025-02-29 No leap year"],
  ["## 0000-00-00 Nothing"],
  ["## 2026-11-201 Too long"],
  ["## 12026-11-20 Too long"],
  ["## 2026/11/20 Slashes"],
  ["## 20 November 2026"],
  ["## How to use this file"],
  ["##"],
])("skips and counts %j", (heading) => {
  expect(parseFile(`${heading}\n`)).toEqual({ entries: [], skipped: 1 });
});

it("takes the 29th of February in leap years", () => {
  expect(only("## 2024-02-29 A\n## 2000-02-29 B\n").map(([, title]) => title)).toEqual(["A", "B"]);
});

it.each([
  ["another level", "# 2026-11-20 A\n\n### 2026-11-20 B\n\n#### 2026-11-20 C"],
  ["no space", "##2026-11-20 A"],
  ["a fence", "```\n## 2026-11-20 A\n```"],
  ["a fence of tildes that backticks do not end", "~~~\n```\n## 2026-11-20 A\n~~~"],
  ["a fence that never ends", "```\n## 2026-11-20 A"],
  ["a fence in a list item", "- log:\n  ```\n  ## 2026-11-20 A\n  ```"],
  ["indented code", "text\n\n    ## 2026-11-20 A"],
  ["a comment", "<!--\n## 2026-11-20 A\n-->"],
  ["a comment of many paragraphs", "<!--\n\n## 2026-11-20 A\n\ntext\n\n-->"],
  ["a quote", "> ## 2026-11-20 A"],
  ["a list item", "- ## 2026-11-20 A"],
  ["a later paragraph of a list item", "1. one\n\n   ## 2026-11-20 A"],
  ["front matter", "---\ntitle: x\n## 2026-11-20 A\n---\n"],
])("finds no entry in %s", (_where, markdown) => {
  expect(parseFile(`${markdown}\n`).entries).toEqual([]);
});

it.each([["\n"], ["\r\n"], ["\r"]])("counts lines that end in %j, front matter and all", (end) => {
  const lines = [
    "---",
    "a: b",
    "---",
    "# Errors",
    "",
    "## 2026-11-20 A",
    "Status: open",
    "## Notes",
    "## 2026-11-19 B",
  ];
  const { entries, skipped } = parseFile(lines.join(end));
  expect(entries.map(({ title, line, open }) => [title, line, open])).toEqual([
    ["A", 6, true],
    ["B", 9, false],
  ]);
  expect(skipped).toBe(1);
});

it("finds the entries behind long fences and comments that hold headings of their own", () => {
  const noise = (open: string, close: string) =>
    `${open}\n${"# comment\n## 2026-01-01 No\n".repeat(3_000)}${close}\n\n`;
  const markdown = `## 2026-11-20 A\n\n${noise("```", "```")}## 2026-11-19 B\n\n${noise("<!--", "-->")}## 2026-11-18 C\n`;
  expect(only(markdown).map(([, title]) => title)).toEqual(["A", "B", "C"]);
});

it("keeps a rule that a line of dashes right below would turn into a heading", () => {
  const [entry] = parseFile(
    "## 2026-11-20 A\n\nBroke.\n\n**Prevention rule:** Set Path.\n---\n\n## 2026-11-19 B\n",
  ).entries;
  expect(entry?.rule).toBe("Set Path.");
});

it("gives several entries of a day numbers of their own only where their headings are equal", () => {
  const { entries } = parseFile("## 2026-11-20 A\n## 2026-11-20 B\n## 2026-11-20 A\n");
  expect(entries.map(({ title, ordinal }) => [title, ordinal])).toEqual([
    ["A", 1],
    ["B", 0],
    ["A", 0],
  ]);
});

it("bounds what it keeps of a heading", () => {
  const [entry] = parseFile(`## 2026-11-20 ${"𝒳".repeat(5_000)}\n`).entries;
  // Half a surrogate pair is not kept.
  expect([entry?.heading.length, entry?.title.length]).toEqual([1_000, 499]);
  expect(entry?.heading.isWellFormed() && entry.title.isWellFormed()).toBe(true);
});

it("counts every dated heading of a file that has too many, underlined or not", () => {
  for (const heading of ["2026-11-20 x\n---\n", "## 2026-11-20 x\n", "2026-11-20 x\n---\n\ntext\n\n"]) {
    const { entries, skipped } = parseFile(heading.repeat(20_000));
    expect([entries.length, skipped]).toEqual([5_000, 15_000]);
  }
});
