import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readStatus } from "../../src/capture/capture.ts";
import { type Credentials, readCredentials, writeCredentials } from "../../src/capture/state.ts";
import { DAY_MS, isoInstant, MINUTE_MS } from "../../src/kit/clock.ts";
import { deviceOf, expectAgreement, flagsOf, heldOf, startAgent, type TestAgent } from "../support/capture.ts";
import { makeRepository } from "../support/turns.ts";

describe("a server that was restored from an older backup", () => {
  it("is refilled behind what it has: telemetry without a gap, sessions and spans again, in all repositories", async () => {
    const a = await startAgent();
    makeRepository(join(a.home, "other"), "github.com/acme/other");
    a.work("s1", 3);
    a.work("s2", 3, 0, "other");
    await a.pass();
    expect(readStatus(a.capture).serverWasRestored).toBeNull();
    await a.server.forgetting(async () => {
      a.advance(DAY_MS);
      a.work("s1", 3, 3);
      a.work("s2", 3, 3, "other");
      a.work("s3", 2);
      await a.pass();
      expectAgreement(a);
    });
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(18);
    a.advance(DAY_MS);
    // Something new in one repository alone.
    a.work("s1", 1, 6);
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(45);
    expect(readStatus(a.capture).serverWasRestored).toBe(isoInstant(a.server.clock.now()));
  });

  it("that never knew the machine's streams is filled from 1", async () => {
    const a = await startAgent();
    await a.server.forgetting(async () => {
      a.work("s1", 3);
      await a.pass();
    });
    a.work("s1", 1, 3);
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(12);
  });

  it("that does not know the machine any more is given all that is kept once it is connected again", async () => {
    const a = await startAgent({ connected: false });
    await a.server.forgetting(async () => {
      await a.connect();
      a.work("s1", 2);
      await a.pass();
      // What was sent first is forgotten by then.
      await a.sleep(9 * DAY_MS);
      a.work("s1", 3, 2);
      await a.pass();
    });
    a.work("s2", 1);
    expect((await a.pass()).stopped).toBe("The bearer token is not valid");
    await a.connect();
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
    // Revoked since, it is connected a third time: the server has all of it.
    await a.server.revoke(deviceOf(a));
    a.work("s2", 1, 1);
    await a.pass();
    await a.connect();
    await a.pass();
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(3);
  });

  it.each([
    { where: "where it was", gone: undefined },
    { where: "at another address, as its machine is gone", gone: "http://127.0.0.1:1" },
  ])(
    "that still knows the machine is given only what it lost where that is connected again, $where",
    async ({ gone }) => {
      const a = await startAgent();
      a.work("s1", 2);
      await a.pass();
      const old = deviceOf(a);
      await a.server.forgetting(async () => {
        a.work("s1", 1, 2);
        await a.pass();
      });
      const { places } = a.capture;
      if (gone !== undefined) writeCredentials(places, { ...(readCredentials(places) as Credentials), url: gone });
      await a.connect();
      await a.pass();
      const [first, second] = [heldOf(a.server, old), heldOf(a.server, deviceOf(a))];
      expect([first.entries.length, second.entries.map(({ seq }) => seq)]).toEqual([6, [1, 2, 3]]);
      expect(new Set([...first.entries, ...second.entries].map(({ payload }) => payload)).size).toBe(9);
    },
  );

  it("that cannot take it for a week and longer finds it kept until then", async () => {
    const a = await startAgent();
    await a.server.forgetting(async () => {
      a.work("s1", 3);
      await a.pass();
    });
    a.work("s2", 1);
    a.server.between = (path, answer, body) =>
      path === "/api/telemetry/ingest" && body.includes('"seq"')
        ? new Response("{}", { status: 503, headers: { "service-api-version": "1" } })
        : answer();
    await a.pass();
    await a.sleep(9 * DAY_MS);
    await a.pass();
    a.server.between = undefined;
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(12);
  });

  it("is filled up by a machine that has nothing new to send", async () => {
    const a = await startAgent();
    a.work("s1", 3);
    await a.pass();
    await a.server.forgetting(async () => {
      a.work("s1", 2, 3);
      await a.pass();
    });
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(15);
    expect(readStatus(a.capture).serverWasRestored).toBe(isoInstant(a.server.clock.now()));
  });

  it("that lost sessions alone is given them again", async () => {
    const a = await startAgent();
    a.work("s1", 3);
    await a.server.fault("agentTracesIngest", 503);
    await a.pass();
    a.advance(MINUTE_MS);
    expect(heldOf(a.server, deviceOf(a))).toMatchObject({ entries: { length: 9 }, spans: [] });
    await a.server.forgetting(async () => {
      await a.pass();
      expectAgreement(a);
    });
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).spans).not.toEqual([]);
  });

  it("is looked at until every stream was, however often that is interrupted", async () => {
    const a = await startAgent();
    makeRepository(join(a.home, "other"), "github.com/acme/other");
    await a.server.forgetting(async () => {
      a.work("s1", 3);
      a.work("s2", 3, 0, "other");
      await a.pass();
    });
    let left = 3;
    a.server.between = async (path, answer) => {
      if (path !== "/api/telemetry/ingest") return answer();
      left--;
      return left < 0 ? new Response("{}", { status: 503 }) : answer();
    };
    await a.pass();
    a.server.between = undefined;
    a.advance(DAY_MS);
    await a.pass();
    expectAgreement(a);
    expect(heldOf(a.server, deviceOf(a)).entries).toHaveLength(18);
  });
});

describe("a machine that was restored from an older state", () => {
  /** The client's folder is put back to what it was before `work`. */
  async function losing(a: TestAgent, work: () => Promise<void>): Promise<void> {
    const { home } = a.capture.places;
    a.capture.db.pragma("wal_checkpoint(TRUNCATE)");
    cpSync(home, `${home}.old`, { recursive: true });
    await work();
    a.capture.close();
    rmSync(home, { recursive: true });
    cpSync(`${home}.old`, home, { recursive: true });
    a.reopen();
  }

  it.each([
    ["less than was lost", 1],
    ["more than was lost", 6],
  ])("goes on above what the server has, without a flag, and says so: %s waits", async (_, count) => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    await losing(a, async () => {
      a.work("s1", 3, 2);
      await a.pass();
    });
    a.advance(DAY_MS);
    a.work("s2", count);
    await a.pass();
    expect(flagsOf(a.server)).toEqual({ gaps: 0, rollbacks: 0 });
    const { entries, spans } = heldOf(a.server, deviceOf(a));
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from(entries, (_, i) => i + 1));
    expect(entries).toHaveLength(15 + 3 * count);
    expect(new Set(entries.map(({ payload }) => payload)).size).toBe(15 + 3 * count);
    expect(spans).toHaveLength(15 + 3 * count);
    expect(readStatus(a.capture)).toMatchObject({
      stateWasOlder: isoInstant(a.server.clock.now()),
      waiting: { entries: 0, sessions: 0 },
    });
  });

  it("sends what a session did since the copy once, though it went on after that was put back", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    await losing(a, async () => {
      a.advance(MINUTE_MS);
      a.work("s1", 3, 2);
      a.work("s3", 2);
      await a.pass();
    });
    a.advance(MINUTE_MS);
    a.work("s1", 2, 5);
    await a.pass();
    const { entries, spans } = heldOf(a.server, deviceOf(a));
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 27 }, (_, i) => i + 1));
    expect(new Set(entries.map(({ payload }) => payload)).size).toBe(27);
    expect(spans).toHaveLength(27);
    expect(a.capture.db.prepare("SELECT name FROM settings WHERE name = 'mayBeKnown'").all()).toEqual([]);
  });

  it("with what waited then: what the server has is not numbered anew", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.server.fault("telemetryIngest", 503, 1);
    await a.pass();
    a.advance(MINUTE_MS);
    await losing(a, async () => {
      await a.pass();
      expectAgreement(a);
    });
    await a.pass();
    expect(flagsOf(a.server)).toEqual({ gaps: 0, rollbacks: 0 });
    expect(readStatus(a.capture).waiting).toMatchObject({ entries: 0, sessions: 0 });
  });
});
