import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { DataDirectoryInUse } from "../kit/unavailable.ts";

export interface DirectoryLock {
  /** Tells later comers where this server answers. */
  announce(url: string): void;
  release(): void;
}

/**
 * Claims a data directory for one server. The claim is an operating-system lock that SQLite holds on `serve.lock`, so a
 * killed server leaves nothing to clean up; `server.json` beside it only says who holds it.
 * @throws DataDirectoryInUse naming the process that has it.
 */
export function lockDirectory(directory: string): DirectoryLock {
  const note = join(directory, "server.json");
  const holder = new Sqlite(join(directory, "serve.lock"), { timeout: 0 });
  try {
    holder.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    holder.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    throw new DataDirectoryInUse(`the data directory ${directory} is in use by ${readNote(note)}`);
  }
  writeFileSync(note, JSON.stringify({ pid: process.pid }));
  return {
    announce: (url) => writeFileSync(note, JSON.stringify({ pid: process.pid, url })),
    release: () => {
      rmSync(note, { force: true });
      holder.close();
    },
  };
}

function readNote(note: string): string {
  try {
    const { pid, url } = JSON.parse(readFileSync(note, "utf8")) as { pid: number; url?: string };
    return `another server (process ${pid}${url ? ` at ${url}` : ""})`;
  } catch {
    return "another server";
  }
}
