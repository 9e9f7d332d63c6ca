import { expect, it } from "vitest";
import { readEditTexts } from "../../../src/formats/edit-texts.ts";

const path = "src/a.ts";

it.each([
  ["Claude Code's Edit", { file_path: path, old_string: "a", new_string: "b", replace_all: false }],
  ["OpenCode's edit", { filePath: path, oldString: "a", newString: "b" }],
  ["Anthropic's text editor", { path, old_str: "a", new_str: "b" }],
  ["MultiEdit", { file_path: path, edits: [{ old_string: "a", new_string: "b" }] }],
  ["the JSON of one", JSON.stringify({ file_path: path, old_string: "a", new_string: "b" })],
])("reads %s", (_, input) => {
  expect(readEditTexts(input)).toEqual({ texts: [{ path, before: "a", after: "b" }], patch: null, rest: "" });
});

it("reads a file that is written whole, and an edit that only removes", () => {
  expect(readEditTexts({ file_path: path, content: "x" })?.texts).toEqual([{ path, before: "", after: "x" }]);
  expect(readEditTexts({ file_path: path, old_string: "a", new_string: "" })?.texts).toEqual([
    { path, before: "a", after: "" },
  ]);
});

it("takes patches as they are, and keeps the other text", () => {
  const patch = "*** Begin Patch\n*** End Patch";
  expect(readEditTexts(patch)).toEqual({ texts: [], patch, rest: "" });
  expect(readEditTexts({ input: patch, dry: true })).toEqual({ texts: [], patch, rest: '{"dry":true}' });
  expect(readEditTexts({ file_path: path, old_string: "a", new_string: "b", replace_all: true })?.rest).toBe(
    '{"replace_all":true}',
  );
});

it.each([
  [{ command: "ls" }],
  [{ content: "of no file" }],
  [{ file_path: path }],
  ["ls -la"],
  [null],
  [7],
  [{ file_path: path, new_string: 7, edits: "none" }],
])("does not read %j as an edit", (input) => expect(readEditTexts(input)).toBeUndefined());
