import { statements } from "../store/store.ts";

export interface EventRow {
  readonly id: number;
  readonly at: number;
  readonly teamId: string | null;
  readonly actorKind: "user" | "device" | "command" | "system";
  readonly actorId: string | null;
  readonly actorLabel: string;
  readonly action: string;
  readonly targetKind: string | null;
  readonly targetId: string | null;
  readonly targetLabel: string | null;
  readonly ip: string | null;
  readonly detail: string;
}

/** An event that is a leaf of the log. */
export interface LeafRow extends EventRow {
  readonly leaf: number;
  readonly itemKey: Buffer;
}

/** A chunk of ids, and what narrows it; null does not. `like` is a pattern as `likePattern` makes it. */
export interface Selection {
  readonly teamId: string;
  /** Both inclusive. */
  readonly low: number;
  readonly high: number;
  readonly action: string | null;
  readonly like: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

const EVENT = `id, at, team_id AS teamId, actor_kind AS actorKind, actor_id AS actorId, actor_label AS actorLabel, action,
  target_kind AS targetKind, target_id AS targetId, target_label AS targetLabel, ip, detail`;
const MATCHES = `id BETWEEN @low AND @high AND (@action IS NULL OR action = @action)
  AND (@from IS NULL OR at >= @from) AND (@to IS NULL OR at < @to)
  AND (@like IS NULL OR actor_label LIKE @like ESCAPE '\\' OR target_label LIKE @like ESCAPE '\\'
    OR target_id LIKE @like ESCAPE '\\' OR ip LIKE @like ESCAPE '\\')`;

export const rows = statements((db) => ({
  insert: db.prepare<[Omit<LeafRow, "id">]>(
    `INSERT INTO audit_events (at, team_id, actor_kind, actor_id, actor_label, action, target_kind, target_id, target_label, ip, detail,
       leaf, item_key)
     VALUES (@at, @teamId, @actorKind, @actorId, @actorLabel, @action, @targetKind, @targetId, @targetLabel, @ip, @detail,
       @leaf, @itemKey)`,
  ),
  // Both by audit_events_by_leaf.
  ofLeaf: db.prepare<[number], LeafRow>(`SELECT ${EVENT}, leaf, item_key AS itemKey FROM audit_events WHERE leaf = ?`),
  leaves: db.prepare<[], LeafRow>(
    `SELECT ${EVENT}, leaf, item_key AS itemKey FROM audit_events WHERE leaf IS NOT NULL ORDER BY leaf`,
  ),
  // By audit_events_by_team, newest first.
  ofTeam: db.prepare<[Selection], EventRow>(
    `SELECT ${EVENT} FROM audit_events WHERE team_id = @teamId AND ${MATCHES} ORDER BY id DESC`,
  ),
  // By the primary key, newest first.
  ofAll: db.prepare<[Selection], EventRow>(`SELECT ${EVENT} FROM audit_events WHERE ${MATCHES} ORDER BY id DESC`),
  lastId: db.prepare<[], number | null>("SELECT max(id) FROM audit_events").pluck(),
}));
