import { expect, it } from "vitest";
import { personFilter, seenLastFirst } from "../../../src/surfaces/web/dashboard/shared/people.ts";

const OFFERED = 500;

/** Two machines for each of many people, heard of in no order; one of each pair was never heard of. */
const devices = Array.from({ length: 3_000 }, (_, i) => {
  const of = i % 1_500;
  const person = { id: `usr-${of}`, email: `p${of}@example.com`, name: null, disabledAt: null };
  return { id: `dev-${i}`, person, lastSeenAt: i < 1_500 ? null : ((i * 7_919) % 1_500) + 1 };
});

it("offers the machines that were heard of last first, and all others behind them", () => {
  const sorted = devices.toSorted((a, b) => (b.lastSeenAt ?? 0) - (a.lastSeenAt ?? 0));
  const offered = seenLastFirst(devices);
  expect(offered.slice(0, OFFERED)).toEqual(sorted.slice(0, OFFERED));
  expect(new Set(offered)).toEqual(new Set(devices));
  expect(offered).toHaveLength(devices.length);
  expect(seenLastFirst([])).toEqual([]);
});

it("offers the people of the machines that were heard of last, and says how many more there are", () => {
  const [filter] = personFilter(devices, "");
  const options = filter?.options ?? [];
  const last = devices
    .toSorted((a, b) => (b.lastSeenAt ?? 0) - (a.lastSeenAt ?? 0))
    .slice(0, OFFERED - 1)
    .map(({ person }) => person.id);
  const offered = options.map(({ value }) => value).filter((value) => value.startsWith("usr-"));
  expect(new Set(offered)).toEqual(new Set(last));
  expect(JSON.stringify(options)).toContain("1,001 more");
});
