import { isDeepStrictEqual } from "node:util";
import { metadataOf } from "../../formats/metadata.ts";

/** An entry ready to be stored: payload as JSON text, redacted. */
export interface Entry {
  readonly seq: number;
  readonly clientTimestamp: string | null;
  readonly payload: string;
}

/** An inclusive range of sequence numbers that never arrived. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/**
 * The gaps that new entries leave above what a stream held: none below its first entry, since a stream begins where the
 * client begins it.
 * @param last the highest seq stored, undefined for a new stream
 * @param seqs new sequence numbers, ascending
 */
export function gapsAbove(last: number | undefined, seqs: Iterable<number>): Gap[] {
  const gaps: Gap[] = [];
  let before = last;
  for (const seq of seqs) {
    if (before !== undefined && seq > before + 1) gaps.push({ from: before + 1, to: seq - 1 });
    if (before === undefined || seq > before) before = seq;
  }
  return gaps;
}

/** What remains of a gap once a seq in it has arrived. */
export function splitGap(gap: Gap, seq: number): Gap[] {
  const rest: Gap[] = [];
  if (seq > gap.from) rest.push({ from: gap.from, to: seq - 1 });
  if (seq < gap.to) rest.push({ from: seq + 1, to: gap.to });
  return rest;
}

/** Integers this long may not survive parsing, so payloads holding one are compared as text only. */
const LONG_NUMBER = /\d{16}/;

/** Whether an entry came again rather than another under the same seq: the same text, or the same JSON value spelled otherwise. */
export function isSameEntry(stored: Omit<Entry, "seq">, sent: Omit<Entry, "seq">): boolean {
  if (stored.clientTimestamp !== sent.clientTimestamp) return false;
  if (stored.payload === sent.payload) return true;
  if (LONG_NUMBER.test(stored.payload) || LONG_NUMBER.test(sent.payload)) return false;
  return isDeepStrictEqual(JSON.parse(stored.payload), JSON.parse(sent.payload));
}

/** The same for what may be kept of both where only metadata is. */
export function isSameMetadata(stored: Omit<Entry, "seq">, sent: Omit<Entry, "seq">): boolean {
  const stripped = ({ clientTimestamp, payload }: Omit<Entry, "seq">) => ({
    clientTimestamp,
    payload: metadataOf(payload, "payload"),
  });
  return isSameEntry(stripped(stored), stripped(sent));
}

/** The beginning of an entry's text. NUL separates, which JSON text cannot hold; the payload follows, and another NUL. */
export const entryHead = ({ seq, clientTimestamp }: Pick<Entry, "seq" | "clientTimestamp">): string =>
  `${seq}\0${clientTimestamp ?? ""}\0`;

/** The text of an entry, over which a delivery's digest is taken. */
export const entryText = (entry: Entry): string => `${entryHead(entry)}${entry.payload}\0`;

/** The entry that replaces an erased one: only its number, so that it stays taken. No JSON text is empty. */
export const erasedEntry = (seq: number): Entry => ({ seq, clientTimestamp: null, payload: "" });

export const isErasedEntry = ({ payload }: Pick<Entry, "payload">): boolean => payload === "";
