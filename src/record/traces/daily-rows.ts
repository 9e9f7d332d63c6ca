import { statements } from "../../platform/store/store.ts";

/** Sessions that began on a day and ended in the same way. */
export interface SessionDay {
  /** Since the epoch, UTC. */
  readonly day: number;
  readonly outcome: string;
  readonly sessions: number;
}

/** By the primary key of trace_session_days, which triggers fill. */
export const dailyRows = statements((db) => ({
  days: db.prepare<[string, number, number, number], SessionDay>(
    `SELECT day, outcome, sessions FROM trace_session_days WHERE team_id = ? AND day BETWEEN ? AND ?
     ORDER BY day, outcome LIMIT ?`,
  ),
}));
