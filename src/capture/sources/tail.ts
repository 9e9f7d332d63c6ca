import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { pipeline, Readable } from "node:stream";
import { createZstdDecompress } from "node:zlib";
import { parseJson } from "../../formats/values.ts";
import { sha256 } from "../../kit/hash.ts";
import { isObject } from "../../kit/json.ts";

/** How far a file was read. */
export interface Mark {
  readonly device: number;
  readonly inode: number;
  readonly size: number;
  /** Milliseconds since the epoch, with fractions. */
  readonly modified: number;
  readonly offset: number;
  readonly guard: Buffer | null;
}

/** A record of a file, and where the next one begins. */
export interface TailRecord {
  /** Undefined for one that is too long to be read. */
  readonly text: string | undefined;
  /** Its first bytes, for telling what it is without reading it. */
  readonly next: number;
}

const CHUNK_BYTES = 256 * 1024;
/** A longer record is passed over: nothing that is recorded is as long. */
export const MAX_RECORD_BYTES = 8 * 1024 * 1024;
const GUARD_BYTES = 4 * 1024;
const HEAD_BYTES = 96;
const NEWLINE = 10;
const CLOSING_BRACE = 125;

/** A file that is read from where it was left. */
export class Tail {
  readonly #fd: number;
  readonly stats: Stats;

  /**
   * Opens a regular file of this user's own, without following a link at its end.
   * @throws Error with the code of the operating system, or `ENOTOWN`
   */
  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    this.stats = fstatSync(this.#fd);
    const uid = process.getuid?.();
    if (this.stats.isFile() && (uid === undefined || this.stats.uid === uid)) return;
    this.close();
    throw Object.assign(new Error("it is not a regular file of this user's own"), { code: "ENOTOWN" });
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** The offset to go on from: after what was read, or 0 where it is another file or was written anew. */
  resume(mark: Mark | undefined): number {
    // Some disks get another number each time they are mounted. So that is not looked at.
    if (!mark || mark.inode !== this.stats.ino || this.stats.size < mark.offset) return 0;
    const guard = this.guardAt(mark.offset);
    return guard === null
      ? mark.guard === null
        ? mark.offset
        : 0
      : mark.guard && guard.equals(mark.guard)
        ? mark.offset
        : 0;
  }

  guardAt(offset: number): Buffer | null {
    if (offset === 0) return null;
    const bytes = Math.min(GUARD_BYTES, offset);
    const buffer = Buffer.allocUnsafe(bytes);
    const read = readSync(this.#fd, buffer, 0, bytes, offset - bytes);
    return sha256(buffer.subarray(0, read));
  }

  mark(offset: number): Mark {
    const { dev, ino, size, mtimeMs } = this.stats;
    return { device: dev, inode: ino, size, modified: mtimeMs, offset, guard: this.guardAt(offset) };
  }

  /**
   * The records from a place on, each with the place behind it. What stands behind the last line end is still being written, unless
   * it is a whole JSON object, which nothing can be added to.
   * @param skips tells by its first bytes that a record need not be read
   */
  *records(offset: number, skips?: (head: string) => boolean): Generator<TailRecord> {
    yield* recordsIn(this.#chunks(offset), offset, skips);
  }

  /** @param areKept whether chunks are used after the next was asked for */
  *#chunks(offset: number, areKept = false): Generator<Buffer> {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let at = offset;
    // Only up to its length at opening: an agent that writes on and on is read in the next pass.
    while (at < this.stats.size) {
      const read = readSync(this.#fd, buffer, 0, Math.min(CHUNK_BYTES, this.stats.size - at), at);
      if (read === 0) return;
      at += read;
      yield areKept ? Buffer.from(buffer.subarray(0, read)) : buffer.subarray(0, read);
    }
  }

  /** The bytes of the file that was opened, even if another has its name by now. */
  stream(): Readable {
    return Readable.from(this.#chunks(0, true));
  }

  /** All of it, for a transcript that is one document. @returns undefined above the length of a record times eight */
  whole(): string | undefined {
    const { size } = this.stats;
    if (size > 8 * MAX_RECORD_BYTES) return undefined;
    const buffer = Buffer.allocUnsafe(size);
    let at = 0;
    while (at < size) {
      const read = readSync(this.#fd, buffer, at, size - at, at);
      if (read === 0) break;
      at += read;
    }
    return buffer.toString("utf8", 0, at);
  }
}

/** Cuts chunks into lines. A chunk may be overwritten once the next is asked for. */
export function* recordsIn(
  chunks: Iterable<Buffer>,
  offset: number,
  skips?: (head: string) => boolean,
): Generator<TailRecord> {
  let at = offset;
  let parts: Buffer[] = [];
  let length = 0;
  for (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const rest = chunk.subarray(start, end);
      const line = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
      at += length + rest.length + 1;
      const isLong = length + rest.length > MAX_RECORD_BYTES;
      parts = [];
      length = 0;
      start = end + 1;
      if (isLong) yield { text: undefined, next: at };
      else if (line.length > 0 && !skips?.(line.toString("latin1", 0, HEAD_BYTES)))
        yield { text: line.toString("utf8"), next: at };
      else yield { text: "", next: at };
    }
    length += chunk.length - start;
    // A record that is too long is not kept.
    if (length > MAX_RECORD_BYTES) parts = [];
    else if (start < chunk.length) parts.push(Buffer.from(chunk.subarray(start)));
  }
  const rest = Buffer.concat(parts);
  if (rest.at(-1) !== CLOSING_BRACE) return;
  const text = rest.toString("utf8");
  if (isObject(parseJson(text))) yield { text: skips?.(text.slice(0, HEAD_BYTES)) ? "" : text, next: at + length };
}

/** The lines of a file compressed with Zstandard (RFC 8878), which is whole when it is there. */
export async function* compressedRecords(tail: Tail, skips?: (head: string) => boolean): AsyncGenerator<TailRecord> {
  const decompress = createZstdDecompress();
  // An error of either ends both, and is thrown below.
  const stream = pipeline(tail.stream(), decompress, () => {});
  let left: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    const chunk = Buffer.concat([left, piece as Buffer]);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    yield* recordsIn([chunk.subarray(0, end)], 0, skips);
    left = chunk.length - end > MAX_RECORD_BYTES ? Buffer.alloc(0) : chunk.subarray(end);
  }
  if (left.length > 0) yield* recordsIn([left, Buffer.from("\n")], 0, skips);
}
