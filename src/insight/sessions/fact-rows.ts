import { statements } from "../../platform/store/store.ts";
import type { SaidRow, SpentRow } from "./rows.ts";

/** A session as it is kept; what nobody said is spelled as in `SaidRow` and `SpentRow`. */
export interface SessionFact extends Omit<SaidRow, "teamId" | "sessionId">, SpentRow {
  /** Of its page. */
  readonly number: number;
  readonly caused: number;
}

interface Place {
  readonly teamId: string;
  readonly startedAt: number;
  readonly number: number;
  readonly before: number;
  readonly count: number;
}

/** All by session_figures_by_start, in its order. */
export const factRows = statements((db) => ({
  nextStart: db
    .prepare<[string, number], number | null>(
      "SELECT min(started_at) FROM session_figures WHERE team_id = ? AND session_id IS NOT NULL AND started_at >= ?",
    )
    .pluck(),
  page: db.prepare<[Place], SessionFact>(
    `SELECT session_id AS number, device_id AS deviceId, external_id AS externalId, repo_key AS repoKey, branch, agent, model, outcome,
       result, title, started_at AS startedAt, duration, commits, failed_steps AS failedSteps, caused, tokens, unpriced,
       cost_nano AS costNano, cost_rest AS costRest
     FROM session_figures
     WHERE team_id = @teamId AND session_id IS NOT NULL AND (started_at, session_id) > (@startedAt, @number) AND started_at < @before
     ORDER BY started_at, session_id LIMIT (SELECT @count)`,
  ),
}));
