import { expect, it } from "vitest";
import type { Core } from "../../../src/core.ts";
import { listRows, SORTS } from "../../../src/insight/sessions/list-rows.ts";
import { startInstance, startWithDevice } from "../../support/instance.ts";

const planOf = ({ store }: Core, { source }: { readonly source: string }) =>
  store.db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${source.replaceAll(/@\w+|\?/g, "NULL")}`)
    .all()
    .map(({ detail }) => detail)
    .join("\n");

it("looks for a repository's sessions among those only, and not among all of the team's", async () => {
  const { core } = (await startInstance()).instance;
  for (const { rows, keys, edge } of Object.values(listRows(core.store).startedInRepo))
    for (const statement of [rows.near, rows.far, keys.near, keys.far, edge])
      expect(planOf(core, statement)).toMatch(
        /session_figures USING (?:COVERING )?INDEX session_figures_by_repo \(team_id=\? AND repo_key=\?/,
      );
});

it("looks for a person's few machines' sessions among those only, whatever an ANALYZE noted of a small team", async () => {
  const { core, team } = await startWithDevice();
  core.store.db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
     INSERT INTO session_figures (team_id, device_id, external_id, session_id, repo_key, branch, agent, model, outcome, result, started_at,
       duration, commits, failed_steps, caused, tokens, unpriced, cost_nano, cost_rest)
     SELECT '${team.id}', 'dev_' || (i % 4), 's-' || i, i, 'shop', '', '', '', '', 'succeeded', i, 1, 0, 0, 0, 0, 0, 0, 0 FROM n; ANALYZE`,
  );
  const sql = listRows(core.store);
  const few = SORTS.flatMap((sort) => [sql.walks[sort].DESC.ofFew, sql.walks[sort].ASC.ofFew]);
  for (const statement of [...few, sql.sumsOfFew, sql.newestOfFew])
    expect(planOf(core, statement)).toContain(
      "SEARCH session_figures USING INDEX sqlite_autoindex_session_figures_1 (device_id=?)",
    );
  const of = { teamId: team.id, deviceIds: JSON.stringify(["dev_1", "dev_1", "dev_3"]), most: 5_000 };
  expect(sql.newestOfFew.all(of)).toHaveLength(2_000);
});
