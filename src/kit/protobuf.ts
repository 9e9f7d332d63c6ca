/**
 * Protocol Buffers as they travel (https://protobuf.dev/programming-guides/encoding/): fields of a message one by one, and the few kinds
 * of value that are written. What a field means is told by who knows the message.
 */

/** Bytes that are no message. */
export class WireError extends Error {
  override readonly name = "WireError";
}

/** A field as it stands in its message. */
export interface WireField {
  /** From 1 on. */
  readonly number: number;
  /** Of a varint (type 0) or of eight bytes (type 1); of four (type 5) as well. */
  readonly value: bigint;
  /** Of what has a length of its own (type 2), else empty; shares the memory of the message. */
  readonly bytes: Buffer;
  readonly type: 0 | 1 | 2 | 5;
}

const NONE = Buffer.alloc(0);
const MAX_VARINT_BYTES = 10;
const U64 = 0xffffffffffffffffn;

/** Reads the fields of a message in their order. @throws WireError where the bytes are none */
export function* wireFields(message: Buffer): Generator<WireField> {
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at);
    const number = Number(tag.value >> 3n);
    if (number < 1 || number > 0x1fffffff) throw new WireError("a field has no number");
    const { field, end } = readField(message, tag.end, number, Number(tag.value & 7n));
    yield field;
    at = end;
  }
}

interface Read {
  readonly field: WireField;
  /** Where the next one begins. */
  readonly end: number;
}

function readField(message: Buffer, at: number, number: number, type: number): Read {
  if (type === 0) {
    const { value, end } = readVarint(message, at);
    return { field: { number, type, value, bytes: NONE }, end };
  }
  if (type === 2) {
    const { value, end } = readVarint(message, at);
    if (value > BigInt(message.length - end)) throw new WireError("a field ends too early");
    const next = end + Number(value);
    return { field: { number, type, value: 0n, bytes: message.subarray(end, next) }, end: next };
  }
  if (type !== 1 && type !== 5) throw new WireError(`a field is of the unknown type ${type}`);
  const end = at + (type === 1 ? 8 : 4);
  if (end > message.length) throw new WireError("a field ends too early");
  const value = type === 1 ? message.readBigUInt64LE(at) : BigInt(message.readUInt32LE(at));
  return { field: { number, type, value, bytes: NONE }, end };
}

function readVarint(bytes: Buffer, start: number): { readonly value: bigint; readonly end: number } {
  const first = bytes[start];
  if (first !== undefined && first < 0x80) return { value: BigInt(first), end: start + 1 };
  let value = 0n;
  for (let i = 0; i < MAX_VARINT_BYTES; i++) {
    const byte = bytes[start + i];
    if (byte === undefined) throw new WireError("a number ends too early");
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) return { value: value & U64, end: start + i + 1 };
  }
  throw new WireError("a number is too long");
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
