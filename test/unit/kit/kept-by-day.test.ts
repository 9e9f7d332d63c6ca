import { expect, it } from "vitest";
import { type Days, KeptByDay, stretchOf } from "../../../src/kit/kept-by-day.ts";

const WHOLE: Days = [-1_000, 30_000];

/** A keeper of numbers that counts how often it had to compute. */
function keeper(maxSize = 1_000) {
  const kept = new KeptByDay<{ size: number }>(maxSize, ({ size }) => size);
  let computed = 0;
  const ask = (days: Days, name = "sum", of = "a", outside = 0, size = 1) => {
    const before = computed;
    kept.get(outside, of, days, name, () => ({ size, n: computed++ }));
    return computed > before ? "computed" : "kept";
  };
  return { kept, ask };
}

it("makes stretches that cover every day once, the same whatever is asked for", () => {
  for (const [first, last] of [
    [0, 40],
    [-20, 5],
    [3, 3],
    [17, 30],
  ] as const)
    for (const cuts of [[], [4], [8, 9, 25]]) {
      const seen: number[] = [];
      for (let day: number = first; day <= last; ) {
        const [from, to] = stretchOf(day, [first, last], cuts);
        expect(from).toBe(day);
        for (let inner = from; inner <= to; inner++) {
          seen.push(inner);
          expect(stretchOf(inner, [first, last], cuts)).toEqual([from, to]);
        }
        expect(to - from).toBeLessThan(8);
        expect(cuts.some((cut) => cut > from && cut <= to)).toBe(false);
        day = to + 1;
      }
      expect(seen).toEqual(Array.from({ length: last - first + 1 }, (_, i) => first + i));
    }
  expect(stretchOf(20, WHOLE)).toEqual(stretchOf(17, [10, 100]));
});

it("keeps a result until one of its days changes, another process may have changed any, or room runs out", () => {
  const { kept, ask } = keeper();
  expect([ask([0, 7]), ask([8, 15]), ask([0, 7]), ask([8, 15])]).toEqual(["computed", "computed", "kept", "kept"]);
  kept.change("a", 3);
  expect([ask([0, 7]), ask([8, 15]), ask([0, 7])]).toEqual(["computed", "kept", "kept"]);
  kept.change("b", 3);
  expect([ask([0, 7]), ask([0, 7], "other"), ask([0, 7], "sum", "b")]).toEqual(["kept", "computed", "computed"]);
  const { changes } = kept;
  kept.changeAll();
  expect(kept.changes).toBeGreaterThan(changes);
  expect([ask([0, 7]), ask([8, 15]), ask([0, 7])]).toEqual(["computed", "computed", "kept"]);
  expect([ask([0, 7], "sum", "a", 1), ask([0, 7], "sum", "a", 1), ask([8, 15], "sum", "a", 1)]).toEqual([
    "computed",
    "kept",
    "computed",
  ]);
});

it("drops the result asked for longest ago, and keeps none larger than a tenth of the room", () => {
  const { ask } = keeper(100);
  for (let i = 0; i < 10; i++) expect(ask([i, i], "sum", "a", 0, 10)).toBe("computed");
  expect(ask([0, 0], "sum", "a", 0, 10)).toBe("kept");
  expect(ask([50, 50], "sum", "a", 0, 10)).toBe("computed");
  expect([ask([0, 0]), ask([2, 2]), ask([1, 1])]).toEqual(["kept", "kept", "computed"]);
  expect([ask([60, 60], "sum", "a", 0, 11), ask([60, 60], "sum", "a", 0, 11)]).toEqual(["computed", "computed"]);
});

it("treats everything as changed once it cannot remember all changed days", () => {
  const { kept, ask } = keeper();
  ask([0, 7]);
  for (let day = 100; day <= 20_100; day++) kept.change("a", day);
  expect(ask([0, 7])).toBe("computed");
});
