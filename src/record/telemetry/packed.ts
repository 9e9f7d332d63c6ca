import type { Slice } from "../../kit/json.ts";
import { type Entry, entryHead } from "./rules.ts";

/** Entries as they travel and are stored: their texts, end to end. */
export interface PackedEntries {
  /** Ascending; a delivery may hold a seq twice as sent. */
  readonly seqs: readonly number[] | Float64Array;
  /** Where in `texts` each entry ends, in bytes. */
  readonly ends: Uint32Array;
  /** `entryText` of each entry, in UTF-8. */
  readonly texts: Buffer;
}

const DIGIT_0 = 0x30;
const NOTHING = Buffer.alloc(0);

/** An entry, or one whose payload is a stretch of what was sent. */
export type SentEntry = Omit<Entry, "payload"> & { readonly payload: string | Slice };

/**
 * @param entries ascending by seq
 * @param sent what the stretches are of, in ASCII
 */
export function pack(entries: readonly SentEntry[], sent: Buffer = NOTHING): PackedEntries {
  const heads = entries.map(entryHead);
  const ends = new Uint32Array(entries.length);
  let end = 0;
  for (const [i, { payload }] of entries.entries()) {
    const bytes = typeof payload === "string" ? Buffer.byteLength(payload) : payload.end - payload.start;
    end += Buffer.byteLength(heads[i] as string) + bytes + 1;
    ends[i] = end;
  }
  const texts = Buffer.alloc(end);
  let at = 0;
  for (const [i, { payload }] of entries.entries()) {
    at += texts.write(heads[i] as string, at);
    if (typeof payload === "string") texts.write(payload, at);
    else sent.copy(texts, at, payload.start, payload.end);
    at = ends[i] as number;
  }
  return { seqs: entries.map(({ seq }) => seq), ends, texts };
}

/** Finds the entries in their texts. An incomplete entry at the end of damaged texts is left out. */
export function scan(texts: Buffer): PackedEntries {
  const seqs: number[] = [];
  const ends: number[] = [];
  for (let at = 0; at < texts.length; ) {
    const afterSeq = texts.indexOf(0, at);
    const afterTimestamp = afterSeq < 0 ? -1 : texts.indexOf(0, afterSeq + 1);
    const afterPayload = afterTimestamp < 0 ? -1 : texts.indexOf(0, afterTimestamp + 1);
    if (afterPayload < 0) break;
    let seq = 0;
    // The digit is subtracted first: the largest number plus the code of a digit would exceed what a number holds exactly.
    for (let i = at; i < afterSeq; i++) seq = seq * 10 + ((texts[i] as number) - DIGIT_0);
    seqs.push(seq);
    at = afterPayload + 1;
    ends.push(at);
  }
  return { seqs, ends: Uint32Array.from(ends), texts };
}

/** The text of one entry. */
export function textAt({ ends, texts }: PackedEntries, i: number): Buffer {
  return texts.subarray(ends[i - 1] ?? 0, ends[i]);
}

/** Whether an entry's text is that of one that was erased: its payload is empty, which no other's is. */
export const isErasedText = (text: Buffer): boolean => text.at(-2) === 0;

/** The texts of all entries, one by one. */
export const textsIn = (packed: PackedEntries): Buffer[] => Array.from(packed.seqs, (_, i) => textAt(packed, i));

/** One of the entries, by its place. */
export function entryAt(packed: PackedEntries, i: number): Entry {
  const [, clientTimestamp = "", payload = ""] = textAt(packed, i).toString().split("\0");
  return { seq: packed.seqs[i] as number, clientTimestamp: clientTimestamp === "" ? null : clientTimestamp, payload };
}

/** All entries, one by one. */
export const entriesIn = (packed: PackedEntries): Entry[] => Array.from(packed.seqs, (_, i) => entryAt(packed, i));

/** All entries of texts, as `pack` was given them. */
export const unpack = (texts: Buffer): Entry[] => entriesIn(scan(texts));

/** Entries from one on up to another, which is not included; they share memory with all. */
export function slice({ seqs, ends, texts }: PackedEntries, from: number, to: number): PackedEntries {
  const start = ends[from - 1] ?? 0;
  return {
    seqs: seqs.slice(from, to),
    ends: ends.slice(from, to).map((end) => end - start),
    texts: texts.subarray(start, ends[to - 1] ?? 0),
  };
}

/** Chosen entries, by ascending index. */
export function pick(packed: PackedEntries, indexes: readonly number[]): PackedEntries {
  const texts = indexes.map((i) => textAt(packed, i));
  const ends = new Uint32Array(indexes.length);
  let end = 0;
  for (const [i, text] of texts.entries()) {
    end += text.length;
    ends[i] = end;
  }
  return { seqs: indexes.map((i) => packed.seqs[i] as number), ends, texts: Buffer.concat(texts) };
}
