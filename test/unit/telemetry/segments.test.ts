import fc from "fast-check";
import { expect, it } from "vitest";
import type { Gap } from "../../../src/record/telemetry/rules.ts";
import { seal } from "../../../src/record/telemetry/seal.ts";
import { exportEntries, findEntry, listEntries, listStreams } from "../../../src/record/telemetry/telemetry.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

/** Entries that a device sends together: number and content. Contents are few, so that they repeat and contradict. */
interface Delivery {
  readonly stream: number;
  readonly entries: readonly (readonly [seq: number, text: string])[];
}

const MAX_SEQ = 40;
const delivery = fc.record({
  stream: fc.nat(1),
  entries: fc.array(fc.tuple(fc.integer({ min: 1, max: MAX_SEQ }), fc.constantFrom("a", "ß", "\u{1f600}")), {
    minLength: 1,
    maxLength: 12,
  }),
});
/** Consecutive numbers, as agents count, beside random ones. */
const run = fc
  .record({ stream: fc.nat(1), from: fc.integer({ min: 1, max: MAX_SEQ }), step: fc.integer({ min: 1, max: 3 }) })
  .map(({ stream, from, step }): Delivery => ({ stream, entries: [0, 1, 2, 3, 4].map((i) => [from + i * step, "a"]) }));

const sealed = fc.constant({ sealed: true });

/** A stream in its simplest form. */
class Model {
  readonly stored = new Map<number, { readonly text: string; readonly arrival: number }>();
  readonly evidence = new Set<string>();
  #first = 0;
  maxSeq = 0;

  /** @returns what the reply should say */
  take(entries: Delivery["entries"], arrivals: { next: number }) {
    const before = this.maxSeq;
    let contradicted = false;
    let accepted = 0;
    for (const [seq, text] of [...entries].sort(([a], [b]) => a - b)) {
      const stored = this.stored.get(seq);
      if (!stored) {
        this.stored.set(seq, { text, arrival: arrivals.next++ });
        accepted++;
      } else if (stored.text !== text) {
        contradicted = true;
        this.evidence.add(`${seq} ${text}`);
      }
    }
    this.maxSeq = Math.max(...this.stored.keys());
    if (before === 0) this.#first = Math.min(...this.stored.keys());
    const isGap = this.missing().some((seq) => seq > before);
    const flagged = contradicted ? "rollback" : isGap ? "gap" : null;
    return { ok: true, accepted, maxSeq: this.maxSeq, flagged, serverRedacted: 0 };
  }

  missing(): number[] {
    const all = Array.from({ length: this.maxSeq - this.#first }, (_, i) => this.#first + i);
    return all.filter((seq) => !this.stored.has(seq));
  }
}

async function listed(t: TestInstance, device: TestDevice, repoKey: string) {
  const { core } = t.instance;
  const rows = [];
  let cursor: string | undefined;
  do {
    const page = await listEntries(core, device.team.id, { deviceId: device.deviceId, repoKey, limit: 7, cursor });
    rows.push(...page.rows);
    cursor = page.older;
  } while (cursor !== undefined);
  return rows;
}

const numbers = (gaps: readonly Gap[]) =>
  gaps.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));

/** Expects that everything a reader is shown matches the models. */
async function expectAll(t: TestInstance, device: TestDevice, models: readonly Model[]): Promise<void> {
  const { core } = t.instance;
  const streams = listStreams(core, device.team.id);
  for (const [i, model] of models.entries()) {
    if (model.maxSeq === 0) continue;
    const repoKey = `repo-${i}`;
    const expected = [...model.stored].sort(([a], [b]) => b - a);
    const rows = await listed(t, device, repoKey);
    expect(rows.map(({ seq, payload }) => [seq, JSON.parse(payload).text])).toEqual(
      expected.map(([seq, { text }]) => [seq, text]),
    );
    for (const [k, { id, seq }] of rows.entries())
      expect(findEntry(core, device.team.id, id)).toMatchObject({
        seq,
        nextId: rows[k - 1]?.id ?? null,
        previousId: rows[k + 1]?.id ?? null,
        conflicts: expect.objectContaining({
          length: [...model.evidence].filter((e) => e.startsWith(`${seq} `)).length,
        }),
      });
    const stream = streams.find((one) => one.repoKey === repoKey);
    expect(stream).toMatchObject({ maxSeq: model.maxSeq, entryCount: model.stored.size });
    expect(numbers(stream?.gaps ?? [])).toEqual(model.missing());
  }
  const arrived = models
    .flatMap((model, i) => [...model.stored].map(([seq, { arrival }]) => ({ seq, repoKey: `repo-${i}`, arrival })))
    .sort((a, b) => a.arrival - b.arrival);
  const lines = (await Array.fromAsync(exportEntries(core, device.team.id))).map((line) => JSON.parse(line));
  expect(lines.map(({ seq, repoKey }) => [seq, repoKey])).toEqual(arrived.map(({ seq, repoKey }) => [seq, repoKey]));
  expect(ledgerFaults(core)).toEqual([]);
  expectApart(t);
}

/** Expects that neither ids nor sequence numbers overlap between segments. */
function expectApart(t: TestInstance): void {
  const segments = t.rows("SELECT * FROM telemetry_segments ORDER BY first_id");
  for (const [i, { first_id }] of segments.entries())
    expect(first_id).toBe(i === 0 ? 1 : segments[i - 1].first_id + segments[i - 1].entries);
  segments.sort((a, b) => a.stream_id - b.stream_id || a.first_seq - b.first_seq);
  for (const [i, segment] of segments.entries())
    if (segments[i - 1]?.stream_id === segment.stream_id)
      expect(segment.first_seq).toBeGreaterThan(segments[i - 1].last_seq);
}

async function deliver(t: TestInstance, { token }: TestDevice, { stream, entries }: Delivery) {
  const json = { repoKey: `repo-${stream}`, entries: entries.map(([seq, text]) => ({ seq, payload: { text } })) };
  return (await t.post("/api/telemetry/ingest", { token, json })).body;
}

async function sealAll(t: TestInstance): Promise<void> {
  t.clock.advance(24 * 60 * 60_000);
  await seal(t.instance.core, 100);
}

it("shows the same, however entries were delivered: in any order, repeated, in between, contradicting, sealed or not", async () => {
  const t = await startInstance({ settings: { limitTelemetry: "off" } });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(run, delivery, sealed), { minLength: 1, maxLength: 14 }), async (steps) => {
      t.instance.core.store.db.exec(
        "DELETE FROM telemetry_segments; DELETE FROM telemetry_blocks; DELETE FROM telemetry_conflicts; DELETE FROM telemetry_gaps; DELETE FROM telemetry_streams; DELETE FROM deliveries; DELETE FROM delivery_streams; DELETE FROM log_leaves; DELETE FROM log_epochs; DELETE FROM audit_events",
      );
      const device = await t.device();
      const models = [new Model(), new Model()];
      const arrivals = { next: 0 };
      for (const step of steps)
        if ("entries" in step)
          expect(await deliver(t, device, step)).toEqual(models[step.stream]?.take(step.entries, arrivals));
        else await sealAll(t);
      await expectAll(t, device, models);
    }),
    { numRuns: 150 },
  );
}, 60_000);

it("cuts a large delivery into segments that can be read quickly, and shows it whole", async () => {
  const { t, device } = await startWithDevice();
  const text = "ß".repeat(20_000);
  const entries = Array.from({ length: 20 }, (_, i) => [i + 1, text] as const);
  expect(await deliver(t, device, { stream: 0, entries })).toMatchObject({ accepted: 20, flagged: null });
  expect(t.rows("SELECT entries, bytes <= 262144 AS isSmall FROM telemetry_segments ORDER BY first_id")).toEqual(
    [6, 6, 6, 2].map((count) => ({ entries: count, isSmall: 1 })),
  );
  expect(await deliver(t, device, { stream: 0, entries })).toMatchObject({ accepted: 0, flagged: null });
  const lines = await Array.fromAsync(exportEntries(t.instance.core, device.team.id));
  expect(lines.map((line) => JSON.parse(line)).map(({ seq, payload }) => [seq, payload.text])).toEqual(entries);
  expect(ledgerFaults(t.instance.core)).toEqual([]);
});

it("keeps a delivery with gaps in its numbers in one piece until they are filled, and every entry's address", async () => {
  const { t, device } = await startWithDevice();
  const model = new Model();
  const arrivals = { next: 0 };
  const send = async (...seqs: number[]) => {
    const entries = seqs.map((seq) => [seq, "a"] as const);
    expect(await deliver(t, device, { stream: 0, entries })).toEqual(model.take(entries, arrivals));
  };
  const ids = () => t.rows("SELECT id, seq FROM telemetry_entries ORDER BY id");
  const ranges = () =>
    t.rows("SELECT first_seq, last_seq FROM telemetry_segments ORDER BY first_seq").map(Object.values);
  await send(1, 3, 5, 7, 9, 20);
  expect(ranges()).toEqual([[1, 20]]);
  const before = ids();
  await send(2, 4, 15, 16, 25);
  expect(ranges()).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
    [5, 9],
    [15, 16],
    [20, 20],
    [25, 25],
  ]);
  expect(ids().slice(0, before.length)).toEqual(before);
  await expectAll(t, device, [model]);
});
