import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { type Clock, systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import type { Job } from "../../src/platform/jobs/jobs.ts";
import { databasePath, openFile, openStore } from "../../src/platform/store/store.ts";
import { brain } from "../../src/record/brain/room.ts";
import { telemetry } from "../../src/record/telemetry/room.ts";
import { traces } from "../../src/record/traces/room.ts";
import { deliverEntries } from "./held.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory } from "./servers.ts";
import { figure, type Report } from "./table.ts";

const SEAL = ["telemetry.seal", "brain.seal", "traces.seal"];
const YEAR_MS = 365 * 86_400_000;

/** The jobs that compress what came. */
const sealJobs = [...(telemetry.jobs ?? []), ...(brain.jobs ?? []), ...(traces.jobs ?? [])].filter(
  (job): job is Job => SEAL.includes(job.name) && "run" in job,
);

/** What the database takes of the disk for an entry, everything derived from it included: as sent, and once it is compressed. */
export async function measureSize({ quick, reckon }: Settings, report: Report): Promise<void> {
  const directory = newDirectory();
  const count = quick ? 96_000 : 480_000;
  const { payloadBytes } = await deliverEntries(directory, reckon, count);
  const asSent = weigh(directory, count);
  report.note(
    "size",
    `${figure(asSent.each)} B an entry as sent, with payloads of ${figure(payloadBytes)} B and all tables; ${asSent.largest}`,
  );
  const seconds = await sealAll(directory);
  const sealed = weigh(directory, count);
  report.result({ scenario: "size of an entry, sealed", unit: "B", ours: [sealed.each], aim: { below: 200 } });
  report.note("size", `sealed at ${figure(count / seconds)} entries/s; ${sealed.largest}`);
  removeDirectory(directory);
}

/** Pages in use over entries: free ones are used again. */
const weigh = (directory: string, entries: number): { each: number; largest: string } => ({
  each: usedBytes(directory) / entries,
  largest: largestTables(directory, entries),
});

/** Bytes an entry that the largest tables and indexes take. */
export function largestTables(directory: string, entries: number): string {
  const db = openFile(databasePath(directory), { readonly: true });
  try {
    const tables = db
      .prepare<[], { name: string; bytes: number }>(
        "SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name ORDER BY bytes DESC LIMIT 6",
      )
      .all();
    return tables.map(({ name, bytes }) => `${name} ${figure(bytes / entries)}`).join(", ");
  } finally {
    db.close();
  }
}

/** Bytes of the pages of a database that are in use. */
export function usedBytes(directory: string): number {
  const db = openFile(databasePath(directory), { readonly: true });
  try {
    const pragma = (name: string) => Number(db.pragma(name, { simple: true }));
    return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
  } finally {
    db.close();
  }
}

/** Lets what compresses do all that it will ever do. @returns the seconds that it took */
export async function sealAll(directory: string): Promise<number> {
  // A year on, everything has been quiet for long enough.
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + YEAR_MS };
  const store = openStore(directory, { create: false, now: clock.now });
  try {
    const config = readConfig({ data: directory }, {});
    const core: Core = { config, clock, random: systemRandom, log: silentLog, store, state: new Map() };
    const left = store.db
      .prepare(
        `SELECT (SELECT count(*) FROM telemetry_segments WHERE texts IS NOT NULL) + (SELECT count(*) FROM trace_spans WHERE block_id IS NULL)`,
      )
      .pluck();
    const began = performance.now();
    for (let before = Number.POSITIVE_INFINITY; ; ) {
      for (const job of sealJobs) await job.run(core);
      const now = left.get() as number;
      if (now === 0) break;
      if (now === before) throw new Error(`${now} segments or spans are never sealed`);
      before = now;
    }
    return (performance.now() - began) / 1000;
  } finally {
    store.close();
  }
}
