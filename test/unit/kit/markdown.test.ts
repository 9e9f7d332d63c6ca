import fc from "fast-check";
import { expect, it } from "vitest";
import { sections } from "../../../src/kit/markdown.ts";

it("cuts at headings of every level and both spellings, and nowhere else", () => {
  const markdown = [
    "before",
    "# One",
    "text",
    "",
    "Two",
    "---",
    "    # indented code",
    "```",
    "# fenced",
    "```",
    "> # quoted",
    "- # listed",
    "### Three ###",
    "<!--",
    "# commented",
    "-->",
  ].join("\n");
  expect(sections(markdown).map(({ heading, level, line }) => [heading, level, line])).toEqual([
    ["", 0, 1],
    ["One", 1, 2],
    ["Two", 2, 5],
    ["Three", 3, 13],
  ]);
});

it("keeps a fence open at a line that only resembles its end, backticks and tildes apart", () => {
  expect(sections("````\n```\n# no\n````\n# yes\n~~~\n```\n# no\n~~~\n").map(({ heading }) => heading)).toEqual([
    "",
    "yes",
  ]);
});

it.each([["\n"], ["\r\n"], ["\r"]])("counts lines ended by %j", (end) => {
  expect(sections(["# A", "x", "# B"].join(end)).map(({ line, text }) => [line, text])).toEqual([
    [1, "# A\nx"],
    [3, "# B"],
  ]);
});

it("loses no text, whatever the text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("# a", "```", "text", "", "- x", "> y", "===", "    code", "<div>"), { maxLength: 30 }),
      (lines) => {
        const whole = sections(lines.join("\n"))
          .map(({ text }) => text)
          .join("\n");
        expect(whole.split("\n").filter((line) => line.trim() !== "")).toEqual(
          lines.filter((line) => line.trim() !== ""),
        );
      },
    ),
  );
});

it("takes neither front matter nor the end of a list for a heading", () => {
  const markdown = [
    "---",
    "title: x",
    "tags: [a]",
    "---",
    "",
    "intro",
    "",
    "- item",
    "---",
    "",
    "# Real",
    "1. one",
    "---",
  ].join("\n");
  expect(sections(markdown).map(({ heading, line }) => [heading, line])).toEqual([
    ["", 1],
    ["Real", 11],
  ]);
});

it("reads a file of nothing but headings as one section", () => {
  expect(sections("# \n".repeat(6_000))).toHaveLength(1);
});

it("has no sections for an empty text", () => {
  expect(sections("")).toEqual([]);
  expect(sections(" \n\n")).toEqual([]);
});
