import { expect, it } from "vitest";
import { listRows } from "../../../src/insight/sessions/list-rows.ts";
import { startInstance } from "../../support/instance.ts";

it("looks for a repository's sessions among those, and not among all of its team", async () => {
  const { store } = (await startInstance()).instance.core;
  const planOf = ({ source }: { readonly source: string }) =>
    store.db
      .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${source.replaceAll(/@\w+/g, "NULL")}`)
      .all()
      .map(({ detail }) => detail)
      .join("\n");
  for (const { rows, keys, edge } of Object.values(listRows(store).startedInRepo))
    for (const statement of [rows.near, rows.far, keys.near, keys.far, edge])
      expect(planOf(statement)).toMatch(
        /session_figures USING (?:COVERING )?INDEX session_figures_by_repo \(team_id=\? AND repo_key=\?/,
      );
});
