import { expect, it } from "vitest";
import { readInstant } from "../../../src/traces/rules.ts";

const AT = Date.UTC(2026, 10, 21, 8);

it.each([
  ["ISO text", "2026-11-21T08:00:00Z", AT],
  ["seconds", AT / 1000, AT],
  ["milliseconds", AT, AT],
  ["microseconds", AT * 1000, AT],
  ["nanoseconds as text", `${AT}000000`, AT],
  ["rubbish", "soon", null],
  ["a day that does not exist", "2026-02-30T00:00:00Z", null],
  ["a leap day in a year without one", "2026-02-29", null],
  ["a leap day", "2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
  ["a negative number", -1, null],
  ["an object", {}, null],
  ["nothing", undefined, null],
])("reads an instant from %s", (_, value, at) => {
  expect(readInstant(value)).toBe(at);
});
