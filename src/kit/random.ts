import { randomBytes, randomFillSync } from "node:crypto";
import { sha256 } from "./hash.ts";

/** Source of unpredictable bytes; handed in so that a seeded instance can be deterministic. */
export type Random = (bytes: number) => Buffer;

/** Asking the system for a few bytes takes far longer than what is done with them, so it is asked for many at once. */
const pool = Buffer.alloc(4_096);
let used = pool.length;

/** Bytes of the system's own source, each given once. */
export const systemRandom: Random = (bytes) => {
  if (bytes > pool.length / 16) return randomBytes(bytes);
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const from = used;
  used += bytes;
  // Memory of its own, so that it can move to another thread without the rest.
  const drawn = Buffer.from(pool.buffer.slice(pool.byteOffset + from, pool.byteOffset + used));
  pool.fill(0, from, used);
  return drawn;
};

/**
 * Bytes that follow from a seed alone (SHA-256 in counter mode): the same seed gives the same bytes in the same order. For local
 * instances and test data; whoever knows the seed knows the bytes.
 */
export function seededRandom(seed: string): Random {
  let counter = 0;
  let left: Buffer = Buffer.alloc(0);
  return (bytes) => {
    const parts = [left];
    for (let have = left.length; have < bytes; have += 32) parts.push(sha256(`${seed}\n${counter++}`));
    const drawn = Buffer.concat(parts);
    left = drawn.subarray(bytes);
    return Buffer.from(drawn.subarray(0, bytes));
  };
}
