import { join } from "node:path";
import type { Core } from "../../core.ts";
import { readTextFile } from "../../kit/bounded-text.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { writeFileAtomically } from "../../kit/files.ts";
import { isObject } from "../../kit/json.ts";
import { Problem } from "../../kit/problem.ts";

/** Beside the database, for the server: a timer runs the command in a process of its own. */
const FILE = "last-replica-check.json";
const MAX_BYTES = 10_000;
const MODE = 0o644;

export interface LastReplicaCheck {
  /** When it was checked last and was well, in milliseconds since the epoch; null where it never was. */
  readonly goodAt: number | null;
  /** Why the last check failed; null where it was well. */
  readonly failure: string | null;
}

/** @param failure why it failed; null where it is well */
export function noteReplicaCheck(core: Pick<Core, "clock" | "config">, failure: string | null): void {
  const { clock, config } = core;
  const goodAt = failure === null ? clock.now() : (lastReplicaCheck(config.data)?.goodAt ?? null);
  const note = { goodAt: goodAt === null ? null : isoInstant(goodAt), failure };
  writeFileAtomically(join(config.data, FILE), `${JSON.stringify(note)}\n`, true, MODE);
}

/** A replica is checked every day. */
const STALE_MS = 2 * DAY_MS;

/** A replica that was not found whole lately. */
export interface StaleReplica {
  /** As `LastReplicaCheck` has it. */
  readonly goodAt: number | null;
  /** The last check failed; else none was made for too long. */
  readonly failing: boolean;
}

/**
 * Tells whether the last check of a replica failed, or is too long ago.
 * @returns null while all is well, undefined where none was ever made
 * @throws Error when the note is there and cannot be opened
 */
export function staleReplica({ store, clock }: Core): StaleReplica | null | undefined {
  const last = lastReplicaCheck(store.directory);
  if (!last) return undefined;
  const { goodAt, failure } = last;
  // A check dated in the future was noted by a wrong clock, and does not count.
  if (failure === null && Math.abs(clock.now() - (goodAt ?? 0)) <= STALE_MS) return null;
  return { goodAt, failing: failure !== null };
}

/** What is noted; undefined where no check ever was. */
export function lastReplicaCheck(directory: string): LastReplicaCheck | undefined {
  try {
    const note = JSON.parse(readTextFile(join(directory, FILE), MAX_BYTES)) as unknown;
    if (!isObject(note)) return undefined;
    const at = typeof note.goodAt === "string" ? Date.parse(note.goodAt) : Number.NaN;
    return { goodAt: Number.isNaN(at) ? null : at, failure: typeof note.failure === "string" ? note.failure : null };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Problem) return undefined;
    throw error;
  }
}
