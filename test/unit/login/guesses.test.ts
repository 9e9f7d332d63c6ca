import { describe, expect, it } from "vitest";
import { guardUserCode } from "../../../src/login/login.ts";
import { startInstance } from "../../support/instance.ts";

describe("entering user codes", () => {
  it("makes who entered ten wrong ones wait, right ones included, and nobody else", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    for (let i = 0; i < 10; i++) guardUserCode(core, "usr_a")();
    expect(() => guardUserCode(core, "usr_a")).toThrow(expect.objectContaining({ name: "Complaint", status: 429 }));
    expect(() => guardUserCode(core, "usr_b")).not.toThrow();
  });

  it("counts no right entries", async () => {
    const t = await startInstance();
    for (let i = 0; i < 100; i++) expect(() => guardUserCode(t.instance.core, "usr_a")).not.toThrow();
  });

  it("lets another entry be tried as time passes, and ten after five minutes", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const wrong = () => guardUserCode(core, "usr_a")();
    for (let i = 0; i < 10; i++) wrong();
    t.clock.advance(29_999);
    expect(wrong).toThrow("Try again in a second.");
    t.clock.advance(1);
    wrong();
    expect(wrong).toThrow("Try again in 30 seconds.");
    // The wall clock has no say in it.
    t.clock.jump(3_600_000);
    expect(wrong).toThrow("Try again");
    t.clock.advance(300_000);
    for (let i = 0; i < 10; i++) wrong();
    expect(wrong).toThrow("Try again");
  });

  it("remembers a bounded number of people, those who failed last", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    for (let i = 0; i < 10; i++) guardUserCode(core, "first")();
    for (let i = 0; i < 10; i++) guardUserCode(core, "last")();
    for (let i = 0; i < 9_998; i++) guardUserCode(core, `other ${i}`)();
    expect(() => guardUserCode(core, "first")).toThrow();
    guardUserCode(core, "one more")();
    expect(() => guardUserCode(core, "first")).not.toThrow();
    expect(() => guardUserCode(core, "last")).toThrow();
  });
});
