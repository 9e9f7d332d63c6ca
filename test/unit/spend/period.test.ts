import { expect, it } from "vitest";
import { isSince, isUntil, readPeriod } from "../../../src/insight/spend/spend.ts";

const NOW = Date.UTC(2026, 10, 21, 8);
const days = (since?: string, until?: string) => {
  const span = readPeriod({ since, until }, NOW);
  return span && [span.from, span.to].map((at) => new Date(at).toISOString().slice(0, 10));
};

it("counts days back from the last one, which is today unless said otherwise", () => {
  expect(days()).toEqual(["2026-10-23", "2026-11-21"]);
  expect(days("1d")).toEqual(["2026-11-21", "2026-11-21"]);
  expect(days("7d", "2026-10-31")).toEqual(["2026-10-25", "2026-10-31"]);
  expect(days("2026-11-01")).toEqual(["2026-11-01", "2026-11-21"]);
  expect(days("2026-11-01T23:00:00-05:00", "2026-11-05T00:00:00Z")).toEqual(["2026-11-02", "2026-11-05"]);
});

it("begins and ends with days that can be written, whatever the offset", () => {
  expect(days("9999-12-30", "9999-12-31T23:59:59-23:59")).toEqual(["9999-12-30", "9999-12-31"]);
  expect(days("9999d", "0001-01-01T00:00:00+01:00")).toEqual(["0001-01-01", "0001-01-01"]);
});

it("has no days when the last lies before the first", () => {
  expect(days("2026-11-22")).toBeUndefined();
  expect(days("2026-11-21", "2026-11-20")).toBeUndefined();
});

it("accepts existing dates, date-times with a zone and numbers of days, and nothing else", () => {
  for (const text of ["2026-11-21", "2024-02-29", "2026-11-21T08:00:00Z", "2026-11-21T08:00+01:00"])
    expect([isSince(text), isUntil(text)], text).toEqual([true, true]);
  expect([isSince("30d"), isUntil("30d")]).toEqual([true, false]);
  for (const text of [
    "",
    "0d",
    "-1d",
    "30",
    "2026-02-30",
    "2026-13-01",
    "yesterday",
    "2026-11-21T08:00:00",
    "20261121",
  ])
    expect([isSince(text), isUntil(text)], text).toEqual([false, false]);
});
