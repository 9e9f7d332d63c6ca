/**
 * Spend over a year: how fast entries are rolled up, and how long a report over a million of them takes.
 * Run alone: `node test/bench/spend.ts [ENTRIES]`. Times are processor time of one thread.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { catchUpSpend, GROUPINGS, spendReport } from "../../src/insight/spend/spend.ts";
import { DAY_MS, systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { openStore } from "../../src/platform/store/store.ts";
import { randomOf } from "./text.ts";

const MODELS = ["claude-opus-4-6", "claude-sonnet-4-5-20250929", "claude-haiku-4-5", "gpt-5.4", "gemini-2.5-pro"];
const DEVICES = 10;
const REPOS = 8;
/** Of entries, how many tell of usage, and in how many one after another the same message is told. */
const SHARE_WITH_USAGE = 0.4;
const TELLINGS = 2;
const ENTRIES_A_SESSION = 150;
const YEAR_START = Date.UTC(2025, 10, 22);

const millis = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;

async function measure(core: Core, entries: number): Promise<void> {
  const team = await createTeam(core, "Bench", { tier: "team" });
  const devices: string[] = [];
  for (let i = 0; i < DEVICES; i++) {
    const { code } = await createCode(core, team.id);
    devices.push((await bindDevice(core, code, "1", null)).deviceId);
  }
  fill(core, team.id, devices, entries);
  const [cpu, wall] = [process.threadCpuUsage(), performance.now()];
  await catchUpSpend(core);
  const spent = millis(process.threadCpuUsage(cpu));
  const count = (table: string) => core.store.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  console.log(
    `${entries} entries rolled up in ${Math.round(performance.now() - wall)} ms, ${Math.round(spent)} ms of them at work: ` +
      `${Math.round(entries / (spent / 1_000))} entries/s; ${count("spend_usages")} usages, ${count("spend_cells")} cells`,
  );
  const year = { from: YEAR_START, to: YEAR_START + 364 * DAY_MS };
  for (const by of GROUPINGS) time(`report of a year by ${by}`, () => spendReport(core, team.id, { ...year, by }));
  time("with days and models for a chart", () => spendReport(core, team.id, { ...year, by: "model" }).byDayAndModel);
}

function time(name: string, work: () => unknown): void {
  const times = Array.from({ length: 7 }, () => {
    const before = process.threadCpuUsage();
    work();
    return millis(process.threadCpuUsage(before));
  }).sort((a, b) => a - b);
  console.log(`${name}: ${times[3]?.toFixed(1)} ms (median of 7)`);
}

/** Entries as telemetry stores them, a year's worth evenly spread. */
function fill(core: Core, teamId: string, devices: readonly string[], entries: number): void {
  const { db } = core.store;
  const random = randomOf(7);
  const stream = db.prepare(
    `INSERT INTO telemetry_streams (team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
     VALUES (?, ?, ?, 0, 0, 0, 0, 0)`,
  );
  const streams = devices.flatMap((device) =>
    Array.from({ length: REPOS }, (_, i) =>
      Number(stream.run(teamId, device, `github.com/acme/repo-${i}`).lastInsertRowid),
    ),
  );
  db.prepare(
    `INSERT INTO deliveries (id, team_id, device_id, kind, repo_key, received_at, items, redacted, content_sha256, chain_sha256)
     VALUES (1, ?, ?, 'telemetry', '', ?, 1, 0, x'00', x'00')`,
  ).run(teamId, devices[0], YEAR_START);
  const insert = db.prepare(
    "INSERT INTO telemetry_entries (stream_id, seq, delivery_id, client_timestamp, payload) VALUES (?, ?, 1, ?, ?)",
  );
  db.transaction(() => {
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
      insert.run(streams[session % streams.length], i, at, JSON.stringify(payload));
    }
  })();
}

const data = mkdtempSync(join(tmpdir(), "reckon-bench-spend-"));
const store = openStore(data, { create: true, now: systemClock.now });
try {
  const log = createLog({ level: "warn", now: systemClock.now, write: (line) => console.error(line) });
  const core: Core = { config: readConfig({ data }, {}), clock: systemClock, random: systemRandom, store, log };
  await measure(core, Number(process.argv[2] ?? 1_000_000));
} finally {
  store.close();
  rmSync(data, { recursive: true, force: true });
}
