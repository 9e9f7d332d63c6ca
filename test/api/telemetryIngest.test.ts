import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";

const PATH = "/api/telemetry/ingest";

type Sent = { seq: number; payload: object; clientTimestamp?: string };
const entry = (seq: number, payload: object = { n: seq }): Sent => ({ seq, payload });
const entries = (...seqs: number[]) => ({ entries: seqs.map((seq) => entry(seq)) });
const flags = ({ body }: { body: { accepted: number; maxSeq: number; flagged: string | null } }) => [
  body.accepted,
  body.maxSeq,
  body.flagged,
];
const held = (t: TestInstance) => t.rows("SELECT seq FROM telemetry_entries ORDER BY seq").map((row) => row.seq);
const gaps = (t: TestInstance) =>
  t.rows('SELECT from_seq AS "from", to_seq AS "to" FROM telemetry_gaps ORDER BY from_seq');

describe("telemetryIngest", () => {
  it("stores entries under the device's stream and says how many and up to where", async () => {
    const { t, token, deviceId, team } = await startWithDevice();
    const answer = await t.post(PATH, {
      token,
      json: {
        repoKey: "acme/shop",
        mode: "live",
        entries: [{ seq: 1, payload: { type: "prompt" }, clientTimestamp: "2026-11-21T07:59:59.5+01:00" }],
      },
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, accepted: 1, maxSeq: 1, flagged: null, serverRedacted: 0 },
    ]);
    expect(t.rows("SELECT team_id, device_id, repo_key, max_seq, entry_count FROM telemetry_streams")).toEqual([
      { team_id: team.id, device_id: deviceId, repo_key: "acme/shop", max_seq: 1, entry_count: 1 },
    ]);
    expect(t.rows("SELECT seq, client_timestamp, payload FROM telemetry_entries")).toEqual([
      { seq: 1, client_timestamp: "2026-11-21T07:59:59.5+01:00", payload: '{"type":"prompt"}' },
    ]);
    expect(t.rows("SELECT kind, mode, items, flagged FROM deliveries")).toEqual([
      { kind: "telemetry", mode: "live", items: 1, flagged: null },
    ]);
    expect(t.rows("SELECT last_seen_at FROM devices")[0].last_seen_at).toBe(t.clock.now());
  });

  it("stores a batch whose numbers are scattered over all that is stored in several parts, with the same result", async () => {
    const { t, device } = await startWithDevice();
    const even = Array.from({ length: 255 }, (_, i) => 2 * (i + 1));
    const deliver = (some: readonly Sent[]) => t.post(PATH, { token: device.token, json: { entries: some } });
    for (const seq of even) await deliver([entry(seq)]);
    const [{ last }] = t.rows("SELECT max(id) AS last FROM deliveries");
    const parts = () => t.rows("SELECT items FROM deliveries WHERE id > ? ORDER BY id", last).map(({ items }) => items);
    // All that is missing, two beyond, most of what is stored once more, and one with other content.
    const other = { n: "other" };
    const batch = Array.from({ length: 512 }, (_, i) => entry(i + 1, i === 39 ? other : { n: i + 1 }));
    const answer = await deliver(batch);
    expect([answer.status, flags(answer), answer.headers.get("reckon-receipt")]).toEqual([
      200,
      [257, 512, "rollback"],
      expect.any(String),
    ]);
    expect(held(t)).toEqual(batch.map(({ seq }) => seq));
    expect(t.rows("SELECT payload FROM telemetry_entries WHERE seq = 40")).toEqual([{ payload: '{"n":40}' }]);
    expect(t.rows("SELECT seq, payload FROM telemetry_conflicts")).toEqual([{ seq: 40, payload: '{"n":"other"}' }]);
    expect([gaps(t), t.rows("SELECT max_seq, entry_count FROM telemetry_streams")]).toEqual([
      [],
      [{ max_seq: 512, entry_count: 512 }],
    ]);
    expect(parts()).toEqual([252, 6]);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
    expect(flags(await deliver(batch))).toEqual([0, 512, "rollback"]);
    expect(parts()).toHaveLength(2);
  });

  it("keeps payloads byte for byte: spacing, long numbers, escapes, duplicate and odd members", async () => {
    const { t, token } = await startWithDevice();
    const payloads = [
      '{ "a" : 1.0 }',
      '{"id":12345678901234567890,"x":1e400}',
      '{"a":1,"a":2}',
      '{"__proto__":{"x":1},"constructor":null}',
      '{"s":"\\ud800 \\u0041\\/"}',
      '{"text":"Zürich 💥\\u0000"}',
    ];
    const body = `{"entries":[${payloads.map((payload, i) => `{"seq":${i + 1}, "payload":${payload}}`).join(" , ")}]}`;
    const answer = await t.post(PATH, { token, body, headers: { "content-type": "application/json" } });
    expect(flags(answer)).toEqual([payloads.length, payloads.length, null]);
    expect(t.rows("SELECT payload FROM telemetry_entries ORDER BY seq").map((row) => row.payload)).toEqual(payloads);
  });

  it.each(["GZIP", "x-gzip"])("takes gzip by the name %s", async (coding) => {
    const { t, token } = await startWithDevice();
    const body = new Uint8Array(gzipSync(JSON.stringify(entries(1, 2, 3))));
    const answer = await t.post(PATH, {
      token,
      body,
      headers: { "content-type": "application/json", "content-encoding": coding },
    });
    expect(flags(answer)).toEqual([3, 3, null]);
  });

  it.each([
    ["cut off", (gz: Buffer) => gz.subarray(0, gz.length - 9)],
    ["not gzip at all", () => Buffer.from('{"entries":[]}')],
  ])("refuses gzip that is %s", async (_, spoil) => {
    const { t, token } = await startWithDevice();
    const body = new Uint8Array(spoil(gzipSync(JSON.stringify(entries(1)))));
    expect(
      (await t.post(PATH, { token, body, headers: { "content-type": "application/json", "content-encoding": "gzip" } }))
        .status,
    ).toBe(400);
  });

  it("limits by how much a device's gzip may inflate beyond what text does, until time has passed", async () => {
    const { t, token } = await startWithDevice({ settings: { limitInflation: "100000/60" } });
    const { token: other } = await t.device();
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    const send = (from: string, seq: number, text: string) => {
      const body = new Uint8Array(gzipSync(JSON.stringify({ entries: [entry(seq, { text })] })));
      return t.post(PATH, { token: from, headers, body });
    };
    const bomb = "pass=".repeat(12_000);
    expect((await send(token, 1, bomb)).status).toBe(200);
    const limited = await send(token, 2, bomb);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("ratelimit-policy")).toBe("telemetry;q=600;w=60, inflation;q=100000;w=60");
    expect(Number(limited.headers.get("retry-after"))).toBeGreaterThan(5);
    expect(held(t)).toEqual([1]);
    // Text that compresses normally costs nothing of this quota, and each device has its own.
    const prose = Array.from({ length: 2_000 }, (_, i) => `line ${i * 7919} of a log`).join(" ");
    expect((await send(token, 2, prose)).status).toBe(200);
    expect((await send(other, 1, bomb)).status).toBe(200);
    t.clock.advance(60_000);
    expect((await send(token, 3, bomb)).status).toBe(200);
  });

  it("refuses a gzip bomb at the cap", async () => {
    const { t, token } = await startWithDevice();
    const body = new Uint8Array(gzipSync(Buffer.alloc(50 * 1024 * 1024, 32)));
    expect(
      (await t.post(PATH, { token, body, headers: { "content-type": "application/json", "content-encoding": "gzip" } }))
        .status,
    ).toBe(413);
  });

  it("takes a retry as harmless, spelled otherwise or not", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: { entries: [entry(1, { a: 1, b: [2] }), entry(2)] } });
    const before = t.count("deliveries");
    expect(flags(await t.post(PATH, { token, json: { entries: [entry(1, { a: 1, b: [2] }), entry(2)] } }))).toEqual([
      0,
      2,
      null,
    ]);
    expect(flags(await t.post(PATH, { token, json: { entries: [entry(1, { b: [2], a: 1 })] } }))).toEqual([0, 2, null]);
    expect([held(t), t.count("telemetry_conflicts"), t.count("deliveries")]).toEqual([[1, 2], 0, before]);
    expect(flags(await t.post(PATH, { token, json: entries(2, 3) }))).toEqual([1, 3, null]);
  });

  it("flags a hole above the last seq and takes the batch that fills it", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: entries(1, 2) });
    expect(flags(await t.post(PATH, { token, json: entries(6, 9) }))).toEqual([2, 9, "gap"]);
    expect(gaps(t)).toEqual([
      { from: 3, to: 5 },
      { from: 7, to: 8 },
    ]);
    expect(flags(await t.post(PATH, { token, json: entries(4) }))).toEqual([1, 9, null]);
    expect(gaps(t)).toEqual([
      { from: 3, to: 3 },
      { from: 5, to: 5 },
      { from: 7, to: 8 },
    ]);
    expect(flags(await t.post(PATH, { token, json: entries(3, 5, 7, 8) }))).toEqual([4, 9, null]);
    expect([gaps(t), held(t)]).toEqual([[], [1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it("lets a stream begin at any number, with earlier ones arriving late", async () => {
    const { t, token } = await startWithDevice();
    expect(flags(await t.post(PATH, { token, json: entries(50, 51) }))).toEqual([2, 51, null]);
    expect(flags(await t.post(PATH, { token, json: entries(0, 49) }))).toEqual([2, 51, null]);
  });

  it("keeps contradictions apart as evidence, once, and never overwrites", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: entries(1, 2, 3) });
    const restarted = { entries: [entry(1, { restarted: true }), entry(2)] };
    expect(flags(await t.post(PATH, { token, json: restarted }))).toEqual([0, 3, "rollback"]);
    expect(flags(await t.post(PATH, { token, json: restarted }))).toEqual([0, 3, "rollback"]);
    expect(t.rows("SELECT seq, payload FROM telemetry_conflicts")).toEqual([{ seq: 1, payload: '{"restarted":true}' }]);
    expect(t.rows("SELECT payload FROM telemetry_entries WHERE seq = 1")).toEqual([{ payload: '{"n":1}' }]);
    expect(t.rows("SELECT flagged FROM deliveries ORDER BY id").map((row) => row.flagged)).toEqual([null, "rollback"]);
  });

  it("sees a contradiction inside one batch, and takes entries in any order", async () => {
    const { t, token } = await startWithDevice();
    expect(flags(await t.post(PATH, { token, json: { entries: [entry(3), entry(1), entry(2), entry(1)] } }))).toEqual([
      3,
      3,
      null,
    ]);
    expect(flags(await t.post(PATH, { token, json: { entries: [entry(4), entry(4, { other: true })] } }))).toEqual([
      1,
      4,
      "rollback",
    ]);
  });

  it("counts another client timestamp as other content", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: entries(1) });
    expect(
      flags(
        await t.post(PATH, { token, json: { entries: [{ ...entry(1), clientTimestamp: "2026-11-21T08:00:00Z" }] } }),
      ),
    ).toEqual([0, 1, "rollback"]);
  });

  it("keeps devices and repositories in streams of their own", async () => {
    const { t, device: one } = await startWithDevice();
    const two = await t.device(one.team);
    for (const token of [one.token, two.token])
      for (const repoKey of ["a", "b", undefined])
        expect(flags(await t.post(PATH, { token, json: { ...entries(1), repoKey } }))).toEqual([1, 1, null]);
    expect([t.count("telemetry_streams"), t.count("telemetry_entries")]).toEqual([6, 6]);
  });

  it("accepts numbers up to the largest there is, and recognises the last ones when they come again", async () => {
    const { t, token } = await startWithDevice();
    const entries = Array.from({ length: 60 }, (_, i) => ({ seq: 2 ** 53 - 60 + i, payload: { i } }));
    const send = async (json: object) => (await t.post("/api/telemetry/ingest", { token, json })).body;
    const maxSeq = 2 ** 53 - 1;
    expect(await send({ entries })).toMatchObject({ accepted: 60, maxSeq, flagged: null });
    for (const entry of entries)
      expect(await send({ entries: [entry] })).toMatchObject({ accepted: 0, maxSeq, flagged: null });
    expect(await send({ entries: [{ seq: maxSeq, payload: {} }] })).toMatchObject({ accepted: 0, flagged: "rollback" });
  });

  it("takes an empty batch and changes nothing", async () => {
    const { t, token } = await startWithDevice();
    expect(flags(await t.post(PATH, { token, json: { entries: [] } }))).toEqual([0, 0, null]);
    expect([t.count("telemetry_streams"), t.count("deliveries")]).toEqual([0, 0]);
  });

  it("answers a tier that includes no telemetry with those that do", async () => {
    const t = await startInstance();
    const device = await t.device(await t.team({ tier: "none" }));
    const answer = await t.post(PATH, { token: device.token, json: entries(1) });
    expect([answer.status, answer.body]).toEqual([
      402,
      { error: 'The tier "none" does not include telemetry.', entitled: ["starter", "team", "enterprise"] },
    ]);
    expect([t.count("telemetry_entries"), t.count("deliveries")]).toEqual([0, 0]);
    await updateTeam(t.instance.core, device.team.id, { tier: "starter" }, COMMAND_LINE);
    expect((await t.post(PATH, { token: device.token, json: entries(1) })).status).toBe(200);
  });

  it("keeps a starter team's telemetry and a suspended one's too", async () => {
    const t = await startInstance();
    const device = await t.device(await t.team({ tier: "starter" }));
    await updateTeam(t.instance.core, device.team.id, { suspended: true, subscription: "canceled" }, COMMAND_LINE);
    expect((await t.post(PATH, { token: device.token, json: entries(1) })).status).toBe(200);
  });

  it.each([
    ["a negative seq", { entries: [entry(-1)] }],
    ["a fractional seq", { entries: [entry(1.5)] }],
    ["a seq beyond 2^53", { entries: [entry(2 ** 53)] }],
    ["a seq as text", { entries: [{ seq: "1", payload: {} }] }],
    ["an entry without payload", { entries: [{ seq: 1 }] }],
    ["a payload that is an array", { entries: [{ seq: 1, payload: [] }] }],
    ["a payload that is null", { entries: [{ seq: 1, payload: null }] }],
    ["a timestamp that is no date", { entries: [{ ...entry(1), clientTimestamp: "yesterday" }] }],
    ["a timestamp without a zone", { entries: [{ ...entry(1), clientTimestamp: "2026-11-21T08:00:00" }] }],
    ["no entries", { repoKey: "a" }],
    ["an empty repoKey", { ...entries(1), repoKey: "" }],
    ["a repoKey with NUL", { ...entries(1), repoKey: "a\u0000b" }],
    ["a mode of another type", { ...entries(1), mode: 1 }],
    ["one bad entry among good ones", { entries: [entry(1), entry(2), { seq: "x", payload: {} }] }],
  ])("refuses %s and stores nothing of the batch", async (_, json) => {
    const { t, token } = await startWithDevice();
    const answer = await t.post(PATH, { token, json });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ["error"]]);
    expect([t.count("telemetry_entries"), t.count("telemetry_streams"), t.count("deliveries")]).toEqual([0, 0, 0]);
  });

  it("names the member that does not fit", async () => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json: { entries: [entry(1), { seq: 2, payload: 7 }] } })).body.error).toBe(
      'In the body, "entries.1.payload" must be an object.',
    );
  });

  it.each([
    ["a batch member", '{"entries":[],"entries":[{"seq":1,"payload":{}}]}'],
    ["an entry's member", '{"entries":[{"seq":1,"seq":2,"payload":{}}]}'],
    ["a member spelled with an escape", '{"entries":[{"seq":1,"s\\u0065q":2,"payload":{}}]}'],
  ])("refuses %s that stands twice", async (_, body) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, body, headers: { "content-type": "application/json" } })).status).toBe(400);
    expect(t.count("telemetry_entries")).toBe(0);
  });

  it.each([
    ["1,001 entries", { entries: Array.from({ length: 1_001 }, (_, i) => entry(i)) }],
    ["a payload over 64 KiB", { entries: [entry(1, { text: "x".repeat(65_536) })] }],
    ["a payload over 64 KiB in bytes only", { entries: [entry(1, { text: "é".repeat(33_000) })] }],
  ])("answers 413 to %s and stores nothing", async (_, json) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json })).status).toBe(413);
    expect(t.count("telemetry_entries")).toBe(0);
  });

  it("takes a thousand entries, and a payload of 64 KiB to the byte", async () => {
    const { t, token } = await startWithDevice();
    expect(
      flags(await t.post(PATH, { token, json: entries(...Array.from({ length: 1_000 }, (_, i) => i + 1)) })),
    ).toEqual([1_000, 1_000, null]);
    const payload = { t: "x".repeat(65_536 - '{"t":""}'.length) };
    expect((await t.post(PATH, { token, json: { repoKey: "big", entries: [entry(1, payload)] } })).status).toBe(200);
  });

  it("replaces secrets in values, keys, nested and escaped text, counts the entries and keeps the rest as sent", async () => {
    const { t, token } = await startWithDevice();
    const secret = `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;
    const escaped = [...secret].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const body = `{"entries":[{"seq":1,"payload":{"n": 1.50,"deep":[{"text":"use ${secret} now"}]}},{"seq":2,"payload":{"${secret}":1}},{"seq":3,"payload":{"t":"${escaped}"}},{"seq":4,"payload":{"clean":true}}],"repoKey":"https://bot:${secret}@git.example/x"}`;
    const answer = await t.post(PATH, { token, body, headers: { "content-type": "application/json" } });
    expect([answer.status, answer.body.serverRedacted]).toEqual([200, 3]);
    const stored = t.rows("SELECT payload FROM telemetry_entries ORDER BY seq").map((row) => row.payload);
    expect(stored[0]).toMatch(/^\{"n": 1\.50,"deep":\[\{"text":"use \[REDACTED:[\w-]+\] now"\}\]\}$/);
    expect(stored[3]).toBe('{"clean":true}');
    expect(t.rows("SELECT redacted FROM deliveries")).toEqual([{ redacted: 3 }]);
    expect(JSON.stringify([stored, t.rows("SELECT * FROM telemetry_streams"), t.log])).not.toContain(secret);
    expect(flags(await t.post(PATH, { token, body, headers: { "content-type": "application/json" } }))).toEqual([
      0,
      4,
      null,
    ]);
  });
});
