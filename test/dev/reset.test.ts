import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startLocal, type TestLocal } from "../support/dev.ts";

const CEILING_MS = 50;

async function change(t: TestLocal): Promise<void> {
  const { deviceToken, deviceId } = t.local.credentials;
  await t.post("/api/telemetry/ingest", { token: deviceToken, json: { entries: [{ seq: 1, payload: {} }] } });
  const files = [{ path: ".claude/brain/errors.md", content: "## 2026-11-20 Zebra crossing\n\nLost.\n" }];
  await t.post("/api/brain/ingest", { token: deviceToken, json: { version: 1, repoKey: "zoo", files } });
  await t.post("/api/cli/device/code");
  await t.control("/_dev/team", { tier: "starter", suspended: true, seats: 1 });
  await t.control(`/_dev/devices/${deviceId}`, { action: "rotate" });
  await t.control("/_dev/credentials", { kind: "device", state: "revoked" });
  await t.control("/_dev/faults", { operationId: "getPolicy", status: 500, times: 5 });
  await t.control("/_dev/clock", { advance: "200d", freeze: true });
}

const state = async (t: TestLocal) => (await t.get("/_dev/state")).body;

describe("POST /_dev/reset", () => {
  it("goes back to the seed: data, credentials, team, clock, faults and journal", async () => {
    const t = await startLocal({ empty: false });
    const before = await state(t);
    await change(t);
    expect((await state(t)).counts).not.toEqual(before.counts);
    const { tookMs, ...told } = await t.control("/_dev/reset");
    expect(tookMs).toEqual(expect.any(Number));
    expect(told).toEqual(before);
    expect(await state(t)).toEqual(before);
    const { deviceToken, readToken, cliToken, connectCode } = t.local.credentials;
    expect((await t.get("/api/policy", { token: deviceToken })).status).toBe(200);
    expect((await t.get("/api/me/brain/context?q=cart", { token: readToken })).status).toBe(200);
    expect((await t.get("/api/cli/me", { token: cliToken })).status).toBe(200);
    const json = { code: connectCode, consent: { version: "1" } };
    expect((await t.post("/api/connect/exchange", { json })).status).toBe(200);
  });

  it("goes back to the log as it was, under its name, also in a directory that is opened again", async () => {
    let t = await startLocal({ seed: "one" });
    const log = () => readFileSync(join(t.directory, "ledger-checkpoint"), "utf8").split("\n").slice(0, 3);
    const before = log();
    for (let i = 0; i < 2; i++) {
      await change(t);
      await t.control("/_dev/reset");
      expect(log()).toEqual(before);
    }
    await change(t);
    await t.close();
    t = await startLocal({ directory: t.directory });
    await t.control("/_dev/reset");
    expect(log()).toEqual(before);
    expect(t.log.join("")).not.toContain("ledger_epoch_opened");
  });

  it("takes installers with it that were registered since, and their files", async () => {
    const t = await startLocal();
    const files = () => readdirSync(join(t.directory, "releases"));
    await t.control("/_dev/releases", { version: "2.4.0" });
    await t.control("/_dev/releases", { version: "2.5.0" });
    writeFileSync(join(t.directory, "releases", ".incoming-1"), "half of one");
    expect(files().length).toBe(3);
    await t.control("/_dev/reset");
    expect([(await t.get("/api/download/latest")).status, files()]).toEqual([404, []]);
    const { release } = await t.control("/_dev/releases", { version: "2.4.0" });
    expect((await t.get(new URL(release.url).pathname)).status).toBe(200);
  });

  it("forgets what the search had indexed", async () => {
    const t = await startLocal();
    const search = () => t.get("/api/brain/search?q=zebra", { token: t.local.credentials.deviceToken });
    const files = [{ path: "a.md", content: "# Zebra\n\nA zebra crosses.\n" }];
    const json = { version: 1, repoKey: "zoo", files };
    await t.post("/api/brain/ingest", { token: t.local.credentials.deviceToken, json });
    expect((await search()).body.hits.length).toBe(1);
    await t.control("/_dev/reset");
    expect((await search()).body.hits).toEqual([]);
  });

  it("fills quotas again", async () => {
    const t = await startLocal({ env: { RECKON_LIMIT_TELEMETRY: "1/60" }, frozen: true });
    const token = t.local.credentials.deviceToken;
    const send = async () => (await t.post("/api/telemetry/ingest", { token, json: { entries: [] } })).status;
    expect([await send(), await send()]).toEqual([200, 429]);
    await t.control("/_dev/reset");
    expect(await send()).toBe(200);
  });

  it("begins the clock anew where it began, standing still if it did", async () => {
    const startAt = Date.UTC(2027, 0, 2);
    for (const frozen of [false, true]) {
      const t = await startLocal({ startAt, frozen });
      await t.control("/_dev/clock", { advance: "30d", freeze: !frozen });
      const { clock } = await t.control("/_dev/reset");
      expect(clock).toMatchObject({ now: "2027-01-02T00:00:00.000Z", frozen });
    }
  });

  it(`takes less than ${CEILING_MS} ms of the processor, demo data and all`, async () => {
    const t = await startLocal({ empty: false });
    const took: number[] = [];
    for (let i = 0; i < 8; i++) {
      const before = process.threadCpuUsage();
      await t.control("/_dev/reset");
      const { user, system } = process.threadCpuUsage(before);
      took.push((user + system) / 1_000);
    }
    expect(Math.min(...took)).toBeLessThan(CEILING_MS);
  });

  it("waits for requests in flight, and lets later ones wait for it", async () => {
    const t = await startLocal();
    const token = t.local.credentials.deviceToken;
    let finish = () => {};
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"entries":['));
        finish = () => {
          controller.enqueue(new TextEncoder().encode("]}"));
          controller.close();
        };
      },
    });
    const slow = t.local.fetch(
      new Request("http://127.0.0.1:4870/api/telemetry/ingest", {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body,
        duplex: "half",
      }),
    );
    const order: string[] = [];
    const noted = (name: string) => (answer: { status: number }) => void order.push(`${name} ${answer.status}`);
    const all = [slow.then(noted("in flight")), t.post("/_dev/reset").then(noted("reset"))];
    // By then the reset has begun.
    await new Promise(setImmediate);
    all.push(t.get("/api/policy", { token }).then(noted("later")));
    await new Promise(setImmediate);
    expect(order).toEqual([]);
    finish();
    await Promise.all(all);
    expect([order[0], order.slice(1).toSorted()]).toEqual(["in flight 200", ["later 200", "reset 200"]]);
  });

  it("may be asked for by many at once", async () => {
    const t = await startLocal();
    const before = await state(t);
    const answers = await Promise.all([1, 2, 3, 4].map(() => t.post("/_dev/reset")));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await state(t)).toEqual(before);
  });
});
