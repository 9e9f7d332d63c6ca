import { closeSync, openSync, readSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { shellWord } from "../../kit/strings.ts";
import { databasePath } from "./file.ts";

/** What is wrong with a database file, and what its operator can do about it. */

/**
 * SQLite's own structural check.
 * @param check `integrity_check` compares indexes with their tables, too
 * @returns the first finding, or undefined when the file is sound
 */
export function checkStructure(
  db: Database,
  check: "quick_check" | "integrity_check" = "quick_check",
): string | undefined {
  const result = String(db.pragma(`${check}(1)`, { simple: true }));
  if (result === "ok") return undefined;
  // Findings of one part of the file stand below its heading, such as "*** in database main ***".
  return result.split("\n").find((line) => line !== "" && !/^\*\*\*.*\*\*\*$/.test(line)) ?? result;
}

const SQLITE_IOERR = 10;

/** Whether a finding, or SQLite's message, is about a disk that did not answer and not about the content of the file. */
export function isReadError(finding: string): boolean {
  // The lower eight bits of an extended result code are the primary one.
  const code = /\berror code=(\d+)/.exec(finding)?.[1];
  return (code !== undefined && (Number(code) & 0xff) === SQLITE_IOERR) || /\bdisk I\/O error\b/.test(finding);
}

const CHUNK_BYTES = 1024 * 1024;

function readThrough(path: string): void {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let at = 0, read = -1; read !== 0; at += read) read = readSync(file, chunk, 0, CHUNK_BYTES, at);
  } finally {
    closeSync(file);
  }
}

/**
 * Checks an open file again that SQLite called damaged: it says so, too, when a disk did not answer (SQLITE_IOERR_CORRUPTFS).
 * @param message SQLite's message
 * @returns the finding
 */
export function lookAgain(db: Database, message: string): string {
  try {
    readThrough(db.name);
    return checkStructure(db) ?? `disk I/O error, which is gone when looked at again: ${message}`;
  } catch (error) {
    return (error as { code?: unknown }).code === "EIO" ? "disk I/O error, EIO" : message;
  }
}

/** The line an operator gets when the file itself is damaged, or could not be read to tell. */
export function damageAdvice(directory: string, finding: string): string {
  const path = databasePath(directory);
  if (isReadError(finding))
    return (
      `the disk answered an I/O error for the database ${path} (${finding}), which does not say that it is damaged: look at ` +
      "the system's log and the disk, then start again; restore a backup only when the disk is sound and the error stays"
    );
  return (
    `the database ${path} is damaged (${finding}): restore the newest backup with ` +
    `"reckon restore FILE --data ${shellWord(directory)}"; the damaged file is kept aside, not deleted`
  );
}
