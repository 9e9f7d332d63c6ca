import { expect, it } from "vitest";
import { pathIn } from "../../../src/capture/paths.ts";

it.each([
  ["c:\\Users\\Kim\\.claude\\plans\\a.md", "~/.claude/plans/a.md"],
  ["C:/Users/kim/notes/a.md", "~/notes/a.md"],
  ["..\\other\\a.md", "~/other/a.md"],
  ["c:\\Users\\Kim\\shop\\src\\a.ts", "src/a.ts"],
  ["C:\\Users\\Kim\\..\\Ada\\a.md", "C:\\Users\\Ada\\a.md"],
  ["D:\\data\\a.csv", "D:\\data\\a.csv"],
])("on Windows, where a drive is named c: and C: and slashes lean both ways, %s is sent as %s", (path, sent) => {
  const head = { cwd: "c:\\Users\\Kim\\shop", root: "C:\\Users\\Kim\\shop", below: "" };
  expect(pathIn(head, path, ["C:\\Users\\Kim"])).toBe(sent);
});

it.each([
  ["/home/kim/.claude/plans/a.md", "~/.claude/plans/a.md"],
  ["/home/kim/../kim/a.md", "~/a.md"],
  ["/home/kim/../ada/a.md", "/home/ada/a.md"],
  ["/home/kimberly/a.md", "/home/kimberly/a.md"],
])("elsewhere %s is sent as %s", (path, sent) => {
  expect(pathIn({ cwd: "/home/kim/shop", root: "/home/kim/shop", below: "" }, path, ["/home/kim"])).toBe(sent);
});
