import type { AgentFormat, TranscriptReader } from "../../formats/agents/transcript.ts";
import type { Recorder } from "../recorder.ts";
import type { SourceRow } from "../rows.ts";
import type { Capture } from "../state.ts";
import type { Found } from "./stores.ts";
import { compressedRecords, type Mark, Tail, type TailRecord } from "./tail.ts";

/** What is recorded in one transaction, at most. */
const CHUNK_RECORDS = 1_000;
const CHUNK_BYTES = 1024 * 1024;
/** Stands for the time of a file that was not read to its end yet: it counts as changed. */
const UNFINISHED = -1;
export const OVERSIZED = "record over 8 MiB";

export interface Reading {
  readonly capture: Capture;
  /** Flushed with each transaction. */
  readonly recorder: Recorder;
  readonly format: AgentFormat;
  /** Told of bytes that were read. */
  readonly onBytes: (bytes: number) => void;
  /** What is known of the time of its events, see `Circumstances`. */
  readonly notBefore?: number;
  readonly isGrowth?: boolean;
  /** Asked between transactions; false ends the reading where it is. */
  readonly goOn: () => boolean | Promise<boolean>;
}

/** Reads what is new in a transcript. Each transaction records a chunk together with the place that was reached. */
export async function readSource(reading: Reading, found: Found, known: SourceRow | undefined): Promise<void> {
  const tail = new Tail(found.path);
  try {
    const mark = known && markOf(known);
    if (found.path.endsWith(".zst")) return await readCompressed(reading, found, tail, mark);
    if (found.path.endsWith(".json")) return readDocument(reading, found, tail);
    const offset = tail.resume(mark);
    // The file was read to its end before, and has grown since.
    const isGrowth = known !== undefined && offset > 0 && known.modified >= 0;
    const reader = reading.format.open({ path: found.place }, offset === 0 ? undefined : carryOf(known));
    const begun = { ...reading, ...(known ? { notBefore: Math.max(0, known.modified) } : {}), isGrowth };
    await record(begun, found, tail, reader, tail.records(offset, reading.format.skips), offset);
  } finally {
    tail.close();
  }
}

const carryOf = (row: SourceRow | undefined): unknown => (row?.carry ? JSON.parse(row.carry) : undefined);
const markOf = ({ device, inode, size, modified, offset, guard }: SourceRow): Mark => ({
  device,
  inode,
  size,
  modified,
  offset,
  guard,
});

/** @returns false when `goOn` ended it before the file's end */
async function record(
  reading: Reading,
  found: Found,
  tail: Tail,
  reader: TranscriptReader,
  records: Iterable<TailRecord> | AsyncIterable<TailRecord>,
  offset: number,
): Promise<boolean> {
  let chunk: TailRecord[] = [];
  let bytes = 0;
  let at = offset;
  const store = (isDone: boolean) => {
    keep(reading, found, tail, reader, chunk, at, isDone);
    chunk = [];
    bytes = 0;
  };
  for await (const next of records) {
    chunk.push(next);
    bytes += next.text?.length ?? 0;
    reading.onBytes(Math.max(0, next.next - at));
    at = next.next;
    if (chunk.length < CHUNK_RECORDS && bytes < CHUNK_BYTES) continue;
    store(false);
    if (!(await reading.goOn())) return false;
  }
  store(true);
  return true;
}

/** Records a chunk, and how far the file was read with it. */
function keep(
  reading: Reading,
  found: Found,
  tail: Tail,
  reader: TranscriptReader,
  chunk: readonly TailRecord[],
  at: number,
  isDone: boolean,
): void {
  const { capture, recorder } = reading;
  const whole = tail.mark(at);
  // Until it is read to its end, a file counts as changed.
  const mark = isDone ? whole : { ...whole, modified: UNFINISHED };
  capture.transact(() => {
    for (const { text } of chunk) {
      if (text === undefined) capture.rows.countUnknown.run(found.agent, OVERSIZED);
      else if (text !== "") takeAll(reading, reader, found, text, whole.modified);
    }
    recorder.flush();
    putSource(capture, found, mark, reader.carry());
  });
}

function takeAll(
  { recorder, format, ...reading }: Reading,
  reader: TranscriptReader,
  found: Found,
  text: string,
  modified: number,
): void {
  const { notBefore = 0, isGrowth = false } = reading;
  const circumstances = {
    ...{ revises: format.revises ?? false, fallbackAt: modified, cwd: found.cwd },
    ...{ notBefore, isGrowth },
  };
  for (const event of reader.read(text)) recorder.take(found.agent, event, circumstances);
}

function putSource({ rows, clock }: Capture, { path, agent }: Found, mark: Mark, carry: unknown): void {
  const { device, inode, size, modified, offset, guard } = mark;
  const text = carry === undefined ? null : JSON.stringify(carry);
  rows.putSource.run({ path, agent, device, inode, size, modified, offset, guard, carry: text, seenAt: clock.now() });
}

/** A transcript that is written anew as a whole; what it said before is recognised. */
function readDocument(reading: Reading, found: Found, tail: Tail): void {
  const { capture, recorder, format, onBytes } = reading;
  const text = tail.whole();
  const reader = format.open({ path: found.place });
  const records = text === undefined ? undefined : (format.recordsOf?.(text) ?? text.split("\n"));
  capture.transact(() => {
    if (!records) capture.rows.countUnknown.run(found.agent, OVERSIZED);
    for (const each of records ?? []) if (each !== "") takeAll(reading, reader, found, each, tail.stats.mtimeMs);
    recorder.flush();
    putSource(capture, found, tail.mark(tail.stats.size), undefined);
  });
  onBytes(tail.stats.size);
}

async function readCompressed(reading: Reading, found: Found, tail: Tail, mark: Mark | undefined): Promise<void> {
  const isRead = mark !== undefined && tail.resume(mark) === tail.stats.size;
  const reader = reading.format.open({ path: found.place });
  if (!isRead && !(await record(reading, found, tail, reader, compressedRecords(tail, reading.format.skips), 0)))
    return;
  const end = tail.mark(tail.stats.size);
  reading.capture.transact(() => putSource(reading.capture, found, end, undefined));
}
