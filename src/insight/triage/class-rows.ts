import type { HashSlice } from "../../kit/hash-slices.ts";
import { type Preparer, statements } from "../../platform/store/store.ts";
import type { ClassRow } from "./rows.ts";
import type { State } from "./standing.ts";

/** What narrows a list of classes; null narrows nothing. A team may have very many, so they are read in slices, `low` to `high`. */
export interface ClassFilter extends Pick<HashSlice, "low" | "high"> {
  readonly teamId: string;
  readonly now: number;
  readonly repoKey: string | null;
  readonly kind: string | null;
  /** A person's id; empty for those that are nobody's. */
  readonly owner: string | null;
  /** JSON array of classes. */
  readonly only: string | null;
}

interface ClassRange extends ClassFilter {
  /** JSON array of states. */
  readonly states: string;
  /** The class to begin beyond, and its key in the list's order; null for the top. */
  readonly at: string | null;
  readonly key: string | number | null;
  readonly count: number;
}

export interface ListedClassRow extends Omit<ClassRow, "teamId" | "open" | "firstRepo" | "recent"> {
  readonly state: State;
  readonly ownerId: string | null;
  readonly snoozedUntil: number | null;
  readonly tracker: string | null;
  /** What the list is in the order of. */
  readonly key: string | number;
}

export interface PressingRow
  extends Pick<ListedClassRow, "title" | "repoKey" | "occurrences" | "newestId" | "lastSeen" | "ownerId"> {
  readonly fingerprint: string;
  /** 1 for one that came again lately. */
  readonly cameAgain: number;
  /** How many of its sort are in its slice, and which of them it is. */
  readonly count: number;
  readonly rank: number;
}

/** As `stateOfClass` has it. */
const STATE = `CASE WHEN w.snoozed = 'again' OR (w.snoozed = 'until' AND w.snoozed_until > @now) THEN 'snoozed'
  WHEN w.state IS NOT NULL THEN w.state WHEN c.occurrences > 1 THEN 'again' WHEN c.open > 0 THEN 'open' ELSE 'resolved' END`;

/** What a list can be in the order of; those of one key by their fingerprints. */
const KEYS = {
  last: "last_seen",
  first: "first_seen",
  count: "occurrences",
  title: "title COLLATE NOCASE",
  state: "instr('again   open    snoozed resolved', state)",
} as const;
export type SortKey = keyof typeof KEYS;
export const SORT_KEYS = Object.keys(KEYS) as SortKey[];

/** Both by primary key. */
const standing = (which: string) => `SELECT c.*, ${STATE} AS state, w.owner_id, w.snoozed_until, w.tracker
  FROM triage_classes c LEFT JOIN triage_words w ON w.team_id = c.team_id AND w.class = c.class AND w.entry_id = 0
  WHERE c.team_id = @teamId AND c.occurrences > 0 AND ${which}`;

/** A slice of a team's classes. */
const STANDING = standing(`c.class >= @low AND c.class < @high
    AND (@repoKey IS NULL OR EXISTS (SELECT 1 FROM json_each(c.repos) WHERE value = @repoKey))
    AND (@kind IS NULL OR c.kind = @kind)
    AND (@owner IS NULL OR coalesce(w.owner_id, '') = @owner)
    AND (@only IS NULL OR c.class IN (SELECT value FROM json_each(@only)))`);

/** Which classes of a slice may stand on a page in one order and way. */
function page(db: Preparer, sort: SortKey, way: "ASC" | "DESC") {
  const key = KEYS[sort];
  return db
    .prepare<[ClassRange], string>(
      `SELECT class FROM (${STANDING})
     WHERE state IN (SELECT value FROM json_each(@states))
       AND (@at IS NULL OR (${key}, class) ${way === "ASC" ? ">" : "<"} (@key, @at))
     ORDER BY ${key} ${way}, class ${way} LIMIT @count`,
    )
    .pluck();
}

/** The first of some classes in one order and way. */
function firstOf(db: Preparer, sort: SortKey, way: "ASC" | "DESC") {
  const key = KEYS[sort];
  return db.prepare<[Pick<ClassRange, "teamId" | "now" | "count"> & { classes: string }], ListedClassRow>(
    `SELECT class, occurrences, first_seen AS firstSeen, last_seen AS lastSeen, repo_key AS repoKey, repos, kind, title, rule,
       newest_id AS newestId, state, owner_id AS ownerId, snoozed_until AS snoozedUntil, tracker, ${key} AS key
     FROM (${standing("c.class IN (SELECT value FROM json_each(@classes))")})
     ORDER BY ${key} ${way}, class ${way} LIMIT @count`,
  );
}

const bySort = <Made>(make: (sort: SortKey, way: "ASC" | "DESC") => Made) =>
  Object.fromEntries(SORT_KEYS.map((sort) => [sort, { ASC: make(sort, "ASC"), DESC: make(sort, "DESC") }])) as Record<
    SortKey,
    Record<"ASC" | "DESC", Made>
  >;

export const classRows = statements((db) => ({
  pages: bySort((sort, way) => page(db, sort, way)),
  firstOf: bySort((sort, way) => firstOf(db, sort, way)),
  counts: db.prepare<[ClassFilter], { state: State; classes: number; nobodys: number }>(
    `SELECT state, count(*) AS classes, count(*) FILTER (WHERE owner_id IS NULL) AS nobodys
     FROM (${STANDING}) GROUP BY state`,
  ),
  /** Those that came again lately, and others that are open; a few of each with how many there are, the newest first. */
  pressing: db.prepare<[ClassFilter & { since: string; most: number }], PressingRow>(
    `SELECT * FROM (
       SELECT *, count(*) OVER (PARTITION BY cameAgain) AS count,
         row_number() OVER (PARTITION BY cameAgain ORDER BY lastSeen DESC, fingerprint DESC) AS rank
       FROM (
         SELECT class AS fingerprint, title, repo_key AS repoKey, occurrences, newest_id AS newestId, last_seen AS lastSeen,
           owner_id AS ownerId, state = 'again' AND last_seen >= @since AS cameAgain
         FROM (${STANDING}) WHERE state IN ('open', 'again')
       )
     ) WHERE rank <= @most ORDER BY rank`,
  ),
  openByRepo: db.prepare<[ClassFilter], { repoKey: string; open: number }>(
    `SELECT r.value AS repoKey, count(*) AS open FROM (${STANDING}) s, json_each(s.repos) r
     WHERE s.state IN ('open', 'again') GROUP BY r.value`,
  ),
  // By primary key.
  newByDay: db.prepare<[ClassFilter & { from: string }], { date: string; count: number }>(
    `SELECT first_seen AS date, count(*) AS count FROM triage_classes
     WHERE team_id = @teamId AND class >= @low AND class < @high AND occurrences > 0 AND first_repo = coalesce(@repoKey, first_repo)
       AND kind = coalesce(@kind, kind) AND first_seen >= @from
     GROUP BY first_seen`,
  ),
}));
