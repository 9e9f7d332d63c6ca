import { type Preparer, statements } from "../../platform/store/store.ts";

type ErasureKind = "person" | "device" | "session" | "entry" | "repo" | "retention";

export interface ErasureRow {
  readonly id: string;
  readonly kind: ErasureKind;
  readonly teamId: string | null;
  /** JSON, see Target. */
  readonly target: string;
  readonly reason: string;
  readonly requestedBy: string;
  readonly requestedAt: number;
  /** JSON: what went, by name. */
  readonly counts: string;
  readonly completedAt: number | null;
}

const ERASURE = `SELECT id, kind, team_id AS teamId, target, reason, requested_by AS requestedBy, requested_at AS requestedAt, counts,
  completed_at AS completedAt FROM erasures`;

/** By erasures_requested; in an older database by a walk of the table. */
export const requestedIn = (db: Preparer): ErasureRow[] =>
  db.prepare<[], ErasureRow>(`${ERASURE} WHERE kind <> 'retention' ORDER BY requested_at, id`).all();

export const rows = statements((db) => ({
  insert: db.prepare<[Omit<ErasureRow, "counts" | "completedAt">]>(
    `INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at)
     VALUES (@id, @kind, @teamId, @target, @reason, @requestedBy, @requestedAt) ON CONFLICT (id) DO NOTHING`,
  ),
  // By primary key.
  erasure: db.prepare<[string], ErasureRow>(`${ERASURE} WHERE id = ?`),
  setCounts: db.prepare<[string, string]>("UPDATE erasures SET counts = ? WHERE id = ?"),
  // How many rows this connection ever changed.
  changes: db.prepare<[], number>("SELECT total_changes()").pluck(),
  // Where nothing went, nothing is left. `before` is when it was done before; another process may have done it since.
  complete: db.prepare<[{ id: string; at: number; before: number | null }]>(
    `UPDATE erasures SET completed_at = @at, reclaimed_at = iif(counts = '{}', @at, NULL)
     WHERE id = @id AND completed_at IS @before`,
  ),
  // By erasures_unreclaimed.
  unreclaimed: db.prepare<[], { id: string; completedAt: number }>(
    "SELECT id, completed_at AS completedAt FROM erasures WHERE reclaimed_at IS NULL AND completed_at IS NOT NULL ORDER BY completed_at",
  ),
  setReclaimed: db.prepare<[number, string]>("UPDATE erasures SET reclaimed_at = ? WHERE id = ?"),
  // Both by erasures_unfinished.
  unfinished: db.prepare<[], ErasureRow>(`${ERASURE} WHERE completed_at IS NULL ORDER BY requested_at, id`),
  unfinishedCount: db.prepare<[], number>("SELECT count(*) FROM erasures WHERE completed_at IS NULL").pluck(),
  // By erasures_nightly.
  lastRetentionRun: db
    .prepare<[{ teamId: string; now: number }], number>(
      `SELECT completed_at FROM erasures WHERE kind = 'retention' AND team_id = @teamId AND completed_at <= @now
       ORDER BY requested_at DESC LIMIT 1`,
    )
    .pluck(),
  // Both by erasures_requested.
  requested: db.prepare<[], ErasureRow>(`${ERASURE} WHERE kind <> 'retention' ORDER BY requested_at, id`),
  newest: db.prepare<[string, number], ErasureRow>(
    `${ERASURE} WHERE kind <> 'retention' AND (team_id = ? OR team_id IS NULL) ORDER BY requested_at DESC, id DESC LIMIT ?`,
  ),
  // By erasures_unfinished, then erasures_nightly. One of the future is of a clock that was wrong: it holds nothing up, unless it is to be ended.
  lastRetention: db.prepare<[{ teamId: string; now: number }], ErasureRow>(
    `SELECT * FROM (${ERASURE} WHERE kind = 'retention' AND +team_id = @teamId AND completed_at IS NULL ORDER BY requested_at DESC LIMIT 1)
     UNION ALL
     SELECT * FROM (${ERASURE} WHERE kind = 'retention' AND team_id = @teamId AND requested_at <= @now ORDER BY requested_at DESC LIMIT 1)
     LIMIT 1`,
  ),
  // By erasures_nightly. The run before the last, where it let nothing go: its row is free for another.
  spareRetention: db
    .prepare<[{ teamId: string; now: number }], string>(
      `SELECT iif(counts = '{}', id, NULL) FROM erasures WHERE kind = 'retention' AND team_id = @teamId AND requested_at <= @now
       ORDER BY requested_at DESC LIMIT 1 OFFSET 1`,
    )
    .pluck(),
  runAgain: db.prepare<[Pick<ErasureRow, "id" | "reason" | "requestedAt">]>(
    "UPDATE erasures SET reason = @reason, requested_at = @requestedAt, completed_at = NULL, reclaimed_at = NULL WHERE id = @id",
  ),
}));
