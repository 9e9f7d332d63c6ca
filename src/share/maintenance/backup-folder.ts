import { existsSync, readdirSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { makeFolder, syncDirectory } from "../../kit/files.ts";
import { fail, invalid, unavailable } from "../../kit/problem.ts";
import { databasePath, removeDatabase } from "../../platform/store/store.ts";

/** The folder of the backups that the server makes by itself: `reckon-INSTANT.db`, a name that only a verified one gets. */

const NAME = /^reckon-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.db$/;
/** What a run that was cut short leaves. */
const LEFT = /^(reckon-[\dTZ-]+\.db\.unverified(?:\.partial)?)(?:-\w+)?$/;

/** Left free beside a backup: the server must be able to go on writing. */
const RESERVE_BYTES = 128 * 1024 * 1024;

export interface KeptBackup {
  readonly file: string;
  /** The instant that it is of, in milliseconds since the epoch. */
  readonly at: number;
}

export const folderOf = ({ config, store }: Core): string => config.backupDir ?? join(store.directory, "backups");

/** Where one of this instant belongs. */
export const placeFor = (core: Core, at: number): string =>
  join(folderOf(core), `reckon-${isoInstant(at).replace(/[:.]/g, "-")}.db`);

/** Those that are there, the newest first; those of the future, which are of a clock that was wrong, count as the oldest. */
export function keptBackups(core: Core): KeptBackup[] {
  const folder = folderOf(core);
  const now = core.clock.now();
  const found: KeptBackup[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, day, ...time] = NAME.exec(name) ?? [];
    if (day === undefined) continue;
    const at = Date.parse(`${day}T${time.slice(0, 3).join(":")}.${time[3]}Z`);
    if (!Number.isNaN(at)) found.push({ file: join(folder, name), at });
  }
  return found.sort((a, b) => Number(a.at > now) - Number(b.at > now) || b.at - a.at);
}

/** Removes what runs left that were cut short. */
export function removeLeftovers(core: Core): void {
  const folder = folderOf(core);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, left] = LEFT.exec(name) ?? [];
    if (left !== undefined) removeDatabase(join(folder, left));
  }
}

/** Makes the folder in the data directory; one that a setting names must be there, lest a disk that is not mounted go unnoticed. */
export function requireFolder(core: Core): void {
  const folder = folderOf(core);
  if (core.config.backupDir === null && !existsSync(folder)) {
    makeFolder(folder);
    syncDirectory(core.store.directory);
  }
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    fail(invalid, `${folder} is no directory: RECKON_BACKUP_DIR must name one that exists`);
}

const mebibytes = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MiB`;

/** @throws Problem where another backup would fill the disk */
export function requireSpace(core: Core): void {
  const folder = folderOf(core);
  const { bavail, bsize } = statfsSync(folder);
  const free = bavail * bsize;
  const needed = statSync(databasePath(core.store.directory)).size + core.store.walBytes() + RESERVE_BYTES;
  if (free < needed)
    fail(
      unavailable,
      `${folder} has ${mebibytes(free)} free and a backup needs ${mebibytes(needed)}: free some, or set RECKON_BACKUP_KEEP or RECKON_BACKUP_DIR`,
    );
}
