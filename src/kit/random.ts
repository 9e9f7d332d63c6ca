import { randomBytes } from "node:crypto";

/** Source of unpredictable bytes; handed in so that a seeded instance can be deterministic. */
export type Random = (bytes: number) => Buffer;

export const systemRandom: Random = (bytes) => randomBytes(bytes);
