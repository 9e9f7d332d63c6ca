import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { listTeams } from "../../identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { writeFileAtomically } from "../../kit/files.ts";

/** Beside the database and in no backup: whoever restores on another machine has to make backups there. */
const FILE = "last-backup.json";
const MAX_BYTES = 10_000;

/** The directory is for the server alone; the file may have been made by root, for whom a timer runs the command. */
const MODE = 0o644;

/** Notes that a backup was made now. @throws Error when it cannot be written */
export function noteBackup({ store, clock }: Core, file: string, bytes: number): void {
  const note = { at: isoInstant(clock.now()), file, bytes };
  writeFileAtomically(join(store.directory, FILE), `${JSON.stringify(note)}\n`, true, MODE);
}

/** What is noted of the newest backup. */
export interface LastBackup {
  /** In milliseconds since the epoch. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * The newest backup that the server or `reckon backup` made; undefined where none is noted.
 * @throws Error when the note is there and cannot be opened
 */
export function lastBackup({ store }: Core): LastBackup | undefined {
  const path = join(store.directory, FILE);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.size > MAX_BYTES) return undefined;
  return readNote(readFileSync(path, "utf8"));
}

/** When that was, in milliseconds since the epoch. */
export const lastBackupAt = (core: Core): number | undefined => lastBackup(core)?.at;

/** Backups are made every day. */
const STALE_MS = 2 * DAY_MS;

/**
 * Tells whether the last backup is too long ago.
 * @returns when it was made, null where there is none; undefined while all is well
 * @throws Error when the note is there and cannot be opened
 */
export function staleBackup(core: Core): { readonly last: number | null } | undefined {
  const last = lastBackupAt(core) ?? null;
  // A server that was set up today has none yet.
  const since = last ?? listTeams(core)[0]?.createdAt ?? core.clock.now();
  // Where they are made less often, two in a row have to be missing.
  const staleMs = Math.max(STALE_MS, 2 * (core.config.backupEvery ?? 0));
  // One of days to come is of a clock that was wrong, and tells of nothing.
  return Math.abs(core.clock.now() - since) < staleMs ? undefined : { last };
}

/** What a note says; undefined where it is none of ours. */
function readNote(text: string): LastBackup | undefined {
  try {
    const { at: noted, bytes } = JSON.parse(text) as { at?: unknown; bytes?: unknown };
    const at = typeof noted === "string" ? Date.parse(noted) : Number.NaN;
    return Number.isNaN(at) ? undefined : { at, bytes: typeof bytes === "number" ? bytes : 0 };
  } catch {
    return undefined;
  }
}
