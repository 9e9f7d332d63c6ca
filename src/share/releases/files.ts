import { createHash } from "node:crypto";
import { renameSync, rmSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { leaveToOwner, makeFolder, requireFile, syncDirectory, withPath } from "../../kit/files.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { rows } from "./rows.ts";

/** Installers that we serve: files of the data directory, each named by the SHA-512 of its content. */

export const FOLDER = "releases";
const CHUNK_BYTES = 1024 * 1024;

const pathOf = (core: Core, sha512: Buffer) => join(core.store.directory, FOLDER, sha512.toString("hex"));

export interface Summed {
  readonly sha512: Buffer;
  readonly bytes: number;
}

/** Reads a file through once. @param onProgress told the share done @throws Problem when it cannot be read or is empty */
export async function sumFile(
  path: string,
  onProgress: (share: number) => void,
  chunk: (bytes: Buffer) => Promise<unknown> = async () => {},
): Promise<Summed> {
  const unreadable = (error: NodeJS.ErrnoException): never => {
    fail(invalid, `${path} cannot be read (${error.code})`);
  };
  requireFile(path);
  const file = await open(path, "r").catch(unreadable);
  try {
    const { size } = await file.stat();
    const hash = createHash("sha512");
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES).catch(unreadable);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      hash.update(piece);
      await chunk(piece);
      bytes += bytesRead;
      onProgress(size === 0 ? 1 : Math.min(1, bytes / size));
    }
    if (bytes === 0) fail(invalid, `${path} is empty`);
    return { sha512: hash.digest(), bytes };
  } finally {
    await file.close();
  }
}

/** Copies a file into the data directory under the name of its content, durably. @throws Problem */
export async function keepFile(core: Core, path: string, onProgress: (share: number) => void): Promise<Summed> {
  const folder = join(core.store.directory, FOLDER);
  makeFolder(folder);
  const partial = join(folder, `.incoming-${process.pid}`);
  rmSync(partial, { force: true });
  try {
    const copy = await open(partial, "wx", 0o600);
    let summed: Summed;
    try {
      summed = await sumFile(path, onProgress, async (bytes) => {
        await copy.writeFile(bytes).catch((error) => {
          throw withPath(partial, error);
        });
      });
      await copy.sync();
    } finally {
      await copy.close();
    }
    leaveToOwner(partial);
    renameSync(partial, pathOf(core, summed.sha512));
    syncDirectory(folder);
    return summed;
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

/** Removes a kept file that no release names any more. */
export function dropFile(core: Core, sha512: Buffer): void {
  if (rows(core.store).holders.get(sha512) === 0) rmSync(pathOf(core, sha512), { force: true });
}

/** Whether a kept file is there whole; a restored backup has the rows without the files. */
export function hasFile(core: Core, { sha512, bytes }: Summed): boolean {
  return statSync(pathOf(core, sha512), { throwIfNoEntry: false })?.size === bytes;
}

/** An installer that we serve. */
export interface InstallerFile extends Summed {
  readonly name: string;
  readonly createdAt: number;
  /** Its bytes from `first` to `last`, both included, as they are read from disk. */
  read(first: number, last: number): AsyncIterable<Uint8Array>;
}

/** The file of a release, by all that its address says; undefined when we have none such. */
export function installerFile(core: Core, platform: string, version: string, name: string): InstallerFile | undefined {
  const row = rows(core.store).byVersion.get(platform, version);
  if (!row || row.fileName !== name || !hasFile(core, row)) return undefined;
  const { sha512, bytes, createdAt } = row;
  return { sha512, bytes, createdAt, name, read: (first, last) => readRange(pathOf(core, sha512), first, last) };
}

async function* readRange(path: string, first: number, last: number): AsyncIterable<Uint8Array> {
  const file = await open(path, "r");
  try {
    for (let at = first; at <= last; ) {
      // A buffer for each piece: the one before may still be on its way out.
      const length = Math.min(CHUNK_BYTES / 4, last - at + 1);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
      if (bytesRead === 0) throw new Error("an installer's file is shorter than its row says");
      yield buffer.subarray(0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await file.close();
  }
}
