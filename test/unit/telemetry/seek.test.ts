import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstWhere } from "../../../src/kit/first-where.ts";
import { seek } from "../../../src/record/telemetry/seek.ts";

/** Rows with holes among their ids, and values that never fall. */
const table = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 9 }), rise: fc.integer({ min: 0, max: 2 }) }), { maxLength: 60 })
  .map((steps) => {
    let [id, deliveryId] = [0, 1];
    return steps.map(({ gap, rise }) => {
      id += gap;
      deliveryId += rise;
      return { id, deliveryId };
    });
  });

describe("seek", () => {
  it("finds the same as walking row by row, in either direction, from anywhere", () => {
    fc.assert(
      fc.property(table, fc.integer({ min: 0, max: 600 }), fc.integer({ min: 0, max: 130 }), (rows, start, goal) => {
        const up = seek(
          (at) => rows.find((row) => row.id >= at),
          start,
          1,
          (id) => id >= goal,
        );
        expect(up).toBe(rows.find((row) => row.id >= start && row.deliveryId >= goal)?.id);
        const down = seek(
          (at) => rows.findLast((row) => row.id <= at),
          start,
          -1,
          (id) => id <= goal,
        );
        expect(down).toBe(rows.findLast((row) => row.id <= start && row.deliveryId <= goal)?.id);
      }),
      { numRuns: 2_000 },
    );
  });

  it("reads once when the next row fits, and few times when it is far", () => {
    let looks = 0;
    const probe = (at: number) => {
      looks++;
      return at >= 1 ? { id: Math.min(at, 1_000_000), deliveryId: Math.min(at, 1_000_000) } : undefined;
    };
    expect(seek(probe, 500, -1, (id) => id <= 500)).toBe(500);
    expect(looks).toBe(1);
    looks = 0;
    expect(seek(probe, Number.MAX_SAFE_INTEGER, -1, (id) => id <= 7)).toBe(7);
    expect(looks).toBeLessThan(45);
  });
});

it("searches by halves for the first id from which a condition holds", () => {
  for (const first of [1, 2, 50, 100, 101]) expect(firstWhere(100, (id) => id >= first)).toBe(first);
  expect(firstWhere(0, () => true)).toBe(1);
});
