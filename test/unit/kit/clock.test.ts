import { expect, it } from "vitest";
import { DAY_MS, dateOfDay, dayNumber, isoDate } from "../../../src/kit/clock.ts";

it("begins a day at midnight UTC, before 1970 and in leap years, too", () => {
  const midnight = 20_000 * DAY_MS;
  expect([midnight - 1, midnight, midnight + DAY_MS - 1, -1].map(dayNumber)).toEqual([19_999, 20_000, 20_000, -1]);
  expect([midnight - 1, midnight, -1, Date.UTC(2024, 1, 29, 23, 59, 59, 999)].map(isoDate)).toEqual([
    "2024-10-03",
    "2024-10-04",
    "1969-12-31",
    "2024-02-29",
  ]);
  expect([-1, 0, 20_000].map(dateOfDay)).toEqual(["1969-12-31", "1970-01-01", "2024-10-04"]);
});
