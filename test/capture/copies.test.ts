import { cpSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { examine, readStatus } from "../../src/capture/capture.ts";
import { deviceOf, flagsOf, heldOf, startAgent, type TestAgent } from "../support/capture.ts";

const WHAT =
  "another machine sends as this one, from a copy of its folder: on each of them, connect again with a new code";
let a: TestAgent;
let b: TestAgent;

/** Both have the state of the first, as after a machine's disk was copied; their agents work apart. */
beforeEach(async () => {
  a = await startAgent();
  a.work("s1", 2);
  await a.pass();
  a.capture.close();
  b = await startAgent({ server: a.server, connected: false });
  const { home } = b.capture.places;
  b.capture.close();
  cpSync(a.capture.places.home, home, { recursive: true });
  for (const one of [a, b]) one.reopen();
});

const troubles = () => [a, b].map(({ capture }) => readStatus(capture).trouble);
const warned = async ({ capture }: TestAgent) =>
  (await examine(capture)).filter(({ name }) => name === "sending").map(({ message }) => message);

describe("two machines with one copied folder", () => {
  it("learn of each other where both send at the same instant", async () => {
    a.work("s2", 2);
    b.work("s3", 1);
    a.server.between = async (path, answer, body) => {
      if (path !== "/api/telemetry/ingest" || !body.includes('"seq"')) return answer();
      a.server.between = undefined;
      await b.pass();
      return answer();
    };
    await a.pass();
    expect(flagsOf(a.server)).toEqual({ gaps: 0, rollbacks: 3 });
    expect(troubles()).toEqual([{ reason: WHAT, until: null }, null]);
    expect(await warned(a)).toEqual([WHAT]);
    expect(await warned(b)).toEqual([]);
  });

  it("learn of each other where they send in turns, and are two once each is connected anew", async () => {
    for (const [i, one] of [a, b, a, b].entries()) {
      one.work(`t${i}`, 1);
      await one.pass();
    }
    expect(flagsOf(a.server)).toEqual({ gaps: 0, rollbacks: 0 });
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(6 + 4 * 3);
    expect(troubles()).toEqual([null, { reason: WHAT, until: null }]);
    a.work("t4", 1);
    await a.pass();
    expect(troubles()).toEqual(Array(2).fill({ reason: WHAT, until: null }));
    await a.connect();
    b.work("t5", 1);
    expect((await b.pass()).stopped).toMatch(/disconnected; connect it again with a new code/);
    await b.connect();
    for (const one of [a, b]) {
      one.work(`u-${one.home.slice(-6)}`, 1);
      await one.pass();
    }
    expect(troubles()).toEqual([null, null]);
    expect(deviceOf(a)).not.toBe(deviceOf(b));
    expect([a, b].map((one) => heldOf(a.server, deviceOf(one)).entries.length)).toEqual([3, 6]);
  });
});
