import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Database } from "better-sqlite3";
import { syncDirectory, syncFile } from "../../kit/files.ts";
import { openFile, removeDatabase } from "./file.ts";

/**
 * A backup file is a database with two more tables: `backup_files`, which holds the files beside it, and `backup_facts`. Older programs can
 * restore it, too: they read the names of `backup_files` that they know.
 */

/** Files beside a database, by name. */
export const BESIDE = {
  key: "signing-key.pem",
  /** Signs the log's checkpoints. */
  ledgerKey: "ledger-key.pem",
  /** The last signed checkpoint. It is in no backup, because it shows when a database went back in time. */
  checkpoint: "ledger-checkpoint",
  /** Public halves of earlier keys. */
  retiredKeys: "retired-keys",
  /** A data directory's own prices. */
  prices: "prices.json",
  /** The database that a restore will put in place. */
  incoming: "restoring.db",
  /** End of the name of the folder into which a restore copies the former files, until it has all of them. */
  half: ".partial",
} as const;

/** Whether a name in a backup is one that we write there: the file may have been made by anybody. */
export function isCarried(name: string): boolean {
  return (
    [BESIDE.key, BESIDE.ledgerKey, BESIDE.prices].some((one) => one === name) ||
    /^retired-keys\/[\w-]+\.pem$/.test(name)
  );
}

/** The files that belong to the database of a data directory. */
function filesBeside(directory: string): string[] {
  const isFile = (name: string) => statSync(join(directory, name), { throwIfNoEntry: false })?.isFile() ?? false;
  const retired = join(directory, BESIDE.retiredKeys);
  const names = existsSync(retired) ? readdirSync(retired).map((name) => `${BESIDE.retiredKeys}/${name}`) : [];
  return [BESIDE.key, BESIDE.ledgerKey, BESIDE.prices, ...names].filter((name) => isCarried(name) && isFile(name));
}

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  /** Keys that sign licences, or did. */
  readonly keys: number;
}

/**
 * Makes a backup of a copied database: adds the files beside the original, brings it to the disk, and only then gives it its name.
 * @param partial the copy; it is removed when this fails
 * @param target its name; the copy's own when it gets another later
 * @param directory the original's, whose files are added
 * @throws Error when it cannot be written
 */
export function finishBackup(partial: string, target: string, directory: string, nowIso: string): BackupResult {
  let copy: Database | undefined;
  try {
    // It holds the private key.
    chmodSync(partial, 0o600);
    copy = openFile(partial);
    copy.pragma("journal_mode = DELETE");
    // Such tables are there when a backup was put in place as if it were a plain copy.
    copy.exec("DROP TABLE IF EXISTS backup_files; DROP TABLE IF EXISTS backup_facts");
    copy.exec("CREATE TABLE backup_files (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT");
    copy.exec("CREATE TABLE backup_facts (made_at TEXT NOT NULL) STRICT");
    copy.prepare("INSERT INTO backup_facts VALUES (?)").run(nowIso);
    const insert = copy.prepare("INSERT INTO backup_files VALUES (?, ?)");
    const names = filesBeside(directory);
    for (const name of names) insert.run(name, readFileSync(join(directory, name), "utf8"));
    const schema = copy.pragma("user_version", { simple: true }) as number;
    copy.close();
    syncFile(partial);
    renameSync(partial, target);
    syncDirectory(dirname(target));
    const keys = names.filter((name) => name.endsWith(".pem") && name !== BESIDE.ledgerKey).length;
    return { file: target, bytes: statSync(target).size, schema, keys };
  } catch (error) {
    copy?.close();
    removeDatabase(partial);
    throw error;
  }
}

/** Removes databases, with the keys in them, that an interrupted restore left. Call while nobody else has the directory. */
export function removeHalfRestored(directory: string): void {
  removeDatabase(join(directory, BESIDE.incoming));
  const folder = join(directory, "backups");
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (name.startsWith("replaced-") && name.endsWith(BESIDE.half)) rmSync(join(folder, name), { recursive: true });
}
