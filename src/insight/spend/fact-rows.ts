import { statements } from "../../platform/store/store.ts";
import type { Dimensions, Measures } from "./usage-record.ts";

/** A cell, with what its session says where the record told nothing. */
export interface FactRow extends Omit<Dimensions, "teamId">, Measures {
  readonly sessionBranch: string;
  readonly sessionModel: string;
  readonly sessionAgent: string;
}

type Place = Omit<Dimensions, "teamId"> & { readonly teamId: string; readonly last: number; readonly count: number };

export const factRows = statements((db) => ({
  // By spend_days' primary key.
  nextDay: db
    .prepare<[string, number], number | null>("SELECT min(day) FROM spend_days WHERE team_id = ? AND day >= ?")
    .pluck(),
  // By spend_cells_by_day, in its order.
  page: db.prepare<[Place], FactRow>(
    `SELECT day, repo_key AS repoKey, branch, model, device_id AS deviceId, session, context, otlp, session_branch AS sessionBranch,
       session_model AS sessionModel, session_agent AS sessionAgent, usages, input, output, cache_write AS cacheWrite,
       cache_write_1h AS cacheWrite1h, cache_read AS cacheRead, reported_nano AS reportedNano, reported
     FROM spend_cells
     WHERE team_id = @teamId AND day <= @last
       AND (day, repo_key, branch, model, device_id, session, context, otlp)
         > (@day, @repoKey, @branch, @model, @deviceId, @session, @context, @otlp)
       AND counts AND (usages > 0 OR reported > 0)
     ORDER BY day, repo_key, branch, model, device_id, session, context, otlp LIMIT (SELECT @count)`,
  ),
}));
