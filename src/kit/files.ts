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

/** There modes say nothing of who may read a file. */
export const isWindows = process.platform === "win32";

function sync(path: string): void {
  // Windows flushes only what may be written to, and no folder: names are in the journal of its file system.
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
 * Leaves to the owner of a folder what root makes in it, as SQLite does with its files: a command may run as root, and the server that has
 * the folder could not read it then.
 */
export function leaveToOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  if (uid !== 0) lchownSync(path, uid, gid);
}

/**
 * Makes a folder for its owner alone, and those that lack above it.
 * @param leave what is done with each that is made; by default root leaves it to the owner of the folder above
 */
export function makeFolder(path: string, leave = leaveToOwner): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  // There is nothing above a drive that is not there.
  if (dirname(path) !== path) makeFolder(dirname(path), leave);
  // Not `recursive`: where the folder above takes nothing, as /proc, Node tries again for ever.
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    const found = statSync(path, { throwIfNoEntry: false });
    // A link that leads nowhere is in the way, and no file.
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

/** An error of writing to a file that is open, which does not tell by itself which disk is full. @returns it, with the file's path */
export const withPath = (path: string, error: unknown): Error => Object.assign(error as Error, { path });

/** Whether something that is neither file nor folder has this name, as a device or a pipe: to remove or replace it harms every program. */
export function isSpecial(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !stat.isFile() && !stat.isDirectory();
}

/**
 * Writes a file whole or not at all, durably.
 * @param replace whether an existing file may be replaced; a device or a pipe is written to
 * @param mode for its owner alone by default
 * @throws EEXIST when it exists and may not
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
      // Whatever the umask: it is not asked a second time for a file that stood.
      if (mode !== 0o600) fchmodSync(fd, mode);
      fsyncSync(fd);
    } catch (error) {
      throw withPath(path, error);
    } finally {
      closeSync(fd);
    }
    leaveToOwner(temporary);
    // A hard link fails where a rename would overwrite: two first starts cannot replace each other's key.
    if (replace) renameSync(temporary, path);
    else linkSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  syncDirectory(dirname(path));
}
