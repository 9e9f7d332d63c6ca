import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { seal } from "../../../src/record/traces/seal.ts";
import { traceExport } from "../../../src/record/traces/traces.ts";
import { randomOf } from "../../bench/text.ts";
import { eraseNow } from "../../support/erasure.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

const STEPS = 40;
const ALL = Number.MAX_SAFE_INTEGER;

/** The last report of each span, by session and span. */
type Told = Map<string, Map<string, string>>;

function stored(t: TestInstance, { deviceId }: TestDevice): Told {
  const found: Told = new Map();
  for (const text of traceExport.sessions(t.instance.core, deviceId, null)) {
    const { type, externalId, session, document } = JSON.parse(text);
    if (type === "session") found.set(externalId, new Map());
    else found.get(session)?.set(externalId, JSON.stringify(document));
  }
  return found;
}

/** Spans that are new, known or changed, few or many, some of them large. */
function someSpans(below: (n: number) => number) {
  const count = 1 + below(below(4) === 0 ? 400 : 30);
  const most = count <= 30 && below(6) === 0 ? 40_000 : below(600);
  const [start, step] = [below(600), 1 + below(3)];
  return Array.from({ length: count }, (_, i) => ({
    id: `span-${(start + i * step) % 900}`,
    text: `${"ü".repeat(below(most + 1))}${below(1_000_000)}`,
  }));
}

it.each([1, 2, 3])(
  "holds the last report, whatever is sent, sealed and erased in turn and at once (%i)",
  async (seed) => {
    const { t, core, device } = await startWithDevice();
    const next = randomOf(seed);
    const below = (n: number) => Math.floor(next() * n);
    const told: Told = new Map();
    const sealing: Promise<unknown>[] = [];
    const deliver = async (id: string) => {
      const spans = someSpans(below);
      if (below(3) === 0) sealing.push(seal(core, 1 + below(200_000)));
      const json = { sessions: [{ id, outcome: "ok", spans }] };
      expect((await t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
      const known = told.get(id) ?? new Map<string, string>();
      for (const span of spans) known.set(span.id, JSON.stringify(span));
      told.set(id, known);
    };
    const wait = async () => {
      t.clock.advance(below(2) ? DAY_MS : DAY_MS / 3);
      sealing.push(seal(core, below(2) ? ALL : 1 + below(100_000)));
      if (below(2)) await Promise.all(sealing.splice(0));
    };
    const erase = async (session: string) => {
      if (below(2)) sealing.push(seal(core, ALL));
      await eraseNow(core, { session });
      told.delete(session);
    };
    for (let step = 0; step < STEPS; step++) {
      const id = `session-${below(4)}`;
      const what = below(10);
      if (what < 5) await deliver(id);
      else if (what < 9) await wait();
      else if (told.has(id)) await erase(id);
    }
    await Promise.all(sealing);
    expect(stored(t, device)).toEqual(told);
    t.clock.advance(2 * DAY_MS);
    await seal(core, ALL);
    expect(stored(t, device)).toEqual(told);
    expect(ledgerFaults(core)).toEqual([]);
    // Each span is in a block of its session, no block is empty or overlaps another, and none keeps a replaced span.
    expect(
      t.rows(`SELECT p.id FROM trace_spans p LEFT JOIN trace_span_blocks b ON b.id = p.block_id AND b.session_id = p.session_id
      WHERE p.id BETWEEN b.first_span AND b.last_span IS NOT 1`),
    ).toEqual([]);
    expect(
      t.rows(`SELECT id FROM trace_span_blocks b WHERE replaced OR NOT EXISTS (SELECT 1 FROM trace_spans WHERE block_id = b.id)
      OR EXISTS (SELECT 1 FROM trace_span_blocks o WHERE o.session_id = b.session_id AND o.id <> b.id
        AND o.first_span <= b.last_span AND o.last_span >= b.first_span)`),
    ).toEqual([]);
  },
);
