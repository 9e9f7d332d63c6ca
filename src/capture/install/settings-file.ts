import {
  accessSync,
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { diffLines, hunkLines } from "../../kit/diff.ts";
import { syncDirectory, writeFileAtomically } from "../../kit/files.ts";
import { systemErrorText } from "../../kit/system-error.ts";
import { type Backup, backupOf, dropBackup, keepBackup } from "./backups.ts";
import { type Change, type InstallTarget, SettingsError } from "./installer.ts";

/** A file that is edited: what it is made from, and what it becomes. */
export interface Edit {
  readonly file: string;
  /**
   * @returns the file's new text; undefined to delete the file
   * @param text the file's text; undefined when there is no file
   * @param before what the file was before our first change, when that is known
   */
  change(text: string | undefined, before: Backup | undefined): string | undefined;
  /** Whether a text holds anything of ours. A text without is backed up before it is changed. */
  isOurs(text: string): boolean;
}

/** Settings are small; what is longer is something else. */
const MAX_BYTES = 4 * 1024 * 1024;
/** An agent may write its settings in the moment between reading and replacing them. */
const MAX_TRIES = 3;
const NEW_FILE_MODE = 0o600;
const NEW_FOLDER_MODE = 0o700;

/** The text of settings; undefined when there are none. @throws SettingsError when they are no text, too long or not readable */
export const readSettings = (file: string): string | undefined => read(file)?.text;

/** What an edit would change. Writes nothing. @throws SettingsError */
export function planEdit(machine: InstallTarget, edit: Edit): Change[] {
  const before = readSettings(edit.file);
  return changeOf(edit.file, before, edit.change(before, backupOf(machine, edit.file)));
}

/**
 * Applies an edit whole or not at all: to the file that a link leads to, with its mode and owner, durably. What the file was
 * before our first change is kept until `forget`.
 * @param forget whether nothing of ours is left afterwards: what was kept goes, and so do empty folders that we had made
 * @throws SettingsError
 */
export function applyEdit(machine: InstallTarget, edit: Edit, forget: boolean): Change[] {
  for (let tries = 1; ; tries++) {
    const settings = read(edit.file);
    const text = edit.change(settings?.text, backupOf(machine, edit.file));
    const changes = changeOf(edit.file, settings?.text, text);
    try {
      if (changes.length > 0 && !replace(machine, edit, settings, text)) {
        if (tries === MAX_TRIES) throw new SettingsError(edit.file, "something else keeps changing it");
        continue;
      }
      if (forget) forgetFile(machine, edit.file);
      return changes;
    } catch (error) {
      const reason = systemErrorText(error);
      throw reason === undefined ? error : new SettingsError(edit.file, `it cannot be changed: ${reason}`);
    }
  }
}

interface Settings {
  readonly text: string;
  /** Where the file is, when its name is a link. */
  readonly target: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

function read(file: string): Settings | undefined {
  let fd: number;
  try {
    if (!lstatSync(file, { throwIfNoEntry: false })) return undefined;
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new SettingsError(file, `it cannot be read: ${systemErrorText(error) ?? "unknown reason"}`);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new SettingsError(file, "it is no file");
    if (stat.size > MAX_BYTES) throw new SettingsError(file, `it has more than ${MAX_BYTES / 1024 / 1024} MB`);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(fd));
    return { text, target: realpathSync(file), mode: stat.mode, uid: stat.uid, gid: stat.gid };
  } catch (error) {
    if (error instanceof SettingsError) throw error;
    throw new SettingsError(file, systemErrorText(error) ?? "it is not UTF-8 text");
  } finally {
    closeSync(fd);
  }
}

/** @returns false, and changes nothing, when the file is no longer what was read */
function replace(
  machine: InstallTarget,
  edit: Edit,
  settings: Settings | undefined,
  text: string | undefined,
): boolean {
  const { file } = edit;
  const target = settings?.target ?? file;
  if (settings) accessSync(target, constants.W_OK);
  if (text === undefined) {
    if (readSettings(file) !== settings?.text) return false;
    // A link that leads to the file is somebody's, and stays; the file itself was made by us.
    rmSync(target);
    syncDirectory(dirname(target));
    return true;
  }
  if (!settings || !edit.isOurs(settings.text))
    keepBackup(machine, { file, text: settings?.text, folders: missingFolders(dirname(file)) });
  mkdirSync(dirname(target), { recursive: true, mode: NEW_FOLDER_MODE });
  const fresh = join(dirname(target), `.${basename(target)}.reckon`);
  try {
    writeFileAtomically(fresh, text, true);
    if (settings && settings.uid !== process.getuid?.()) chownSync(fresh, settings.uid, settings.gid);
    chmodSync(fresh, (settings?.mode ?? NEW_FILE_MODE) & 0o7777);
    if (readSettings(file) !== settings?.text) return false;
    renameSync(fresh, target);
  } finally {
    rmSync(fresh, { force: true });
  }
  syncDirectory(dirname(target));
  return true;
}

/** The missing folders of a path, from the innermost. */
function missingFolders(folder: string): string[] {
  return lstatSync(folder, { throwIfNoEntry: false }) ? [] : [folder, ...missingFolders(dirname(folder))];
}

function forgetFile(machine: InstallTarget, file: string): void {
  for (const folder of backupOf(machine, file)?.folders ?? [])
    try {
      rmdirSync(folder);
    } catch {
      // Others have put something there, or have taken it away.
      break;
    }
  dropBackup(machine, file);
}

function changeOf(file: string, before: string | undefined, after: string | undefined): Change[] {
  if (before === after) return [];
  const kind = before === undefined ? "create" : after === undefined ? "delete" : "edit";
  return [{ file, kind, diff: unifiedDiff(file, before, after) }];
}

/** Removed and added lines in the unified format (POSIX diff -U 0), without context. */
function unifiedDiff(file: string, before: string | undefined, after: string | undefined): string {
  const lines = [`--- ${before === undefined ? "/dev/null" : file}`, `+++ ${after === undefined ? "/dev/null" : file}`];
  const changed = diffLines(before ?? "", after ?? "", 0).hunks.flatMap(hunkLines);
  return `${[...lines, ...changed.map((line) => line.replace(/\r$/, ""))].join("\n")}\n`;
}
