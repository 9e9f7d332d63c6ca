import { expect, it } from "vitest";
import { linkRows } from "../../../src/insight/causes/link-rows.ts";
import { startInstance } from "../../support/instance.ts";

it("looks at the links of a day by that day, and not through all of a team's for each of its days", async () => {
  const { store } = (await startInstance()).instance.core;
  const { source } = linkRows(store).placesOfDay;
  const plan = store.db.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${source.replaceAll(/@\w+/g, "NULL")}`);
  expect(plan.all().map(({ detail }) => detail)).toContain(
    "SEARCH l USING INDEX causal_links_by_date (team_id=? AND date=?)",
  );
});
