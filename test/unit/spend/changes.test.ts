import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { findSessions } from "../../../src/insight/sessions/sessions.ts";
import { reprice } from "../../../src/insight/spend/price-sessions.ts";
import { rows } from "../../../src/insight/spend/rows.ts";
import { catchUpSpend, spendReport } from "../../../src/insight/spend/spend.ts";
import { startInstance, startWithDevice, type TestInstance } from "../../support/instance.ts";
import { stopTime } from "../../support/time.ts";
import { recount, rolledUp } from "./recount.ts";

const AT = "2026-11-20T10:00:00Z";
const DAY = Date.parse(AT);

/** From now on counts what spend's statements read, and how often they run. */
function countWork(t: TestInstance): { runs: number; rowsRead: number; inTransaction: number } {
  const work = { runs: 0, rowsRead: 0, inTransaction: 0 };
  const sql = rows(t.instance.core.store) as unknown as Record<string, object>;
  for (const [name, statement] of Object.entries(sql))
    sql[name] = new Proxy(statement, {
      get(target, member) {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          const result: unknown = value.apply(target, args);
          const read = Array.isArray(result) ? result.length : 1;
          work.runs++;
          work.rowsRead += read;
          if (t.instance.core.store.db.inTransaction) work.inTransaction += 1 + read;
          return result;
        };
      },
    });
  return work;
}

describe("equal figures that are reported again and again in one session", () => {
  const BATCH = 200;
  const SHAPES: readonly (readonly [what: string, payload: (i: number) => object])[] = [
    ["with another cost each", (i) => ({ costUsd: i / 1_000 })],
    ["on another branch each", (i) => ({ branch: `topic/${i}` })],
    ["as another message each", (i) => ({ usage: { id: `m${i}`, input_tokens: 5, output_tokens: 1 } })],
    ["without a session, with another cost each", (i) => ({ sessionId: undefined, costUsd: i / 1_000 })],
  ];
  it.each(SHAPES)("take as much work for the last as for the first, however many there are: %s", async (_, payload) => {
    const { t, token } = await startWithDevice();
    const spans = [{ id: "a", usage: { input_tokens: 5, output_tokens: 1 } }];
    const sessions = [{ id: "s", outcome: "completed", startedAt: AT, spans }];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
    await catchUpSpend(t.instance.core);
    stopTime();
    const work = countWork(t);
    const rounds: { runs: number; rowsRead: number }[] = [];
    for (let round = 0; round < 6; round++) {
      const before = { ...work };
      const entries = Array.from({ length: BATCH }, (_, k) => {
        const seq = 1 + round * BATCH + k;
        const usage = { input_tokens: 5, output_tokens: 1 };
        return { seq, clientTimestamp: AT, payload: { sessionId: "s", usage, ...payload(seq) } };
      });
      expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
      await catchUpSpend(t.instance.core);
      rounds.push({ runs: work.runs - before.runs, rowsRead: work.rowsRead - before.rowsRead });
    }
    // The first rounds still match everything there is.
    const [third, last] = [rounds[2], rounds[5]] as [(typeof rounds)[0], (typeof rounds)[0]];
    expect(last.runs).toBeLessThan(1.1 * third.runs);
    expect(last.rowsRead).toBeLessThan(1.1 * third.rowsRead);
    expect(last.rowsRead).toBeLessThan(10 * BATCH);
    // Each report counts once. The one span does not say which report it belongs to.
    const usages = Object.values(rolledUp(t)).reduce((sum, cell) => sum + cell.usages, 0);
    expect(usages).toBeGreaterThanOrEqual(6 * BATCH);
    expect(usages).toBeLessThanOrEqual(6 * BATCH + 1);
  });

  it("take as much work for the second half of all reports as for the first, where each is repeated in each delivery", async () => {
    const { t, token } = await startWithDevice();
    const [usages, deliveries] = [20, 48];
    stopTime();
    const work = countWork(t);
    const halves = [0, 0];
    let seq = 0;
    for (let delivery = 0; delivery < deliveries; delivery++) {
      const before = work.runs + work.rowsRead;
      const entries = Array.from({ length: usages }, (_, k) => ({
        seq: ++seq,
        clientTimestamp: AT,
        payload: { sessionId: "s", branch: `topic-${delivery}`, usage: { input_tokens: k + 1, output_tokens: 1 } },
      }));
      expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
      await catchUpSpend(t.instance.core);
      const half = delivery < deliveries / 2 ? 0 : 1;
      halves[half] = (halves[half] as number) + work.runs + work.rowsRead - before;
    }
    const [first, second] = halves as [number, number];
    expect(second).toBeLessThanOrEqual(first);
    // The delivery's cell is made once; each report looks up its trace, is written and is added.
    expect(second).toBeLessThan(10 * seq);
    expect(rolledUp(t)).toEqual(await recount(t));
  });

  it("are matched with the trace's up to a limit, and count separately beyond it, whatever comes first", async () => {
    const results: number[] = [];
    for (const [costs, order] of [
      [10, ["telemetry", "traces"]],
      [10, ["traces", "telemetry"]],
      [100, ["telemetry", "traces"]],
      [100, ["traces", "telemetry"]],
      [100, ["traces", "telemetry", "fewer spans"]],
    ] as const) {
      const { t, token } = await startWithDevice();
      const usage = { input_tokens: 5, output_tokens: 1 };
      for (const what of order) {
        const count = what === "fewer spans" ? 1 : 20;
        const spans = Array.from({ length: 20 }, (_, i) => (i < count ? { id: `${i}`, usage } : { id: `${i}` }));
        const [path, json] =
          what === "telemetry"
            ? [
                "/api/telemetry/ingest",
                {
                  entries: Array.from({ length: costs }, (_, i) => ({
                    seq: i + 1,
                    clientTimestamp: AT,
                    payload: { sessionId: "s", usage, costUsd: i },
                  })),
                },
              ]
            : ["/api/agent-traces/ingest", { sessions: [{ id: "s", outcome: "ok", startedAt: AT, spans }] }];
        expect((await t.post(path, { token, json })).status).toBe(200);
        await catchUpSpend(t.instance.core);
      }
      results.push(Object.values(rolledUp(t)).reduce((sum, cell) => sum + cell.usages, 0));
    }
    expect(results).toEqual([20, 20, 120, 120, 101]);
  });
});

describe("a call with an id that very many sessions report", () => {
  const SESSIONS = 60;
  const SHAPES: readonly (readonly [what: string, ids: (i: number) => object])[] = [
    ["by its message", () => ({ id: "m" })],
    ["by its message, with another request each", (i) => ({ id: "m", requestId: `req_${i}` })],
    ["by its message and request", () => ({ id: "m", requestId: "req_1" })],
    ["by its request alone", () => ({ requestId: "req_1" })],
    ["by its message or its request", (i) => (i % 2 === 0 ? { id: "m", requestId: "req_1" } : { requestId: "req_1" })],
  ];
  it.each(SHAPES)("counts once, and takes as much work for the last report as for the first: %s", async (_, ids) => {
    const { t, token } = await startWithDevice();
    stopTime();
    const work = countWork(t);
    const rounds: number[] = [];
    for (let round = 0; round < 8; round++) {
      const before = work.runs + work.rowsRead;
      for (const kind of ["telemetry", "traces"]) {
        const name = (k: number) => `${kind}-${round}-${k}`;
        const of = (k: number) => ({ ...ids(k), input_tokens: 5, output_tokens: 1 });
        const each = Array.from({ length: SESSIONS }, (_, k) => k);
        const [path, json] =
          kind === "telemetry"
            ? [
                "/api/telemetry/ingest",
                {
                  entries: each.map((k) => ({
                    seq: 1 + round * SESSIONS + k,
                    clientTimestamp: AT,
                    payload: { sessionId: name(k), usage: of(k) },
                  })),
                },
              ]
            : [
                "/api/agent-traces/ingest",
                {
                  sessions: each.map((k) => ({
                    id: name(k),
                    outcome: "ok",
                    startedAt: AT,
                    spans: [{ id: "a", usage: of(k) }],
                  })),
                },
              ];
        expect((await t.post(path, { token, json })).status).toBe(200);
        await catchUpSpend(t.instance.core);
      }
      rounds.push(work.runs + work.rowsRead - before);
    }
    // The first rounds fill the memory, and jobs may run in any.
    expect(Math.min(...rounds.slice(5))).toBeLessThan(1.25 * Math.min(...rounds.slice(2, 5)));
    const counted = Object.values(rolledUp(t)).reduce((sum, cell) => sum + cell.usages, 0);
    expect(counted).toBe(1);
  });
});

it("counts a session of very many calls exactly, in steps, although the server stops between two of them", async () => {
  const { t, token } = await startWithDevice();
  const call = (i: number, output: number) => ({
    id: `${i}`,
    startedAt: AT,
    usage: { ...(i % 3 === 0 ? {} : { id: `m${i}` }), input_tokens: i % 7, output_tokens: output },
  });
  const session = (output: number) => ({
    sessions: [
      { id: "s", outcome: "ok", startedAt: AT, spans: Array.from({ length: 2_500 }, (_, i) => call(i, output)) },
    ],
  });
  const { store } = t.instance.core;
  for (const output of [1, 2]) {
    expect((await t.post("/api/agent-traces/ingest", { token, json: session(output) })).status).toBe(200);
    const before = store.stats.changes;
    const counted = catchUpSpend(t.instance.core);
    // What was written so far stays, and the rest starts over.
    while (store.stats.changes < before + 2) await new Promise((resolve) => setImmediate(resolve));
    store.db.pragma("query_only = ON");
    await expect(counted).rejects.toThrow();
    store.db.pragma("query_only = OFF");
    await catchUpSpend(t.instance.core);
    expect(store.stats.changes - before).toBeGreaterThan(3);
    expect(rolledUp(t)).toEqual(await recount(t));
  }
});

it("keeps each transaction small, whatever changes in one session: models, its name, its calls", async () => {
  const { t, token } = await startWithDevice();
  const CALLS = 2_500;
  // With this clock every piece takes longer than a transaction may.
  let now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 20));
  onTestFinished(() => clock.mockRestore());
  const deliver = async (model: string, call: (i: number) => object) => {
    const spans = Array.from({ length: CALLS }, (_, i) => ({ id: `${i}`, startedAt: AT, ...call(i) }));
    const sessions = [{ id: "s", outcome: "ok", model, startedAt: AT, spans }];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  };
  const { stats } = t.instance.core.store;
  // Pricing is a job of its own.
  await reprice(t.instance.core);
  const work = countWork(t);
  /** The most that one transaction read and ran. */
  const most = async () => {
    let [most, transactions, before] = [0, stats.transactions, 0];
    Object.defineProperty(stats, "transactions", {
      configurable: true,
      get: () => transactions,
      set(count: number) {
        transactions = count;
        most = Math.max(most, work.inTransaction - before);
        before = work.inTransaction;
      },
    });
    before = work.inTransaction;
    await catchUpSpend(t.instance.core);
    return most;
  };
  const shapes: readonly [string, (i: number) => object][] = [
    ["a", (i) => ({ model: `m-${i}`, usage: { input_tokens: 5, output_tokens: 1 } })],
    ["b", (i) => ({ model: `m-${i}`, usage: { input_tokens: 5, output_tokens: 1 } })],
    ["b", (i) => ({ usage: { id: `m${i}`, input_tokens: 5, output_tokens: 1 } })],
  ];
  for (const [model, call] of shapes) {
    await deliver(model, call);
    // One that took all would read each and write each.
    expect(await most()).toBeLessThan(1.25 * CALLS);
    expect(rolledUp(t)).toEqual(await recount(t));
  }
});

const usage = { input_tokens: 10, output_tokens: 5 };
const [BOTH, MESSAGE, REQUEST] = [{ id: "msg_1", requestId: "req_1" }, { id: "msg_1" }, { requestId: "req_1" }];

describe("a call that is reported by its message's id, by its request's, or by both", () => {
  it("counts once in any order, whether telemetry or spans report it", async () => {
    const telling = fc.record({
      ids: fc.constantFrom(BOTH, MESSAGE, REQUEST),
      by: fc.constantFrom("telemetry", "span", "attributes"),
      session: fc.constantFrom("s1", "s2"),
    });
    const several = fc.array(telling, { minLength: 1, maxLength: 5 }).filter((all) => {
      const linked = all.some(({ ids }) => ids === BOTH);
      return linked || new Set(all.map(({ ids }) => ids)).size === 1;
    });
    const t = await startInstance();
    await fc.assert(
      fc.asyncProperty(several, async (tellings) => {
        const { token, team } = await t.device();
        let seq = 0;
        for (const [i, { ids, by, session }] of tellings.entries()) {
          const { requestId, id } = { requestId: undefined, id: undefined, ...ids };
          const telemetry = { sessionId: session, requestId, message: { id, usage } };
          const span = { id: `${i}`, requestId, usage: { ...usage, id } };
          const attributes = { request_id: requestId };
          const [path, json] =
            by === "telemetry"
              ? ["/api/telemetry/ingest", { entries: [{ seq: ++seq, clientTimestamp: AT, payload: telemetry }] }]
              : [
                  "/api/agent-traces/ingest",
                  {
                    sessions: [
                      {
                        ...{ id: session, outcome: "ok", startedAt: AT },
                        spans: [by === "span" ? span : { id: `${i}`, usage: { ...usage, id }, attributes }],
                      },
                    ],
                  },
                ];
          expect((await t.post(path, { token, json })).status).toBe(200);
          await catchUpSpend(t.instance.core);
        }
        const { total } = spendReport(t.instance.core, team.id, { from: DAY, to: DAY, by: "model" });
        expect(total).toMatchObject({ usages: 1, inputTokens: 10, outputTokens: 5 });
      }),
      { numRuns: 40, seed: 7 },
    );
    expect(rolledUp(t)).toEqual(await recount(t));
  });

  it("counts separately where one request has several messages, or an id that the agent made", async () => {
    const { t, token, team } = await startWithDevice();
    const payloads = [
      { requestId: "req_1", message: { id: "msg_1", usage } },
      { requestId: "req_1", usage },
      { requestId: "req_1", message: { id: "msg_2", usage } },
      { requestId: "turn-1", usage: { ...usage, output_tokens: 6 } },
      { requestId: "turn-1", usage: { ...usage, output_tokens: 7 } },
    ];
    const counts: number[] = [];
    for (const [i, payload] of payloads.entries()) {
      const entries = [{ seq: i + 1, clientTimestamp: AT, payload }];
      expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
      await catchUpSpend(t.instance.core);
      counts.push(spendReport(t.instance.core, team.id, { from: DAY, to: DAY, by: "model" }).total.usages);
    }
    expect(counts).toEqual([1, 1, 3, 4, 5]);
  });

  it("is split again when the span that linked both ids is replaced", async () => {
    const { t, token, team } = await startWithDevice();
    const told = async (spans: object[]) => {
      const sessions = [{ id: "s", outcome: "ok", startedAt: AT, spans }];
      expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
      await catchUpSpend(t.instance.core);
      return spendReport(t.instance.core, team.id, { from: DAY, to: DAY, by: "model" }).total.usages;
    };
    const span = (id: string, ids: { id?: string; requestId?: string }) => ({ id, usage: { ...usage, ...ids } });
    expect(await told([span("1", MESSAGE), span("2", REQUEST)])).toBe(2);
    expect(await told([span("3", BOTH)])).toBe(1);
    expect(await told([span("3", { id: "msg_1" })])).toBe(2);
    expect(await told([span("3", { id: "msg_2", requestId: "req_1" })])).toBe(2);
    expect(rolledUp(t)).toEqual(await recount(t));
  });

  it("counts in every session as in a recount, when the session that linked both ids no longer reports it", async () => {
    const { t, token } = await startWithDevice();
    const told = async (id: string, spans: object[]) => {
      const sessions = [{ id, outcome: "ok", startedAt: AT, spans }];
      expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
      await catchUpSpend(t.instance.core);
    };
    const stored = () =>
      t.rows("SELECT hex(usage_key) AS key, source, times, usages, output FROM spend_usages ORDER BY 1, 2, 3");
    const span = (id: string, ids: object, more = {}) => ({ id, usage: { ...usage, ...ids, ...more } });
    await told("a", [span("1", MESSAGE, { output_tokens: 9 })]);
    await told("b", [span("1", REQUEST)]);
    await told("c", [span("1", BOTH)]);
    for (const ids of [{ id: "msg_2" }, BOTH, {}]) {
      await told("c", [span("1", ids)]);
      const followed = stored();
      t.instance.core.store.db.exec(
        "DELETE FROM spend_usages; DELETE FROM spend_cells; DELETE FROM spend_days; DELETE FROM projections WHERE name LIKE 'spend.%'",
      );
      await catchUpSpend(t.instance.core);
      expect(followed).toEqual(stored());
    }
  });
});

it.each([
  ["telemetry", "/api/telemetry/ingest"],
  ["a session", "/api/agent-traces/ingest"],
])("usage is recounted once where an older program ran meanwhile and %s comes", async (_, path) => {
  const { t, token } = await startWithDevice();
  const brought = (n: number) =>
    path === "/api/telemetry/ingest"
      ? { entries: [{ seq: n, clientTimestamp: AT, payload: { usage } }] }
      : { sessions: [{ id: `s${n}`, outcome: "ok", startedAt: AT, spans: [{ id: "1", usage }] }] };
  for (const n of [1, 2]) {
    expect((await t.post(path, { token, json: brought(n) })).status).toBe(200);
    await catchUpSpend(t.instance.core);
    expect(rolledUp(t)).toEqual(await recount(t));
    t.instance.core.store.db.exec(
      "UPDATE spend_usages SET times = 3; INSERT INTO projections VALUES ('spend.entries.5', 1, 0), ('spend.sessions.5', 1, 0)",
    );
  }
});

it.each([".5", ".4", ".3", ".2", ""])(
  "usage that was counted by older rules is recounted once ('%s')",
  async (version) => {
    const { t, token, team } = await startWithDevice();
    const entries = [{ seq: 1, clientTimestamp: AT, payload: { sessionId: "s", usage } }];
    expect((await t.post("/api/telemetry/ingest", { token, json: { entries } })).status).toBe(200);
    const sessions = [{ id: "s", outcome: "ok", startedAt: AT, spans: [] }];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
    const counted = async () => {
      await t.instance.settle();
      const { rows } = await findSessions(t.instance.core, team.id);
      return { cells: rolledUp(t), tokens: rows.map(({ tokens }) => tokens) };
    };
    const before = await counted();
    expect(before.tokens).toEqual([expect.any(Number)]);
    t.instance.core.store.db.exec(
      `UPDATE spend_usages SET times = 3; UPDATE spend_cells SET usages = 3; UPDATE projections SET name = replace(name, '.6', '${version}') WHERE name LIKE 'spend.%'`,
    );
    expect(await counted()).toEqual(before);
  },
);
