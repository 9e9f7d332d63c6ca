import { expect, it } from "vitest";
import { indentJson, outcomeBadge, short } from "../../../src/surfaces/web/dashboard/sessions/labels.ts";

it("lays JSON out as JSON.stringify does, and leaves numbers and escapes as they were sent", () => {
  const value = { a: [1, { b: 'x "{[,:]}" \\ y' }, [], {}], c: null, "d,": true };
  expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  expect(indentJson('{ "n" : 12345678901234567890.10 ,"u":"\\u00e9", "e": { } }')).toBe(
    '{\n  "n": 12345678901234567890.10,\n  "u": "\\u00e9",\n  "e": {}\n}',
  );
});

it("judges an outcome by its word, never by what an object inherits", () => {
  expect(String(outcomeBadge("Completed"))).toContain("badge good");
  expect(String(outcomeBadge("constructor"))).toContain("badge neutral");
  expect(String(outcomeBadge(""))).toContain("not said");
});

it("cuts texts without leaving half a character", () => {
  expect(short("a".repeat(5), 5)).toBe("aaaaa");
  expect(short(`ab${"😀".repeat(3)}`, 4).isWellFormed()).toBe(true);
});
