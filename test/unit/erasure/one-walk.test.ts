import { expect, it, vi } from "vitest";
import { eraseRows as spendRows } from "../../../src/insight/spend/erase-rows.ts";
import { rows as noticeRows } from "../../../src/platform/notices/rows.ts";
import { rows as brainRows } from "../../../src/record/brain/rows.ts";
import { segmentRows } from "../../../src/record/telemetry/segment-rows.ts";
import { deliverAll, eraseNow, filesWith, personWith } from "../../support/erasure.ts";
import {
  startInstance,
  startWithDevice,
  startWithTeam,
  type TestDevice,
  type TestInstance,
} from "../../support/instance.ts";

/** An erasure reads what belongs to a whole team once, however many devices it concerns. */

async function tell(t: TestInstance, { token, deviceId }: TestDevice, repoKey: string, sessions = ["s-1"]) {
  const usage = (id: string) => ({ id: `${deviceId}-${id}`, input_tokens: 3, output_tokens: 4 });
  const entries = sessions.map((sessionId, i) => ({
    seq: i + 1,
    payload: { sessionId, usage: usage(`${sessionId}-a`) },
  }));
  const told = await t.post("/api/telemetry/ingest", { token, json: { repoKey, entries } });
  const spans = (id: string) => [{ id: "a", name: "chat", usage: usage(`${id}-b`) }];
  const traces = sessions.map((id) => ({ id, outcome: "ok", userEmail: "ann@example.com", spans: spans(id) }));
  const traced = await t.post("/api/agent-traces/ingest", { token, json: { repoKey, sessions: traces } });
  expect([told.status, traced.status]).toEqual([200, 200]);
}

/** Counts how often an erasure reads what belongs to the whole team, or to all teams. */
async function looksAt(t: TestInstance, request: Parameters<typeof eraseNow>[1]) {
  const { store } = t.instance.core;
  await t.instance.settle();
  const looks = {
    reports: vi.spyOn(spendRows(store).reportsAfter, "all"),
    entries: vi.spyOn(segmentRows(store).ownedFrom, "iterate"),
    brains: vi.spyOn(brainRows(store).currents, "all"),
    notices: vi.spyOn(noticeRows(store).erase, "run"),
  };
  await eraseNow(t.instance.core, request);
  return Object.fromEntries(Object.entries(looks).map(([name, { mock }]) => [name, mock.calls.length]));
}

async function spent(t: TestInstance, { token }: TestDevice) {
  const { body } = await t.get("/api/spend?by=device&since=30d", { token });
  return body.groups.map(({ key, usages }: { key: string; usages: number }) => `${key} ${usages}`);
}

it("reads a team's usage, deliveries and brains as often for a repository of 20 devices as for that of one", async () => {
  const looks: Record<string, number>[] = [];
  for (const count of [1, 20]) {
    const { t, device: first } = await startWithDevice();
    const devices = [first];
    while (devices.length < count) devices.push(await t.device(first.team));
    for (const device of devices) {
      await deliverAll(t, device, "shop", "marigold");
      await tell(t, device, "shop", ["s-7"]);
    }
    const other = await t.device(first.team);
    await tell(t, other, "till");
    looks.push(await looksAt(t, { repo: "shop" }));
    expect(await spent(t, other)).toEqual([`${other.deviceId} 2`]);
    expect(t.rows("SELECT DISTINCT repo_key FROM spend_cells")).toEqual([{ repo_key: "till" }]);
    expect(filesWith(t.directory, "marigold")).toEqual([]);
  }
  const [{ entries: ofOne = 0, ...one } = {}, { entries: ofMany = 0, ...many } = {}] = looks;
  expect(many).toEqual(one);
  // One read takes a hundred entries.
  expect(ofMany).toBeLessThan(ofOne + 5);
});

it.each([
  ["sessions that name a person on somebody else's device", 1, 20],
  ["devices of others with sessions that name a person", 20, 1],
] as const)("reads what a team used as often for 20 %s as for one", async (_, ofDevices, ofSessions) => {
  const looks = [];
  for (const [deviceCount, sessionCount] of [
    [1, 1],
    [ofDevices, ofSessions],
  ] as const) {
    const { t, team } = await startWithTeam();
    await personWith(t, await t.device(team), "ann@example.com");
    const ids = Array.from({ length: sessionCount }, (_, i) => `marigold-${i}`);
    for (let i = 0; i < deviceCount; i++) await tell(t, await t.device(team), "shop", ids);
    const other = await t.device(team);
    const json = {
      repoKey: "till",
      sessions: [{ id: "s-1", outcome: "ok", spans: [{ id: "a", usage: { input_tokens: 5 } }] }],
    };
    expect((await t.post("/api/agent-traces/ingest", { token: other.token, json })).status).toBe(200);
    looks.push((await looksAt(t, { person: "ann@example.com" })).reports);
    expect(await spent(t, other)).toEqual([`${other.deviceId} 1`]);
    expect(t.rows("SELECT DISTINCT device_id AS id FROM spend_cells")).toEqual([{ id: other.deviceId }]);
    expect(filesWith(t.directory, "marigold")).toEqual([]);
  }
  expect(looks[1]).toEqual(looks[0]);
});

it("finds a device's session's usage without reading that of others", async () => {
  const t = await startInstance();
  const { source } = spendRows(t.instance.core.store).cells;
  const bound = { teamId: "", deviceId: "", repoKey: null, session: null };
  const plan = t.instance.core.store.db.prepare(`EXPLAIN QUERY PLAN ${source}`).all(bound);
  const index = "SEARCH spend_cells USING INDEX spend_cells_by_session (device_id=? AND session>? AND session<?)";
  expect(plan).toMatchObject([{ detail: index }]);
});
