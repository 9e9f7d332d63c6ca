import { isUtf8 } from "node:buffer";

/**
 * The wire format of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/): reads the fields of a message one by one, and
 * writes the few kinds of value that are needed. The caller knows what a field means.
 */

/** Bytes that are no message. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** How a value travels: as a varint, eight bytes, bytes with their length, or four bytes. */
export type WireType = 0 | 1 | 2 | 5;

const MAX_VARINT_BYTES = 10;
/** Bytes of a varint, seven bits each, that a number holds exactly. */
const EXACT_VARINT_BYTES = 7;
const MAX_FIELD = 0x1fffffff;

/**
 * Reads a message field by field in place, and decodes only the fields that are asked for. The same reader reads a message within, once
 * `end` is set to its end.
 */
export class WireReader {
  readonly bytes: Buffer;
  /** The offset of what is read next. */
  at = 0;
  /** Where the message that is read ends. */
  end: number;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.end = bytes.length;
  }

  /** The number of the next field, from 1 on, times eight, and its wire type. @throws WireError where there is none */
  tag(): number {
    const tag = this.varint();
    if (tag < 8 || tag >= (MAX_FIELD + 1) * 8) throw new WireError("a field has no number");
    const type = tag % 8;
    if (type !== 0 && type !== 1 && type !== 2 && type !== 5)
      throw new WireError(`a field is of the unknown type ${type}`);
    return tag;
  }

  /** Passes over the value of a field. */
  skip(type: WireType): void {
    if (type === 0) this.varint();
    else if (type === 2) this.at = this.endOfBytes();
    else this.#take(type === 1 ? 8 : 4);
  }

  /** A number; one above 2^53 is not exact. */
  varint(): number {
    const { bytes, end } = this;
    let at = this.at;
    let value = 0;
    for (let i = 0, unit = 1; i < MAX_VARINT_BYTES; i++, unit *= 0x80) {
      if (at >= end) throw new WireError("a number ends too early");
      const byte = bytes[at++] as number;
      value += (byte & 0x7f) * unit;
      if (byte < 0x80) {
        this.at = at;
        return value;
      }
    }
    throw new WireError("a number is too long");
  }

  /** An integer of 64 bits, in decimal digits. */
  int64(): string {
    const from = this.at;
    const value = this.varint();
    if (this.at - from <= EXACT_VARINT_BYTES) return String(value);
    let exact = 0n;
    for (let i = this.at - 1; i >= from; i--) exact = exact * 0x80n + BigInt((this.bytes[i] as number) & 0x7f);
    return String(BigInt.asIntN(64, exact));
  }

  /** Eight bytes as an integer without a sign, in decimal digits. */
  fixed64(): string {
    const at = this.#take(8);
    return String(this.bytes.readBigUInt64LE(at));
  }

  double(): number {
    const at = this.#take(8);
    return this.bytes.readDoubleLE(at);
  }

  /** Reads the length of a length-delimited field, whose content then begins at `at`. @returns where it ends */
  endOfBytes(): number {
    const length = this.varint();
    if (length > this.end - this.at) throw new WireError("a field ends too early");
    return this.at + length;
  }

  text(): string {
    const to = this.endOfBytes();
    const start = this.at;
    this.at = to;
    const text = this.bytes.toString("utf8", start, to);
    // Invalid UTF-8 is decoded to this character, which may also have been sent.
    if (text.includes("\ufffd") && !isUtf8(this.bytes.subarray(start, to)))
      throw new WireError("a text is not valid UTF-8");
    return text;
  }

  /** The bytes of a length-delimited field, as a view of the message. */
  view(): Buffer {
    const to = this.endOfBytes();
    const from = this.at;
    this.at = to;
    return this.bytes.subarray(from, to);
  }

  hex(): string {
    const to = this.endOfBytes();
    const hex = this.bytes.toString("hex", this.at, to);
    this.at = to;
    return hex;
  }

  /** Skips bytes. @returns the offset at which they begin */
  #take(count: number): number {
    const from = this.at;
    if (from + count > this.end) throw new WireError("a field ends too early");
    this.at = from + count;
    return from;
  }
}

/** A number that is not negative, as a varint field. */
export function varintField(number: number, value: number): Buffer {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

/** Text or a message within, with its length. */
export function bytesField(number: number, value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) bytes.push((left % 0x80) | 0x80);
  return Buffer.from([...bytes, left]);
}
