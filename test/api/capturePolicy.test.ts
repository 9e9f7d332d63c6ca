import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type CaptureMode, parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

const TELEMETRY = "/api/telemetry/ingest";
const BRAIN = "/api/brain/ingest";
const TRACES = "/api/agent-traces/ingest";
const PULSE = "/api/brain-pulse/ingest";

const SECRET_TEXT = "Why does the till of Mrs Example never close?";

async function open(mode?: CaptureMode) {
  const { t, device } = await startWithDevice();
  if (mode) await put(t, device, mode);
  return { t, device };
}

const put = (t: TestInstance, { team }: TestDevice, captureMode: CaptureMode) =>
  setPolicy(t.instance.core, team.id, parsePolicy(JSON.stringify({ captureMode })), COMMAND_LINE);

async function send(t: TestInstance, { token }: TestDevice, path: string, json: object) {
  const answer = await t.post(path, { token, json });
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const entries = (...seqs: number[]) => ({
  repoKey: "shop",
  entries: seqs.map((seq) => ({ seq, payload: { type: "prompt", text: `${SECRET_TEXT} ${seq}` } })),
});

const faults = (t: TestInstance) => ledgerFaults(t.instance.core);
const violations = (t: TestInstance) => t.rows("SELECT device_id, deliveries, last_at FROM policy_violations");
const ranges = (t: TestInstance) => t.rows("SELECT kind, first, last FROM withheld_ranges ORDER BY id");
/** Whether the database holds a text anywhere. */
const holds = (t: TestInstance, text: string) =>
  t
    .rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .filter(({ name }) => JSON.stringify(t.rows(`SELECT * FROM ${name}`)).includes(text))
    .map(({ name }) => name);

const firstDelivery = (t: TestInstance): number => t.rows("SELECT min(id) AS id FROM deliveries")[0].id;

describe("while the capture mode is off", () => {
  it("telemetry is acknowledged, only its numbers are stored, and the stream goes on without a flag", async () => {
    const { t, device } = await open();
    expect(await send(t, device, TELEMETRY, entries(1, 2))).toMatchObject({ accepted: 2, maxSeq: 2, flagged: null });
    await put(t, device, "off");
    const off = { ok: true, accepted: 0, maxSeq: 5, flagged: null, serverRedacted: 0 };
    expect(await send(t, device, TELEMETRY, entries(5, 3, 4, 4))).toEqual(off);
    expect(ranges(t)).toEqual([{ kind: "telemetry", first: 3, last: 5 }]);
    const ledger = t.rows("SELECT * FROM deliveries");
    // A retry changes nothing, and neither does a batch that was stored before the mode was off.
    expect(await send(t, device, TELEMETRY, entries(3, 4, 5))).toEqual(off);
    expect(await send(t, device, TELEMETRY, entries(1, 2))).toEqual(off);
    expect([t.rows("SELECT * FROM deliveries"), ranges(t).length]).toEqual([ledger, 1]);
    // Each delivery counts once, however often its numbers are sent.
    expect(violations(t)).toMatchObject([{ deliveries: 3 }]);
    expect(
      ledger.map(({ items, capture_mode, withheld, flagged }) => [items, capture_mode, withheld, flagged]),
    ).toEqual([
      [2, "redacted", 0, null],
      [0, "off", 3, null],
    ]);
    await put(t, device, "redacted");
    expect(await send(t, device, TELEMETRY, entries(6, 7))).toMatchObject({ accepted: 2, maxSeq: 7, flagged: null });
    // Entries that came while the mode was off are not recorded later, and are no contradiction.
    expect(await send(t, device, TELEMETRY, entries(4, 5, 6, 8))).toMatchObject({
      accepted: 1,
      maxSeq: 8,
      flagged: null,
    });
    expect(t.rows("SELECT seq FROM telemetry_entries ORDER BY seq").map(({ seq }) => seq)).toEqual([1, 2, 6, 7, 8]);
    expect([t.count("telemetry_gaps"), t.count("telemetry_conflicts"), faults(t)]).toEqual([0, 0, []]);
    expect(t.rows("SELECT max_seq, entry_count FROM telemetry_streams")).toEqual([{ max_seq: 8, entry_count: 5 }]);
  });

  it("a stream may begin, and missing numbers are a gap that later ones fill, as in other modes", async () => {
    const { t, device } = await open("off");
    expect(await send(t, device, TELEMETRY, entries(10))).toMatchObject({ accepted: 0, maxSeq: 10, flagged: null });
    expect(await send(t, device, TELEMETRY, entries(14))).toMatchObject({ accepted: 0, maxSeq: 14, flagged: "gap" });
    expect(await send(t, device, TELEMETRY, entries(12))).toMatchObject({ accepted: 0, maxSeq: 14, flagged: null });
    await put(t, device, "redacted");
    expect(await send(t, device, TELEMETRY, entries(11))).toMatchObject({ accepted: 1, maxSeq: 14, flagged: null });
    expect(t.rows("SELECT from_seq, to_seq FROM telemetry_gaps")).toEqual([{ from_seq: 13, to_seq: 13 }]);
    expect(faults(t)).toEqual([]);
  });

  it("a brain's version is noted and nothing of its files, whatever they hold", async () => {
    const { t, device } = await open();
    const snapshot = (version: number, content = `# ${version}`) => ({
      repoKey: "shop",
      version,
      files: [{ path: "errors.md", content }],
    });
    await send(t, device, BRAIN, snapshot(1));
    await put(t, device, "off");
    const off = { ok: true, version: 2, files: 0, bytes: 0, redactionHits: 0, ledger: { gap: false, rollback: false } };
    expect(await send(t, device, BRAIN, snapshot(2, SECRET_TEXT))).toEqual(off);
    expect(await send(t, device, BRAIN, snapshot(2, SECRET_TEXT))).toEqual(off);
    expect([t.count("brain_snapshots"), t.count("deliveries")]).toEqual([1, 2]);
    await put(t, device, "redacted");
    expect(await send(t, device, BRAIN, snapshot(3))).toMatchObject({ ledger: { gap: false, rollback: false } });
    expect(await send(t, device, BRAIN, snapshot(2, SECRET_TEXT))).toMatchObject({
      ledger: { gap: false, rollback: false },
    });
    expect([t.count("brain_snapshots"), ranges(t), faults(t), holds(t, "Mrs Example")]).toEqual([
      2,
      [{ kind: "brain", first: 2, last: 2 }],
      [],
      [],
    ]);
    await put(t, device, "off");
    expect(await send(t, device, BRAIN, snapshot(5))).toMatchObject({ ledger: { gap: true, rollback: false } });
    expect(t.rows("SELECT flagged FROM deliveries ORDER BY id DESC LIMIT 1")).toEqual([{ flagged: "gap" }]);
  });

  it("traces and pulses leave nothing", async () => {
    const { t, device } = await open("off");
    const session = { id: "s", outcome: "ok", prompts: [{ text: SECRET_TEXT }], spans: [{ id: "a" }] };
    const answer = await send(t, device, TRACES, { sessions: [session], labels: [{ name: "good" }] });
    expect(answer).toEqual({ ok: true, sessions: 0, spans: 0, labels: 0, serverRedacted: 0 });
    const pulse = { repoKey: "shop", at: "2026-11-21T08:00:00Z", counts: { open: 1 }, fingerprints: [] };
    expect(await send(t, device, PULSE, pulse)).toEqual({ ok: true, repoKey: "shop", at: "2026-11-21T08:00:00.000Z" });
    const tables = ["trace_sessions", "trace_spans", "trace_labels", "brain_pulses", "deliveries"];
    expect(tables.map((name) => t.count(name))).toEqual([0, 0, 0, 0, 0]);
    expect(violations(t)).toEqual([{ device_id: device.deviceId, deliveries: 2, last_at: t.clock.now() }]);
    expect(faults(t)).toEqual([]);
  });

  it("the ledger check finds any change to the stored numbers", async () => {
    for (const [sql, problem] of [
      ["UPDATE withheld_ranges SET last = 1 WHERE kind = 'telemetry'", "content"],
      ["UPDATE withheld_ranges SET stream_id = 99 WHERE kind = 'brain'", "owner"],
      ["DELETE FROM withheld_ranges WHERE kind = 'brain'", "content"],
      ["UPDATE deliveries SET withheld = 0 WHERE kind = 'telemetry'", "chain"],
      ["UPDATE deliveries SET capture_mode = 'full' WHERE kind = 'telemetry'", "chain"],
      ["UPDATE telemetry_streams SET max_seq = 1", "newest"],
      [
        "INSERT INTO withheld_ranges (kind, stream_id, first, last, delivery_id) SELECT 'telemetry', 1, 9, 9, max(id) FROM deliveries",
        "stray",
      ],
    ] as const) {
      const { t, device } = await open("off");
      await send(t, device, TELEMETRY, entries(1, 2));
      await send(t, device, BRAIN, { version: 1, files: [{ path: "a.md", content: "A" }] });
      expect(faults(t)).toEqual([]);
      t.instance.core.store.db.exec(sql);
      expect([sql, faults(t).map((one) => one.problem)]).toEqual([sql, expect.arrayContaining([problem])]);
    }
  });
});

describe("while the capture mode is metadata", () => {
  it("of telemetry only what is known to be metadata is stored", async () => {
    const { t, device } = await open("metadata");
    const payload = {
      type: "tool",
      sessionId: "s-1",
      toolName: "Bash",
      model: "claude-opus-4-5",
      costUsd: 0.25,
      exitCode: 1,
      branch: "feature/till",
      commit: "1a2b3c4d",
      edits: [{ path: "src/a b.ts", startLine: 3, endLine: 9, diff: SECRET_TEXT, newText: SECRET_TEXT }],
      usage: { id: "msg_1", input_tokens: 77, note: SECRET_TEXT },
      text: SECRET_TEXT,
      input: { command: SECRET_TEXT },
      output: SECRET_TEXT,
      error: SECRET_TEXT,
      name: SECRET_TEXT,
      [SECRET_TEXT]: 1,
    };
    const body = JSON.stringify({
      mode: SECRET_TEXT,
      entries: [
        { seq: 1, payload },
        { seq: 2, payload: { type: "usage", input: 5, output: 7 } },
      ],
    }).replace(":77,", ":12345678901234567890,");
    const answer = await t.post(TELEMETRY, {
      token: device.token,
      body,
      headers: { "content-type": "application/json" },
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, accepted: 2, maxSeq: 2, flagged: null, serverRedacted: 0 },
    ]);
    expect(t.rows("SELECT payload FROM telemetry_entries ORDER BY seq").map((row) => row.payload)).toEqual([
      '{"type":"tool","sessionId":"s-1","toolName":"Bash","model":"claude-opus-4-5","costUsd":0.25,"exitCode":1,' +
        '"branch":"feature/till","commit":"1a2b3c4d","edits":[{"path":"src/a b.ts","startLine":3,"endLine":9}],' +
        '"usage":{"id":"msg_1","input_tokens":12345678901234567890}}',
      '{"type":"usage","input":5,"output":7}',
    ]);
    expect(t.rows("SELECT mode, items, capture_mode, withheld FROM deliveries")).toEqual([
      { mode: null, items: 2, capture_mode: "metadata", withheld: 1 },
    ]);
    expect([holds(t, "Mrs Example"), faults(t)]).toEqual([[], []]);
    expect(violations(t)).toEqual([{ device_id: device.deviceId, deliveries: 1, last_at: t.clock.now() }]);
  });

  it("an entry that comes again under another mode is the same entry", async () => {
    const { t, device } = await open();
    await send(t, device, TELEMETRY, entries(1));
    await put(t, device, "metadata");
    const again = { accepted: 0, maxSeq: 1, flagged: null };
    expect(await send(t, device, TELEMETRY, entries(1))).toMatchObject(again);
    expect(await send(t, device, TELEMETRY, entries(2))).toMatchObject({ accepted: 1, flagged: null });
    expect(await send(t, device, TELEMETRY, entries(2))).toMatchObject({ accepted: 0, flagged: null });
    await put(t, device, "full");
    expect(await send(t, device, TELEMETRY, entries(1, 2))).toMatchObject({ ...again, maxSeq: 2 });
    expect(t.rows("SELECT payload FROM telemetry_entries ORDER BY seq").map(({ payload }) => payload)).toEqual([
      JSON.stringify(entries(1).entries[0]?.payload),
      '{"type":"prompt"}',
    ]);
    const other = { repoKey: "shop", entries: [{ seq: 2, payload: { type: "tool" } }] };
    expect(await send(t, device, TELEMETRY, other)).toMatchObject({ accepted: 0, flagged: "rollback" });
    expect(faults(t)).toEqual([]);
  });

  it("sessions, spans and labels are stored with their metadata, and text that was stored before stays", async () => {
    const { t, device } = await open();
    const span = { id: "a", name: "chat gpt-5", output: SECRET_TEXT, attributes: { "gen_ai.usage.input_tokens": 3 } };
    const session = {
      id: "s",
      outcome: "ok",
      agent: "codex",
      startedAt: "2026-11-21T08:00:00Z",
      attributes: { "gen_ai.usage.input_tokens": 3, said: "Allowed then" },
      prompts: [{ at: "2026-11-21T08:00:00Z", text: "Allowed then" }],
      spans: [span],
    };
    await send(t, device, TRACES, { sessions: [session] });
    await put(t, device, "metadata");
    const grown = {
      ...session,
      title: SECRET_TEXT,
      prompts: [...session.prompts, { at: "2026-11-21T08:01:00Z", text: SECRET_TEXT }],
      spans: [
        span,
        {
          id: "b",
          name: SECRET_TEXT,
          startTimeUnixNano: "1763712000000000000",
          attributes: [
            { key: "gen_ai.usage.output_tokens", value: { intValue: "12" } },
            { key: "gen_ai.prompt", value: { stringValue: SECRET_TEXT } },
          ],
        },
      ],
    };
    const labels = [{ sessionId: "s", name: "review", value: "good", comment: SECRET_TEXT }];
    for (let i = 0; i < 2; i++)
      expect(await send(t, device, TRACES, { sessions: [grown], labels })).toMatchObject({ sessions: 1, spans: 2 });
    const documents = (table: string) => t.rows(`SELECT document FROM ${table} ORDER BY id`).map((row) => row.document);
    expect(documents("trace_sessions").map((text) => JSON.parse(text))).toEqual([
      {
        id: "s",
        outcome: "ok",
        agent: "codex",
        startedAt: "2026-11-21T08:00:00Z",
        attributes: session.attributes,
        prompts: [{ at: "2026-11-21T08:00:00Z", text: "Allowed then" }, { at: "2026-11-21T08:01:00Z" }],
      },
    ]);
    expect(documents("trace_spans")).toEqual([
      JSON.stringify(span),
      '{"id":"b","startTimeUnixNano":"1763712000000000000","attributes":[{"key":"gen_ai.usage.output_tokens","value":{"intValue":"12"}}]}',
    ]);
    expect(documents("trace_labels")).toEqual(['{"sessionId":"s","name":"review","value":"good"}']);
    expect(
      t.rows("SELECT items, capture_mode, withheld FROM deliveries WHERE id > (SELECT min(id) FROM deliveries)"),
    ).toEqual([{ items: 1, capture_mode: "metadata", withheld: 4 }]);
    expect(faults(t)).toEqual([]);
  });

  it("of a brain path, size and digest are stored, and the ledger proves them", async () => {
    const { t, device } = await open("metadata");
    const snapshot = (version: number) => ({
      repoKey: "shop",
      version,
      files: [
        { path: "errors.md", content: SECRET_TEXT },
        { path: "empty.md", content: "" },
      ],
    });
    const answer = { version: 1, files: 2, bytes: SECRET_TEXT.length, ledger: { gap: false, rollback: false } };
    expect(await send(t, device, BRAIN, snapshot(1))).toMatchObject(answer);
    expect(await send(t, device, BRAIN, snapshot(1))).toMatchObject(answer);
    expect([t.count("deliveries"), holds(t, "Mrs Example"), faults(t)]).toEqual([1, [], []]);
    const digest = createHash("sha256").update(SECRET_TEXT).digest("hex");
    expect(
      t.rows("SELECT bytes, content, lower(hex(withheld_sha256)) AS digest FROM brain_blobs WHERE bytes > 0"),
    ).toEqual([{ bytes: SECRET_TEXT.length, content: "", digest }]);
    const { body } = await t.get("/api/brain/search?q=example", { token: device.token });
    expect(body.hits).toEqual([]);
    // The same version under another mode is a retry; the next one brings the content.
    await put(t, device, "redacted");
    expect(await send(t, device, BRAIN, snapshot(1))).toMatchObject(answer);
    expect([t.count("deliveries"), holds(t, "Mrs Example")]).toEqual([1, []]);
    expect(await send(t, device, BRAIN, snapshot(2))).toMatchObject({ ledger: { gap: false, rollback: false } });
    expect([holds(t, "Mrs Example"), faults(t)]).toEqual([["brain_blobs"], []]);
    await put(t, device, "metadata");
    expect(await send(t, device, BRAIN, snapshot(2))).toMatchObject({ ledger: { gap: false, rollback: false } });
    expect(t.count("deliveries")).toBe(2);
    // An empty file has nothing to withhold, so sending one does not violate the policy.
    const violations = () => t.rows("SELECT deliveries FROM policy_violations");
    const before = violations();
    const empty = { repoKey: "shop", version: 3, files: [{ path: "empty.md", content: "" }] };
    expect(await send(t, device, BRAIN, empty)).toMatchObject({ files: 1, bytes: 0 });
    expect(violations()).toEqual(before);
    const putBack = (content: string) =>
      t.rows("UPDATE brain_blobs SET content = ? WHERE withheld_sha256 IS NOT NULL AND bytes > 0 RETURNING 1", content);
    putBack("what was withheld");
    expect(faults(t)).toMatchObject([{ deliveryId: firstDelivery(t), problem: "content" }]);
    putBack("");
    t.instance.core.store.db.exec("UPDATE brain_blobs SET bytes = 1 WHERE withheld_sha256 IS NOT NULL AND bytes > 0");
    expect(faults(t)).toMatchObject([{ deliveryId: firstDelivery(t), problem: "content" }]);
  });

  it("content that was delivered cannot be passed off as withheld", async () => {
    const { t, device } = await open();
    await send(t, device, BRAIN, { version: 1, files: [{ path: "a.md", content: SECRET_TEXT }] });
    t.instance.core.store.db.exec("UPDATE brain_blobs SET content = '', withheld_sha256 = sha256");
    expect(faults(t)).toMatchObject([{ deliveryId: firstDelivery(t), problem: "content" }]);
  });

  it("of a pulse only counts whose name is a name, and not text, are stored", async () => {
    const { t, device } = await open("metadata");
    const counts = { open: 1, "brain.entries": 2, [SECRET_TEXT]: 3 };
    await send(t, device, PULSE, { at: "2026-11-21T08:00:00Z", counts, fingerprints: ["3fa9c1d2"] });
    expect(t.rows("SELECT counts, fingerprints FROM brain_pulses")).toEqual([
      { counts: '{"open":1,"brain.entries":2}', fingerprints: '["3fa9c1d2"]' },
    ]);
    expect(violations(t)).toMatchObject([{ deliveries: 1 }]);
  });

  it("a delivery of metadata alone does not violate the policy", async () => {
    const { t, device } = await open("metadata");
    await send(t, device, TELEMETRY, {
      entries: [{ seq: 1, payload: { type: "edit", path: "a.ts", text: "", n: 1 } }],
    });
    await send(t, device, TRACES, { sessions: [{ id: "s", outcome: "ok", spans: [{ id: "a", name: "edit" }] }] });
    await send(t, device, BRAIN, { version: 1, files: [] });
    expect([t.rows("SELECT withheld FROM deliveries"), violations(t)]).toEqual([
      [{ withheld: 0 }, { withheld: 0 }, { withheld: 0 }],
      [],
    ]);
  });
});

it("a mode set by another process applies to deliveries a moment later", async () => {
  const { t, device } = await open();
  await send(t, device, TELEMETRY, entries(1));
  const { default: Sqlite } = await import("better-sqlite3");
  const beside = new Sqlite(`${t.directory}/reckon.db`);
  beside
    .prepare("INSERT INTO policies (team_id, document, created_at) VALUES (?, ?, 0)")
    .run(device.team.id, '{"captureMode":"off"}');
  beside.close();
  t.clock.advance(25);
  expect(await send(t, device, TELEMETRY, entries(2))).toMatchObject({ accepted: 0, maxSeq: 2 });
});

it.each(["redacted", "full"] as const)("in %s everything is kept, and secrets are replaced", async (mode) => {
  const { t, device } = await open(mode);
  const text = `${SECRET_TEXT} ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}`;
  const body = await send(t, device, TELEMETRY, { entries: [{ seq: 1, payload: { text, password: "hunter22x" } }] });
  expect(body).toMatchObject({ accepted: 1, serverRedacted: 1 });
  const [{ payload }] = t.rows("SELECT payload FROM telemetry_entries");
  expect(payload).toContain("Mrs Example");
  expect(payload).not.toContain("hunter22x");
  expect([t.rows("SELECT capture_mode, withheld FROM deliveries"), violations(t)]).toEqual([
    [{ capture_mode: mode, withheld: 0 }],
    [],
  ]);
});
