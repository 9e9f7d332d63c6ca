import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Core } from "../core.ts";
import { isoInstant } from "../kit/clock.ts";
import { syncDirectory, syncFile } from "../kit/files.ts";
import { openFile, removeDatabase } from "../store/store.ts";

/** Files beside the database without which a restore would not restore; retired keys live in a folder. */
export const KEY_FILE = "signing-key.pem";
export const RETIRED_FOLDER = "retired-keys";

export interface BackupResult {
  readonly file: string;
  readonly bytes: number;
  readonly schema: number;
  readonly keys: number;
}

/**
 * Copies database and signing keys into one file, while the server may be running. The copy is of one instant, whatever is
 * written meanwhile, and holds the private key: keep it as safe as the key.
 * @param onProgress told the share done, 0 to 1
 * @throws Error when the file exists or cannot be written
 */
export async function backup(core: Core, file: string, onProgress: (share: number) => void): Promise<BackupResult> {
  const target = resolve(file);
  if (existsSync(target)) throw new Error(`${target} exists already; a backup never overwrites one`);
  const partial = `${target}.partial`;
  removeDatabase(partial);
  const { db } = core.store;
  // Inside a read transaction the source cannot change under the copy, so writers never make it start over.
  db.exec("BEGIN");
  try {
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    await db.backup(partial, {
      progress: ({ totalPages, remainingPages }) => {
        onProgress(totalPages === 0 ? 1 : 1 - remainingPages / totalPages);
        return 2_000;
      },
    });
  } finally {
    db.exec("COMMIT");
  }
  chmodSync(partial, 0o600);
  const copy = openFile(partial);
  try {
    copy.pragma("journal_mode = DELETE");
    copy.exec("CREATE TABLE backup_files (name TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT");
    copy.exec("CREATE TABLE backup_facts (made_at TEXT NOT NULL) STRICT");
    copy.prepare("INSERT INTO backup_facts VALUES (?)").run(isoInstant(core.clock.now()));
    const insert = copy.prepare("INSERT INTO backup_files VALUES (?, ?)");
    const names = keyFiles(core.store.directory);
    for (const name of names) insert.run(name, readFileSync(join(core.store.directory, name), "utf8"));
    const schema = copy.pragma("user_version", { simple: true }) as number;
    copy.close();
    syncFile(partial);
    renameSync(partial, target);
    syncDirectory(dirname(target));
    return { file: target, bytes: statSync(target).size, schema, keys: names.length };
  } catch (error) {
    copy.close();
    removeDatabase(partial);
    throw error;
  }
}

function keyFiles(directory: string): string[] {
  const retired = join(directory, RETIRED_FOLDER);
  return [
    ...(existsSync(join(directory, KEY_FILE)) ? [KEY_FILE] : []),
    ...(existsSync(retired)
      ? readdirSync(retired)
          .filter((name) => name.endsWith(".pem"))
          .map((name) => `${RETIRED_FOLDER}/${name}`)
      : []),
  ];
}
