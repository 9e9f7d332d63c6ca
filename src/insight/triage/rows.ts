import { statements } from "../../platform/store/store.ts";

/** What people said of a class, `entryId` 0, or of one of its entries. */
export interface WordRow {
  readonly teamId: string;
  readonly class: string;
  readonly entryId: number;
  readonly ownerId: string | null;
  readonly state: "open" | "resolved" | "again" | null;
  /** Since when, milliseconds since the epoch. */
  readonly stateAt: number | null;
  readonly snoozed: "until" | "again" | null;
  readonly snoozedUntil: number | null;
  readonly tracker: string | null;
  readonly revision: number;
}

const EVENT_KINDS = [
  "assigned",
  "unassigned",
  "resolved",
  "reopened",
  "snoozed",
  "commented",
  "linked",
  "unlinked",
  "came-again",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

export interface EventRow {
  readonly id: number;
  readonly teamId: string;
  readonly class: string;
  readonly entryId: number;
  readonly at: number;
  readonly kind: EventKind;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorLabel: string;
  /** Who it was given to, or which entry came. */
  readonly otherId: string | null;
  /** A comment, a tracker's address, a day; null where it was erased, too. */
  readonly body: string | null;
}

/** What is kept of a class itself. */
export interface ClassRow {
  readonly teamId: string;
  /** The first 8 hexadecimal digits of its entries' fingerprints. */
  readonly class: string;
  readonly occurrences: number;
  readonly open: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
  readonly firstRepo: string;
  /** JSON array of keys. */
  readonly repos: string;
  readonly repoKey: string;
  readonly kind: string;
  readonly title: string;
  readonly rule: string | null;
  readonly newestId: number;
  /** JSON array of digests. */
  readonly recent: string;
}

const WORD = `SELECT team_id AS teamId, class, entry_id AS entryId, owner_id AS ownerId, state, state_at AS stateAt, snoozed,
  snoozed_until AS snoozedUntil, tracker, revision FROM triage_words`;
const EVENT = `SELECT id, team_id AS teamId, class, entry_id AS entryId, at, kind, actor_kind AS actorKind, actor_id AS actorId,
  actor_label AS actorLabel, other_id AS otherId, body FROM triage_events`;

export const rows = statements((db) => ({
  // By primary key.
  classOf: db.prepare<[string, string], ClassRow>(
    `SELECT team_id AS teamId, class, occurrences, open, first_seen AS firstSeen, last_seen AS lastSeen, first_repo AS firstRepo,
       repos, repo_key AS repoKey, kind, title, rule, newest_id AS newestId, recent
     FROM triage_classes WHERE team_id = ? AND class = ?`,
  ),
  putClass: db.prepare<[ClassRow]>(
    `INSERT INTO triage_classes (team_id, class, occurrences, open, first_seen, last_seen, first_repo, repos, repo_key, kind, title,
       rule, newest_id, recent)
     VALUES (@teamId, @class, @occurrences, @open, @firstSeen, @lastSeen, @firstRepo, @repos, @repoKey, @kind, @title,
       @rule, @newestId, @recent)
     ON CONFLICT (team_id, class) DO UPDATE SET occurrences = excluded.occurrences, open = excluded.open,
       first_seen = excluded.first_seen, last_seen = excluded.last_seen, first_repo = excluded.first_repo, repos = excluded.repos,
       repo_key = excluded.repo_key, kind = excluded.kind, title = excluded.title, rule = excluded.rule,
       newest_id = excluded.newest_id, recent = excluded.recent`,
  ),
  emptyClass: db.prepare<[string, string]>(
    "UPDATE triage_classes SET occurrences = 0, open = 0 WHERE team_id = ? AND class = ?",
  ),
  dropClass: db.prepare<[string, string]>("DELETE FROM triage_classes WHERE team_id = ? AND class = ?"),
  // By its first two columns: of the class and of its entries.
  words: db.prepare<[string, string], WordRow>(`${WORD} WHERE team_id = ? AND class = ?`),
  owners: db
    .prepare<[string, number], string>(
      "SELECT DISTINCT owner_id FROM triage_words WHERE team_id = ? AND owner_id IS NOT NULL LIMIT ?",
    )
    .pluck(),
  word: db.prepare<[string, string, number], WordRow>(`${WORD} WHERE team_id = ? AND class = ? AND entry_id = ?`),
  // For each of a JSON list of classes.
  wordsOfClasses: db.prepare<[string, string], WordRow>(
    `${WORD} WHERE team_id = ? AND class IN (SELECT value FROM json_each(?)) AND entry_id = 0`,
  ),
  putWord: db.prepare<[WordRow]>(
    `INSERT INTO triage_words (team_id, class, entry_id, owner_id, state, state_at, snoozed, snoozed_until, tracker, revision)
     VALUES (@teamId, @class, @entryId, @ownerId, @state, @stateAt, @snoozed, @snoozedUntil, @tracker, @revision)
     ON CONFLICT (team_id, class, entry_id) DO UPDATE SET owner_id = excluded.owner_id, state = excluded.state,
       state_at = excluded.state_at, snoozed = excluded.snoozed, snoozed_until = excluded.snoozed_until, tracker = excluded.tracker,
       revision = excluded.revision`,
  ),
  // What was said of single entries gives way to what is said of all of them.
  clearStates: db.prepare<[string, string]>(
    `UPDATE triage_words SET state = NULL, state_at = NULL, snoozed = NULL, snoozed_until = NULL, revision = revision + 1
     WHERE team_id = ? AND class = ? AND entry_id > 0 AND (state IS NOT NULL OR snoozed IS NOT NULL)`,
  ),
  wakeEntries: db.prepare<[string, string]>(
    `UPDATE triage_words SET snoozed = NULL, revision = revision + 1
     WHERE team_id = ? AND class = ? AND entry_id > 0 AND snoozed = 'again'`,
  ),
  resolvedEntries: db
    .prepare<[string, string], number>(
      "SELECT count(*) FROM triage_words WHERE team_id = ? AND class = ? AND entry_id > 0 AND state = 'resolved'",
    )
    .pluck(),
  // By triage_words_by_entry.
  moveWord: db.prepare<[string, string, number, string]>(
    "UPDATE OR REPLACE triage_words SET class = ? WHERE team_id = ? AND entry_id = ? AND entry_id > 0 AND class <> ?",
  ),
  insertEvent: db.prepare<[Omit<EventRow, "id">]>(
    `INSERT INTO triage_events (team_id, class, entry_id, at, kind, actor_kind, actor_id, actor_label, other_id, body)
     VALUES (@teamId, @class, @entryId, @at, @kind, @actorKind, @actorId, @actorLabel, @otherId, @body)`,
  ),
  // By triage_events_by_class, from its end; of one entry or, for null, of all.
  events: db.prepare<[string, string, number | null, number], EventRow>(
    `${EVENT} WHERE team_id = ? AND class = ? AND entry_id = coalesce(?, entry_id) ORDER BY id DESC LIMIT ?`,
  ),
  hasEvents: db
    .prepare<[string, string], number>("SELECT EXISTS (SELECT 1 FROM triage_events WHERE team_id = ? AND class = ?)")
    .pluck(),
}));
