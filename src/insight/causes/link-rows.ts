import { statements } from "../../platform/store/store.ts";
import type { Defect } from "../defects/defects.ts";
import type { Confidence } from "./judge.ts";

/** What a link copies of its entry. */
export interface EntryCopy {
  readonly entryId: number;
  readonly repoKey: string;
  readonly path: string;
  readonly heading: string;
  readonly ordinal: number;
  readonly date: string;
  readonly fingerprint: Buffer;
}

export function copyOf({ id: entryId, repoKey, path, heading, ordinal, date, fingerprint }: Defect): EntryCopy {
  return { entryId, repoKey, path, heading, ordinal, date, fingerprint };
}

export interface LinkRow extends EntryCopy {
  readonly id: string;
  readonly teamId: string;
  readonly band: Confidence;
  readonly origin: "computed" | "person";
  readonly sessionId: number | null;
  readonly commit: string | null;
  readonly promptExcerpt: string | null;
  /** JSON, see Reason in desired-links.ts. */
  readonly evidence: string;
  readonly verdict: "confirmed" | "rejected" | null;
  /** Whose word it is, where it is somebody's: a person or a device by id. */
  readonly saidBy: string | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The highest number of an entry when this one was found to be gone; null while it is there. */
  readonly goneAfter: number | null;
}

/** A link with what is asked of it most: whose session it is, and whether it is counted. */
export interface ListedRow extends LinkRow {
  readonly externalId: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  /** A person's verdict is against it. */
  readonly outranked: 0 | 1;
}

/** What tells whether a link is listed, and where. */
export type PlaceRow = Pick<ListedRow, "id" | "date" | "entryId" | "fingerprint" | "verdict" | "externalId">;

interface DayOfLinks {
  readonly teamId: string;
  readonly date: string;
  readonly repoKey: string | null;
  readonly path: string | null;
}

/** A link that may be counted: what is certain enough, or a person's verdict. */
export interface CertainRow {
  readonly entryId: number;
  readonly hasSession: 0 | 1;
  readonly agent: string | null;
  readonly model: string | null;
  /** Somebody said so, which outranks what was computed of the same entry. */
  readonly humanVerdict: 0 | 1;
}

/** How many sessions one agent ran with one model. */
export interface MakerCount {
  readonly model: string | null;
  readonly agent: string | null;
  readonly sessions: number;
}

/** Somebody said so: by a link of their own, or by confirming one. */
export const hasHumanVerdict = ({ origin, verdict }: Pick<LinkRow, "origin" | "verdict">): boolean =>
  verdict !== "rejected" && (origin === "person" || verdict === "confirmed");

const COLUMNS = `l.id, l.team_id AS teamId, l.repo_key AS repoKey, l.path, l.heading, l.ordinal, l.date, l.fingerprint, l.band,
  l.origin, l.session_id AS sessionId, l.commit_sha AS 'commit', l.prompt_excerpt AS promptExcerpt, l.evidence, l.verdict,
  l.said_by AS saidBy, l.decided_by AS decidedBy, l.decided_at AS decidedAt, l.created_at AS createdAt, l.updated_at AS updatedAt,
  l.entry_id AS entryId, l.gone_after AS goneAfter`;

/** Windows by primary key, people's verdicts by causal_links_by_entry. */
const LISTED = `SELECT ${COLUMNS}, w.external_id AS externalId, w.agent, w.model,
    l.origin = 'computed' AND l.verdict IS NULL AND EXISTS (
      SELECT 1 FROM causal_links p WHERE p.entry_id = l.entry_id
        AND (p.origin = 'person' OR p.verdict = 'confirmed') AND p.verdict IS NOT 'rejected') AS outranked
  FROM causal_links l LEFT JOIN trace_session_windows w ON w.session_id = l.session_id`;

const RANK = `l.origin = 'person' DESC, l.verdict IS 'confirmed' DESC,
  CASE l.band WHEN 'strong' THEN 0 WHEN 'probable' THEN 1 ELSE 2 END, w.ended_at DESC, l.session_id DESC, l.id`;

/** Links that count: certain enough, not outranked by a person's word, and of an entry that is there. */
const COUNTED = `l.session_id IS NOT NULL AND l.gone_after IS NULL AND l.verdict IS NOT 'rejected'
  AND (l.origin = 'person' OR l.verdict IS 'confirmed' OR (l.band <> 'weak' AND NOT EXISTS (
    SELECT 1 FROM causal_links p WHERE p.entry_id = l.entry_id AND (p.origin = 'person' OR p.verdict = 'confirmed')
      AND p.verdict IS NOT 'rejected')))`;

export const linkRows = statements((db) => ({
  // By causal_links_by_repo, whatever an ANALYZE noted; people's verdicts by causal_links_by_entry.
  countedInRepo: db.prepare<[string, string], { sessionId: number; entries: number }>(
    `SELECT l.session_id AS sessionId, count(DISTINCT l.entry_id) AS entries FROM causal_links l INDEXED BY causal_links_by_repo
     WHERE l.team_id = ? AND l.repo_key = ? AND ${COUNTED} GROUP BY l.session_id`,
  ),
  // By causal_links_by_session.
  countedOfSession: db
    .prepare<[number], number>(
      `SELECT count(DISTINCT l.entry_id) FROM causal_links l WHERE l.session_id = ? AND ${COUNTED}`,
    )
    .pluck(),
  // By causal_links_by_entry.
  ofEntry: db.prepare<[number], LinkRow>(`SELECT ${COLUMNS} FROM causal_links l WHERE l.entry_id = ? ORDER BY l.id`),
  listedOfEntry: db.prepare<[number, string], ListedRow>(
    `${LISTED} WHERE l.entry_id = ? AND l.team_id = ? ORDER BY ${RANK}`,
  ),
  // By causal_links_by_repo, in its order.
  ofRepo: db.prepare<[string, string, number, number], LinkRow & { row: number }>(
    `SELECT ${COLUMNS}, l.rowid AS row FROM causal_links l WHERE l.team_id = ? AND l.repo_key = ? AND l.rowid > ?
     ORDER BY l.rowid LIMIT ?`,
  ),
  // By causal_links_by_session.
  listedOfSession: db.prepare<[number, string], ListedRow>(
    `${LISTED} WHERE l.session_id = ? AND l.team_id = ? ORDER BY l.date DESC, l.path, l.heading, l.ordinal, ${RANK}`,
  ),
  entriesOfSession: db.prepare<[number], { repoKey: string; date: string }>(
    "SELECT DISTINCT repo_key AS repoKey, date FROM causal_links WHERE session_id = ?",
  ),
  // Both by causal_links_by_date, which is named, for by the order that it asks for SQLite would walk all of a team's links for those of one
  // day; windows by primary key.
  dayBefore: db
    .prepare<[string, string], string | null>("SELECT max(date) FROM causal_links WHERE team_id = ? AND date < ?")
    .pluck(),
  placesOfDay: db.prepare<[DayOfLinks], PlaceRow>(
    `SELECT l.id, l.date, l.entry_id AS entryId, l.fingerprint, l.verdict, w.external_id AS externalId
     FROM causal_links l INDEXED BY causal_links_by_date LEFT JOIN trace_session_windows w ON w.session_id = l.session_id
     WHERE l.team_id = @teamId AND l.date = @date AND (@repoKey IS NULL OR l.repo_key = @repoKey)
       AND (@path IS NULL OR l.path = @path)
     ORDER BY l.repo_key, l.path, l.heading, l.ordinal, ${RANK}`,
  ),
  // By causal_links_certain; windows by primary key.
  certain: db.prepare<[{ teamId: string; repoKey: string | null }], CertainRow>(
    `SELECT l.entry_id AS entryId, l.session_id IS NOT NULL AS hasSession, w.agent, w.model,
       l.origin = 'person' OR l.verdict IS 'confirmed' AS humanVerdict
     FROM causal_links l LEFT JOIN trace_session_windows w ON w.session_id = l.session_id
     WHERE l.team_id = @teamId AND (@repoKey IS NULL OR l.repo_key = @repoKey) AND l.verdict IS NOT 'rejected'
       AND (l.band <> 'weak' OR l.origin = 'person' OR l.verdict IS 'confirmed')`,
  ),
  // By trace_session_windows_by_maker alone, in its order.
  makers: db.prepare<[{ teamId: string; repoKey: string | null }], MakerCount>(
    `SELECT model, agent, count(*) AS sessions FROM trace_session_windows
     WHERE team_id = @teamId AND (@repoKey IS NULL OR repo_key = @repoKey) GROUP BY model, agent`,
  ),
  // By primary key.
  byId: db.prepare<[string, string], LinkRow>(`SELECT ${COLUMNS} FROM causal_links l WHERE l.id = ? AND l.team_id = ?`),
  listedById: db.prepare<[string, string], ListedRow>(`${LISTED} WHERE l.id = ? AND l.team_id = ?`),
  insert: db.prepare<[Omit<LinkRow, "verdict" | "decidedBy" | "decidedAt" | "goneAfter">]>(
    `INSERT INTO causal_links (id, team_id, repo_key, path, heading, ordinal, date, fingerprint, band, origin, session_id,
       commit_sha, prompt_excerpt, evidence, created_at, updated_at, entry_id, said_by)
     VALUES (@id, @teamId, @repoKey, @path, @heading, @ordinal, @date, @fingerprint, @band, @origin, @sessionId,
       @commit, @promptExcerpt, @evidence, @createdAt, @updatedAt, @entryId, @saidBy)
     ON CONFLICT (entry_id, session_id) WHERE origin = 'computed' DO NOTHING`,
  ),
  update: db.prepare<[Pick<LinkRow, "id" | "band" | "commit" | "promptExcerpt" | "evidence" | "updatedAt">]>(
    `UPDATE causal_links SET band = @band, commit_sha = @commit, prompt_excerpt = @promptExcerpt, evidence = @evidence,
       updated_at = @updatedAt WHERE id = @id AND verdict IS NULL`,
  ),
  hide: db.prepare<[number, string]>("UPDATE causal_links SET gone_after = ? WHERE id = ?"),
  move: db.prepare<[EntryCopy & Pick<LinkRow, "id" | "updatedAt">]>(
    `UPDATE causal_links SET path = @path, heading = @heading, ordinal = @ordinal, date = @date, fingerprint = @fingerprint,
       entry_id = @entryId, gone_after = NULL, updated_at = @updatedAt WHERE id = @id`,
  ),
  decide: db.prepare<[string | null, string | null, number | null, number, string]>(
    "UPDATE causal_links SET verdict = ?, decided_by = ?, decided_at = ?, updated_at = ? WHERE id = ?",
  ),
  drop: db.prepare<[string]>("DELETE FROM causal_links WHERE id = ? AND origin = 'computed' AND verdict IS NULL"),
}));
