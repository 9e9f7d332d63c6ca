import { describe, expect, it } from "vitest";
import { guardUserCode } from "../../../src/identity/device-flow/device-flow.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

const IP = "192.0.2.1";

/** Enters wrong codes as somebody, until there were as many or they are made to wait. */
function enterWrong(t: TestInstance, count: number, person: string, ip = IP) {
  for (let i = 0; i < count; i++) guardUserCode(t.instance.core, person, ip)();
}

const look = (t: TestInstance, person: string, ip = IP) => guardUserCode(t.instance.core, person, ip);

describe("entering user codes", () => {
  it("makes a person who entered ten wrong codes wait, right ones included, and nobody else at the address", async () => {
    const t = await startInstance();
    enterWrong(t, 10, "usr_a");
    expect(() => look(t, "usr_a")).toThrow(expect.objectContaining({ name: "Problem", status: 429 }));
    // Another network does not help.
    expect(() => look(t, "usr_a", "198.51.100.1")).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ retryAfterSeconds: 30 }) }),
    );
    expect(() => enterWrong(t, 5, "usr_b")).not.toThrow();
  });

  it("makes an address with a hundred wrong codes wait, except for people there who entered none", async () => {
    const t = await startInstance();
    for (let i = 0; i < 20; i++) enterWrong(t, 5, `usr_${i}`);
    // This person entered fewer than ten wrong codes.
    expect(() => look(t, "usr_0")).toThrow(expect.objectContaining({ status: 429 }));
    expect(() => look(t, "usr_0", "198.51.100.1")).not.toThrow();
    expect(() => look(t, "usr_new")).not.toThrow();
    enterWrong(t, 1, "usr_new");
    expect(() => look(t, "usr_new")).toThrow(expect.objectContaining({ status: 429 }));
  });

  it("counts an IPv6 subscriber's addresses as one", async () => {
    const t = await startInstance();
    for (let i = 0; i < 20; i++) enterWrong(t, 5, `usr_${i}`, `2001:db8::${i}`);
    expect(() => look(t, "usr_0", "2001:db8::ffff")).toThrow(expect.objectContaining({ status: 429 }));
  });

  it("does not count right codes", async () => {
    const t = await startInstance();
    for (let i = 0; i < 200; i++) expect(() => look(t, "usr_a")).not.toThrow();
  });

  it("allows another try as time passes, and ten after five minutes", async () => {
    const t = await startInstance();
    const wrong = () => enterWrong(t, 1, "usr_a");
    for (let i = 0; i < 10; i++) wrong();
    t.clock.advance(29_999);
    expect(wrong).toThrow("Try again in a second.");
    t.clock.advance(1);
    wrong();
    expect(wrong).toThrow("Try again in 30 seconds.");
    // The wall clock does not matter.
    t.clock.jump(3_600_000);
    expect(wrong).toThrow("Try again");
    t.clock.advance(300_000);
    for (let i = 0; i < 10; i++) wrong();
    expect(wrong).toThrow("Try again");
  });

  it("remembers a bounded number of people, those who failed last", async () => {
    const t = await startInstance();
    enterWrong(t, 10, "first", "192.0.2.1");
    enterWrong(t, 10, "last", "192.0.2.2");
    for (let i = 0; i < 9_998; i++) enterWrong(t, 1, `other ${i}`, `198.51.${i >> 8}.${i & 255}`);
    expect(() => look(t, "first")).toThrow();
    enterWrong(t, 1, "one more", "203.0.113.1");
    expect(() => look(t, "first")).not.toThrow();
    expect(() => look(t, "last")).toThrow();
  });
});
