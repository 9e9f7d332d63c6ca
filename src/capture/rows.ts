import type { local } from "../platform/store/store.ts";
import type { Mark } from "./sources/tail.ts";

export type LocalDatabase = ReturnType<typeof local.open>;

export interface SourceRow extends Mark {
  readonly path: string;
  readonly agent: string;
  /** JSON. */
  readonly carry: string | null;
  readonly seenAt: number;
}

export interface SessionRow {
  readonly id: string;
  readonly agent: string;
  readonly repo: string;
  /** JSON, see session-head.ts. */
  readonly head: string;
  readonly revision: number;
  readonly sent: number;
  readonly changedAt: number;
}

export interface SpanRow {
  readonly session: string;
  readonly id: string;
  readonly revision: number;
  /** JSON, as it is sent. */
  readonly body: string;
}

export interface EntryRow {
  readonly seq: number;
  readonly at: string | null;
  /** JSON, as it is sent. */
  readonly payload: string;
}

export interface StreamRow {
  readonly repo: string;
  readonly nextSeq: number;
  readonly acknowledged: number;
  /** The last number that was ever sent, whether it was acknowledged or not. */
  readonly attempted: number;
}

export interface ScheduleRow {
  readonly nextAt: number;
  readonly failures: number;
  readonly reason: string | null;
}

type Numbered = { readonly repo: string; readonly seq: number };

/** All statements of `agent.db`; prepared once for an open database. */
export function prepareRows(db: LocalDatabase) {
  const SOURCE = `SELECT path, agent, device, inode, size, modified, offset, guard, carry, seen_at AS seenAt FROM sources`;
  const STREAM = "SELECT repo, next_seq AS nextSeq, acknowledged, attempted FROM streams";
  const SESSION = `SELECT id, agent, repo, head, revision, sent, changed_at AS changedAt FROM sessions`;
  /** Deletes the rows from before an instant, and all but the newest so many. */
  const prune = (table: string) =>
    db.prepare<[number, number]>(`DELETE FROM ${table} WHERE at < ? OR id <= (SELECT max(id) FROM ${table}) - ?`);
  return {
    setting: db.prepare<[string], string>("SELECT value FROM settings WHERE name = ?").pluck(),
    putSetting: db.prepare<[string, string]>("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)"),
    dropSetting: db.prepare<[string]>("DELETE FROM settings WHERE name = ?"),

    source: db.prepare<[string], SourceRow>(`${SOURCE} WHERE path = ?`),
    putSource: db.prepare<[SourceRow]>(
      `INSERT OR REPLACE INTO sources (path, agent, device, inode, size, modified, offset, guard, carry, seen_at)
       VALUES (@path, @agent, @device, @inode, @size, @modified, @offset, @guard, @carry, @seenAt)`,
    ),
    dropSource: db.prepare<[string]>("DELETE FROM sources WHERE path = ?"),
    sourcesOf: db.prepare<[string], SourceRow>(`${SOURCE} WHERE agent = ?`),
    sourcesBefore: db.prepare<[number], string>("SELECT path FROM sources WHERE seen_at < ?").pluck(),
    countSources: db.prepare<[], { agent: string; files: number; bytes: number }>(
      // The offset in opencode's database is an instant.
      "SELECT agent, count(*) AS files, sum(min(offset, size)) AS bytes FROM sources GROUP BY agent",
    ),

    addSeen: db.prepare<[Buffer, number]>("INSERT OR IGNORE INTO seen (hash, at) VALUES (?, ?)"),
    seenBefore: db.prepare<[number], number | null>("SELECT max(at) FROM seen WHERE at < ?").pluck(),
    quietBefore: db.prepare<[number], number | null>("SELECT max(until) FROM quiet WHERE until < ?").pluck(),
    pruneSeen: db.prepare<[number, number]>(
      "DELETE FROM seen WHERE hash IN (SELECT hash FROM seen WHERE at < ? ORDER BY at LIMIT ?)",
    ),
    // Changes a call only where its output grew.
    raiseCall: db.prepare<[string, number, number]>(
      `INSERT INTO calls (id, output, at) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET output = excluded.output, at = excluded.at WHERE excluded.output > output`,
    ),
    pruneCalls: db.prepare<[number]>("DELETE FROM calls WHERE at < ?"),

    session: db.prepare<[string], SessionRow>(`${SESSION} WHERE id = ?`),
    putSession: db.prepare<[Omit<SessionRow, "sent">]>(
      `INSERT INTO sessions (id, agent, repo, head, revision, sent, changed_at)
       VALUES (@id, @agent, @repo, @head, @revision, 0, @changedAt)
       ON CONFLICT (id) DO UPDATE SET repo = @repo, head = @head, revision = @revision, changed_at = @changedAt,
         sent = iif(sent_at IS NULL, 0, sent)`,
    ),
    unsentSessions: db.prepare<[number], SessionRow>(`${SESSION} WHERE revision > sent ORDER BY changed_at LIMIT ?`),
    sentSession: db.prepare<[{ id: string; sent: number; at: number }]>(
      "UPDATE sessions SET sent = max(sent, @sent), sent_at = @at WHERE id = @id",
    ),
    resendSessions: db.prepare<[{ since: number | null }]>(
      "UPDATE sessions SET sent = 0 WHERE @since IS NULL OR sent_at >= @since",
    ),
    // The device that this is now has sent none of them: a session that goes on is sent as a whole.
    disownSessions: db.prepare<[]>("UPDATE sessions SET sent_at = NULL, sent = iif(revision > sent, 0, sent)"),
    countSessions: db.prepare<[], { sessions: number; unsent: number }>(
      "SELECT count(*) AS sessions, count(*) FILTER (WHERE revision > sent) AS unsent FROM sessions WHERE revision > 0",
    ),
    // Uses the index sessions_by_change.
    recentSessions: db.prepare<[number], SessionRow>(`${SESSION} WHERE changed_at >= ? ORDER BY changed_at`),

    addPrompt: db.prepare<[{ session: string; number: number; revision: number; body: string }]>(
      `INSERT INTO prompts (session, number, revision, body, bytes) VALUES (@session, @number, @revision, @body, octet_length(@body))`,
    ),
    prompts: db.prepare<[string], string>("SELECT body FROM prompts WHERE session = ? ORDER BY number").pluck(),
    // Uses the index prompts_by_revision alone. 0 where all were sent.
    unsentPromptBytes: db
      .prepare<[{ session: string; sent: number }], number>(
        `SELECT coalesce(sum(bytes), 0) FROM prompts WHERE session = @session
         AND EXISTS (SELECT * FROM prompts WHERE session = @session AND revision > @sent)`,
      )
      .pluck(),

    span: db.prepare<[string, string], string>("SELECT body FROM spans WHERE session = ? AND id = ?").pluck(),
    putSpan: db.prepare<[SpanRow]>(
      `INSERT OR REPLACE INTO spans (session, id, revision, body, bytes)
       VALUES (@session, @id, @revision, @body, octet_length(@body))`,
    ),
    // Uses the index spans_by_revision.
    spansAfter: db.prepare<[string, number], SpanRow>(
      "SELECT session, id, revision, body FROM spans WHERE session = ? AND revision > ? ORDER BY revision, id",
    ),
    spansAt: db.prepare<[string, number], SpanRow>(
      "SELECT session, id, revision, body FROM spans WHERE session = ? AND revision = ? ORDER BY id",
    ),
    spansOf: db.prepare<[string], SpanRow>("SELECT session, id, revision, body FROM spans WHERE session = ?"),
    spansWithEdits: db.prepare<[string], SpanRow>(
      `SELECT session, id, revision, body FROM spans WHERE session = ? AND instr(body, '"edits":') > 0`,
    ),
    pruneSpans: db.prepare<[number]>(
      `DELETE FROM spans WHERE session IN (SELECT id FROM sessions WHERE revision <= sent AND changed_at < ?)`,
    ),

    stream: db.prepare<[string], StreamRow>(`${STREAM} WHERE repo = ?`),
    streams: db.prepare<[], StreamRow>(`${STREAM} ORDER BY repo`),
    takeSeq: db
      .prepare<[string], number>(
        `INSERT INTO streams (repo, next_seq, acknowledged) VALUES (?, 2, 0)
       ON CONFLICT (repo) DO UPDATE SET next_seq = next_seq + 1 RETURNING next_seq - 1`,
      )
      .pluck(),
    putStream: db.prepare<[StreamRow]>(
      `INSERT OR REPLACE INTO streams (repo, next_seq, acknowledged, attempted) VALUES (@repo, @nextSeq, @acknowledged, @attempted)`,
    ),
    attempt: db.prepare<[Numbered]>("UPDATE streams SET attempted = @seq WHERE repo = @repo AND attempted < @seq"),
    dropEntries: db.prepare<[string, number]>("DELETE FROM entries WHERE repo = ? AND seq <= ?"),
    clearSchedule: db.prepare<[]>("DELETE FROM schedule"),
    clearAll: [
      "settings",
      "sources",
      "seen",
      "calls",
      "sessions",
      "prompts",
      "spans",
      "streams",
      "entries",
      "rejected",
      "unknown_records",
      "schedule",
      "folders",
      "brains",
      "receipts",
    ].map((table) => db.prepare<[]>(`DELETE FROM ${table}`)),
    acknowledge: db.prepare<[Numbered]>("UPDATE streams SET acknowledged = @seq WHERE repo = @repo"),
    addEntry: db.prepare<[string, number, string | null, string]>(
      "INSERT INTO entries (repo, seq, at, payload) VALUES (?, ?, ?, ?)",
    ),
    replaceEntry: db.prepare<[string, string, number]>(
      "UPDATE entries SET payload = ?, at = NULL WHERE repo = ? AND seq = ?",
    ),
    // Uses the primary key.
    entriesAfter: db.prepare<[string, number, number], EntryRow>(
      "SELECT seq, at, payload FROM entries WHERE repo = ? AND seq > ? ORDER BY seq LIMIT ?",
    ),
    entriesOfSession: db
      .prepare<[string, string], string>(
        "SELECT payload FROM entries WHERE repo = ? AND json_extract(payload, '$.sessionId') = ? ORDER BY seq",
      )
      .pluck(),
    // First to negative numbers, so that no number occurs twice in between.
    shiftEntries: [
      db.prepare<[{ repo: string; after: number; by: number }]>(
        "UPDATE entries SET seq = -(seq + @by) WHERE repo = @repo AND seq > @after AND @by <> 0",
      ),
      db.prepare<[{ repo: string; after: number; by: number }]>(
        "UPDATE entries SET seq = -seq WHERE repo = @repo AND seq < 0",
      ),
    ],
    entriesSent: db.prepare<[number, string, number]>(
      "UPDATE entries SET sent_at = ? WHERE repo = ? AND seq <= ? AND sent_at IS NULL",
    ),
    newestAcknowledged: db
      .prepare<[], number | null>(
        "SELECT max(e.sent_at) FROM entries e JOIN streams s ON s.repo = e.repo AND e.seq <= s.acknowledged",
      )
      .pluck(),
    // Entries that a restored server has to get again stay.
    pruneEntries: db.prepare<[number]>(
      "DELETE FROM entries WHERE sent_at < ? AND seq <= (SELECT acknowledged FROM streams s WHERE s.repo = entries.repo)",
    ),
    // Uses the primary key: acknowledged entries are not read.
    countEntries: db.prepare<[], { waiting: number; bytes: number }>(
      `SELECT count(*) AS waiting, coalesce(sum(octet_length(e.payload)), 0) AS bytes
       FROM streams s CROSS JOIN entries e ON e.repo = s.repo AND e.seq > s.acknowledged`,
    ),
    // Uses the index spans_by_revision alone.
    waitingSpanBytes: db
      .prepare<[], number>(
        `SELECT coalesce(sum(p.bytes), 0) FROM sessions s JOIN spans p ON p.session = s.id AND p.revision > s.sent
       WHERE s.revision > s.sent`,
      )
      .pluck(),

    addRejected: db.prepare<[number, string, string, string]>(
      "INSERT INTO rejected (at, kind, reason, body) VALUES (?, ?, ?, ?)",
    ),
    rejected: db.prepare<[], { id: number; at: number; kind: string; reason: string }>(
      "SELECT id, at, kind, reason FROM rejected ORDER BY id DESC LIMIT 100",
    ),
    pruneRejected: prune("rejected"),
    countRejected: db.prepare<[], number>("SELECT count(*) FROM rejected").pluck(),

    addReceipt: db.prepare<[number, string, string, string]>(
      "INSERT INTO receipts (at, path, repo, receipt) VALUES (?, ?, ?, ?)",
    ),
    receipts: db.prepare<[], { at: number; path: string; repo: string; receipt: string }>(
      "SELECT at, path, repo, receipt FROM receipts ORDER BY id",
    ),
    pruneReceipts: prune("receipts"),

    countUnknown: db.prepare<[string, string]>(
      `INSERT INTO unknown_records (agent, kind, count) VALUES (?, ?, 1) ON CONFLICT (agent, kind) DO UPDATE SET count = count + 1`,
    ),
    unknown: db.prepare<[], { agent: string; kind: string; count: number }>(
      "SELECT agent, kind, count FROM unknown_records ORDER BY count DESC, agent, kind LIMIT 100",
    ),

    quiet: db.prepare<[], { since: number; until: number | null; reason: string }>(
      "SELECT since, until, reason FROM quiet ORDER BY since",
    ),
    openQuiet: db.prepare<[number, number | null, string]>("INSERT INTO quiet (since, until, reason) VALUES (?, ?, ?)"),
    // Marked as ended, so that it stays over when the clock is set back.
    endQuiet: db.prepare<[number, string, number]>(
      "UPDATE quiet SET until = ?, reason = 'ended' WHERE reason = ? AND (until IS NULL OR until > ?)",
    ),
    holdQuiet: db.prepare<[{ from: number; now: number }]>(
      "UPDATE quiet SET since = @from WHERE since > @now AND reason <> 'ended' AND (until IS NULL OR until > @now)",
    ),
    pruneQuiet: db.prepare<[number]>("DELETE FROM quiet WHERE until < ?"),

    schedule: db.prepare<[string], ScheduleRow>(
      "SELECT next_at AS nextAt, failures, reason FROM schedule WHERE name = ?",
    ),
    putSchedule: db.prepare<[string, number, number, string | null]>(
      "INSERT OR REPLACE INTO schedule (name, next_at, failures, reason) VALUES (?, ?, ?, ?)",
    ),
    dropSchedule: db.prepare<[string]>("DELETE FROM schedule WHERE name = ?"),

    folder: db.prepare<[string], { root: string | null; below: string; repo: string; lookedAt: number }>(
      "SELECT root, below, repo, looked_at AS lookedAt FROM folders WHERE path = ?",
    ),
    putFolder: db.prepare<[string, string | null, string, string, number]>(
      "INSERT OR REPLACE INTO folders (path, root, below, repo, looked_at) VALUES (?, ?, ?, ?, ?)",
    ),
    foldersBefore: db.prepare<[number], string>("SELECT path FROM folders WHERE looked_at < ?").pluck(),
    dropFolder: db.prepare<[string]>("DELETE FROM folders WHERE path = ?"),
    roots: db.prepare<[], { root: string; repo: string }>(
      "SELECT DISTINCT root, repo FROM folders WHERE root IS NOT NULL AND repo <> '' ORDER BY repo, root",
    ),

    brain: db.prepare<[string], { version: number; manifest: string; sentAt: number | null }>(
      "SELECT version, manifest, sent_at AS sentAt FROM brains WHERE repo = ?",
    ),
    brains: db.prepare<[], { repo: string; manifest: string }>("SELECT repo, manifest FROM brains ORDER BY repo"),
    // The next pass publishes them anew, under the next version.
    forgetBrains: db.prepare<[{ since: number }]>(
      "UPDATE brains SET sent_at = NULL, manifest = '{}' WHERE coalesce(sent_at, @since) >= @since",
    ),
    putBrain: db.prepare<[string, number, string, number | null]>(
      "INSERT OR REPLACE INTO brains (repo, version, manifest, sent_at) VALUES (?, ?, ?, ?)",
    ),
  };
}

export type Rows = ReturnType<typeof prepareRows>;
