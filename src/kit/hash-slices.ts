import type { Clock } from "./clock.ts";
import { cooperative } from "./yield.ts";

/** A range of hashes by how they begin, in hexadecimal digits and as bytes. */
export interface HashSlice {
  readonly low: string;
  /** Not included. */
  readonly high: string;
  readonly lowBytes: Buffer;
  readonly highBytes: Buffer;
}

const SLICES = 64;
const digits = (byte: number) => byte.toString(16).padStart(2, "0");
const BEYOND_ALL = Buffer.alloc(33, 0xff);

/** Equal parts of the range of hashes, for reading all of them in pieces. */
const HASH_SLICES: readonly HashSlice[] = Array.from({ length: SLICES }, (_, i) => {
  const isLast = i === SLICES - 1;
  const [low, high] = [digits((i * 256) / SLICES), digits(((i + 1) * 256) / SLICES)];
  return {
    ...{ low, lowBytes: Buffer.from(low, "hex") },
    ...(isLast ? { high: "g", highBytes: BEYOND_ALL } : { high, highBytes: Buffer.from(high, "hex") }),
  };
});

/** The `low` of the slice that holds a hash. @param hex its first digits */
export function sliceOf(hex: string): string {
  const byte = Number.parseInt(hex.slice(0, 2), 16);
  return digits(byte - (byte % (256 / SLICES)));
}

/** Reads rows for all hashes slice by slice, and lets others in between them. */
export async function inHashSlices<Row>(clock: Clock, read: (slice: HashSlice) => readonly Row[]): Promise<Row[]> {
  const yieldNow = cooperative(clock);
  const all: Row[] = [];
  for (const slice of HASH_SLICES) {
    for (const row of read(slice)) all.push(row);
    await yieldNow();
  }
  return all;
}
