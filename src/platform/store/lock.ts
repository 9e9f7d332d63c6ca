import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { DataDirectoryError, DataDirectoryInUse } from "../../kit/errors.ts";
import { isSpecial, leaveToOwner } from "../../kit/files.ts";
import { removeHalfRestored } from "./backup-file.ts";

export interface DirectoryLock {
  /** Publishes where this server answers, and its public address, for commands on the same directory. */
  announce(url: string, baseUrl: string): void;
  release(): void;
}

/** Written once a server answers, and left there: it also tells that the directory was in use. */
export const SERVER_NOTE = "server.json";

/** Names of our files that are read as a directory is opened or served. Others may put theirs beside them. */
const READ =
  /^(?:(?:reckon|restoring)\.db(?:-wal|-shm)?|serve\.lock|(?:server|erasures|prices)\.json|(?:signing|ledger)-key[\w.-]*\.pem|ledger-checkpoint)$/;

/** @throws DataDirectoryError when one of the files is a pipe or a device: whoever reads it would wait for ever, or never come to an end. */
export function requireFiles(directory: string): void {
  const special = readdirSync(directory).find((name) => READ.test(name) && isSpecial(join(directory, name)));
  if (special !== undefined)
    throw new DataDirectoryError(
      `${join(directory, special)} is a device or a pipe, not a file: take it away, or put the right file there`,
    );
}

/**
 * Claims a data directory for one server. The claim is an operating-system lock that SQLite holds on `serve.lock`, so a killed server
 * leaves nothing to clean up; `server.json` beside it only says who answered here last. The remains of a killed restore are removed.
 * @throws DataDirectoryInUse naming the process that has it; DataDirectoryError as `requireFiles`
 */
export function lockDirectory(directory: string): DirectoryLock {
  requireFiles(directory);
  const note = join(directory, SERVER_NOTE);
  const holder = new Sqlite(join(directory, "serve.lock"), { timeout: 0 });
  try {
    holder.exec("BEGIN EXCLUSIVE");
    leaveToOwner(holder.name);
  } catch (error) {
    holder.close();
    if ((error as { code?: string }).code !== "SQLITE_BUSY") throw error;
    throw new DataDirectoryInUse(`the data directory ${directory} is in use by ${whoAnswers(note)}`);
  }
  const say = (text: string) => {
    writeFileSync(note, text);
    leaveToOwner(note);
  };
  const forget = () => {
    if (existsSync(note)) say("{}");
  };
  // Removes the note of a killed server, and what a killed restore had copied.
  forget();
  removeHalfRestored(directory);
  return {
    announce: (url, baseUrl) => say(JSON.stringify({ pid: process.pid, url, baseUrl })),
    release: () => {
      try {
        forget();
      } finally {
        holder.close();
      }
    },
  };
}

function readNote(note: string): { readonly pid?: number; readonly url?: string; readonly baseUrl?: string } {
  try {
    return JSON.parse(readFileSync(note, "utf8"));
  } catch {
    return {};
  }
}

function whoAnswers(note: string): string {
  const { pid, url } = readNote(note);
  if (pid === undefined) return "another server";
  return `another server (process ${pid}${url ? ` at ${url}` : ""})`;
}

/** The public address of the server that has a data directory, or had it when it was killed; undefined for none. */
export function announcedBaseUrl(directory: string): string | undefined {
  return readNote(join(directory, SERVER_NOTE)).baseUrl;
}
