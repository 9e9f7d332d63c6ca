import fc from "fast-check";
import { expect, it } from "vitest";
import { densestAt } from "../../../src/kit/strings.ts";
import { processorMs } from "../../support/time.ts";

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

it("reads text and words once, however many words a prefix stands for", async () => {
  const taken = (count: number) => {
    const words = Array.from({ length: count }, (_, i) => `aaaa${i}`);
    return processorMs(() => densestAt(words.join(" "), words, 800));
  };
  const ofFew = await taken(6_000);
  // Searching for each word separately, and from each place for all others, takes quadratic time.
  expect(await taken(60_000)).toBeLessThan(40 * ofFew);
});
