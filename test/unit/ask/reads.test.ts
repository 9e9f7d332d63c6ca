import { expect, it } from "vitest";
import { judgeDay } from "../../../src/insight/ask/reads.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";

const MIDNIGHT = 20_000 * DAY_MS;

it("allows until the cap is reached, then says how long it is to midnight, never less than a second", () => {
  const noon = MIDNIGHT + DAY_MS / 2;
  expect(judgeDay(0, 3, noon)).toEqual({
    allowed: true,
    limit: 3,
    remaining: 3,
    resetSeconds: 43_200,
    retryAfterSeconds: 0,
  });
  expect(judgeDay(2, 3, noon)).toMatchObject({ allowed: true, remaining: 1 });
  expect(judgeDay(3, 3, noon)).toMatchObject({ allowed: false, remaining: 0, retryAfterSeconds: 43_200 });
  // The cap was lowered during the day.
  expect(judgeDay(9, 3, noon)).toMatchObject({ allowed: false, remaining: 0 });
  expect(judgeDay(3, 3, MIDNIGHT - 1)).toMatchObject({ resetSeconds: 1, retryAfterSeconds: 1 });
});
