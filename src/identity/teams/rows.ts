import { holdsSought } from "../../kit/strings.ts";
import { type Preparer, statements } from "../../platform/store/store.ts";

export type Tier = "none" | "starter" | "team" | "enterprise";
export type Subscription = "active" | "trialing" | "past_due" | "canceled" | "none";

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly seats: number;
  readonly subscription: Subscription;
  readonly subscriptionChangedAt: number;
  readonly periodEndAt: number | null;
  readonly suspendedAt: number | null;
  readonly createdAt: number;
  /** When operators confirmed that they know the team; null while they have not. */
  readonly verifiedAt: number | null;
  /** Since when its members may not connect machines of their own; null while they may. */
  readonly bindingClosedAt: number | null;
  /** Since when its people need a second factor; null while they do not. */
  readonly secondFactorSince: number | null;
  /** The address of the instance that serves it now; null while this one does. */
  readonly movedTo: string | null;
  /** Since when it moved, and when somebody confirmed that it is served there; milliseconds since the epoch. */
  readonly movedAt: number | null;
  readonly moveConfirmedAt: number | null;
}

const TEAM = `id, name, tier, seats, subscription, subscription_changed_at AS subscriptionChangedAt,
  period_end_at AS periodEndAt, suspended_at AS suspendedAt, created_at AS createdAt, verified_at AS verifiedAt,
  binding_closed_at AS bindingClosedAt, second_factor_since AS secondFactorSince,
  moved_to AS movedTo, moved_at AS movedAt, move_confirmed_at AS moveConfirmedAt`;

export const rows = statements((db) => ({
  insertTeam: db.prepare<[Team]>(
    `INSERT INTO teams (id, name, tier, seats, subscription, subscription_changed_at, period_end_at, suspended_at, created_at)
     VALUES (@id, @name, @tier, @seats, @subscription, @subscriptionChangedAt, @periodEndAt, @suspendedAt, @createdAt)`,
  ),
  updateTeam: db.prepare<[Team]>(
    `UPDATE teams SET name = @name, tier = @tier, seats = @seats, subscription = @subscription,
       subscription_changed_at = @subscriptionChangedAt, period_end_at = @periodEndAt, suspended_at = @suspendedAt WHERE id = @id`,
  ),
  // Both by unique index: the primary key, and teams.name.
  teamById: db.prepare<[string], Team>(`SELECT ${TEAM} FROM teams WHERE id = ?`),
  teamByName: db.prepare<[string], Team>(`SELECT ${TEAM} FROM teams WHERE name = ?`),
  teams: db.prepare<[], Team>(`SELECT ${TEAM} FROM teams ORDER BY created_at, id`),
  // In the order of teams.name's unique index.
  teamsFrom: db.prepare<[{ after: string; text: string | null; begins: string | null; limit: number }], Team>(
    `SELECT ${TEAM} FROM teams WHERE name > @after
       AND (@text IS NULL OR ${holdsSought("name", "id")}) ORDER BY name LIMIT @limit`,
  ),
  // By teams' primary key for each.
  teamsById: db.prepare<[string], Team>(
    `SELECT ${TEAM} FROM teams WHERE id IN (SELECT value FROM json_each(?)) ORDER BY name`,
  ),
  // The whole table.
  idsByName: db
    .prepare<[{ text: string | null; begins: string | null }], string>(
      `SELECT id FROM teams WHERE ${holdsSought("name")}`,
    )
    .pluck(),
  setSince: {
    verifiedAt: db.prepare<[number | null, string]>("UPDATE teams SET verified_at = ? WHERE id = ?"),
    bindingClosedAt: db.prepare<[number | null, string]>("UPDATE teams SET binding_closed_at = ? WHERE id = ?"),
    secondFactorSince: db.prepare<[number | null, string]>("UPDATE teams SET second_factor_since = ? WHERE id = ?"),
  },
  setMoved: db.prepare<[Pick<Team, "id" | "movedTo" | "movedAt" | "moveConfirmedAt">]>(
    "UPDATE teams SET moved_to = @movedTo, moved_at = @movedAt, move_confirmed_at = @moveConfirmedAt WHERE id = @id",
  ),
  // By primary key: this runs with every delivery.
  movedTo: db.prepare<[string], string | null>("SELECT moved_to FROM teams WHERE id = ?").pluck(),
}));

/** Counts the teams of a database of any schema, a backup's too. */
export const countTeams = (db: Preparer): number =>
  db.prepare<[], number>("SELECT count(*) FROM teams").pluck().get() ?? 0;

/** Teams that a database says another instance serves. */
export const movedTeams = (db: Preparer) =>
  db
    .prepare<[], { readonly id: string; readonly name: string; readonly movedTo: string }>(
      "SELECT id, name, moved_to AS movedTo FROM teams WHERE moved_to IS NOT NULL",
    )
    .all();
