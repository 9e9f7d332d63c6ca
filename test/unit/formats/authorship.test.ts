import { describe, expect, it } from "vitest";
import { authorsOf, isMetadataNote, lineAuthors } from "../../../src/formats/authorship.ts";
import { noteOf } from "../../support/git-ai.ts";

const at = async (note: string, line: number, path = "a.ts") =>
  (
    await lineAuthors(
      note,
      (written) => written === path,
      line,
      () => undefined,
    )
  ).map(({ author, trace }) => [author?.session, trace]);
const withLines = (ranges: string) => noteOf({ files: { "a.ts": { "s_c9883b05a2487d::t_1": ranges } } });

describe("lineAuthors", () => {
  it.each([
    ["5", [5]],
    ["1-3,7,9-10", [1, 2, 3, 7, 9, 10]],
    ["3-1", []],
    ["2,,4", [2]],
    ["1 - 9", []],
    ["-3", []],
    ["99999999999", []],
    ["", []],
  ])("reads the lines %s", async (ranges, lines) => {
    const found: number[] = [];
    for (let line = 1; line <= 12; line++) if ((await at(withLines(ranges), line)).length > 0) found.push(line);
    expect(found).toEqual(lines);
  });

  it("reads files with line ends of either kind, spaces in their names, and nothing below the divider", async () => {
    const windows = noteOf({ files: { "my file.ts": { "s_c9883b05a2487d::t_1": "2" } } }).replaceAll("\n", "\r\n");
    expect(await at(windows, 2, "my file.ts")).toEqual([["s-1", "t_1"]]);
    expect(await at('---\na.ts\n  s_c9883b05a2487d::t_1 2\n{"sessions":{}}', 2)).toEqual([]);
  });

  // In a time that grows with the square of the length this would not end.
  it("comes to the end of long notes", async () => {
    const long = 8 * 1024 * 1024;
    for (const note of [`a.ts\n  s_a ${"2,".repeat(long / 2)}`, "a\n".repeat(long / 2), `---\n${"[".repeat(long)}`]) {
      const authors = [...(authorsOf(note) ?? [])];
      expect([await at(note, 3), authors, isMetadataNote(note)]).toEqual([[], [], false]);
    }
  });
});

describe("authorsOf", () => {
  it("ignores what it does not understand, and refuses what is too large", () => {
    for (const text of [
      "",
      "---",
      "---\n[]",
      "---\nnull",
      '---\n{"sessions":[1],"prompts":{"a":{"agent_id":{"id":{}}}}}',
    ])
      expect([text, authorsOf(text)?.size]).toEqual([text, 0]);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`s_${i}`, `${i}`]));
    expect(authorsOf(noteOf({ sessions: many }))).toBeUndefined();
    expect(authorsOf('---\n{"sessions":{"__proto__":{"agent_id":{"id":"x"}}}}')?.get("__proto__")?.session).toBe("x");
  });
});

describe("isMetadataNote", () => {
  it("accepts what Git AI writes, and no member that could hold a text", () => {
    const human = { humans: { h_31dce776f88375: { author: "Ada <ada@example.com>" } } };
    expect(isMetadataNote(noteOf({ more: human }))).toBe(true);
    const others = [
      "",
      "words of mine\n---\n{}",
      noteOf({ more: { note: "words of mine" } }),
      noteOf({ more: { prompts: { a: { agent_id: {}, custom_attributes: { task: "words of mine" } } } } }),
      noteOf({ more: { git_ai_version: "words of mine" } }),
      noteOf({ files: { "a.ts": { words: "of mine" } } }),
      `${noteOf()}\nwords of mine`,
    ];
    for (const note of others) expect([note, isMetadataNote(note)]).toEqual([note, false]);
  });
});
