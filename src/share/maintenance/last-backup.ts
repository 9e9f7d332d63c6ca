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

/**
 * When `reckon backup` made the last one, in milliseconds since the epoch; undefined where none is noted.
 * @throws Error when the note is there and cannot be opened
 */
export function lastBackupAt({ store }: Core): number | undefined {
  const path = join(store.directory, FILE);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat || stat.size > MAX_BYTES) return undefined;
  const at = Date.parse(instantOf(readFileSync(path, "utf8")));
  return Number.isNaN(at) ? undefined : at;
}

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
  return since > core.clock.now() - STALE_MS ? undefined : { last };
}

/** What a note says of when; `""` where it is none of ours. */
function instantOf(text: string): string {
  try {
    const { at } = JSON.parse(text) as { at?: unknown };
    return typeof at === "string" ? at : "";
  } catch {
    return "";
  }
}
