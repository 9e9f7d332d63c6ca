import { type ChildProcess, execFile } from "node:child_process";
import { renameSync } from "node:fs";
import { dirname } from "node:path";
import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { syncDirectory } from "../../kit/files.ts";
import { conflict, fail, unavailable } from "../../kit/problem.ts";
import { helperCommand } from "../../kit/respawn.ts";
import { type Job, troubledJobs } from "../../platform/jobs/jobs.ts";
import { removeDatabase } from "../../platform/store/store.ts";
import { currentEpoch } from "../../platform/transparency/transparency.ts";
import { makeBackup } from "./backup.ts";
import {
  folderOf,
  type KeptBackup,
  keptBackups,
  placeFor,
  removeLeftovers,
  requireFolder,
  requireSpace,
} from "./backup-folder.ts";
import { inspectCopy, withCopy } from "./copies.ts";
import { noteBackup } from "./last-backup.ts";
import { hasTable } from "./rows.ts";

/** A failed one read and wrote all there is: it is not tried again at once. */
const RETRY_MS = 15 * MINUTE_MS;
const MAX_OUTPUT_BYTES = 64 * 1024;

const atWork = slot(() => ({
  child: undefined as ChildProcess | undefined,
  /** When the one began that is being made, in milliseconds since the epoch. */
  begunAt: null as number | null,
  isStopping: false,
  /** The newest file that was looked at and is no other database's. */
  lookedAt: undefined as string | undefined,
}));

/** What a process that made one tells. */
export interface VerifiedBackup {
  readonly bytes: number;
  readonly deliveries: number;
}

/** Makes backups as often as the settings say. The names of those that are there tell when the next is due, also after a restart. */
export const backupJob: Job = {
  name: "backups",
  everyMs: MINUTE_MS,
  retryMs: RETRY_MS,
  async run(core) {
    const facts = scheduledBackups(core);
    if (!facts) return;
    await requireOwn(core, facts);
    if (facts.nextAt > core.clock.now()) return;
    requireFolder(core);
    removeLeftovers(core);
    requireSpace(core);
    const target = placeFor(core, core.clock.now());
    const { bytes, deliveries } = await makeBeside(core, target);
    noteBackup(core, target, bytes);
    for (const { file } of keptBackups(core).slice(core.config.backupKeep)) removeDatabase(file);
    core.log.info("backup_made", { file: target, bytes, deliveries });
  },
  stop(core) {
    const state = atWork(core);
    state.isStopping = true;
    state.child?.kill();
  },
};

/** @throws Problem where another database's backups lie there, which would pass for ours and go one by one: as where the disk with ours is not mounted */
async function requireOwn(core: Core, { folder, kept: [newest] }: ScheduledBackups): Promise<void> {
  const state = atWork(core);
  if (!newest || newest.file === state.lookedAt) return;
  const log = await withCopy(core, newest.file, (copy) => currentEpoch(copy)?.name).catch(() => undefined);
  if (log !== undefined && log !== currentEpoch(core)?.name)
    fail(
      conflict,
      `${newest.file} is of another database, and none is made beside it: start the server on that, or move what lies in ${folder} away, or set RECKON_BACKUP_DIR`,
    );
  state.lookedAt = newest.file;
}

/** In a process of its own: neither copying nor verifying keeps a request waiting. */
function makeBeside(core: Core, target: string): Promise<VerifiedBackup> {
  const state = atWork(core);
  if (state.isStopping) fail(unavailable, "the server stops");
  state.begunAt = core.clock.now();
  core.log.info("backup_begun", { file: target });
  const { file, args } = helperCommand("__backup", [target, "--data", core.store.directory, "--json"]);
  return new Promise((resolve, reject) => {
    state.child = execFile(file, args, { maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      state.child = undefined;
      state.begunAt = null;
      if (!error) resolve(JSON.parse(stdout) as VerifiedBackup);
      else
        reject(
          new Error(stderr.trim().replace(/^reckon: /, "") || `its process ended (${error.signal ?? error.code})`),
        );
    });
  });
}

/**
 * Makes a backup that has its name only once it is verified: its structure, and its ledger against all that it holds.
 * @throws Error saying what is wrong with it; nothing of it is left then
 */
export async function makeVerified(core: Core, target: string): Promise<VerifiedBackup> {
  const unverified = `${target}.unverified`;
  removeDatabase(unverified);
  try {
    const { bytes } = await makeBackup(core, unverified, () => {});
    const { deliveries } = await inspectCopy(core, unverified);
    renameSync(unverified, target);
    syncDirectory(dirname(target));
    return { bytes, deliveries };
  } catch (error) {
    removeDatabase(unverified);
    // The reason is kept short, and the name is that of a file that is gone.
    throw new Error((error as Error).message.replace(`${unverified} cannot be restored`, "the backup does not verify"));
  }
}

export interface ScheduledBackups {
  readonly everyMs: number;
  readonly folder: string;
  readonly kept: readonly KeptBackup[];
  /** When the one began that is being made; null while none is. In milliseconds since the epoch. */
  readonly begunAt: number | null;
  /** When the next is due; now, where it is overdue. In milliseconds since the epoch. */
  readonly nextAt: number;
  /** Why the last try failed; null where it did not. */
  readonly failure: string | null;
}

/** What is known of the backups that the server makes; undefined where it makes none. */
export function scheduledBackups(core: Core): ScheduledBackups | undefined {
  const { backupEvery: everyMs } = core.config;
  if (everyMs === null) return undefined;
  const now = core.clock.now();
  const kept = keptBackups(core);
  // One of the future is of a clock that was wrong: it holds nothing up.
  const last = kept.find(({ at }) => at <= now);
  const failed = hasTable(core.store.db, "job_failures") ? troubledJobs(core) : [];
  const failure = failed.find(({ job }) => job === backupJob.name)?.cause ?? null;
  const { begunAt } = atWork(core);
  const nextAt = last ? Math.max(last.at + everyMs, now) : now;
  return { everyMs, folder: folderOf(core), kept, begunAt, nextAt, failure };
}
