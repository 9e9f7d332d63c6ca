import type { Core } from "../../core.ts";
import { findUser } from "../../identity/people/people.ts";
import { type ClassRow, rows, type WordRow } from "./rows.ts";

export const STATES = ["open", "again", "snoozed", "resolved"] as const;
export type State = (typeof STATES)[number];

/** Who has taken something on. */
export interface Owner {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
}

/** How a class or an entry stands. */
export interface Standing {
  readonly state: State;
  /** Whether people said so; otherwise the errors file does. */
  readonly isWord: boolean;
  /** Since when people say so, milliseconds since the epoch. */
  readonly since: number | null;
  readonly owner: Owner | null;
  /** Milliseconds since the epoch; null where it is not snoozed, or until it comes again. */
  readonly snoozedUntil: number | null;
  /** Address of where it is tracked. */
  readonly tracker: string | null;
  /** Grows with every change; 0 while nobody said anything. */
  readonly revision: number;
}

export const isSnoozed = (word: WordRow | undefined, now: number): boolean =>
  word?.snoozed === "again" || (word?.snoozed === "until" && (word.snoozedUntil ?? 0) > now);

/** A class's state: a person's word before the file's, which says open of an entry, or has the class more than once. */
function stateOfClass(
  word: WordRow | undefined,
  { occurrences, open }: Pick<ClassRow, "occurrences" | "open">,
  now: number,
): State {
  if (isSnoozed(word, now)) return "snoozed";
  if (word?.state) return word.state;
  if (occurrences > 1) return "again";
  return open > 0 ? "open" : "resolved";
}

function standing(core: Core, word: WordRow | undefined, state: State, isWord: boolean): Standing {
  return {
    ...{ state, isWord, since: isWord ? (word?.stateAt ?? null) : null },
    owner: ownersOf(core, [word?.ownerId ?? null]).get(word?.ownerId ?? "") ?? null,
    snoozedUntil: state === "snoozed" ? (word?.snoozedUntil ?? null) : null,
    ...{ tracker: word?.tracker ?? null, revision: word?.revision ?? 0 },
  };
}

/** People by id, of those that there are. */
export function ownersOf(core: Core, ids: Iterable<string | null>): Map<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const id of ids) {
    const user = id === null || owners.has(id) ? undefined : findUser(core, id);
    if (user) owners.set(user.id, { id: user.id, email: user.email, name: user.name });
  }
  return owners;
}

/** Those who have taken anything on, by how they are called. @param limit of how many at most */
export const ownersIn = (core: Core, teamId: string, limit: number): Owner[] =>
  [...ownersOf(core, rows(core.store).owners.all(teamId, limit)).values()].sort((a, b) =>
    (a.name ?? a.email).localeCompare(b.name ?? b.email, "en"),
  );

/** How a class stands. @returns undefined for one without entries */
export function standingOfClass(core: Core, teamId: string, fingerprint: string): Standing | undefined {
  return standings(core, teamId, [fingerprint]).get(fingerprint);
}

/** How some classes stand, by the first 8 digits of their fingerprints; those without entries are left out. */
export function standings(core: Core, teamId: string, fingerprints: readonly string[]): Map<string, Standing> {
  const sql = rows(core.store);
  const words = new Map(
    sql.wordsOfClasses.all(teamId, JSON.stringify(fingerprints)).map((word) => [word.class, word] as const),
  );
  const now = core.clock.now();
  const found = new Map<string, Standing>();
  for (const fingerprint of fingerprints) {
    const one = sql.classOf.get(teamId, fingerprint);
    const word = words.get(fingerprint);
    if (one && one.occurrences > 0)
      found.set(
        fingerprint,
        standing(
          core,
          word,
          stateOfClass(word, one, now),
          word !== undefined && (word.state !== null || isSnoozed(word, now)),
        ),
      );
  }
  return found;
}

/** An entry, as far as its standing goes. */
interface StandingEntry {
  readonly id: number;
  /** Its file says so. */
  readonly open: boolean;
}

/**
 * How one of a class's entries stands: what was said of it, else that the class is resolved or snoozed, else that with it the class came
 * again, else what its file says. The only entry of a class is the class.
 */
export function standingOfEntry(core: Core, teamId: string, fingerprint: string, entry: StandingEntry): Standing {
  const sql = rows(core.store);
  const ofClass = standingOfClass(core, teamId, fingerprint);
  const known = sql.classOf.get(teamId, fingerprint);
  if (ofClass && known?.occurrences === 1) return ofClass;
  const word = sql.word.get(teamId, fingerprint, entry.id);
  const now = core.clock.now();
  if (isSnoozed(word, now)) return standing(core, word, "snoozed", true);
  if (word?.state) return standing(core, word, word.state, true);
  const isLatest = ofClass?.state === "again" && known?.newestId === entry.id;
  const own = standing(core, word, isLatest ? "again" : entry.open ? "open" : "resolved", false);
  if (!ofClass?.isWord || (ofClass.state !== "resolved" && ofClass.state !== "snoozed")) return own;
  const { state, isWord, since, snoozedUntil } = ofClass;
  return { ...own, state, isWord, since, snoozedUntil };
}
