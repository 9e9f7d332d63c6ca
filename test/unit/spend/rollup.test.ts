import { expect, it } from "vitest";
import { catchUpSpend } from "../../../src/insight/spend/spend.ts";
import { startWithTeam, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { recount, rolledUp } from "./recount.ts";

/** A seeded generator (mulberry32): the same deliveries for the same seed. */
function chance(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let z = Math.imul(state ^ (state >>> 15), 1 | state);
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z;
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (most: number) => Math.floor(next() * most);
  const pick = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { below, pick, sometimes: (share: number) => next() < share };
}
type Chance = ReturnType<typeof chance>;

const SESSIONS = ["s1", "s2", "s3"];
const MODELS = ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "gpt-5", "unheard-of"];
const REPOS = ["", "github.com/acme/shop", "github.com/acme/till"];

/** Few different values, so that everything collides often. */
const usageOf = ({ below, pick, sometimes }: Chance) => ({
  ...(sometimes(0.5) ? { id: pick(["m1", "m2", "m3", "m4", "m5", "m6"]) } : {}),
  ...(sometimes(0.4) ? { requestId: pick(["req_1", "req_2", "req_3", "req_4", "turn-1"]) } : {}),
  input_tokens: below(3),
  output_tokens: below(4),
  ...(sometimes(0.3) ? { cache_read_input_tokens: pick([0, 5, 250_000]) } : {}),
  ...(sometimes(0.2)
    ? { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: pick([0, 4]) } }
    : {}),
});
/** The same calls in OpenTelemetry's attributes: without an id, and without the lifetime of the cache. */
const attributesOf = ({ below, sometimes }: Chance) => {
  const [input, written] = [below(3), sometimes(0.5) ? 9 : 0];
  return {
    "gen_ai.usage.input_tokens": input + written,
    "gen_ai.usage.output_tokens": below(4),
    ...(written > 0
      ? { "gen_ai.usage.cache_creation.input_tokens": written, "gen_ai.usage.cache_read.input_tokens": 0 }
      : {}),
  };
};
const at = ({ below }: Chance) => new Date(Date.UTC(2026, 10, 1 + below(3), 12)).toISOString();

function entryOf(random: Chance) {
  const { pick, sometimes, below } = random;
  return {
    payload: {
      type: pick(["usage", "reply"]),
      ...(sometimes(0.85) ? { sessionId: pick(SESSIONS) } : {}),
      ...(sometimes(0.8) ? { usage: usageOf(random) } : {}),
      ...(sometimes(0.3) ? { costUsd: below(3) / 10 } : {}),
      ...(sometimes(0.5) ? { model: pick(MODELS) } : {}),
      ...(sometimes(0.3) ? { branch: pick(["main", "topic"]) } : {}),
    },
    ...(sometimes(0.9) ? { clientTimestamp: at(random) } : {}),
  };
}

function sessionOf(random: Chance) {
  const { pick, sometimes, below } = random;
  const spans = Array.from({ length: below(5) }, () => ({
    id: pick(["a", "b", "c", "d", "e", "f"]),
    ...(sometimes(0.5) ? { parentId: pick(["a", "b", "c"]) } : {}),
    ...(sometimes(0.8) ? { startedAt: at(random) } : {}),
    ...(sometimes(0.5) ? { usage: usageOf(random) } : {}),
    ...(sometimes(0.2) ? { costUsd: below(3) / 10 } : {}),
    attributes: {
      "gen_ai.operation.name": pick(["chat", "chat", "invoke_agent", "execute_tool"]),
      ...(sometimes(0.4) ? attributesOf(random) : {}),
      ...(sometimes(0.3) ? { "gen_ai.response.model": pick(MODELS) } : {}),
    },
  }));
  return {
    id: pick(SESSIONS),
    outcome: "completed",
    spans,
    ...(sometimes(0.5) ? { model: pick(MODELS) } : {}),
    ...(sometimes(0.4) ? { branch: pick(["main", "other"]) } : {}),
    ...(sometimes(0.5) ? { startedAt: at(random) } : {}),
    ...(sometimes(0.4) ? { usage: usageOf(random) } : {}),
    ...(sometimes(0.3) ? { costUsd: below(4) / 10 } : {}),
  };
}

interface Delivery {
  readonly kind: "telemetry" | "traces";
  readonly device: number;
  readonly repoKey: string;
  readonly body: object;
}

function deliveries(random: Chance, count: number): Delivery[] {
  const seqs = new Map<string, number>();
  const all: Delivery[] = [];
  for (let i = 0; i < count; i++) {
    const device = random.below(3);
    const repoKey = random.pick(REPOS);
    if (random.sometimes(0.5)) {
      all.push({ kind: "traces", device, repoKey, body: { sessions: [sessionOf(random), sessionOf(random)] } });
      continue;
    }
    const stream = `${device} ${repoKey}`;
    const from = seqs.get(stream) ?? 1;
    const entries = Array.from({ length: 1 + random.below(6) }, (_, n) => ({ seq: from + n, ...entryOf(random) }));
    seqs.set(stream, from + entries.length);
    all.push({ kind: "telemetry", device, repoKey, body: { entries } });
  }
  return all;
}

async function start(): Promise<{ t: TestInstance; devices: TestDevice[] }> {
  const { t, team } = await startWithTeam();
  // Of two equal reports the one of the greater device id counts. Ids are random, and must not make two runs differ.
  const both = [await t.device(team), await t.device(team)].sort((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
  return { t, devices: [...both, await t.device()] };
}

async function deliver(t: TestInstance, devices: readonly TestDevice[], { kind, device, repoKey, body }: Delivery) {
  const path = kind === "telemetry" ? "/api/telemetry/ingest" : "/api/agent-traces/ingest";
  const json = { ...body, ...(repoKey === "" ? {} : { repoKey }) };
  const answer = await t.post(path, { token: (devices[device] as TestDevice).token, json });
  expect(answer.status, answer.text).toBe(200);
}

it.each([1, 2, 3, 4, 5, 6])(
  "the roll-up is what a recount of everything stored gives, after any order and repetition of deliveries (seed %i)",
  async (seed) => {
    const random = chance(seed);
    const { t, devices } = await start();
    const all = deliveries(random, 60);
    const held: Delivery[] = [];
    for (const one of all) {
      await deliver(t, devices, one);
      held.push(one);
      if (random.sometimes(0.3)) await deliver(t, devices, random.pick(held));
      if (random.sometimes(0.3)) await catchUpSpend(t.instance.core);
      if (random.sometimes(0.1)) expect((await caughtUp(t)).cells).toEqual(await recount(t));
    }
    const { cells } = await caughtUp(t);
    expect(Object.keys(cells).length).toBeGreaterThan(20);
    expect(cells).toEqual(await recount(t));
    expect(t.rows("SELECT count(*) AS n FROM spend_cells WHERE min(usages, input, output, reported_nano) < 0")).toEqual(
      [{ n: 0 }],
    );
    // Once emptied, the tables are rebuilt to the same content.
    t.instance.core.store.db.exec(
      "DELETE FROM spend_usages; DELETE FROM spend_cells; DELETE FROM spend_days; DELETE FROM projections WHERE name LIKE 'spend.%'",
    );
    expect((await caughtUp(t)).cells).toEqual(cells);
  },
);

async function caughtUp(t: TestInstance) {
  await catchUpSpend(t.instance.core);
  return { cells: rolledUp(t) };
}

/** Inserts some, in any order, among others that keep theirs: the last report of a span counts. */
function shuffledInto<T>({ below }: Chance, some: readonly T[], others: readonly T[]): T[] {
  const all = [...others];
  for (const one of some) all.splice(below(all.length + 1), 0, one);
  return all;
}

it.each([7, 8, 9])(
  "the order of telemetry does not matter, once or twice, before the traces, after them or between (seed %i)",
  async (seed) => {
    const random = chance(seed);
    const all = deliveries(random, 40);
    const telemetry = all.filter(({ kind }) => kind === "telemetry");
    const traces = all.filter(({ kind }) => kind === "traces");
    const orders = [
      all,
      [...telemetry, ...traces],
      [...traces, ...telemetry],
      shuffledInto(random, telemetry, traces),
      shuffledInto(random, [...telemetry, ...telemetry.slice(0, 5)], traces),
    ];
    const results: object[] = [];
    for (const order of orders) {
      const { t, devices } = await start();
      for (const one of order) {
        await deliver(t, devices, one);
        await catchUpSpend(t.instance.core);
      }
      const names = new Map(devices.map(({ deviceId }, i) => [deviceId, `device ${i}`]));
      const teams = new Map(devices.map(({ team }, i) => [team.id, `team of ${i}`]));
      const plain = JSON.stringify(Object.entries(rolledUp(t)))
        .replace(/dev_\w+/g, (id) => names.get(id) ?? id)
        .replace(/team_\w+/g, (id) => teams.get(id) ?? id);
      results.push(Object.fromEntries(JSON.parse(plain) as [string, object][]));
    }
    for (const result of results) expect(result).toEqual(results[0]);
  },
);
