import { expect, it } from "vitest";
import { finish, sorted } from "../../../src/kit/slices.ts";

it("sorts lists of any length as toSorted does, equal ones in their order, and pauses in between", () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const byKey = (a: { key: number }, b: { key: number }) => a.key - b.key;
  for (const length of [0, 1, 2, 499, 500, 501, 1_000, 1_001, 7_777]) {
    const list = Array.from({ length }, (_, at) => ({ key: random(100), at }));
    const before = [...list];
    expect(finish(sorted(list, byKey))).toEqual(list.toSorted(byKey));
    expect(list).toEqual(before);
  }
  const long = Array.from({ length: 50_000 }, () => random(1_000_000));
  let [turns, compared] = [0, 0];
  const work = sorted(long, (a, b) => {
    compared++;
    return a - b;
  });
  let most = 0;
  for (let step = work.next(); !step.done; step = work.next()) {
    turns++;
    most = Math.max(most, compared);
    compared = 0;
  }
  expect(turns).toBeGreaterThan(300);
  // No stretch between two pauses is long.
  expect(most).toBeLessThan(20_000);
});
