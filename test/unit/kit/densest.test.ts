import fc from "fast-check";
import { expect, it } from "vitest";
import { densestAt } from "../../../src/kit/strings.ts";

/** The same function in its simplest form. */
function plainly(text: string, words: readonly string[], span: number): number {
  const places = [...text.matchAll(/\p{L}+/gu)].flatMap(({ 0: word, index: at }) =>
    words.includes(word) ? [{ word, at }] : [],
  );
  const counts = places.map(({ at }) => ({
    at,
    count: new Set(places.filter((other) => other.at >= at && other.at < at + span).map(({ word }) => word)).size,
  }));
  return counts.reduce((best, one) => (one.count > best.count ? one : best), { at: 0, count: 0 }).at;
}

it("finds the first place where most of the words stand together", () => {
  const word = fc.constantFrom("a", "b", "ab", "c", "xyz");
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 60 }),
      fc.uniqueArray(word),
      fc.integer({ min: 1, max: 40 }),
      (all, some, span) => {
        const text = all.join(", ");
        expect(densestAt(text, some, span)).toBe(plainly(text, some, span));
      },
    ),
  );
});

it("reads text and words once, however many words a prefix stands for", () => {
  const words = Array.from({ length: 60_000 }, (_, i) => `aaaa${i}`);
  const started = performance.now();
  densestAt(words.join(" "), words, 800);
  // Searching for each word separately, and from each place for all others, takes quadratic time.
  expect(performance.now() - started).toBeLessThan(5_000);
});
