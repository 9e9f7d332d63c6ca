import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import type { Team } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { workers } from "../../src/platform/workers/workers.ts";
import { CAPTURE_MODES, type CaptureMode, parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { type Ask, startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

/*
 * A large body is read in a thread of its own, a small one where it is answered, and all of them there with RECKON_WORKERS=0: nobody
 * must see a difference.
 */

const TELEMETRY = "/api/telemetry/ingest";
const BRAIN = "/api/brain/ingest";
const TRACES = "/api/agent-traces/ingest";

const TOKEN = `ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
const WORDS = "Ääh, why does the till never close? 収支 ".repeat(12);
const TABLES = [
  "deliveries",
  "telemetry_streams",
  "telemetry_gaps",
  "telemetry_entries",
  "telemetry_conflicts",
  "withheld_ranges",
  "policy_violations",
  "brain_streams",
  "brain_blobs",
  "brain_manifests",
  "brain_snapshots",
  "brain_currents",
  "trace_sessions",
  "trace_spans",
  "trace_labels",
];

const entry = (seq: number, more: object = {}) => ({
  seq,
  clientTimestamp: "2026-11-21T08:00:00Z",
  payload: { type: "prompt", text: `${WORDS} ${seq}`, ...more },
});
const batch = (count: number, more: object = {}) => ({
  repoKey: "shop",
  mode: "full",
  // In no order, one with a secret, one with a number that parsing rounds.
  entries: Array.from({ length: count }, (_, i) =>
    entry(((i * 7) % count) + 1, i === 3 ? { token: TOKEN } : i === 4 ? { id: 1e21 } : {}),
  ),
  ...more,
});
const span = (i: number, more: object = {}) => ({
  id: `span-${i}`,
  name: "edit",
  startedAt: "2026-11-21T08:00:00Z",
  edits: [{ path: "src/a.ts", startLine: 1, endLine: i + 1 }],
  attributes: { note: WORDS },
  ...more,
});
const traces = (spans: number, more: object = {}) => ({
  repoKey: "shop",
  clientTimestamp: "2026-11-21T08:00:00Z",
  sessions: ["s-1", "s-2", "s-1"].map((id, s) => ({
    id,
    outcome: "success",
    prompt: s === 1 ? TOKEN : WORDS,
    startedAt: "2026-11-21T08:00:00Z",
    spans: Array.from({ length: spans }, (_, i) => span(i, i === 2 ? { token: TOKEN } : { more: s })),
  })),
  labels: Array.from({ length: 20 }, (_, i) => ({ sessionId: "s-1", name: "review", value: `v${i}` })),
  ...more,
});
const snapshot = (version: number, files: readonly string[]) => ({
  version,
  repoKey: "shop",
  clientTimestamp: "2026-11-21T08:00:00Z",
  files: files.map((content, i) => ({ path: `.claude/brain/file-${i}.md`, content })),
});
const texts = Array.from({ length: 12 }, (_, i) => `## Note ${i}\n\n${WORDS.repeat(4)}\n`);

const asJson = (value: unknown): Ask => ({ json: value });
const asGzip = (value: unknown): Ask => ({
  body: new Uint8Array(gzipSync(typeof value === "string" ? value : JSON.stringify(value))),
  headers: { "content-type": "application/json", "content-encoding": "gzip" },
});
const asText = (body: string): Ask => ({ body, headers: { "content-type": "application/json" } });

/** The deliveries, in the order in which they are sent. */
const DELIVERIES: readonly (readonly [path: string, ask: Ask])[] = [
  [TELEMETRY, asJson(batch(60))],
  [TELEMETRY, asJson(batch(60))],
  [TELEMETRY, asGzip(batch(90))],
  [TELEMETRY, asJson({ ...batch(60), entries: [entry(3, { other: WORDS.repeat(40) }), entry(200), entry(200)] })],
  [TELEMETRY, asGzip({ ...batch(1), entries: [{ seq: 300, payload: { text: " ".repeat(60_000) } }] })],
  [TELEMETRY, asGzip(`{"entries":[${" ".repeat(500_000)}]}`)],
  [TELEMETRY, asJson(batch(60, { mode: 7 }))],
  [TELEMETRY, asJson(batch(60, { entries: [...batch(60).entries, { seq: -1, payload: {} }] }))],
  [TELEMETRY, asJson(batch(1_001))],
  [TELEMETRY, asJson({ entries: [{ seq: 1, payload: { text: "x".repeat(70_000) } }] })],
  [TELEMETRY, asText(JSON.stringify(batch(60)).replace('"seq":', '"seq":1,"seq":'))],
  [TELEMETRY, asText(JSON.stringify(batch(60)).replace('"seq":1,', '"seq":1.0000000000000000001,'))],
  [TELEMETRY, asText(`${JSON.stringify(batch(60))}}`)],
  [TELEMETRY, asText("[".repeat(40_000))],
  [TELEMETRY, asText(`\uFEFF${JSON.stringify(batch(60))}`)],
  [TELEMETRY, { ...asText(""), body: new Uint8Array(20_000).fill(0xff) }],
  [TELEMETRY, { ...asGzip(""), body: asGzip(batch(500)).body?.slice(0, -9) as Uint8Array<ArrayBuffer> }],
  [TELEMETRY, asGzip("x".repeat(4_200_000))],
  [TRACES, asJson(traces(20))],
  [TRACES, asJson(traces(21))],
  [TRACES, asJson(traces(1_500, { sessions: traces(1_500).sessions.slice(0, 2) }))],
  [TRACES, asJson(traces(20, { sessions: [{ outcome: "x", spans: [span(1), { name: WORDS.repeat(40) }] }] }))],
  [TRACES, asJson(traces(20, { labels: [1] }))],
  [TRACES, asText(JSON.stringify(traces(20)).replace('"outcome":', '"outcome":"x","outcome":'))],
  [TRACES, asText(JSON.stringify(traces(20)).replace('"repoKey":', '"repoKey":"x","repoKey":'))],
  [BRAIN, asJson(snapshot(1, texts))],
  [BRAIN, asJson(snapshot(2, texts))],
  [BRAIN, asJson(snapshot(4, [...texts.slice(1), `password = "hunter2-${"x".repeat(9)}!"\n`, ""]))],
  [BRAIN, asJson(snapshot(3, texts))],
  [BRAIN, asJson(snapshot(5, [...texts, `A token: ${TOKEN}\n`]))],
  [BRAIN, asJson({ ...snapshot(6, texts), files: [...snapshot(6, texts).files, { path: "../up.md", content: "" }] })],
  [BRAIN, asText(JSON.stringify(snapshot(7, texts)).replace('"version":7', '"version":7.0000000000000000001'))],
  [BRAIN, asText(JSON.stringify(snapshot(7, texts)).replace('"version":7', '"version":7,"version":7'))],
  [BRAIN, asJson(snapshot(8, ["x".repeat(1_100_000)]))],
];

/** The replies of one instance, and what it has stored in the end. */
async function play(threads: string, mode: CaptureMode, tier: Team["tier"] = "team") {
  const t = await startInstance({ settings: { workers: threads, limitInflation: "400000/60" } });
  const device = await t.device(await t.team({ name: "Shop", tier }));
  await setPolicy(t.instance.core, device.team.id, parsePolicy(JSON.stringify({ captureMode: mode })), COMMAND_LINE);
  const replies: unknown[] = [];
  for (const [path, ask] of DELIVERIES) {
    const { status, headers, text } = await t.post(path, { ...ask, token: device.token, headers: ask.headers ?? {} });
    replies.push([path, status, headers.get("retry-after"), headers.get("content-type"), text]);
  }
  const started = workers(t.instance.core).threads;
  return { replies, stored: stored(t, [device.deviceId, device.team.id]), started };
}

function stored(t: TestInstance, ids: readonly string[]): Record<string, unknown> {
  const isOwn = (column: string) => !/^(?:chain|content|sent)_sha256$|_key$/.test(column) || column === "repo_key";
  const rowsOf = (table: string) =>
    t
      .rows(`SELECT * FROM ${table}`)
      .map((row) => Object.entries(row).filter(([column]) => table !== "deliveries" || isOwn(column)))
      .map((row) => ids.reduce((text, id, i) => text.replaceAll(id, `id ${i}`), JSON.stringify(row)));
  return Object.fromEntries(TABLES.map((table) => [table, rowsOf(table)]));
}

describe("large bodies", () => {
  it.each(CAPTURE_MODES)("leave the same replies and rows whether threads read them or not (%s)", async (mode) => {
    const [there, here] = [await play("1", mode), await play("0", mode)];
    expect(there.replies).toEqual(here.replies);
    expect(there.stored).toEqual(here.stored);
    expect([there.started, here.started]).toEqual([1, 0]);
    const statuses = new Set(here.replies.map((reply) => (reply as unknown[])[1]));
    expect([...statuses].sort()).toEqual(mode === "off" ? [200, 400, 413, 429] : [200, 400, 413, 422, 429]);
  });

  it("are read in a thread at every endpoint that has them made ready, and answered alike", async () => {
    const endpoints = CONTRACT.filter(({ spec }) => spec.body?.prepare);
    expect(endpoints.length).toBeGreaterThan(6);
    const answers = async (threads: string) => {
      const { t, token } = await startWithDevice({ settings: { workers: threads } });
      const all: unknown[] = [];
      for (const { spec } of endpoints) {
        const body = `${JSON.stringify(spec.example?.body)}${" ".repeat(20_000)}`;
        const { status, text } = await t.post(spec.path, { ...asText(body), token });
        all.push([spec.path, status, text]);
      }
      expect(workers(t.instance.core).threads).toBe(Number(threads));
      return all;
    };
    const here = await answers("0");
    expect(here).toEqual(endpoints.map(({ spec }) => [spec.path, spec.okStatus ?? 200, expect.any(String)]));
    expect(await answers("1")).toEqual(here);
  });

  it("are checked before the tier is, whether threads read them or not", async () => {
    const [there, here] = [await play("1", "full", "none"), await play("0", "full", "none")];
    expect(there).toEqual({ ...here, started: 1 });
    const statuses = new Set(here.replies.map((reply) => (reply as unknown[])[1]));
    expect([...statuses].sort()).toEqual([400, 402, 413, 429]);
    expect(here.stored.deliveries).toEqual([]);
  });

  it("are refused, for the client to send again, when the thread that reads them ends", async () => {
    const { t, token } = await startWithDevice({ settings: { workers: "1" } });
    const bodies = [
      [TELEMETRY, batch(60)] as const,
      [TRACES, traces(20)] as const,
      [BRAIN, snapshot(1, texts)] as const,
    ];
    const sent = bodies.map(([path, json]) => t.post(path, { json, token }));
    const pool = workers(t.instance.core);
    await expect.poll(() => pool.waiting + pool.busy).toBe(sent.length);
    await pool.close();
    for (const { status, body } of await Promise.all(sent)) {
      expect(status).toBe(503);
      expect(body).toEqual({ error: expect.stringContaining("Nothing of this request was kept") });
    }
    expect(t.count("deliveries")).toBe(0);
  });
});
