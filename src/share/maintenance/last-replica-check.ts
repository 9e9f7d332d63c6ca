import { join } from "node:path";
import type { Core } from "../../core.ts";
import { readTextFile } from "../../kit/bounded-text.ts";
import { isoInstant } from "../../kit/clock.ts";
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
