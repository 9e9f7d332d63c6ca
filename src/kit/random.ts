import { randomBytes } from "node:crypto";
import { sha256 } from "./hash.ts";

/** Source of unpredictable bytes; handed in so that a seeded instance can be deterministic. */
export type Random = (bytes: number) => Buffer;

export const systemRandom: Random = (bytes) => randomBytes(bytes);

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
