import { expect, it } from "vitest";
import { oneLine } from "../../../src/kit/strings.ts";
import { outcomeBadge } from "../../../src/surfaces/web/dashboard/sessions/labels.ts";
import { short } from "../../../src/surfaces/web/dashboard/shared/text.ts";

it("judges an outcome by its word, never by what an object inherits", () => {
  expect(String(outcomeBadge("Completed", true))).toContain("badge good");
  expect(String(outcomeBadge("constructor", true))).toContain("badge neutral");
  expect(String(outcomeBadge("", false))).toContain("not said");
});

it("cuts texts without leaving half a character", () => {
  expect(short("a".repeat(5), 5)).toBe("aaaaa");
  expect(short(`ab${"😀".repeat(3)}`, 4).isWellFormed()).toBe(true);
  // Nor with a replacement character in its place.
  expect(short(`ab${"😀".repeat(3)}`, 4)).toBe("ab…");
  expect(oneLine(`ab${"😀".repeat(3)}`, 4)).toBe("ab…");
});
