import { createPublicKey } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { countTeams } from "../../identity/teams/teams.ts";
import { whereFull } from "../../kit/errors.ts";
import {
  copyDurably,
  leaveToOwner,
  makeFolder,
  requireFile,
  syncDirectory,
  syncFile,
  writeFileAtomically,
} from "../../kit/files.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type Steps, unwatched } from "../../kit/steps.ts";
import { countDeliveries } from "../../log/log.ts";
import { activePublicPem } from "../../platform/keys/keys.ts";
import {
  BESIDE,
  checkStructure,
  type DirectoryLock,
  databasePath,
  isCarried,
  lockDirectory,
  openFile,
  type Preparer,
  removeDatabase,
  requireOurs,
  schemaVersion,
} from "../../platform/store/store.ts";
import { journalBeforeReplaced } from "../erasure/erasure.ts";
import { CHECKING, failToRestore } from "./copies.ts";
import { findLost, type Lost } from "./lost.ts";
import { backupFiles, describeBackup, hasTable } from "./rows.ts";

export interface BackupFacts {
  readonly madeAt: string;
  readonly schema: number;
  readonly keys: number;
  /** It carries the data directory's own prices. */
  readonly ownPrices: boolean;
  readonly teams: number;
  readonly deliveries: number;
}

/** For somebody who holds a copy that another tool made: it lacks the key, and nothing else. */
const NOT_OURS =
  'it was not made by "reckon backup". A copy of the database made otherwise has no keys in it: "reckon restore --from FILE --key ' +
  'signing-key.pem --key ledger-key.pem" verifies it and puts it in place with them';

/**
 * Reads a backup through and through. Changes nothing.
 * @throws Error saying why it would not restore
 */
export function inspectBackup(file: string, steps: Steps = unwatched): BackupFacts {
  requireFile(file);
  let db: ReturnType<typeof openFile> | undefined;
  try {
    db = openFile(file, { readonly: true });
    requireOurs(db);
    steps(CHECKING);
    const damage = checkStructure(db, "integrity_check");
    if (damage !== undefined) fail(invalid, `it is damaged (${damage})`);
    if (!hasTable(db, "backup_files")) fail(invalid, NOT_OURS);
    requireOwnKey(db);
    return {
      ...describeBackup(db),
      schema: schemaVersion(db),
      teams: countTeams(db),
      deliveries: countDeliveries(db),
    };
  } catch (error) {
    return failToRestore(file, error);
  } finally {
    db?.close();
  }
}

/** @throws Problem where a backup carries another key than its database signs with: no server would start on that */
export function requireOwnKey(db: Preparer): void {
  const pem = backupFiles(db).find(({ name }) => name === BESIDE.key)?.content;
  const own = activePublicPem(db);
  if (pem === undefined || own === undefined) return;
  if (createPublicKey(pem).export({ type: "spki", format: "pem" }) !== own)
    fail(
      invalid,
      'its signing key is another than its database has, as where "reckon key rotate" ran while it was made',
    );
}

export interface Restored extends BackupFacts, Lost {
  /** Where what was there lies now; null when nothing was. */
  readonly keptAside: string | null;
  /** The backup carries no prices, but the directory has some: they are used on. */
  readonly pricesStay: boolean;
}

/**
 * Puts a backup in place of a data directory's database, keys and own prices. What was there is copied to `backups/`, not deleted;
 * a file that the backup does not carry stays.
 * @param stamp names the folder for what was there
 * @throws DataDirectoryInUse while a server runs; Error when the backup would not restore
 */
export function restore(file: string, directory: string, stamp: string, steps: Steps = unwatched): Restored {
  // A server that runs is told of before a long look through the file. Where there is no directory, none is made for what will not do.
  let lock = existsSync(directory) ? lockToRestore(directory) : undefined;
  const incoming = join(directory, BESIDE.incoming);
  try {
    const facts = inspectBackup(file, steps);
    lock ??= lockToRestore(directory);
    steps(COPYING);
    copyFileSync(file, incoming);
    const files = takeOutFiles(incoming);
    const lost = findLost(directory, incoming);
    const keptAside = putInPlace(directory, incoming, files, stamp, steps);
    return {
      ...facts,
      ...lost,
      keptAside,
      pricesStay: !facts.ownPrices && existsSync(join(directory, BESIDE.prices)),
    };
  } catch (error) {
    throw whereFull(directory, error, RESTORE_TAKES);
  } finally {
    // What did not fit must not fill the disk of what is there.
    removeDatabase(incoming);
    lock?.release();
  }
}

/** Claims a directory, making it if need be. @throws DataDirectoryInUse while a server runs */
export function lockToRestore(directory: string): DirectoryLock {
  try {
    makeFolder(directory);
    return lockDirectory(directory);
  } catch (error) {
    throw whereFull(directory, error, RESTORE_TAKES);
  }
}

/** The step that takes in what is put in place. */
export const COPYING = "copying the database";

/** What there has to be room for. */
export const RESTORE_TAKES =
  "a restore takes as much as the database that comes, and as what is there, which is kept aside";

/** A file that belongs beside a database. */
export interface FileBeside {
  readonly name: string;
  readonly content: string;
}

/**
 * Puts a database in place, with the files that belong beside it. Call while nobody else has the directory.
 * @param incoming the database, within the directory
 * @returns where what was there lies now; null when nothing was
 */
export function putInPlace(
  directory: string,
  incoming: string,
  files: readonly FileBeside[],
  stamp: string,
  steps: Steps,
): string | null {
  leaveToOwner(incoming);
  // A copy has the mode of what it is of, which may have come from anywhere.
  chmodSync(incoming, 0o600);
  syncFile(incoming);
  steps("keeping aside what is there");
  const keptAside = keepAside(directory, stamp);
  for (const { name, content } of files) {
    makeFolder(dirname(join(directory, name)));
    writeFileAtomically(join(directory, name), content, true);
  }
  // The old database's log must not be played into the new one; what it held is in the copy put aside.
  for (const ending of ["-wal", "-shm"]) rmSync(databasePath(directory) + ending, { force: true });
  // The last signed checkpoint belongs to the database that is replaced; the restored one goes on as a new epoch.
  rmSync(join(directory, BESIDE.checkpoint), { force: true });
  renameSync(incoming, databasePath(directory));
  syncDirectory(directory);
  return keptAside;
}

/** Turns a backup file back into a plain database. @returns the files it carried */
function takeOutFiles(path: string): FileBeside[] {
  const db = openFile(path);
  try {
    const sound = backupFiles(db).filter(({ name }) => isCarried(name));
    // A VACUUM would do it too, but copy all that there is twice over, once to where the system has its temporary files.
    db.pragma("secure_delete = ON");
    db.exec("DROP TABLE backup_files; DROP TABLE backup_facts");
    return sound;
  } finally {
    db.close();
  }
}

/** Copies what is there under `backups/`, so that the database has its name until the very moment another takes it. */
function keepAside(directory: string, stamp: string): string | null {
  const { key, ledgerKey, checkpoint, retiredKeys, prices } = BESIDE;
  const database = ["reckon.db", "reckon.db-wal", "reckon.db-shm"];
  const names = [...database, key, ledgerKey, checkpoint, retiredKeys, prices].filter((name) =>
    existsSync(join(directory, name)),
  );
  if (names.length === 0) return null;
  moveLogIntoDatabase(directory);
  noteErasures(directory);
  const aside = join(directory, "backups", `replaced-${stamp}`);
  const half = aside + BESIDE.half;
  makeFolder(half);
  for (const folder of [directory, dirname(aside)]) syncDirectory(folder);
  try {
    for (const name of names.filter((file) => existsSync(join(directory, file))))
      copyDurably(join(directory, name), join(half, name));
  } catch (error) {
    // Half of it is of no use to anybody, and the whole is where it was.
    rmSync(half, { recursive: true });
    throw error;
  }
  renameSync(half, aside);
  syncDirectory(dirname(aside));
  return aside;
}

/** Leaves nothing in the write-ahead log, where the database can still be read. A damaged one is copied as it is. */
function moveLogIntoDatabase(directory: string): void {
  let db: ReturnType<typeof openFile> | undefined;
  try {
    db = openFile(databasePath(directory));
    db.pragma("wal_checkpoint(TRUNCATE)");
  } catch {
    // Damage is why people restore.
  } finally {
    db?.close();
  }
}

/**
 * Writes erasures of the present database into the journal beside it, so that they are repeated on the restored one.
 * @throws DataDirectoryError when the journal cannot be used
 */
function noteErasures(directory: string): void {
  let db: ReturnType<typeof openFile> | undefined;
  try {
    db = openFile(databasePath(directory));
  } catch {
    return;
  }
  try {
    journalBeforeReplaced(directory, db);
  } finally {
    db.close();
  }
}
