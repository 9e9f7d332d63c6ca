import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { beforeEach, describe, expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { seal } from "../../../src/record/telemetry/seal.ts";
import { exportEntries, findEntry, listEntries } from "../../../src/record/telemetry/telemetry.ts";
import { verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { startInstance, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

const BATCH = 100;
const MANY = 1_000;

let t: TestInstance;
let device: TestDevice;
beforeEach(async () => {
  t = await startInstance();
  device = await t.device();
});

async function send(repoKey: string, seqs: readonly number[], text = "the same again and again") {
  const entries = seqs.map((seq) => ({ seq, payload: { type: "tool", seq, text, greeting: "Grüße" } }));
  return (await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey, entries } })).body;
}
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i);
async function sendBatches(repoKey: string, batches: number) {
  for (let i = 0; i < batches; i++) await send(repoKey, numbers(1 + i * BATCH, BATCH));
}
const blocks = () => t.count("telemetry_blocks");
const unsealed = () =>
  t.rows("SELECT coalesce(sum(entries), 0) AS n FROM telemetry_segments WHERE block_id IS NULL")[0].n;

/** Everything that readers are shown, and whether the ledger check passes. */
async function shown() {
  const { core } = t.instance;
  const pages = [];
  for (const repoKey of ["shop", "till"]) {
    let cursor: string | undefined;
    do {
      const page = await listEntries(core, device.team.id, { deviceId: device.deviceId, repoKey, limit: 150, cursor });
      pages.push(page);
      cursor = page.older;
    } while (cursor !== undefined);
  }
  return {
    pages,
    arrived: await listEntries(core, device.team.id, { limit: 200 }),
    lines: await Array.fromAsync(exportEntries(core, device.team.id)),
    one: findEntry(core, device.team.id, 250),
    proof: verifyLedger(core, undefined, () => {}),
  };
}

describe("sealing", () => {
  it("seals all of a stream whose last entries came while the clock was months ahead", async () => {
    t.clock.jump(60 * DAY_MS);
    await send("shop", numbers(1, 5));
    t.clock.jump(-60 * DAY_MS);
    t.clock.advance(DAY_MS);
    expect([await seal(t.instance.core, MANY), unsealed()]).toEqual([1, 0]);
  });

  it("seals the full blocks of an active stream, and all of a quiet one, and readers see the same", async () => {
    await sendBatches("shop", 25);
    await send("till", numbers(1, 5));
    const before = await shown();
    expect([before.lines.length, before.proof.faults]).toEqual([2_505, []]);
    expect(await seal(t.instance.core, MANY)).toBe(2);
    expect([blocks(), unsealed()]).toEqual([2, 505]);
    expect(await shown()).toEqual(before);
    t.clock.advance(DAY_MS);
    expect(await seal(t.instance.core, MANY)).toBe(2);
    expect([blocks(), unsealed()]).toEqual([4, 0]);
    expect(await shown()).toEqual(before);
    expect(t.rows("SELECT count(*) AS n FROM telemetry_segments WHERE texts IS NOT NULL")).toEqual([{ n: 0 }]);
  });

  it("seals a block that is exactly full without waiting for one entry more, in one delivery or many", async () => {
    await send("shop", numbers(1, 999));
    await send("till", numbers(1, 1_000));
    await sendBatches("many", 10);
    expect(await seal(t.instance.core, MANY)).toBe(2);
    expect(unsealed()).toBe(999);
    await send("shop", [1_000]);
    expect([await seal(t.instance.core, MANY), unsealed()]).toEqual([1, 0]);
    expect((await shown()).proof.faults).toEqual([]);
  });

  it("leaves nobody to give a block to another stream unseen: the lake would export it as another team's", async () => {
    await send("till", numbers(1, 1));
    await send("shop", numbers(1, 1_000));
    const [{ id: deliveryId }] = t.rows("SELECT max(id) AS id FROM deliveries");
    expect(await seal(t.instance.core, MANY)).toBe(1);
    expect(ledgerFaults(t.instance.core)).toEqual([]);
    t.instance.core.store.db.exec(
      "UPDATE telemetry_blocks SET stream_id = (SELECT id FROM telemetry_streams WHERE repo_key = 'till')",
    );
    expect(ledgerFaults(t.instance.core)).toMatchObject([
      { deliveryId, kind: "telemetry", problem: "owner", detail: expect.stringMatching(/^block 1 of it says/) },
    ]);
  });

  it("goes from stream to stream, a few blocks at a time", async () => {
    for (const repoKey of ["a", "b", "c"]) await sendBatches(repoKey, 21);
    const made = [];
    for (let i = 0; i < 5; i++) made.push(await seal(t.instance.core, 4));
    expect(made).toEqual([4, 2, 0, 0, 0]);
    expect(t.rows("SELECT stream_id, count(*) AS n FROM telemetry_blocks GROUP BY 1").map(({ n }) => n)).toEqual([
      2, 2, 2,
    ]);
  });

  it("still recognises repeats, contradictions and late entries between sealed ones", async () => {
    await send("shop", [1, 2, 3, 7, 8]);
    await send("shop", [20, 21]);
    t.clock.advance(DAY_MS);
    await seal(t.instance.core, MANY);
    expect(unsealed()).toBe(0);
    expect(await send("shop", [2, 3, 7])).toMatchObject({ accepted: 0, flagged: null });
    expect(await send("shop", [3], "another")).toMatchObject({ accepted: 0, flagged: "rollback" });
    expect(await send("shop", [5, 10])).toMatchObject({ accepted: 2, flagged: null });
    const { lines, proof } = await shown();
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3, 7, 8, 20, 21, 5, 10]);
    expect(proof.faults).toEqual([]);
    expect(t.rows("SELECT first_seq, block_id IS NULL AS isPlain FROM telemetry_segments ORDER BY 1")).toEqual([
      { first_seq: 1, isPlain: 0 },
      { first_seq: 5, isPlain: 1 },
      { first_seq: 7, isPlain: 0 },
      { first_seq: 10, isPlain: 1 },
      { first_seq: 20, isPlain: 0 },
    ]);
  });

  it("keeps no more in memory of the streams it read than they hold, however many", async () => {
    const STREAMS = 300;
    for (const i of numbers(1, STREAMS)) await send(`shop-${i}`, [1]);
    t.clock.advance(DAY_MS);
    expect(await seal(t.instance.core, MANY)).toBe(STREAMS);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const inMemory = async () => {
      // Garbage collection returns memory with a delay.
      for (let i = 0; i < 3; i++) {
        collect();
        await new Promise(setImmediate);
      }
      return process.memoryUsage().arrayBuffers;
    };
    const before = await inMemory();
    const lines = await Array.fromAsync(exportEntries(t.instance.core, device.team.id));
    expect(lines).toHaveLength(STREAMS);
    // Each stream holds some hundred bytes.
    expect((await inMemory()) - before).toBeLessThan(STREAMS * 8 * 1024);
  });

  it("leaves alone a stretch that a late entry split while it was compressed", async () => {
    await send("shop", [1, 2, 5]);
    t.clock.advance(DAY_MS);
    const sealing = seal(t.instance.core, MANY);
    await Promise.all([sealing, send("shop", [3])]);
    const { lines, proof } = await shown();
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1, 2, 5, 3]);
    expect(proof.faults).toEqual([]);
  });

  it.each([
    ["a block is gone", "DELETE FROM telemetry_blocks", 10],
    ["a block is damaged", "UPDATE telemetry_blocks SET content = zeroblob(length(content))", 10],
    ["a segment points elsewhere", "UPDATE telemetry_segments SET block_at = block_at + 1 WHERE first_id = 101", 1],
    ["a segment says less than it holds", "UPDATE telemetry_segments SET entries = 99 WHERE first_id = 101", 1],
    ["a segment says another number", "UPDATE telemetry_segments SET last_seq = 199 WHERE first_id = 101", 1],
  ])("the ledger check finds that %s, and pages are shown without the missing part", async (_, sql, faults) => {
    await sendBatches("shop", 11);
    expect(await seal(t.instance.core, MANY)).toBe(1);
    t.instance.core.store.db.exec(sql);
    expect((await shown()).proof.faults.map(({ problem }) => problem)).toEqual(Array(faults).fill("content"));
  });
});
