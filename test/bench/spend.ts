/**
 * Spend over a year: how fast entries are rolled up, and how long a report over a million of them takes. Then usages without an
 * id that are repeated again and again: what the second half of all reports costs, by what the first cost.
 * Run alone: `node test/bench/spend.ts [ENTRIES]`. Times are processor time of one thread.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { keptDays } from "../../src/insight/spend/kept-days.ts";
import { catchUpSpend, GROUPINGS, spendReport } from "../../src/insight/spend/spend.ts";
import { DAY_MS, systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { openStore } from "../../src/platform/store/store.ts";
import { pack } from "../../src/record/telemetry/packed.ts";
import type { Entry } from "../../src/record/telemetry/rules.ts";
import { randomOf } from "./text.ts";

const MODELS = ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "gpt-5.4", "gemini-2.5-pro"];
const DEVICES = 10;
const REPOS = 8;
/** Of entries, how many tell of usage, and in how many one after another the same message is told. */
const SHARE_WITH_USAGE = 0.4;
const TELLINGS = 2;
const ENTRIES_A_SESSION = 150;
/** Usages without an id that each stream repeats. */
const REPEATED = 50;
const BRANCHES = 7;
const MAX_SEGMENT_ENTRIES = 150;
const YEAR_START = Date.UTC(2025, 10, 22);

const millis = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;

async function measureYear(core: Core, entries: number): Promise<void> {
  const { teamId, streams, insert } = await prepare(core, "Year");
  fillYear(core, streams, insert, entries);
  const wall = performance.now();
  const spent = await rollUp(core);
  const count = (table: string) => core.store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  console.log(
    `${entries} entries rolled up in ${Math.round(performance.now() - wall)} ms, ${Math.round(spent)} ms of them at work: ` +
      `${Math.round(entries / (spent / 1_000))} entries/s; ${count("spend_usages")} usages, ${count("spend_cells")} cells`,
  );
  const year = { from: YEAR_START, to: YEAR_START + 364 * DAY_MS };
  const anew = (by: (typeof GROUPINGS)[number]) => {
    keptDays(core).changeAll();
    return spendReport(core, teamId, { ...year, by });
  };
  for (const by of GROUPINGS) {
    time(`report of a year by ${by}`, () => anew(by));
    time("  once more, of the same days", () => spendReport(core, teamId, { ...year, by }));
  }
  time("with days and models for a chart", () => anew("model").byDayAndModel());
}

/** Every stream delivers the same usages round after round, of as many repositories and branches as are still reconciled. */
async function measureRepeats(core: Core, rounds: number): Promise<void> {
  const { streams, insert } = await prepare(core, "Repeats");
  const at = new Date(YEAR_START).toISOString();
  const halves = [0, 0];
  for (let round = 0; round < rounds; round++) {
    core.store.db.transaction(() => {
      for (const stream of streams)
        insert(
          stream,
          Array.from({ length: REPEATED }, (_, k) => {
            const usage = { input_tokens: 10 + k, output_tokens: 5 };
            const payload = { type: "reply", sessionId: `repeats-${k}`, branch: `topic-${round % BRANCHES}`, usage };
            return { seq: round * REPEATED + k, clientTimestamp: at, payload: JSON.stringify(payload) };
          }),
        );
    })();
    const half = round < rounds / 2 ? 0 : 1;
    halves[half] = (halves[half] ?? 0) + (await rollUp(core));
  }
  const [first = 0, second = 0] = halves;
  const reports = rounds * REPEATED * streams.length;
  console.log(
    `${reports} reports of ${REPEATED * DEVICES} usages without an id: ${((1_000 * (first + second)) / reports).toFixed(1)} µs each; ` +
      `the second half costs ${(second / first).toFixed(2)} of the first`,
  );
}

/** @returns milliseconds at work */
async function rollUp(core: Core): Promise<number> {
  const before = process.threadCpuUsage();
  await catchUpSpend(core);
  return millis(process.threadCpuUsage(before));
}

function time(name: string, work: () => unknown): void {
  const times = Array.from({ length: 7 }, () => {
    const before = process.threadCpuUsage();
    work();
    return millis(process.threadCpuUsage(before));
  }).sort((a, b) => a - b);
  console.log(`${name}: ${times[3]?.toFixed(1)} ms (median of 7)`);
}

/** A team whose devices have streams to insert entries into, as telemetry stores them. */
async function prepare(core: Core, name: string) {
  const team = await createTeam(core, name, COMMAND_LINE, { tier: "team" });
  const { db } = core.store;
  const addStream = db.prepare(
    `INSERT INTO telemetry_streams (team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
     VALUES (?, ?, ?, 0, 0, 0, 0, 0)`,
  );
  const addDelivery = db.prepare(
    `INSERT INTO deliveries (team_id, device_id, kind, repo_key, received_at, items, redacted, content_sha256, chain_sha256)
     VALUES (?, ?, 'telemetry', '', ?, 1, 0, x'00', x'00')`,
  );
  const streams: number[] = [];
  let delivery = 0;
  for (let i = 0; i < DEVICES; i++) {
    const { code } = await createCode(core, team.id, COMMAND_LINE);
    const { deviceId } = await bindDevice(core, code, "1", null);
    for (let k = 0; k < REPOS; k++)
      streams.push(Number(addStream.run(team.id, deviceId, `github.com/acme/repo-${k}`).lastInsertRowid));
    delivery = Number(addDelivery.run(team.id, deviceId, YEAR_START).lastInsertRowid);
  }
  const addSegment = db.prepare(
    `INSERT INTO telemetry_segments (stream_id, first_seq, last_seq, entries, delivery_id, bytes, texts, first_id)
     SELECT ?, ?, ?, ?, ${delivery}, ?, ?, coalesce(max(first_id), 0) + ${MAX_SEGMENT_ENTRIES} FROM telemetry_segments`,
  );
  const insert = (stream: number | undefined, entries: readonly Entry[]) => {
    const { texts } = pack(entries);
    addSegment.run(stream, entries[0]?.seq, entries.at(-1)?.seq, entries.length, texts.length, texts);
  };
  return { teamId: team.id, streams, insert };
}

/** A year's worth of entries, evenly spread. */
function fillYear(core: Core, streams: readonly number[], insert: Insert, entries: number): void {
  const { db } = core.store;
  const random = randomOf(7);
  db.transaction(() => {
    let segment: Entry[] = [];
    for (let i = 0; i < entries; i++) {
      const session = Math.floor(i / ENTRIES_A_SESSION);
      const at = new Date(YEAR_START + Math.floor((i / entries) * 364 * DAY_MS)).toISOString();
      const payload: Record<string, unknown> = {
        type: "reply",
        sessionId: `session-${session}`,
        branch: `topic-${session % 40}`,
        model: MODELS[session % MODELS.length],
        text: "x".repeat(200),
      };
      if ((i % 10) / 10 < SHARE_WITH_USAGE)
        payload.usage = {
          id: `msg-${Math.floor(i / TELLINGS)}`,
          input_tokens: Math.floor(random() * 50),
          output_tokens: Math.floor(random() * 2_000),
          cache_creation_input_tokens: Math.floor(random() * 5_000),
          cache_read_input_tokens: Math.floor(random() * 250_000),
        };
      segment.push({ seq: i, clientTimestamp: at, payload: JSON.stringify(payload) });
      if (i + 1 < entries && (i + 1) % ENTRIES_A_SESSION !== 0) continue;
      insert(streams[session % streams.length], segment);
      segment = [];
    }
  })();
}

type Insert = Awaited<ReturnType<typeof prepare>>["insert"];

const data = mkdtempSync(join(tmpdir(), "reckon-bench-spend-"));
const store = openStore(data, { create: true, now: systemClock.now });
try {
  const log = createLog({ level: "warn", now: systemClock.now, write: (line) => console.error(line) });
  const core: Core = {
    config: readConfig({ data }, {}),
    clock: systemClock,
    random: systemRandom,
    store,
    log,
    state: new Map(),
  };
  await measureYear(core, Number(process.argv[2] ?? 1_000_000));
  await measureRepeats(core, 40);
} finally {
  store.close();
  rmSync(data, { recursive: true, force: true });
}
