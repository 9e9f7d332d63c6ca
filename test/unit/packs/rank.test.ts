import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { byRank, type RankFacts, rankOf } from "../../../src/share/packs/rank.ts";

const NOW = Date.UTC(2026, 10, 21, 8);
const ago = (days: number) => NOW - days * DAY_MS;

const facts = fc.record({
  verified: fc.boolean(),
  createdAt: fc.integer({ min: ago(2_000), max: NOW + DAY_MS }),
  publishedAt: fc.integer({ min: ago(2_000), max: NOW + DAY_MS }),
  installs: fc.nat(10_000_000),
  recurrencesRemoved: fc.option(fc.nat(100_000)),
});

const rank = (one: RankFacts) => rankOf(one, NOW).rank;

describe("the trust rank", () => {
  it("is 0 to 100, the sum of its factors' points, none above its maximum", () => {
    fc.assert(
      fc.property(facts, (one) => {
        const { rank, why } = rankOf(one, NOW);
        expect(why.reduce((sum, { points }) => sum + points, 0)).toBe(rank);
        expect(rank).toBeGreaterThanOrEqual(0);
        expect(rank).toBeLessThanOrEqual(100);
        for (const { points, most } of why) {
          expect(Number.isInteger(points)).toBe(true);
          expect(points).toBeGreaterThanOrEqual(0);
          expect(points).toBeLessThanOrEqual(most);
        }
        expect(rankOf(one, NOW)).toEqual({ rank, why });
      }),
    );
  });

  it("never falls with verification, age, installs or removed recurrences, nor rises with the newest version's age", () => {
    fc.assert(
      fc.property(facts, fc.nat(5_000_000), fc.nat(1_000), (one, more, days) => {
        const before = rank(one);
        expect(rank({ ...one, verified: true })).toBeGreaterThanOrEqual(before);
        expect(rank({ ...one, createdAt: one.createdAt - days * DAY_MS })).toBeGreaterThanOrEqual(before);
        expect(rank({ ...one, installs: one.installs + more })).toBeGreaterThanOrEqual(before);
        expect(rank({ ...one, recurrencesRemoved: (one.recurrencesRemoved ?? 0) + more })).toBeGreaterThanOrEqual(
          before,
        );
        expect(rank({ ...one, publishedAt: one.publishedAt - days * DAY_MS })).toBeLessThanOrEqual(before);
      }),
    );
  });

  it("gives the documented points at the documented places", () => {
    const least = { verified: false, createdAt: NOW, publishedAt: ago(365), installs: 0, recurrencesRemoved: null };
    const points = (one: Partial<RankFacts>) =>
      Object.fromEntries(rankOf({ ...least, ...one }, NOW).why.map((factor) => [factor.factor, factor.points]));
    expect(rank(least)).toBe(0);
    expect(
      rank({ verified: true, createdAt: ago(90), publishedAt: ago(30), installs: 1_000, recurrencesRemoved: 30 }),
    ).toBe(100);
    expect(points({ verified: true }).verified_publisher).toBe(30);
    expect([0, 1, 9, 99, 1_000, 9_999].map((installs) => points({ installs }).installs)).toEqual([
      0, 3, 10, 20, 30, 30,
    ]);
    expect([0, 30, 45, 90, 900].map((days) => points({ createdAt: ago(days) }).age)).toEqual([0, 5, 8, 15, 15]);
    expect([0, 30, 198, 365, 900].map((days) => points({ publishedAt: ago(days) }).freshness)).toEqual([
      10, 10, 5, 0, 0,
    ]);
    expect([null, 0, 5, 30, 300].map((count) => points({ recurrencesRemoved: count }).recurrences_removed)).toEqual([
      0, 0, 8, 15, 15,
    ]);
  });

  it("says that recurrences are not measured, instead of that there were none", () => {
    const { why } = rankOf(
      { verified: true, createdAt: NOW, publishedAt: NOW, installs: 1, recurrencesRemoved: null },
      NOW,
    );
    expect(why.find((one) => one.factor === "recurrences_removed")).toEqual({
      factor: "recurrences_removed",
      value: null,
      points: 0,
      most: 15,
      says: "Not known yet.",
    });
  });

  it("breaks ties by name, whatever order the packs came in", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { maxLength: 12 }), (names) => {
        const packs = names.map((name) => ({ name, rank: name.length % 2 }));
        const sorted = packs.toSorted(byRank);
        expect(packs.toReversed().sort(byRank)).toEqual(sorted);
        for (const [i, one] of sorted.entries()) {
          const next = sorted[i + 1];
          if (next) expect(one.rank > next.rank || (one.rank === next.rank && one.name < next.name)).toBe(true);
        }
      }),
    );
  });
});
