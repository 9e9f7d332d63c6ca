import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_SLICE_CHARS, sliceOf } from "../../../src/insight/ask/search.ts";

const lines = (count: number) => Array.from({ length: count }, (_, i) => `this is line ${i}`);

describe("a slice of a section", () => {
  it("is the whole section when that is short", () => {
    expect(sliceOf("## Title\n\nBody.\n\n", ["body"])).toEqual({ text: "## Title\n\nBody.", linesBefore: 0 });
  });

  it("is made of whole lines around the words, with an ellipsis where more comes", () => {
    const all = [...lines(200), "the zebra crosses", ...lines(200)];
    const { text, linesBefore } = sliceOf(all.join("\n"), ["zebra"]);
    expect(text).toMatch(/^…this is line \d+\n[\s\S]*the zebra crosses\n[\s\S]*\nthis is line \d+…$/);
    const quoted = text.slice(1, -1).split("\n");
    expect(all.slice(linesBefore, linesBefore + quoted.length)).toEqual(quoted);
  });

  it("begins at the section's own beginning when the words are there, and ends at its end when they are there", () => {
    const start = sliceOf(["zebra", ...lines(200)].join("\n"), ["zebra"]);
    expect([start.text.startsWith("zebra"), start.text.endsWith("…"), start.linesBefore]).toEqual([true, true, 0]);
    const end = sliceOf([...lines(200), "zebra"].join("\n"), ["zebra"]);
    expect([end.text.startsWith("…"), end.text.endsWith("zebra")]).toEqual([true, true]);
  });

  it("cuts a line that is itself too long, around the word", () => {
    const { text, linesBefore } = sliceOf(`first\n${"x ".repeat(2_000)}zebra${" y".repeat(2_000)}`, ["zebra"]);
    expect(text).toContain("zebra");
    expect(linesBefore).toBe(1);
  });

  it("holds the word, is bounded, and cites the line it begins on, whatever the section", () => {
    const unit = fc.constantFrom("a ", "\n", "word ", "😀", "x".repeat(90));
    const text = fc.array(unit, { maxLength: 400 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const section = `${before} zebra ${after}`;
        const slice = sliceOf(section, ["zebra"]);
        expect(slice.text).toContain("zebra");
        expect(slice.text.length).toBeLessThanOrEqual(MAX_SLICE_CHARS + 2);
        expect(slice.text.isWellFormed()).toBe(true);
        const first = slice.text
          .replace(/^…/, "")
          .split("\n")[0]
          ?.replace(/[…\ufffd]/g, "")
          .trimEnd() as string;
        expect(section.split("\n")[slice.linesBefore]).toContain(first);
      }),
    );
  });
});
