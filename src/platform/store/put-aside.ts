import { existsSync, readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { DataDirectoryError, isStorageTrouble } from "../../kit/errors.ts";
import { leaveToOwner, makeFolder, syncDirectory } from "../../kit/files.ts";
import { finishBackup } from "./backup-file.ts";
import { openFile, removeDatabase } from "./file.ts";

/** Backups that upgrades put aside: `backups/before-schema-N-INSTANT.db`. The program before the upgrade restores them. */

const FOLDER = "backups";
const NAME = /^before-schema-\d+-([\w-]+)\.db$/;
const PARTIAL = /^(before-schema-\d+-[\w-]+\.db\.partial)(?:-\w+)?$/;

export interface PutAside {
  /** Gives it its name, under which it stays. Call once all steps are done, before they are committed. @returns its path */
  keep(): string;
  /** Removes it. */
  discard(): void;
}

/**
 * Makes a backup before an upgrade. Call while nobody else has the directory. Until `keep` is called, the next upgrade removes it: a start
 * that is killed halfway, maybe again and again, must not leave a copy each time.
 * @param version the schema that the upgrade leads to
 * @throws DataDirectoryError when it cannot be written; nothing is left behind then
 */
export function putAside(db: Database, directory: string, version: number, nowIso: string): PutAside {
  const folder = join(directory, FOLDER);
  const target = join(folder, `before-schema-${version}-${nowIso.replace(/[:.]/g, "-")}.db`);
  const partial = `${target}.partial`;
  try {
    makeFolder(folder);
    syncDirectory(directory);
    // Left by a start that was killed here.
    for (const name of readdirSync(folder)) {
      const [, stale] = PARTIAL.exec(name) ?? [];
      if (stale !== undefined) removeDatabase(join(folder, stale));
    }
    try {
      db.prepare("VACUUM INTO ?").run(partial);
      leaveToOwner(partial);
    } catch (error) {
      removeDatabase(partial);
      throw error;
    }
    finishBackup(partial, partial, directory, nowIso);
    return {
      keep() {
        renameSync(partial, target);
        syncDirectory(folder);
        return target;
      },
      discard() {
        removeDatabase(partial);
        removeDatabase(target);
      },
    };
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (!/^E[A-Z]+$/.test(code) && (!isStorageTrouble(error) || /^SQLITE_(CORRUPT|NOTADB)/.test(code))) throw error;
    throw new DataDirectoryError(
      `the backup that an upgrade to schema ${version} begins with cannot be written to ${folder} (${message}), so nothing ` +
        `was upgraded: it needs free space and a folder that can be written`,
    );
  }
}

/**
 * The best of the backups that upgrades put aside, for a program that is older than the database.
 * @param version the newest schema that the program knows
 * @returns its path; undefined when there is none that it can restore
 */
export function findPutAside(directory: string, version: number): string | undefined {
  const folder = join(directory, FOLDER);
  const found: { readonly path: string; readonly schema: number; readonly instant: string }[] = [];
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, instant] = NAME.exec(name) ?? [];
    if (instant === undefined) continue;
    const path = join(folder, name);
    const schema = schemaOfBackup(path);
    if (schema !== undefined && schema <= version) found.push({ path, schema, instant });
  }
  found.sort((a, b) => b.schema - a.schema || (a.instant < b.instant ? 1 : -1));
  return found[0]?.path;
}

function schemaOfBackup(path: string): number | undefined {
  let db: Database | undefined;
  try {
    db = openFile(path, { readonly: true });
    const whole = db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'backup_files'").pluck().get() === 1;
    return whole ? (db.pragma("user_version", { simple: true }) as number) : undefined;
  } catch {
    return undefined;
  } finally {
    db?.close();
  }
}
