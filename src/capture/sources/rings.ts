import { accessSync, constants, readdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { placeEdits } from "../../formats/agents/cursor.ts";
import type { AgentFormat } from "../../formats/agents/transcript.ts";
import { asObject, asText, parseJson } from "../../formats/values.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { sha256 } from "../../kit/hash.ts";
import { HASH_BYTES, type Recorder } from "../recorder.ts";
import type { Capture } from "../state.ts";
import { OVERSIZED } from "./read.ts";
import { MAX_RECORD_BYTES } from "./tail.ts";

/** A larger edited file is not searched for the place of its new lines. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;
/** Part of the names of Cursor's notes: its hooks say what no transcript holds. */
const SPEAKS = "-cursor-";
const UNREADABLE = "note that cannot be read";
/** Bytes of notes that wait while the outbox is full, or no program is there that reads them. */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const UNKEPT = "note while the outbox was full";
/** Ends the name of a note that was heard, and is still to be read. */
const HEARD = ".heard";

/** Names of the files in the spool. Folders there are not ours. */
const filesIn = ({ places }: Capture): string[] =>
  readdirSync(places.spool, { withFileTypes: true }).flatMap((one) => (one.isDirectory() ? [] : [one.name]));

/** The notes of hooks that no pass heard yet. A name has seconds, process, agent and event; the file holds what the agent said. */
const notesIn = (capture: Capture): string[] =>
  filesIn(capture).filter((name) => !name.endsWith(".tmp") && !name.endsWith(HEARD));

export const hasRings = (capture: Capture): boolean => notesIn(capture).length > 0;

/** Removes notes of hooks that were killed while they wrote them. @param before milliseconds since the epoch */
export function dropUnfinishedNotes(capture: Capture, before: number): void {
  for (const name of filesIn(capture).filter((each) => each.endsWith(".tmp"))) {
    const path = join(capture.places.spool, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before) rmSync(path, { force: true });
  }
}

/** Hears the notes before reading begins, so that a note that comes during reading is heard as a new one. @returns whether there were any */
export function takeRings(capture: Capture): boolean {
  const notes = notesIn(capture);
  for (const name of notes) {
    const path = join(capture.places.spool, name);
    if (name.includes(SPEAKS)) renameSync(path, path + HEARD);
    else rmSync(path, { force: true });
  }
  return notes.length > 0;
}

const heardIn = (capture: Capture): string[] => filesIn(capture).filter((name) => name.endsWith(HEARD));

/**
 * Removes heard notes that are not to be recorded, because they say what was typed and edited, secrets included.
 * @param isUnwanted given the time of a note, in milliseconds since the epoch
 */
export function dropHeard(capture: Capture, isUnwanted: (at: number) => boolean): void {
  for (const name of heardIn(capture)) {
    const path = join(capture.places.spool, name);
    if (isUnwanted(statSync(path).mtimeMs)) rmSync(path, { force: true });
  }
}

/**
 * Records what notes say, and removes each afterwards. A note that is read again is recognised.
 * @param isThereRoom asked before each, with its bytes; without room it waits, and those after it
 */
export async function readRings(
  capture: Capture,
  format: AgentFormat,
  recorder: Recorder,
  isThereRoom: (bytes: number) => Promise<boolean>,
): Promise<void> {
  const names = heardIn(capture).sort();
  for (const [i, name] of names.entries()) {
    const path = join(capture.places.spool, name);
    if (!(await isThereRoom(bytesOf(path)))) return keepSome(capture, format, names.slice(i));
    readRing(capture, format, recorder, path);
    rmSync(path, { force: true });
  }
}

const bytesOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/** Removes the newest of notes that wait, as many as are too much. */
function keepSome(capture: Capture, { agent }: AgentFormat, names: readonly string[]): void {
  let bytes = 0;
  for (const path of names.map((name) => join(capture.places.spool, name))) {
    bytes += bytesOf(path);
    if (bytes <= MAX_WAITING_BYTES) continue;
    capture.rows.countUnknown.run(agent, UNKEPT);
    rmSync(path, { force: true });
  }
}

function readRing(capture: Capture, format: AgentFormat, recorder: Recorder, path: string): void {
  const reader = format.open({ path: "" });
  capture.transact(() => {
    // Written by another user, as by root with this person's home folder. Such a note must not hold up those after it.
    if (!isReadable(path)) capture.rows.countUnknown.run(format.agent, UNREADABLE);
    // The hook cuts longer notes to this length.
    else if (statSync(path).size >= MAX_RECORD_BYTES) capture.rows.countUnknown.run(format.agent, OVERSIZED);
    else if (!isRepeated(capture, path))
      for (const event of reader.read(recordOf(path))) recorder.take(format.agent, event);
    recorder.flush();
  });
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the same was said just before: a hook that is installed both for the person and for all people is called twice for one thing.
 * Marks the note as seen. Call in a transaction.
 */
function isRepeated({ rows, clock }: Capture, path: string): boolean {
  const digest = sha256(readFileSync(path)).toString("hex");
  const second = Math.floor(statSync(path).mtimeMs / SECOND_MS);
  // The seconds around it are marked, too: of two such notes, the second one read falls into a marked second.
  const [isNew] = [second, second - 1, second + 1].map(
    (at) => rows.addSeen.run(sha256(`note\n${at}\n${digest}`).subarray(0, HASH_BYTES), clock.now()).changes > 0,
  );
  return !isNew;
}

/** A note as a record: with its time, and with the lines that its edits have in their file. */
function recordOf(path: string): string {
  const payload = asObject(parseJson(readFileSync(path, "utf8")));
  const record = JSON.stringify({ timestamp: statSync(path).mtime.toISOString(), ...payload });
  const file = asText(payload.file_path);
  const content = file === undefined ? undefined : contentOf(file, payload.workspace_roots);
  return content === undefined ? record : placeEdits(record, content);
}

/** An edited file's text, where it lies in a folder that the agent works in. */
function contentOf(file: string, roots: unknown): string | undefined {
  try {
    const real = realpathSync(file);
    const isInside = (root: unknown) => {
      const path = typeof root === "string" ? relative(realpathSync(root), real) : "..";
      return path !== "" && !path.startsWith("..") && !isAbsolute(path);
    };
    if (!Array.isArray(roots) || !roots.some(isInside)) return undefined;
    const stats = statSync(real);
    return stats.isFile() && stats.size <= MAX_FILE_BYTES ? readFileSync(real, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
