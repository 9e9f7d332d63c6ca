import {
  closeSync,
  copyFileSync,
  fchmodSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fail, invalid, notFound } from "./problem.ts";

/** On Windows a file's mode does not say who may read it. */
export const isWindows = process.platform === "win32";

function sync(path: string): void {
  // Windows flushes only files that are open for writing, and no folders: its file system keeps a journal of names.
  if (isWindows && statSync(path).isDirectory()) return;
  const fd = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Flushes a directory, so that a name made or changed in it survives a power cut. */
export function syncDirectory(directory: string): void {
  sync(directory);
}

/** Flushes a file that others wrote, and its name. */
export function syncFile(path: string): void {
  sync(path);
  sync(dirname(path));
}

/**
 * Gives what root makes in a folder to the folder's owner, as SQLite does with its files. A command may run as root, and the server that
 * owns the folder could not read the file otherwise.
 */
export function leaveToOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) lchownSync(path, uid, gid);
}

/**
 * Makes a folder for its owner alone, and the missing ones above it.
 * @param leave called with each folder made; by default root gives it to the owner of the folder above
 */
export function makeFolder(path: string, leave = leaveToOwner): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  // A drive has no folder above it. A missing one cannot be made.
  if (dirname(path) !== path) makeFolder(dirname(path), leave);
  // Not `recursive`: where no folder can be made, as in /proc, Node would try again for ever.
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const found = statSync(path, { throwIfNoEntry: false });
    // The name is taken by a dangling symbolic link.
    if (!found) throw Object.assign(error as Error, { code: "ENOENT" });
    // Another process may have made it meanwhile.
    if (!found.isDirectory()) throw error;
  }
  leave(path);
}

/** Copies a file, or a folder with all that is in it, and flushes contents and names, that of the copy itself too. */
export function copyDurably(from: string, to: string): void {
  if (statSync(from).isDirectory()) {
    makeFolder(to);
    for (const name of readdirSync(from)) copyDurably(join(from, name), join(to, name));
  } else copyFileSync(from, to);
  syncFile(to);
}

/** Adds a file's path to an error of writing to it while open, which by itself does not tell which disk is full. */
export const withPath = (path: string, error: unknown): Error => Object.assign(error as Error, { path });

/**
 * Holds what somebody named to a regular file, where it is read from different places: a pipe would keep the reader waiting for ever.
 * @throws Problem naming what it is instead
 */
export function requireFile(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false }) ?? fail(notFound, `there is no file ${path}`);
  if (!stat.isFile())
    fail(invalid, `${path} is ${stat.isDirectory() ? "a directory" : "a device or a pipe"}, not a file`);
}

/** Whether something that is neither file nor folder has this name, as a device or a pipe: to remove or replace it harms every program. */
export function isSpecial(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/**
 * Writes a file whole or not at all, durably.
 * @param replace whether an existing file may be replaced; a device or a pipe is written to
 * @param mode for its owner alone by default
 * @throws EEXIST when the file exists and may not be replaced
 */
export function writeFileAtomically(path: string, content: string | Uint8Array, replace = false, mode = 0o600): void {
  if (replace && isSpecial(path)) {
    writeFileSync(path, content);
    return;
  }
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  rmSync(temporary, { force: true });
  try {
    const fd = openSync(temporary, "wx", mode);
    try {
      writeFileSync(fd, content);
      // The umask does not apply: every replacement has exactly the given mode.
      if (mode !== 0o600) fchmodSync(fd, mode);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    leaveToOwner(temporary);
    // A hard link fails where a rename would overwrite: two first starts cannot replace each other's key.
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
  } catch (error) {
    // Whoever reads of it knows the file that was to be written, not the one beside it.
    throw withPath(path, error);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(path));
}
