import { type Preparer, statements } from "../../platform/store/store.ts";

export interface HoldRow {
  readonly id: string;
  readonly kind: "team" | "device" | "session";
  readonly teamId: string;
  readonly deviceId: string | null;
  /** The session's id as its agent named it. */
  readonly session: string | null;
  readonly reason: string;
  readonly placedBy: string;
  readonly placedAt: number;
  readonly releasedBy: string | null;
  readonly releasedAt: number | null;
}

const HOLD = `SELECT id, kind, team_id AS teamId, device_id AS deviceId, session, reason, placed_by AS placedBy, placed_at AS placedAt,
  released_by AS releasedBy, released_at AS releasedAt FROM holds`;

/** Every hold that was ever placed, the first first: the whole table, which is short. */
export const listHolds = (db: Preparer): HoldRow[] => db.prepare<[], HoldRow>(`${HOLD} ORDER BY placed_at, id`).all();

export const holdRows = statements((db) => ({
  insert: db.prepare<[Omit<HoldRow, "releasedBy" | "releasedAt">]>(
    `INSERT INTO holds (id, kind, team_id, device_id, session, reason, placed_by, placed_at)
     VALUES (@id, @kind, @teamId, @deviceId, @session, @reason, @placedBy, @placedAt)`,
  ),
  // By primary key.
  hold: db.prepare<[string], HoldRow>(`${HOLD} WHERE id = ?`),
  release: db.prepare<[string, number, string]>(
    "UPDATE holds SET released_by = ?, released_at = ? WHERE id = ? AND released_at IS NULL",
  ),
  // By holds_in_force.
  inForce: db.prepare<[string], HoldRow>(`${HOLD} WHERE team_id = ? AND released_at IS NULL ORDER BY placed_at, id`),
  // Walks of the table, for what is erased.
  renamePeople: db.prepare<[{ email: string; mark: string }]>(
    `UPDATE holds SET placed_by = iif(placed_by = @email, @mark, placed_by), released_by = iif(released_by = @email, @mark, released_by)
     WHERE @email IN (placed_by, released_by)`,
  ),
  forgetSession: db.prepare<[string, string]>("UPDATE holds SET session = '' WHERE device_id = ? AND session = ?"),
}));
