import { mkdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomically } from "../../kit/files.ts";
import { sha256Hex } from "../../kit/hash.ts";
import type { InstallTarget } from "./installer.ts";

/** What a file was before our first change. */
export interface Backup {
  readonly file: string;
  /** Undefined where there was no file. */
  readonly text: string | undefined;
  /** Folders that were not there either, from the innermost. */
  readonly folders: readonly string[];
}

/** Undefined when none was kept, or when it cannot be read: then what is ours is taken out all the same. */
export function backupOf(machine: InstallTarget, file: string): Backup | undefined {
  try {
    const backup = JSON.parse(readFileSync(placeOf(machine, file), "utf8")) as Backup;
    return backup.file === file ? backup : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what a file was, durably, mode 0600. */
export function keepBackup(machine: InstallTarget, backup: Backup): void {
  mkdirSync(machine.backups, { recursive: true, mode: 0o700 });
  writeFileAtomically(placeOf(machine, backup.file), JSON.stringify(backup), true);
}

/** Forgets it; the folder of backups goes with the last. */
export function dropBackup(machine: InstallTarget, file: string): void {
  rmSync(placeOf(machine, file), { force: true });
  try {
    rmdirSync(machine.backups);
  } catch {
    // There are others, or there never was one.
  }
}

const placeOf = (machine: InstallTarget, file: string) => join(machine.backups, `${sha256Hex(file).slice(0, 16)}.json`);
