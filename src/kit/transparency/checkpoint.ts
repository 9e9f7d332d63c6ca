import { EMPTY_ROOT, HASH_BYTES } from "../merkle.ts";
import { fail, invalid } from "../problem.ts";
import { fromBase64, type Note, type NoteKey, parseNote, verifiedBy } from "./note.ts";

/** The head of a log's tree (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** Which log it is of, `HOST/ledger/…`. */
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

const MAX_ORIGIN_CHARS = 512;

/** The text that a log signs. */
export const checkpointText = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${root.toString("base64")}\n`;

/** Reads the text of a note; lines after the third are ignored. @throws Problem when it is no checkpoint */
export function parseCheckpointText(text: string): Checkpoint {
  const [origin = "", sizeText = "", rootText = "", ...rest] = text.split("\n");
  const [size, root] = [wholeNumberOf(sizeText), fromBase64(rootText)];
  if (origin === "" || origin.length > MAX_ORIGIN_CHARS) fail(invalid, "its first line is no log's name");
  if (size === undefined) fail(invalid, "its second line is no tree size");
  if (root?.length !== HASH_BYTES) fail(invalid, "its third line is no root hash");
  if (rest.slice(0, -1).includes("") || rest.at(-1) !== "") fail(invalid, "it has an empty line where none may be");
  if (size === 0 && !root.equals(EMPTY_ROOT))
    fail(invalid, "it gives a tree without leaves a root that such a tree does not have");
  return { origin, size, root };
}

/** A checkpoint whose log signed it. */
export interface SignedCheckpoint extends Checkpoint {
  readonly note: Note;
}

/**
 * Reads a signed note that a log issued. The log's name must be the key's or lie below it, so that one key may serve a log and those
 * that follow it: `host/ledger` is the key of `host/ledger/2`.
 * @throws Problem that says why it is not such a note
 */
export function openCheckpoint(text: string, logKey: NoteKey): SignedCheckpoint {
  const note = parseNote(text);
  if (verifiedBy(note, [logKey]).length === 0) fail(invalid, `it has no signature of ${logKey.name} (${logKey.id})`);
  const checkpoint = parseCheckpointText(note.text);
  if (!isOriginOf(checkpoint.origin, logKey))
    fail(invalid, `it is a checkpoint of ${checkpoint.origin}, not of ${logKey.name}`);
  return { ...checkpoint, note };
}

/** Whether a log of this name is the key's own, or lies below it. */
export const isOriginOf = (origin: string, { name }: NoteKey): boolean =>
  origin === name || origin.startsWith(`${name}/`);

/** A number as ASCII decimal without leading zeros, up to 2^53 - 1; undefined for anything else. */
export function wholeNumberOf(text: string): number | undefined {
  const number = /^(?:0|[1-9]\d{0,15})$/.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}
