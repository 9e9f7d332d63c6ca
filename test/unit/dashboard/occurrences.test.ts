import { expect, it } from "vitest";
import { occurrences } from "../../../src/surfaces/web/ui/occurrences.ts";

const draw = (days: string[], from: string, to: string) =>
  String(occurrences({ days, from, to, tall: true, summary: `${days.length} times` }));
const places = (svg: string) => [...svg.matchAll(/cx="([\d.]+)%"/g)].map((match) => Number(match[1]));

it("places each day between the ends, larger where it recurred, and lists all days in its label", () => {
  const svg = draw(["2026-11-21", "2026-11-01", "2026-11-11", "2026-11-11"], "2026-11-01", "2026-11-21");
  expect(places(svg)).toEqual([2, 50, 98]);
  const sizes = [...svg.matchAll(/ r="([\d.]+)"/g)].map((match) => Number(match[1]));
  expect(sizes[1]).toBeGreaterThan(sizes[0] as number);
  expect(svg).toContain('aria-label="4 times: 1 Nov 2026, 11 Nov 2026 (2), 21 Nov 2026"');
});

it("draws a single day, days beyond the ends, and centuries to scale", () => {
  expect(places(draw(["2026-11-21"], "2026-11-21", "2026-11-21"))).toEqual([2]);
  expect(places(draw(["2026-12-24", "2025-01-01"], "2026-11-01", "2026-11-21"))).toEqual([2, 98]);
  const long = draw(["0001-01-01", "9999-12-31"], "0001-01-01", "9999-12-31");
  expect(places(long)).toEqual([2, 98]);
  expect([...long.matchAll(/class="month"/g)].length).toBeLessThanOrEqual(5);
});

it("names months below", () => {
  expect(draw(["2026-11-21"], "2026-09-15", "2026-11-21")).toMatch(/>Oct 2026<.*>Nov 2026</s);
});
