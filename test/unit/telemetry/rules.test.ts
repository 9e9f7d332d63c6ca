import fc from "fast-check";
import { expect, it } from "vitest";
import { gapsAbove, isSameEntry, splitGap } from "../../../src/record/telemetry/rules.ts";

it("finds exactly the numbers that are missing above the last one held", () => {
  fc.assert(
    fc.property(fc.option(fc.nat(50), { nil: undefined }), fc.uniqueArray(fc.nat(100)), (last, unsorted) => {
      const seqs = unsorted.toSorted((a, b) => a - b);
      const missing = gapsAbove(last, seqs).flatMap(({ from, to }) =>
        Array.from({ length: to - from + 1 }, (_, i) => from + i),
      );
      const start = last ?? seqs[0] ?? 0;
      const expected = Array.from({ length: Math.max(0, (seqs.at(-1) ?? 0) - start) }, (_, i) => start + i).filter(
        (n) => n > start && !seqs.includes(n),
      );
      expect(missing).toEqual(expected);
    }),
  );
});

it("splits a gap around what arrived", () => {
  expect(splitGap({ from: 3, to: 5 }, 4)).toEqual([
    { from: 3, to: 3 },
    { from: 5, to: 5 },
  ]);
  expect(splitGap({ from: 3, to: 5 }, 3)).toEqual([{ from: 4, to: 5 }]);
  expect(splitGap({ from: 3, to: 3 }, 3)).toEqual([]);
});

it("compares entries as values, but numbers that parsing would round as text", () => {
  const at = (payload: string) => ({ clientTimestamp: null, payload });
  expect(isSameEntry(at('{"a":1,"b":2}'), at('{ "b":2, "a":1.0 }'))).toBe(true);
  expect(isSameEntry(at('{"id":12345678901234567890}'), at('{"id":12345678901234567891}'))).toBe(false);
  expect(isSameEntry(at('{"a":1}'), { clientTimestamp: "x", payload: '{"a":1}' })).toBe(false);
});
