import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Buckets, draw, nearestExhaustion } from "../../../src/kit/buckets.ts";

const quota = { count: 20, seconds: 60 };

describe("a bucket", () => {
  it("gives its whole quota at once, then one for each share of the window", () => {
    const buckets = new Buckets();
    for (let i = 0; i < 20; i++)
      expect(buckets.take("a", 0, quota)).toMatchObject({ allowed: true, remaining: 19 - i });
    expect(buckets.take("a", 0, quota)).toEqual({
      allowed: false,
      limit: 20,
      remaining: 0,
      resetSeconds: 60,
      retryAfterSeconds: 3,
    });
    expect(buckets.take("a", 2_999, quota)).toMatchObject({ allowed: false, retryAfterSeconds: 1 });
    expect(buckets.take("a", 3_000, quota)).toMatchObject({ allowed: true, remaining: 0 });
    expect(buckets.take("a", 63_000, quota)).toMatchObject({ allowed: true, remaining: 19, resetSeconds: 3 });
  });

  it("loses nothing to refused requests", () => {
    let fullAt: number | undefined;
    for (let i = 0; i < 100; i++) fullAt = draw(fullAt, 0, quota).fullAt;
    expect(draw(fullAt, 3_000, quota).decision.allowed).toBe(true);
  });

  it("never gives more than quota plus refill, never asks to wait less than a second, and allows a request after the wait", () => {
    const quotas = fc.record({
      count: fc.integer({ min: 1, max: 1_000 }),
      seconds: fc.integer({ min: 1, max: 3_600 }),
    });
    fc.assert(
      fc.property(quotas, fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200 }), (quota, pauses) => {
        let now = 0;
        let fullAt: number | undefined;
        let given = 0;
        for (const pause of pauses) {
          now += pause;
          const drawn = draw(fullAt, now, quota);
          fullAt = drawn.fullAt;
          if (drawn.decision.allowed) given++;
          else {
            expect(drawn.decision.retryAfterSeconds).toBeGreaterThanOrEqual(1);
            expect(draw(fullAt, now + drawn.decision.retryAfterSeconds * 1000, quota).decision.allowed).toBe(true);
          }
        }
        expect(given).toBeLessThanOrEqual(quota.count + (now / 1000) * (quota.count / quota.seconds) + 1);
      }),
    );
  });
});

describe("the map of buckets", () => {
  it("stays bounded under a flood of addresses", () => {
    const buckets = new Buckets(1_000);
    for (let i = 0; i < 50_000; i++) buckets.take(`address ${i}`, i, quota);
    expect(buckets.size).toBeLessThanOrEqual(1_000);
  });

  it("remembers an exhausted address while others that used little come and go", () => {
    const buckets = new Buckets(1_000);
    for (let i = 0; i < 20; i++) buckets.take("greedy", 0, quota);
    for (let i = 0; i < 900; i++) buckets.take(`address ${i}`, 1_000, quota);
    expect(buckets.take("greedy", 1_000, quota).allowed).toBe(false);
  });
});

it("reports a refusal before a permission, then the quota nearest exhaustion", () => {
  const decision = (allowed: boolean, remaining: number, retryAfterSeconds = 0) => ({
    allowed,
    limit: 10,
    remaining,
    resetSeconds: 1,
    retryAfterSeconds,
  });
  expect(nearestExhaustion([decision(true, 5), decision(true, 2), decision(true, 9)])?.remaining).toBe(2);
  expect(nearestExhaustion([decision(true, 0), decision(false, 0, 7), decision(false, 0, 30)])?.retryAfterSeconds).toBe(
    30,
  );
  expect(nearestExhaustion([])).toBeUndefined();
});
