import { zstdDecompressSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { countFailedSpans, sourceSpans } from "../../../src/record/traces/follow.ts";
import { readMetered } from "../../../src/record/traces/metered.ts";
import { seal } from "../../../src/record/traces/seal.ts";
import { getSession, sessionSpans, traceExport } from "../../../src/record/traces/traces.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

const MANY = 1024 * 1024 * 1024;

let t: TestInstance;
let device: TestDevice;
beforeEach(async () => {
  t = await startInstance();
  device = await t.device();
});

const spanOf = (i: number, text = "the same again and again") => ({
  id: `span-${i}`,
  name: "tool",
  kind: "tool",
  startedAt: "2026-11-20T10:00:00Z",
  text: `${text} ${i}, Grüße`.repeat(20),
  ...(i % 7 === 0 ? { usage: { input_tokens: i, output_tokens: 1 } } : {}),
  ...(i % 11 === 0 ? { edits: [{ path: "src/a.ts", lines: [{ start: 1, end: i + 1 }] }] } : {}),
  ...(i % 13 === 0 ? { attributes: { "error.type": "boom" } } : {}),
});
const spans = (from: number, count: number) => Array.from({ length: count }, (_, i) => spanOf(from + i));

async function send(id: string, list: readonly object[]) {
  const answer = await t.post("/api/agent-traces/ingest", {
    token: device.token,
    json: { repoKey: "shop", sessions: [{ id, outcome: "ok", startedAt: "2026-11-20T10:00:00Z", spans: list }] },
  });
  expect(answer.status).toBe(200);
  return answer.body;
}

const blocks = () => t.count("trace_span_blocks");
const unsealed = () => t.rows("SELECT count(*) AS n FROM trace_spans WHERE block_id IS NULL")[0].n;
const open = () =>
  t.rows("SELECT external_id AS id FROM trace_sessions WHERE unsealed_since IS NOT NULL").map((row) => row.id);
const sealAll = () => seal(t.instance.core, MANY);
/** The unpacked contents of the blocks. */
const kept = () =>
  t
    .rows("SELECT content FROM trace_span_blocks")
    .map(({ content }) => zstdDecompressSync(content as Buffer).toString());

/** Everything that readers are shown of a session, and whether the ledger check passes. */
async function shown(externalId = "s") {
  const { core } = t.instance;
  const [{ id }] = t.rows("SELECT id FROM trace_sessions WHERE external_id = ?", externalId) as [{ id: number }];
  const edits: unknown[] = [];
  for await (const some of sourceSpans.withEdits(core, id)) edits.push(...some);
  const pages = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = sessionSpans.page(core, device.team.id, id, after, 200);
    pages.push(page?.rows);
    after = page?.after;
  }
  return {
    session: await getSession(core, device.team.id, id),
    pages,
    edits,
    failed: await countFailedSpans(core, id),
    metered: await readMetered(core, id),
    lines: [...traceExport.sessions(core, device.deviceId, null)],
    faults: ledgerFaults(core),
  };
}

describe("sealing of spans", () => {
  it("seals the documents of a session after a day, and readers are shown the same", async () => {
    await send("s", spans(0, 300));
    await send("other", spans(0, 2));
    const before = await shown();
    expect([before.pages.flat().length, before.faults, before.failed]).toEqual([300, [], 24]);
    expect([await sealAll(), blocks(), unsealed()]).toEqual([0, 0, 302]);
    t.clock.advance(DAY_MS);
    expect(await sealAll()).toBeGreaterThan(300 * 500);
    expect([unsealed(), open()]).toEqual([0, []]);
    expect(await shown()).toEqual(before);
    const bytes = kept().map((texts) => Buffer.byteLength(texts));
    expect(Math.max(...bytes)).toBeLessThanOrEqual(64 * 1024);
    expect(bytes.length).toBeLessThan(10);
    const stored = t.rows("SELECT sum(length(content)) AS n FROM trace_span_blocks")[0].n as number;
    expect(stored * 4).toBeLessThan(bytes.reduce((sum, n) => sum + n, 0));
  });

  it("continues with later spans, also of a session that is never quiet, some at a time", async () => {
    await send("s", spans(0, 100));
    t.clock.advance(DAY_MS / 2);
    await send("s", spans(100, 150));
    t.clock.advance(DAY_MS / 2);
    await send("s", spans(250, 150));
    const before = await shown();
    const moved = await seal(t.instance.core, 1);
    expect([moved > 0, moved < 70_000, open()]).toEqual([true, true, ["s"]]);
    await sealAll();
    expect([unsealed(), open()]).toEqual([0, []]);
    expect(await shown()).toEqual(before);
    await send("s", spans(400, 10));
    expect([unsealed(), open()]).toEqual([10, ["s"]]);
    expect(await sealAll()).toBe(0);
    t.clock.advance(DAY_MS);
    await sealAll();
    expect(unsealed()).toBe(0);
    expect((await shown()).pages.flat()).toHaveLength(410);
  });

  it("recognises sealed spans that come again, and does not keep replaced ones for long", async () => {
    await send("s", [...spans(0, 100), spanOf(1_000, "to be replaced")]);
    t.clock.advance(DAY_MS);
    await sealAll();
    const deliveries = t.count("deliveries");
    await send("s", spans(0, 100));
    expect([t.count("deliveries"), unsealed()]).toEqual([deliveries, 0]);
    await send("s", [spanOf(5, "another"), spanOf(1_000, "new")]);
    expect([t.count("deliveries"), unsealed(), open()]).toEqual([deliveries + 1, 2, ["s"]]);
    const before = await shown();
    expect(before.faults).toEqual([]);
    expect(before.lines.filter((line) => line.includes("another 5, Grüße"))).toHaveLength(1);
    expect(kept().join()).toContain("to be replaced");
    t.clock.advance(DAY_MS);
    await sealAll();
    expect([unsealed(), open()]).toEqual([0, []]);
    expect(kept().join()).not.toContain("to be replaced");
    expect(await shown()).toEqual(before);
    expect(t.rows("SELECT id FROM trace_span_blocks WHERE replaced")).toEqual([]);
  });

  it("splits a block whose spans grew since", async () => {
    await send("s", spans(0, 20));
    t.clock.advance(DAY_MS);
    await sealAll();
    expect(blocks()).toBe(1);
    await send(
      "s",
      Array.from({ length: 5 }, (_, i) => ({ id: `span-${4 * i}`, text: `${i}`.repeat(30_000) })),
    );
    const before = await shown();
    t.clock.advance(DAY_MS);
    await sealAll();
    expect([unsealed(), blocks() > 2, t.count("trace_spans")]).toEqual([0, true, 20]);
    expect(await shown()).toEqual(before);
    expect(
      t.rows(`SELECT a.id FROM trace_span_blocks a JOIN trace_span_blocks b ON a.session_id = b.session_id AND a.id <> b.id
        AND a.first_span <= b.last_span AND b.first_span <= a.last_span`),
    ).toEqual([]);
  });

  it.each([
    ["blocks of their own", "id", 2],
    ["one block", "1", 1],
  ])(
    "stores what comes anew of spans in %s, as much in one transaction as others wait for",
    async (_, block, deliveries) => {
      await send("s", spans(0, 70));
      t.rows(`UPDATE trace_spans SET document = '', block_id = ${block}, block_at = 0, bytes = 2 RETURNING id`);
      const before = t.count("deliveries");
      await send(
        "s",
        Array.from({ length: 70 }, (_, i) => spanOf(i, "another")),
      );
      expect([t.count("deliveries") - before, unsealed()]).toEqual([deliveries, 70]);
    },
  );

  it("reads few spans at a time, however small", async () => {
    await send(
      "s",
      Array.from({ length: 1_000 }, (_, i) => ({ id: `${i}` })),
    );
    t.clock.advance(DAY_MS);
    await sealAll();
    expect([unsealed(), t.rows("SELECT count(*) AS n FROM trace_spans GROUP BY block_id").map(({ n }) => n)]).toEqual([
      0,
      [250, 250, 250, 250],
    ]);
  });

  it("seals what came while the clock was months ahead", async () => {
    t.clock.jump(60 * DAY_MS);
    await send("s", spans(0, 5));
    t.clock.jump(-60 * DAY_MS);
    t.clock.advance(DAY_MS);
    await sealAll();
    expect([unsealed(), open()]).toEqual([0, []]);
  });

  it("leaves alone what was sent again while it was compressed", async () => {
    await send("s", spans(0, 5));
    t.clock.advance(DAY_MS);
    const sealing = sealAll();
    await Promise.all([sealing, send("s", [spanOf(3, "another")])]);
    expect((await shown()).lines.filter((line) => line.includes("another 3"))).toHaveLength(1);
    await sealAll();
    expect([unsealed(), (await shown()).faults]).toEqual([0, []]);
  });

  it.each([
    ["a block is gone", "DELETE FROM trace_span_blocks"],
    ["a block is damaged", "UPDATE trace_span_blocks SET content = zeroblob(length(content))"],
    ["a span points elsewhere", "UPDATE trace_spans SET block_at = block_at + 1 WHERE external_id = 'span-3'"],
    ["a span says less than it holds", "UPDATE trace_spans SET bytes = bytes - 1 WHERE external_id = 'span-3'"],
  ])("the ledger check finds that %s, and the damaged data stays as it is", async (_, sql) => {
    await send("s", spans(0, 10));
    t.clock.advance(DAY_MS);
    await sealAll();
    t.instance.core.store.db.exec(sql);
    const faults = () => ledgerFaults(t.instance.core).map(({ problem }) => problem);
    expect(faults()).toContain("content");
    const rows = () => t.rows("SELECT id, block_id, block_at, bytes FROM trace_spans WHERE external_id <> 'span-9'");
    const before = rows();
    await send("s", [spanOf(9, "another")]);
    t.clock.advance(DAY_MS);
    await sealAll();
    if (sql.startsWith("UPDATE trace_span_blocks")) expect(rows()).toEqual(before);
    expect([open(), faults().includes("content")]).toEqual([[], true]);
  });
});
