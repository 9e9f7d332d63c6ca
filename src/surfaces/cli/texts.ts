import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { readTextFile } from "../../kit/bounded-text.ts";
import { whereFull } from "../../kit/errors.ts";
import { syncDirectory, syncFile } from "../../kit/files.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import { systemErrorText } from "../../kit/system-error.ts";
import { PROCESS_IO } from "./output.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads a text that an option or argument names.
 * @param file a path, or `-` for standard input
 * @throws Problem naming the file and the reason
 */
export async function readText(file: string): Promise<string> {
  return file === "-" ? readInput(MAX_BYTES) : readTextFile(file, MAX_BYTES);
}

/** Writes a text to the file that an option names. @throws Problem naming the file and the reason */
export async function writeText(file: string, text: string): Promise<void> {
  const isNew = !existsSync(file);
  try {
    await writeFile(file, text);
  } catch (error) {
    // A part of it would pass for the whole, and stand in the way of the next attempt.
    if (isNew) rmSync(file, { force: true });
    fail(invalid, `${file} cannot be written: ${systemErrorText(error) ?? String(error)}`);
  }
}

/** @param advice what helps when the file exists @throws Problem where the file cannot be made, or exists already */
export function requireNewFile(file: string, advice: string): void {
  if (existsSync(file)) fail(conflict, `${file} exists already; ${advice}`);
  requireFolder(file);
}

/** @returns the folder that a file is to be made in @throws Problem where there is no such folder */
function requireFolder(file: string): string {
  const folder = dirname(resolve(file));
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    fail(invalid, `${folder} is no directory, so nothing can be put there`);
  return folder;
}

const ENDS = ["SIGINT", "SIGTERM"] as const;

/**
 * Does work that has a half-made file or folder while it lasts. If somebody ends the process meanwhile, that is removed first.
 * @param partial the file or folder; what SQLite keeps beside a file is removed with it
 */
export async function orNothing<T>(partial: string, work: () => Promise<T>): Promise<T> {
  const end = (signal: NodeJS.Signals) => {
    for (const path of [partial, `${partial}-journal`]) rmSync(path, { recursive: true, force: true });
    PROCESS_IO.err(`reckon: ended by ${signal}; ${partial} is removed\n`);
    for (const one of ENDS) process.off(one, end);
    process.kill(process.pid, signal);
  };
  for (const signal of ENDS) process.on(signal, end);
  try {
    return await work();
  } finally {
    for (const signal of ENDS) process.off(signal, end);
  }
}

/** Writes a file whose content comes in pieces. It is there whole and on the disk, or not at all. @returns how many bytes it has */
export async function writeArchive(file: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const folder = requireFolder(file);
  const partial = `${file}.partial`;
  try {
    // Not a stream of the file: those write several chunks at once, which within the executable ends the process (Node 26.10,
    // `fs.writev` behind a mounted node:vfs).
    await orNothing(partial, () => {
      // Of one that was killed; or a link of somebody else's, which may write here too, and led to another file.
      rmSync(partial, { force: true });
      return writeFile(partial, content, { mode: 0o600, flag: "wx" });
    });
    syncFile(partial);
    renameSync(partial, file);
    syncDirectory(folder);
  } catch (error) {
    rmSync(partial, { force: true });
    throw whereFull(folder, error, "what was to be put there did not fit");
  }
  return statSync(file).size;
}

/**
 * Reads standard input to its end, however slowly it comes. Not with `readFileSync(0)`: a pipe that somebody has looked at
 * through `process.stdin` no longer blocks, and reading it before its writer is there fails with EAGAIN.
 * @throws Problem when more comes than may
 */
export async function readInput(mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) fail(invalid, `what stands on standard input is longer than ${mostBytes} bytes`);
  }
  return Buffer.concat(chunks).toString("utf8");
}
