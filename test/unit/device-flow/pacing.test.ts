import { describe, expect, it } from "vitest";
import { Pacing } from "../../../src/identity/device-flow/pacing.ts";

const LIFETIME = 900_000;

describe("pacing", () => {
  it("lets the first poll through, however soon", () => {
    const pacing = new Pacing();
    expect([pacing.early("a", 0), pacing.early("a", 0)]).toEqual([false, false]);
    expect(pacing.size).toBe(0);
  });

  it("holds five seconds between polls, to the millisecond", () => {
    const pacing = new Pacing();
    pacing.note("a", 1_000, LIFETIME);
    expect(pacing.early("a", 6_000)).toBe(false);
    expect(pacing.early("a", 5_999)).toBe(true);
    expect(pacing.early("a", 10_999)).toBe(true);
    expect(pacing.early("a", 16_000)).toBe(false);
  });

  it("forgets an authorization that has ended", () => {
    const pacing = new Pacing();
    pacing.note("a", 0, LIFETIME);
    pacing.forget("a");
    expect([pacing.size, pacing.early("a", 1)]).toEqual([0, false]);
  });

  it("forgets authorizations that expired after their tools had stopped polling", () => {
    const pacing = new Pacing();
    for (const key of ["a", "b", "c"]) pacing.note(key, 0, LIFETIME);
    pacing.note("d", LIFETIME - 1, LIFETIME);
    expect(pacing.size).toBe(4);
    pacing.note("e", LIFETIME, LIFETIME);
    expect(pacing.size).toBe(2);
  });

  it("keeps a bounded number, and drops the one whose first poll is oldest", () => {
    const pacing = new Pacing(3);
    for (const [i, key] of ["a", "b", "c", "d"].entries()) pacing.note(key, i, LIFETIME);
    expect(pacing.size).toBe(3);
    expect([pacing.early("a", 10), pacing.early("b", 10), pacing.early("d", 10)]).toEqual([false, true, true]);
  });
});
