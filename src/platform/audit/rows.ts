import { holdsSought } from "../../kit/strings.ts";
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

/** An event as it is listed. */
export interface ListedRow extends EventRow {
  /** The number of its leaf, by which it is proved; null for an event from before events were leaves. */
  readonly leaf: number | null;
}

/** An event that is a leaf of the log. */
export interface LeafRow extends EventRow {
  readonly leaf: number;
  /** The key that the salt of its item is made from; after names were removed, of the item that states what is left. Null when nothing is stated. */
  readonly itemKey: Buffer | null;
  /** The hash of the item as it was; null while nothing was taken out of it. */
  readonly itemSha256: Buffer | null;
}

/** An event that was erased as a whole. */
export interface ErasedRow {
  readonly leaf: number;
  readonly teamId: string | null;
  readonly at: number;
}

/** A chunk of ids, and what narrows it; null does not. `text` and `begins` are as `soughtText` makes them. */
export interface Selection {
  readonly teamId: string;
  /** Both inclusive. */
  readonly low: number;
  readonly high: number;
  readonly action: string | null;
  readonly text: string | null;
  readonly begins: string | null;
  readonly from: number | null;
  readonly to: number | null;
}

const EVENT = `id, at, team_id AS teamId, actor_kind AS actorKind, actor_id AS actorId, actor_label AS actorLabel, action,
  target_kind AS targetKind, target_id AS targetId, target_label AS targetLabel, ip, detail`;
const LEAF = "leaf, item_key AS itemKey, item_sha256 AS itemSha256";
const MATCHES = `id BETWEEN @low AND @high AND (@action IS NULL OR action = @action)
  AND (@from IS NULL OR at >= @from) AND (@to IS NULL OR at < @to)
  AND (@text IS NULL OR ${holdsSought("actor_label", "target_label", "target_id", "ip")})`;

export const rows = statements((db) => ({
  insert: db.prepare<[Omit<LeafRow, "id" | "itemSha256">]>(
    `INSERT INTO audit_events (at, team_id, actor_kind, actor_id, actor_label, action, target_kind, target_id, target_label, ip, detail,
       leaf, item_key)
     VALUES (@at, @teamId, @actorKind, @actorId, @actorLabel, @action, @targetKind, @targetId, @targetLabel, @ip, @detail,
       @leaf, @itemKey)`,
  ),
  // Both by audit_events_by_leaf.
  ofLeaf: db.prepare<[number], LeafRow>(`SELECT ${EVENT}, ${LEAF} FROM audit_events WHERE leaf = ?`),
  strays: db.prepare<[], { id: number; teamId: string | null }>(
    `SELECT e.id, e.team_id AS teamId
     FROM (SELECT team_id, min(id) AS id FROM audit_events WHERE leaf IS NOT NULL GROUP BY team_id) AS first
     JOIN audit_events e ON e.team_id IS first.team_id AND e.id > first.id WHERE e.leaf IS NULL ORDER BY e.id`,
  ),
  leaves: db.prepare<[], LeafRow>(`SELECT ${EVENT}, ${LEAF} FROM audit_events WHERE leaf IS NOT NULL ORDER BY leaf`),
  // Both by audit_events_by_team; the second from its end to the first event that is too old.
  firstLeafOf: db
    .prepare<[string | null], number | null>("SELECT min(id) FROM audit_events WHERE team_id IS ? AND leaf IS NOT NULL")
    .pluck(),
  ofAction: db.prepare<
    [{ teamId: string | null; action: string; since: number }],
    Omit<LeafRow, "leaf"> & { readonly leaf: number | null }
  >(
    `SELECT ${EVENT}, ${LEAF} FROM audit_events WHERE team_id IS @teamId AND action = @action AND id > coalesce(
       (SELECT id FROM audit_events WHERE team_id IS @teamId AND at < @since ORDER BY id DESC LIMIT 1), 0) ORDER BY id`,
  ),
  // By audit_events_by_team, newest first.
  ofTeam: db.prepare<[Selection], ListedRow>(
    `SELECT ${EVENT}, leaf FROM audit_events WHERE team_id = @teamId AND ${MATCHES} ORDER BY id DESC`,
  ),
  // By the primary key, newest first.
  ofAll: db.prepare<[Selection], ListedRow>(
    `SELECT ${EVENT}, leaf FROM audit_events WHERE ${MATCHES} ORDER BY id DESC`,
  ),
  // A walk from the end, by the primary key.
  ofAct: db
    .prepare<[string, string], number | null>(
      "SELECT leaf FROM audit_events WHERE action = ? AND target_id = ? ORDER BY id DESC LIMIT 1",
    )
    .pluck(),
  lastId: db.prepare<[], number | null>("SELECT max(id) FROM audit_events").pluck(),
  // All by the primary key; the first by audit_events_by_team, in the order of ids.
  firstOfTeam: db.prepare<[string, number], { id: number; at: number }>(
    "SELECT id, at FROM audit_events WHERE team_id = ? ORDER BY id LIMIT ?",
  ),
  range: db.prepare<[number, number], EventRow>(`SELECT ${EVENT} FROM audit_events WHERE id > ? ORDER BY id LIMIT ?`),
  rewrite: db.prepare<[Pick<EventRow, "id" | "actorLabel" | "targetLabel" | "ip" | "detail">]>(
    `UPDATE audit_events SET actor_label = @actorLabel, target_label = @targetLabel, ip = @ip, detail = @detail WHERE id = @id`,
  ),
  asLeaf: db.prepare<[number], LeafRow>(`SELECT ${EVENT}, ${LEAF} FROM audit_events WHERE id = ? AND leaf IS NOT NULL`),
  keepHash: db.prepare<[Buffer, Buffer, number]>("UPDATE audit_events SET item_sha256 = ?, item_key = ? WHERE id = ?"),
  noteErased: db.prepare<[number]>(
    "INSERT INTO erased_events (leaf, team_id, at) SELECT leaf, team_id, at FROM audit_events WHERE id = ? AND leaf IS NOT NULL",
  ),
  erasedLeaves: db.prepare<[], ErasedRow>("SELECT leaf, team_id AS teamId, at FROM erased_events ORDER BY leaf"),
  // By the primary key, from its end: the leaf of a team that was erased last.
  lastErased: db
    .prepare<[string], number>("SELECT leaf FROM erased_events WHERE team_id = ? ORDER BY leaf DESC LIMIT 1")
    .pluck(),
  // A walk of the table.
  erasedOf: db.prepare<[string], number>("SELECT leaf FROM erased_events WHERE team_id = ? ORDER BY leaf").pluck(),
  // By audit_events_by_team, from its end.
  lastOf: db
    .prepare<[string, string], string>(
      "SELECT detail FROM audit_events WHERE team_id = ? AND action = ? ORDER BY id DESC LIMIT 1",
    )
    .pluck(),
  remove: db.prepare<[number]>("DELETE FROM audit_events WHERE id = ?"),
}));
