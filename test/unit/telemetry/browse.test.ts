import { describe, expect, it } from "vitest";
import { browseRows } from "../../../src/record/telemetry/browse-rows.ts";
import {
  type EntryFilter,
  exportEntries,
  listConflicts,
  listEntries,
  listRepoKeys,
  listStreams,
} from "../../../src/record/telemetry/telemetry.ts";
import { apiToken } from "../../support/api.ts";
import { ask, somebody } from "../../support/every-page.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";

const send = (t: TestInstance, { token }: TestDevice, repoKey: string, seqs: number[], more: object = {}) =>
  t.post("/api/telemetry/ingest", {
    token,
    json: { repoKey, entries: seqs.map((seq) => ({ seq, payload: { type: "tool", seq, ...more } })) },
  });
const seqsOf = (page: { rows: readonly { seq: number }[] }) => page.rows.map((row) => row.seq);

async function everything(t: TestInstance, teamId: string, filter: EntryFilter & { limit?: number } = {}) {
  const rows = [];
  let pages = 0;
  let page = await listEntries(t.instance.core, teamId, filter);
  for (;;) {
    rows.push(...page.rows);
    pages++;
    if (!page.older) break;
    page = await listEntries(t.instance.core, teamId, { ...filter, cursor: page.older });
  }
  return { rows, pages, last: page };
}

/** Two devices and two repositories of one team, deliveries interleaved with another team's, sizes mixed. */
async function filled(t: TestInstance) {
  const a = await t.device();
  const b = await t.device(a.team);
  const other = await t.device();
  const next = new Map<string, number>();
  const more = (device: TestDevice, repo: string, count: number) => {
    const key = device.deviceId + repo;
    const from = next.get(key) ?? 1;
    next.set(key, from + count);
    return send(
      t,
      device,
      repo,
      Array.from({ length: count }, (_, i) => from + i),
      { repo },
    );
  };
  for (let i = 0; i < 12; i++) {
    await Promise.all([more(a, "shop", 3), more(other, "shop", 1 + (i % 4)), more(b, i % 2 ? "shop" : "api", 2)]);
    await more(other, "api", 300);
    await t.post("/api/brain/ingest", {
      token: a.token,
      json: { version: i + 1, files: [{ path: "a.md", content: `${i}` }] },
    });
    t.clock.advance(60_000);
  }
  return { a, b, other };
}

describe("listEntries", () => {
  it("shows a team's entries once each, the last arrival first, on whatever pages", async () => {
    const t = await startInstance();
    const { a, b } = await filled(t);
    const held = t
      .rows(
        `SELECT e.id FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id WHERE s.team_id = ? ORDER BY e.id DESC`,
        a.team.id,
      )
      .map((row) => row.id);
    expect(held).toHaveLength(60);
    for (const limit of [1, 2, 7, 59, 60, 200])
      expect((await everything(t, a.team.id, { limit })).rows.map((row) => row.id)).toEqual(held);
    const first = await listEntries(t.instance.core, a.team.id, { limit: 1 });
    expect(first).toMatchObject({ order: "arrival", rows: [{ receivedAt: t.clock.now() - 60_000, type: "tool" }] });
    expect([a.deviceId, b.deviceId]).toContain(first.rows[0]?.deviceId);
  });

  it("goes back newer page by page to where it came from", async () => {
    const t = await startInstance();
    const { a } = await filled(t);
    const { core } = t.instance;
    const first = await listEntries(core, a.team.id, { limit: 7 });
    const second = await listEntries(core, a.team.id, { limit: 7, cursor: first.older });
    const third = await listEntries(core, a.team.id, { limit: 7, cursor: second.older });
    expect(first.newer).toBeUndefined();
    expect((await listEntries(core, a.team.id, { limit: 7, cursor: third.newer })).rows).toEqual(second.rows);
    expect((await listEntries(core, a.team.id, { limit: 7, cursor: second.newer })).rows).toEqual(first.rows);
  });

  it("narrows by device, repository, time, type and text", async () => {
    const t = await startInstance();
    const start = t.clock.now();
    const { a, b } = await filled(t);
    const rows = async (filter: EntryFilter) => (await everything(t, a.team.id, { limit: 5, ...filter })).rows;
    expect(new Set((await rows({ deviceId: b.deviceId })).map((row) => row.deviceId))).toEqual(new Set([b.deviceId]));
    expect(await rows({ deviceId: b.deviceId })).toHaveLength(24);
    expect(await rows({ repoKey: "api" })).toHaveLength(12);
    expect(await rows({ from: start + 120_000, to: start + 240_000 })).toHaveLength(10);
    expect(await rows({ deviceId: a.deviceId, repoKey: "shop", to: start + 60_000 })).toHaveLength(3);
    expect(await rows({ type: "tool" })).toHaveLength(60);
    expect(await rows({ type: "Tool" })).toHaveLength(0);
    await t.post("/api/telemetry/ingest", {
      token: a.token,
      json: {
        repoKey: "x",
        entries: [{ seq: 1, payload: { type: "prompt", sessionId: "s-1", text: 'Say "Grüße"\n' } }],
      },
    });
    for (const text of ["grüße", 'SAY "GR', '"Grüße"\n'])
      expect(await rows({ text })).toMatchObject([{ type: "prompt", sessionId: "s-1" }]);
    expect(await rows({ text: "nowhere" })).toEqual([]);
  });

  it("knows the session of a payload by either of its names, as hooks of agents spell it too", async () => {
    const { t, device } = await startWithDevice();
    const payloads = [
      { session_id: "s-1" },
      { sessionId: "", session_id: "s-1" },
      { sessionId: "s-1", session_id: "s-2" },
      { session_id: "s".repeat(257) },
      { sessionId: 7 },
    ];
    const entries = payloads.map((payload, i) => ({ seq: i + 1, payload }));
    const json = { repoKey: "shop", entries };
    expect((await t.post("/api/telemetry/ingest", { token: device.token, json })).status).toBe(200);
    const of = async (filter: EntryFilter) =>
      (await everything(t, device.team.id, { limit: 5, ...filter })).rows.map(({ seq, sessionId }) => [seq, sessionId]);
    expect((await of({})).sort()).toEqual([
      [1, "s-1"],
      [2, "s-1"],
      [3, "s-1"],
      [4, null],
      [5, "7"],
    ]);
    expect((await of({ sessionId: "s-1" })).map(([seq]) => seq).sort()).toEqual([1, 2, 3]);
  });

  it("reads one stream by its numbers, a late entry in its place, and tells what is missing before each", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, "shop", [5, 6, 9, 12]);
    await send(t, device, "shop", [8]);
    const page = await listEntries(t.instance.core, device.team.id, { deviceId: device.deviceId, repoKey: "shop" });
    expect(page.order).toBe("seq");
    expect(page.rows.map(({ seq, missingBefore }) => [seq, missingBefore])).toEqual([
      [12, { from: 10, to: 11 }],
      [9, undefined],
      [8, { from: 7, to: 7 }],
      [6, undefined],
      [5, undefined],
    ]);
    expect(page.rows.map((row) => row.deliveryFlag)).toEqual(["gap", "gap", null, "gap", "gap"]);
    const paged = await everything(t, device.team.id, { deviceId: device.deviceId, repoKey: "shop", limit: 2 });
    expect(seqsOf(paged)).toEqual([12, 9, 8, 6, 5]);
    const back = await listEntries(t.instance.core, device.team.id, {
      deviceId: device.deviceId,
      repoKey: "shop",
      limit: 2,
      cursor: paged.last.newer,
    });
    expect(seqsOf(back)).toEqual([8, 6]);
  });

  it("stops after a limit, says how far it came, and continues from there", async () => {
    const { t, device } = await startWithDevice();
    const thousand = Array.from({ length: 1_000 }, (_, i) => i + 1);
    await send(t, device, "shop", [1], { text: "needle" });
    for (let i = 0; i < 21; i++) {
      t.clock.advance(1_000);
      await send(
        t,
        device,
        "shop",
        thousand.map((n) => 1 + i * 1_000 + n),
      );
    }
    for (const scope of [{}, { deviceId: device.deviceId, repoKey: "shop" }]) {
      const page = await listEntries(t.instance.core, device.team.id, { ...scope, text: "needle" });
      expect(page.rows).toEqual([]);
      expect(page.examined).toBeGreaterThanOrEqual(12_000);
      expect(page.examined).toBeLessThan(13_001);
      expect(page.examinedTo).toBe(t.clock.now() - 11_000);
      const next = await listEntries(t.instance.core, device.team.id, { ...scope, text: "needle", cursor: page.older });
      expect(seqsOf(next)).toEqual([1]);
      expect(next.examinedTo).toBeUndefined();
      expect(page.examined + next.examined).toBe(21_001);
    }
  });
});

describe("conflicts", () => {
  it("are marked in the list, filtered for, and listed with what is held", async () => {
    const { t, device } = await startWithDevice();
    const other = await t.device();
    for (const one of [device, other]) {
      await send(t, one, "shop", [1, 2, 3]);
      await send(t, one, "shop", [2], { changed: 1 });
      await send(t, one, "api", [2, 3]);
      await send(t, one, "api", [3], { changed: 2 });
    }
    const { core } = t.instance;
    const only = await listEntries(core, device.team.id, { flagged: "conflict" });
    expect(only.rows.map((row) => [row.repoKey, row.seq, row.conflict])).toEqual([
      ["api", 3, true],
      ["shop", 2, true],
    ]);
    const page = listConflicts(core, device.team.id, { limit: 1 });
    expect(page.rows).toMatchObject([{ repoKey: "api", seq: 3, deviceId: device.deviceId }]);
    expect(JSON.parse(page.rows[0]?.payload ?? "")).toEqual({ type: "tool", seq: 3, changed: 2 });
    expect(JSON.parse(page.rows[0]?.heldPayload ?? "")).toEqual({ type: "tool", seq: 3 });
    const next = listConflicts(core, device.team.id, { limit: 1, cursor: page.older });
    expect(next.rows).toMatchObject([{ repoKey: "shop", seq: 2 }]);
    expect(next.older).toBeUndefined();
    expect(listConflicts(core, device.team.id, { repoKey: "none" }).rows).toEqual([]);
    expect(listConflicts(core, device.team.id, { deviceId: other.deviceId }).rows).toEqual([]);
  });
});

it("lists the entry of the highest seq that there is in its stream, too", async () => {
  const { t, device } = await startWithDevice();
  const last = Number.MAX_SAFE_INTEGER;
  await send(t, device, "shop", [last - 2, last - 1, last]);
  const filter = { deviceId: device.deviceId, repoKey: "shop", limit: 2 };
  const { rows, pages } = await everything(t, device.team.id, filter);
  expect([seqsOf({ rows }), pages]).toEqual([[last, last - 1, last - 2], 2]);
});

it("lists streams with their gaps, the one that grew last first", async () => {
  const { t, device } = await startWithDevice();
  await send(t, device, "a", [1, 4]);
  t.clock.advance(1_000);
  await send(
    t,
    device,
    "b",
    Array.from({ length: 31 }, (_, i) => 1 + i * 3),
  );
  const streams = listStreams(t.instance.core, device.team.id);
  expect(streams).toMatchObject([
    { repoKey: "b", maxSeq: 91, entryCount: 31, conflictCount: 0, missing: 60 },
    { repoKey: "a", gaps: [{ from: 2, to: 3 }], missing: 2, deviceId: device.deviceId },
  ]);
  expect(streams[0]?.gaps).toHaveLength(20);
});

it("lists the streams of some devices, the one that grew last first, without reading all of the team's", async () => {
  const { t, core, device: one } = await startWithDevice();
  const [two, three] = [await t.device(one.team), await t.device(one.team)];
  await send(t, two, "shop", [1]);
  t.clock.advance(1_000);
  await send(t, three, "hidden", [1]);
  t.clock.advance(1_000);
  await send(t, one, "till", [1, 3]);
  const of = { deviceIds: [two.deviceId, one.deviceId] };
  expect(listStreams(core, one.team.id, of)).toMatchObject([
    { repoKey: "till", deviceId: one.deviceId, missing: 1 },
    { repoKey: "shop", deviceId: two.deviceId, missing: 0 },
  ]);
  expect(listRepoKeys(core, one.team.id, of.deviceIds)).toEqual(["shop", "till"]);
  expect([listStreams(core, "other", of), listRepoKeys(core, "other", of.deviceIds)]).toEqual([[], []]);
  for (const { source } of [browseRows(core.store).streamsOf, browseRows(core.store).repoKeysOf]) {
    const plan = core.store.db.prepare<[object], { detail: string }>(`EXPLAIN QUERY PLAN ${source}`);
    const steps = plan.all({ teamId: "", deviceIds: "[]", most: 1 }).map(({ detail }) => detail);
    expect(steps.join("\n")).toMatch(
      /SEARCH s USING (?:COVERING )?INDEX sqlite_autoindex_telemetry_streams_1 \(device_id=\?/,
    );
  }
});

it("counts the missing numbers of more streams than an integer can hold", async () => {
  const { t, device } = await startWithDevice();
  // 2^10 streams, each with nearly 2^53 numbers missing.
  for (let i = 0; i < 1_030; i++) {
    if (i % 500 === 499) t.clock.advance(60_000);
    expect((await send(t, device, `repo ${i}`, [1, Number.MAX_SAFE_INTEGER])).status).toBe(200);
  }
  const [{ missing }] = (await t.get("/api/devices", { token: await apiToken(t, device.team.id) })).body.items;
  expect(missing).toBeGreaterThan(2 ** 63);
  const as = await somebody(t, device.team);
  for (const path of ["/evidence", "/devices", "/telemetry/streams"])
    expect([path, (await ask(t, "GET", path, { as })).status]).toEqual([path, 200]);
});

describe("exportEntries", () => {
  it("writes a team's entries as JSON lines, oldest first, the payload as it was sent", async () => {
    const t = await startInstance();
    const { a, other } = await filled(t);
    await t.post("/api/telemetry/ingest", {
      token: a.token,
      body: '{"repoKey":"raw","entries":[{"seq":1,"clientTimestamp":"2026-11-21T08:00:00Z","payload":{ "n": 12345678901234567890,\r\n "e":"\\u00e9" }}]}',
      headers: { "content-type": "application/json" },
    });
    const lines: string[] = [];
    for await (const line of exportEntries(t.instance.core, a.team.id)) lines.push(line);
    expect(lines).toHaveLength(61);
    expect(lines.every((line) => /^[^\r\n]+\n$/.test(line))).toBe(true);
    expect(lines.at(-1)).toBe(
      `{"seq":1,"repoKey":"raw","deviceId":"${a.deviceId}","receivedAt":"2026-11-21T08:12:00.000Z","clientTimestamp":"2026-11-21T08:00:00Z","payload":{ "n": 12345678901234567890,   "e":"\\u00e9" }}\n`,
    );
    const read = lines.map((line) => JSON.parse(line));
    expect(read.filter((row) => row.deviceId === other.deviceId)).toEqual([]);
    expect(read.map((row) => row.receivedAt)).toEqual(read.map((row) => row.receivedAt).sort());
  });

  it("holds up neither writing nor checkpointing between lines, and leaves out what arrives meanwhile", async () => {
    const { t, device } = await startWithDevice();
    await send(t, device, "shop", [1, 2, 3]);
    const seqs: number[] = [];
    for await (const line of exportEntries(t.instance.core, device.team.id, { repoKey: "shop" })) {
      const { seq } = JSON.parse(line);
      seqs.push(seq);
      if (seq !== 1) continue;
      expect((await send(t, device, "shop", [4])).status).toBe(200);
      expect(t.rows("PRAGMA wal_checkpoint(TRUNCATE)")).toMatchObject([{ busy: 0 }]);
    }
    expect(seqs).toEqual([1, 2, 3]);
    expect(t.count("telemetry_entries")).toBe(4);
  });
});
