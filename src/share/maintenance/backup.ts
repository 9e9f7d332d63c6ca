import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Core } from "../../core.ts";
import { isoInstant } from "../../kit/clock.ts";
import { DataDirectoryError, whereFull } from "../../kit/errors.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import { type Steps, unwatched } from "../../kit/steps.ts";
import {
  type BackupResult,
  checkStructure,
  damageAdvice,
  finishBackup,
  openFile,
  removeDatabase,
} from "../../platform/store/store.ts";
import { CHECKING } from "./copies.ts";
import { noteBackup } from "./last-backup.ts";
import { requireOwnKey } from "./restore.ts";
import { readFirst } from "./rows.ts";

type Database = ReturnType<typeof openFile>;

/**
 * Copies database, signing keys and own prices into one file, while the server may be running. The copy is of one instant,
 * whatever is written meanwhile, and holds the private key: keep it as safe as the key.
 * @throws Error when the file exists or cannot be written, or the database is damaged; nothing is left behind then
 */
export async function backup(core: Core, file: string, steps: Steps = unwatched): Promise<BackupResult> {
  const made = await makeBackup(core, file, steps("copying the database"), (copy) => {
    steps(CHECKING);
    const damage = checkStructure(copy);
    // It would pass for a backup, and take the place of a sound one.
    if (damage !== undefined) throw new DataDirectoryError(damageAdvice(core.store.directory, damage));
  });
  try {
    noteBackup(core, made.file, made.bytes);
  } catch (error) {
    // It is made and sound: that the figures do not know of it must not look like a failure.
    core.log.warn("backup_not_noted", { cause: String(error) });
  }
  return made;
}

/**
 * The same, without a note of it.
 * @param onProgress told the share done, 0 to 1
 * @param inspect throws where the copy, which has not its name yet, must not become a backup
 */
export async function makeBackup(
  core: Core,
  file: string,
  onProgress: (share: number) => void,
  inspect: (copy: Database) => void = () => {},
): Promise<BackupResult> {
  const target = resolve(file);
  if (existsSync(target)) fail(conflict, `${target} exists already; a backup never overwrites one`);
  const place = dirname(target);
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory())
    fail(invalid, `${place} is no directory, so nothing can be put there`);
  // SQLite would say that it cannot open a file, and not which.
  accessSync(place, constants.W_OK);
  const partial = `${target}.partial`;
  removeDatabase(partial);
  const { db, directory } = core.store;
  // A connection of its own: on the store's, a change of this process would end the transaction that the copy is read in, and fail with it.
  const source = openFile(db.name, { readonly: db.readonly });
  try {
    // Inside a read transaction the source cannot change under the copy, so writers never make it start over.
    source.exec("BEGIN");
    readFirst(source);
    await source.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages === 0 ? 1 : 1 - remainingPages / totalPages);
        return 2_000;
      },
    });
    withFile(partial, inspect);
  } catch (error) {
    removeDatabase(partial);
    throw whereFull(place, error, "a backup takes as much as its database");
  } finally {
    source.close();
  }
  const made = finishBackup(partial, target, directory, isoInstant(core.clock.now()));
  if (core.config.signing !== "off") requireRestorable(target);
  return made;
}

/** Removes a backup that got its files after another key had come than the one that its database has. @throws Problem then */
function requireRestorable(file: string): void {
  try {
    withFile(file, requireOwnKey);
  } catch (error) {
    removeDatabase(file);
    throw error;
  }
}

/** Opens a file for the work, and closes it. */
function withFile(file: string, work: (db: Database) => void): void {
  const db = openFile(file);
  try {
    work(db);
  } finally {
    db.close();
  }
}
