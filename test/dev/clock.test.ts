import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { LocalClock } from "../../src/surfaces/dev/clock.ts";
import { startLocal } from "../support/dev.ts";
import { TestClock } from "../support/instance.ts";

describe("a local clock", () => {
  it("follows its base until it is moved, and goes on from there", () => {
    const base = new TestClock();
    const clock = new LocalClock(base);
    const began = base.now();
    clock.advance(DAY_MS);
    base.advance(1_000);
    expect([clock.now() - began, clock.monotonic()]).toEqual([DAY_MS + 1_000, DAY_MS + 1_000]);
  });

  it("stands still while frozen, is moved all the same, and runs on from where it stands", () => {
    const base = new TestClock();
    const clock = new LocalClock(base);
    const began = base.now();
    clock.freeze();
    base.advance(5_000);
    expect([clock.now(), clock.monotonic()]).toEqual([began, 0]);
    clock.advance(60_000);
    expect([clock.now() - began, clock.monotonic()]).toEqual([60_000, 60_000]);
    clock.run();
    base.advance(1_000);
    expect([clock.now() - began, clock.monotonic()]).toEqual([61_000, 61_000]);
  });

  it("set back moves the wall clock alone: intervals never go backwards", () => {
    const base = new TestClock();
    const clock = new LocalClock(base);
    for (const frozen of [false, true]) {
      if (frozen) clock.freeze();
      const before = clock.monotonic();
      clock.set(clock.now() - DAY_MS);
      expect(clock.monotonic()).toBe(before);
      clock.set(clock.now() + 10);
      expect(clock.monotonic()).toBe(before + 10);
    }
  });

  it("is put back where an earlier one was, running or frozen", () => {
    for (const frozen of [false, true]) {
      const base = new TestClock();
      const earlier = new LocalClock(base);
      earlier.advance(3 * DAY_MS);
      if (frozen) earlier.freeze();
      const later = new LocalClock(base);
      later.restore(earlier.state());
      base.advance(1_000);
      expect([later.now(), later.frozen]).toEqual([earlier.now(), frozen]);
    }
  });
});

describe("POST /_dev/clock", () => {
  it("sets, advances and freezes in one go, and tells where the clock is", async () => {
    const t = await startLocal();
    const { clock } = await t.control("/_dev/clock", { set: "2027-03-01T00:00:00Z", advance: "12h", freeze: true });
    expect(clock).toMatchObject({ now: "2027-03-01T12:00:00.000Z", frozen: true });
    t.base.advance(60_000);
    expect((await t.get("/_dev/clock")).body.clock.now).toBe("2027-03-01T12:00:00.000Z");
    await t.control("/_dev/clock", { freeze: false });
    t.base.advance(1_500);
    expect((await t.get("/_dev/clock")).body.clock).toMatchObject({ now: "2027-03-01T12:00:01.500Z", frozen: false });
  });

  it("takes milliseconds and a number of them since the epoch", async () => {
    const t = await startLocal({ frozen: true });
    const { clock } = await t.control("/_dev/clock", { set: Date.UTC(2026, 11, 1), advance: 1_500 });
    expect(clock.now).toBe("2026-12-01T00:00:01.500Z");
  });

  it.each([
    [{ advance: "soon" }, "90d"],
    [{ advance: -5 }, "advance"],
    [{ set: "yesterday" }, "set"],
    [{ set: "2027-02-31T00:00:00Z" }, "on a day that there is"],
    [{ set: "2027-01-01T00:00:00+05" }, "must be an instant"],
    [{ set: "9999-12-31T00:00:00Z" }, "2000 to 9998"],
    [{ advance: Number.MAX_SAFE_INTEGER }, "2000 to 9998"],
    [{ forward: "1d" }, "freeze, advance, set"],
  ])("refuses %j and says what would do", async (body, says) => {
    const t = await startLocal({ frozen: true });
    const before = (await t.get("/_dev/clock")).body.clock.now;
    const answer = await t.post("/_dev/clock", { json: body });
    expect([answer.status, answer.body.code]).toEqual([400, "bad_request"]);
    expect(answer.body.error).toContain(says);
    expect((await t.get("/_dev/clock")).body.clock.now).toBe(before);
  });
});
