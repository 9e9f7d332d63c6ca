import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { parseJson } from "../../formats/values.ts";
import { DataDirectoryError } from "../../kit/errors.ts";
import { writeFileAtomically } from "../../kit/files.ts";

/**
 * The erasures beside the database: no backup carries them, so that a backup from before an erasure does not bring back what it
 * took. Nothing in it tells what was erased but ids and a repository's key.
 */
export const JOURNAL = "erasures.json";

const Ids = v.pipe(v.array(v.string()), v.readonly());
/**
 * What is to be erased, by what stays the same whatever backup is restored. A session is named by the digest of its id, in hex;
 * `namedOn` are devices of others, whose sessions name the person.
 */
const Target = v.variant("kind", [
  v.object({ kind: v.literal("person"), personId: v.string(), deviceIds: Ids, namedOn: v.optional(Ids) }),
  v.object({ kind: v.literal("device"), deviceId: v.string() }),
  v.object({ kind: v.literal("session"), deviceId: v.string(), sessionSha256: v.string() }),
  v.object({ kind: v.literal("entry"), deviceId: v.string(), repoKey: v.string(), seq: v.number() }),
  v.object({ kind: v.literal("repo"), teamIds: Ids, repoKey: v.string() }),
]);
const Journalled = v.object({
  id: v.string(),
  teamId: v.nullable(v.string()),
  target: Target,
  reason: v.string(),
  requestedBy: v.string(),
  /** Milliseconds since the epoch. */
  requestedAt: v.number(),
});
const Journal = v.object({ version: v.literal(1), erasures: v.array(Journalled) });

/** What is to be erased. */
export type Target = v.InferOutput<typeof Target>;
/** An erasure that somebody asked for. */
export type Erasure = Readonly<v.InferOutput<typeof Journalled>>;

/** A target as the database has it, in JSON; undefined where somebody put something else there. */
export function readTarget(stored: string): Target | undefined {
  const read = v.safeParse(Target, parseJson(stored));
  return read.success ? read.output : undefined;
}

/** @throws ValiError where it is none that the file could have */
export const requireSound = (erasure: Erasure): Erasure => v.parse(Journalled, erasure);

/** @throws DataDirectoryError when it is there and cannot be read: without it what was erased might come back */
export function readJournal(directory: string): readonly Erasure[] {
  const path = join(directory, JOURNAL);
  if (!existsSync(path)) return [];
  try {
    return v.parse(Journal, JSON.parse(readFileSync(path, "utf8"))).erasures;
  } catch (error) {
    throw new DataDirectoryError(
      `${path} tells what was erased and cannot be read (${(error as Error).message.split("\n")[0]}): put a sound copy of it in ` +
        "place, or remove it if no backup from before an erasure was restored",
    );
  }
}

/** Adds erasures to the file, durably. */
export function journal(directory: string, entries: readonly Erasure[]): void {
  const erasures = readJournal(directory);
  const known = new Set(erasures.map(({ id }) => id));
  const added = entries.filter(({ id }) => !known.has(id));
  if (added.length === 0) return;
  const content = { version: 1, erasures: [...erasures, ...added] } satisfies v.InferOutput<typeof Journal>;
  writeFileAtomically(join(directory, JOURNAL), `${JSON.stringify(content, null, 2)}\n`, true);
}
