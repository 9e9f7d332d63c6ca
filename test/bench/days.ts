import { createInstance, type Instance } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { DayChanges } from "../../src/insight/spend/day-changes.ts";
import { DAY_MS, MINUTE_MS, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { threadMilliseconds } from "./cpu.ts";
import { TELEMETRY } from "./probe.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { randomOf, telemetryPayload, Vocabulary } from "./text.ts";

/** What it costs to keep sums by day with every change: the same deliveries with them and without. */

const TRACES = "/api/agent-traces/ingest";
const MODELS = ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "gpt-5.4"];
/** What a round delivers, by its name; how many units of it there are. */
const LOADS = [
  { name: "4 sessions a delivery", path: TRACES, deliveries: 100, each: 4, unit: "sessions/s" },
  { name: "100 sessions a delivery", path: TRACES, deliveries: 6, each: 100, unit: "sessions/s" },
  { name: "100 entries a delivery", path: TELEMETRY, deliveries: 40, each: 100, unit: "entries/s" },
] as const;
type Load = (typeof LOADS)[number];

const { flush } = DayChanges.prototype;

interface Side {
  readonly instance: Instance;
  readonly token: string;
  /** Whether sums by day are kept there. */
  readonly keeps: boolean;
}

export async function measureDays({ quick }: Pick<Settings, "quick">, report: Report): Promise<void> {
  const directories = [newDirectory(), newDirectory()];
  const [kept, without] = (await Promise.all(directories.map((one, i) => open(one, i === 0)))) as [Side, Side];
  dropTriggers(without);
  for (const load of LOADS) {
    const rates = { ours: [] as number[], floor: [] as number[] };
    for (let round = 0; round <= (quick ? 5 : 15); round++) {
      const bodies = bodiesOf(load, round);
      const sides = [
        [kept, rates.ours],
        [without, rates.floor],
      ] as const;
      for (const [side, into] of round % 2 === 0 ? sides : sides.toReversed()) {
        const seconds = await deliver(side, load.path, bodies);
        if (round > 0) into.push((load.deliveries * load.each) / seconds);
      }
    }
    const scenario = `sums by day kept, ${load.name}`;
    report.result({ scenario, unit: load.unit, ...rates, aim: { atLeast: 0.97 } });
    const micros = (all: readonly number[]) => `${figure(1e6 / median(all))} µs`;
    report.note(scenario, `${micros(rates.ours)} of the answering thread each, ${micros(rates.floor)} without`);
  }
  DayChanges.prototype.flush = flush;
  for (const { instance } of [kept, without]) await instance.close();
  for (const directory of directories) removeDirectory(directory);
}

async function open(directory: string, keeps: boolean): Promise<Side> {
  const off = Object.fromEntries(
    ["limitExchange", "limitTelemetry", "limitTraces", "limitInflation"].map((name) => [name, "off"]),
  );
  const config = readConfig({ ...off, data: directory, port: "0" }, {});
  const instance = await createInstance({ config, clock: systemClock, random: systemRandom, log: silentLog });
  const team = await createTeam(instance.core, "Bench", COMMAND_LINE, { tier: "team" });
  const { code } = await createCode(instance.core, team.id, COMMAND_LINE);
  return { instance, keeps, token: (await bindDevice(instance.core, code, "1", null)).deviceToken };
}

/** Takes away the triggers that count sessions; what sums spend is left out where it is called. */
function dropTriggers({ instance }: Side): void {
  const { db } = instance.core.store;
  const names = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'trace_sessions'")
    .pluck()
    .all() as string[];
  for (const name of names) db.exec(`DROP TRIGGER ${name}`);
}

/** @returns seconds of processor time of the thread that answers, with what is derived from it */
async function deliver({ instance, token, keeps }: Side, path: string, bodies: readonly string[]): Promise<number> {
  DayChanges.prototype.flush = keeps ? flush : () => {};
  const began = threadMilliseconds();
  for (const body of bodies) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const reply = await instance.fetch(new Request(`http://127.0.0.1${path}`, { method: "POST", headers, body }));
    if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  }
  await instance.settle();
  return (threadMilliseconds() - began) / 1_000;
}

function bodiesOf({ path, deliveries, each, name }: Load, round: number): string[] {
  const [words, next] = [new Vocabulary(1_000), randomOf(round + 1)];
  return Array.from({ length: deliveries }, (_, i) => {
    const repoKey = `github.com/acme/${name}`;
    const first = (round * deliveries + i) * each;
    const all = Array.from({ length: each }, (_, k) => first + k + 1);
    return JSON.stringify(
      path === TRACES
        ? { repoKey, sessions: all.map((k) => sessionOf(`${name} ${k}`, k, words, next)) }
        : { repoKey, entries: all.map((seq) => ({ seq, payload: telemetryPayload(words, next) })) },
    );
  });
}

function sessionOf(id: string, i: number, words: Vocabulary, next: () => number) {
  const model = MODELS[i % MODELS.length];
  // Work of a week: days and models repeat, as they do.
  const startedAt = systemClock.now() - (i % 7) * DAY_MS;
  return {
    ...{ id, agent: "claude-code", model, branch: `topic-${i % 40}`, outcome: i % 5 === 0 ? "failure" : "success" },
    ...{ startedAt, endedAt: startedAt + 10 * MINUTE_MS },
    prompts: [{ at: startedAt, text: words.sentence(next) }],
    spans: Array.from({ length: 4 }, (_, k) => ({
      ...{ id: `span-${k}`, name: "chat", kind: "model", model, startedAt: startedAt + k * MINUTE_MS },
      usage: { id: `${id}-${k}`, input_tokens: 900, output_tokens: 400, cache_read_input_tokens: 60_000 },
    })),
  };
}
