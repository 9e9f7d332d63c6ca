import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
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

/** Variables that name the folders of agents whose settings are changed: a person may have several, each with settings of its own. */
const FOLDERS = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"];

/** Keeps what a file was, durably, mode 0600. */
export function keepBackup(machine: InstallTarget, backup: Backup): void {
  mkdirSync(machine.backups, { recursive: true, mode: 0o700 });
  const env = Object.fromEntries(FOLDERS.map((name) => [name, machine.env[name]]));
  writeFileAtomically(placeOf(machine, backup.file), JSON.stringify({ ...backup, env }), true);
}

/** The machine with the variables by which each file was found whose backup is still kept. A backup that cannot be read has none. */
export function machinesOf(machine: InstallTarget): InstallTarget[] {
  const names = existsSync(machine.backups) ? readdirSync(machine.backups) : [];
  return names.flatMap((name) => {
    try {
      const { env = {} } = JSON.parse(readFileSync(join(machine.backups, name), "utf8"));
      return [{ ...machine, env: { ...machine.env, ...Object.fromEntries(FOLDERS.map((name) => [name, env[name]])) } }];
    } catch {
      return [];
    }
  });
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
