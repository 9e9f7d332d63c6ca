import { statements } from "../store/store.ts";
import type { NoticeName } from "./types.ts";

export interface NoticeRow {
  readonly id: number;
  /** Public, and the same for every attempt to deliver it. */
  readonly eventId: string;
  readonly type: NoticeName;
  readonly teamId: string | null;
  readonly at: number;
  readonly path: string;
  /** JSON. */
  readonly data: string;
}

interface NewNotice extends Omit<NoticeRow, "id"> {
  readonly deviceId: string | null;
  readonly repoKey: string | null;
  readonly key: string | null;
}

const NOTICE = "SELECT id, event_id AS eventId, type, team_id AS teamId, at, path, data FROM notices";

export const rows = statements((db) => ({
  // Inserts nothing when the key exists, by notices' unique index.
  insert: db.prepare<[NewNotice]>(
    `INSERT INTO notices (event_id, type, team_id, at, path, data, device_id, repo_key, once_key)
     VALUES (@eventId, @type, @teamId, @at, @path, @data, @deviceId, @repoKey, @key) ON CONFLICT (once_key) DO NOTHING`,
  ),
  // By notices_new.
  unaddressed: db.prepare<[number], NoticeRow>(`${NOTICE} WHERE addressed = 0 ORDER BY id LIMIT ?`),
  // By notices' unique index.
  byKey: db.prepare<[string], number>("SELECT id FROM notices WHERE once_key = ?").pluck(),
  // All by the primary key.
  markAddressed: db.prepare<[number]>("UPDATE notices SET addressed = 1 WHERE id = ? AND addressed = 0"),
  byIds: db.prepare<[string], NoticeRow>(`${NOTICE} WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id`),
  // Notices come in the order of time: after a slice with nothing old, nothing is old.
  lastOfSlice: db
    .prepare<[{ at: number; after: number; limit: number }], number>(
      `SELECT max(id) FROM (SELECT id, at FROM notices WHERE id > @after ORDER BY id LIMIT @limit)
       HAVING min(at) < @at`,
    )
    .pluck(),
  dropBefore: db.prepare<[{ at: number; after: number; last: number }]>(
    "DELETE FROM notices WHERE id > @after AND id <= @last AND at < @at AND addressed = 1",
  ),
  // By notices_by_team. A repository's entries are read from the brain of whatever device sent it last.
  erase: db.prepare<[{ teamId: string; repoKey: string | null; deviceIds: string; repoKeys: string; limit: number }]>(
    `DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE team_id = @teamId AND (type = 'digest.weekly' OR
       (device_id IN (SELECT value FROM json_each(@deviceIds)) AND (@repoKey IS NULL OR repo_key = @repoKey)) OR
       (device_id IS NULL AND repo_key IN (SELECT value FROM json_each(@repoKeys)))) LIMIT @limit)`,
  ),
  erasePages: db.prepare<[string, string, number]>(
    `DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE team_id = ? AND path IN (SELECT value FROM json_each(?)) LIMIT ?)`,
  ),
}));
