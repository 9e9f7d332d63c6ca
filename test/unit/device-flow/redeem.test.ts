import { expect, it } from "vitest";
import { judgeAuthorization } from "../../../src/identity/device-flow/redeem.ts";

it.each([
  ["pending", 1, "pending"],
  ["approved", 1, "approved"],
  ["pending", 0, "expired"],
  ["approved", 0, "expired"],
  ["denied", 1, "over"],
  ["denied", 0, "over"],
  ["redeemed", 1, "over"],
  ["redeemed", 0, "over"],
] as const)("judges what is %s with %i ms left to be %s", (status, left, standing) => {
  expect(judgeAuthorization({ status, expiresAt: 1_000 + left }, 1_000)).toBe(standing);
});

it("knows nothing of what was not found", () => {
  expect(judgeAuthorization(undefined, 0)).toBe("unknown");
});
