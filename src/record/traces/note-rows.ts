import { statements } from "../../platform/store/store.ts";
import type { OwnerRow, PlacedRow } from "./rows.ts";

export interface NoteRow {
  readonly id: number;
  readonly commit: string;
  readonly content: Buffer;
  readonly deliveryId: number;
  readonly item: number;
  /** When a note of the commit came first, milliseconds since the epoch. */
  readonly createdAt: number;
}

/** A note, and the bytes of its text. */
export interface SizedNote {
  readonly id: number;
  readonly bytes: number;
}

interface NewNote extends Omit<NoteRow, "id" | "createdAt"> {
  readonly teamId: string;
  readonly deviceId: string;
  readonly now: number;
}

const NOTE = "id, commit_sha AS 'commit', content, delivery_id AS deliveryId, item, created_at AS createdAt";

export const noteRows = statements((db) => ({
  // By the unique index (team_id, commit_sha).
  note: db.prepare<[string, string], NoteRow>(`SELECT ${NOTE} FROM trace_notes WHERE team_id = ? AND commit_sha = ?`),
  hasNote: db
    .prepare<[string, string], number>("SELECT 1 FROM trace_notes WHERE team_id = ? AND commit_sha = ?")
    .pluck(),
  between: db.prepare<[string, string, string, number], Pick<NoteRow, "commit" | "createdAt">>(
    `SELECT commit_sha AS 'commit', created_at AS createdAt FROM trace_notes
       WHERE team_id = ? AND commit_sha BETWEEN ? AND ? ORDER BY commit_sha LIMIT ?`,
  ),
  put: db
    .prepare<[NewNote], number>(
      `INSERT INTO trace_notes (team_id, device_id, commit_sha, content, delivery_id, item, created_at, updated_at)
         VALUES (@teamId, @deviceId, @commit, @content, @deliveryId, @item, @now, @now)
         ON CONFLICT (team_id, commit_sha) DO UPDATE SET device_id = excluded.device_id, content = excluded.content,
           delivery_id = excluded.delivery_id, item = excluded.item, updated_at = excluded.updated_at RETURNING id`,
    )
    .pluck(),
  // By trace_note_sessions_by_note.
  dropNames: db.prepare<[number]>("DELETE FROM trace_note_sessions WHERE note_id = ?"),
  names: db.prepare<[number], string>("SELECT session_id FROM trace_note_sessions WHERE note_id = ?").pluck(),
  putName: db.prepare<[string, string, number]>(
    "INSERT OR IGNORE INTO trace_note_sessions (team_id, session_id, note_id) VALUES (?, ?, ?)",
  ),
  // By trace_note_sessions' primary key; notes by theirs.
  commitsOf: db.prepare<[string, string, number], { sha: string; createdAt: number }>(
    `SELECT n.commit_sha AS sha, n.created_at AS createdAt FROM trace_note_sessions s CROSS JOIN trace_notes n ON n.id = s.note_id
       WHERE s.team_id = ? AND s.session_id = ? ORDER BY n.id DESC LIMIT ?`,
  ),
  // All by trace_notes_by_delivery.
  nextDelivery: db
    .prepare<[number], number>("SELECT delivery_id FROM trace_notes WHERE delivery_id > ? ORDER BY delivery_id LIMIT 1")
    .pluck(),
  namesBetween: db.prepare<[number, number], { teamId: string; name: string }>(
    `SELECT DISTINCT s.team_id AS teamId, s.session_id AS name FROM trace_notes n CROSS JOIN trace_note_sessions s ON s.note_id = n.id
     WHERE n.delivery_id > ? AND n.delivery_id <= ?`,
  ),
  replacedBetween: db.prepare<[number, number], { teamId: string; sha: string }>(
    "SELECT team_id AS teamId, commit_sha AS sha FROM trace_notes WHERE delivery_id > ? AND delivery_id <= ? AND updated_at <> created_at",
  ),
  // By trace_notes_by_device, and by trace_note_sessions' primary key.
  ofDevice: db.prepare<[string, number, number], SizedNote>(
    "SELECT id, length(content) AS bytes FROM trace_notes WHERE device_id = ? AND updated_at <= ? AND delivery_id <= ? ORDER BY id",
  ),
  ofSession: db.prepare<[string, string], SizedNote>(
    `SELECT n.id, length(n.content) AS bytes FROM trace_note_sessions s CROSS JOIN trace_notes n ON n.id = s.note_id
       WHERE s.team_id = ? AND s.session_id = ? ORDER BY n.id`,
  ),
  // By primary key, some rows at a time; `text` in lower case, as SQLite has it.
  naming: db.prepare<[{ teamId: string; text: string; after: number; upTo: number }], SizedNote>(
    `SELECT id, length(content) AS bytes FROM trace_notes
       WHERE id > @after AND id <= @upTo AND team_id = @teamId AND instr(lower(content), lower(@text)) > 0 ORDER BY id`,
  ),
  last: db.prepare<[], number | null>("SELECT max(id) FROM trace_notes").pluck(),
  byId: db.prepare<[number], NoteRow>(`SELECT ${NOTE} FROM trace_notes WHERE id = ?`),
  senderOf: db.prepare<[number], string>("SELECT device_id FROM trace_notes WHERE id = ?").pluck(),
  drop: db.prepare<[number]>("DELETE FROM trace_notes WHERE id = ?"),
  // By primary key.
  idsOfDevice: db.prepare<[string], number>("SELECT id FROM trace_notes WHERE device_id = ? ORDER BY id").pluck(),
}));

/** Walks of the table; the texts, which may be large, are read by primary key. */
export const noteWalks = statements((db, has) => {
  const walk = <Row>(sql: string) => db.prepare<[], Row>(has("trace_notes", "id") ? sql : "SELECT 0 WHERE 0");
  return {
    placed: walk<PlacedRow>("SELECT id, delivery_id AS deliveryId, item FROM trace_notes ORDER BY delivery_id, item"),
    owners: walk<OwnerRow>(
      "SELECT id, delivery_id AS deliveryId, team_id AS teamId, device_id AS deviceId, NULL AS repoKey, item FROM trace_notes",
    ),
  };
});
