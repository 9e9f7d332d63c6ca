import { expect, it } from "vitest";
import type { Core } from "../../../src/core.ts";
import { linkRows } from "../../../src/insight/causes/link-rows.ts";
import { startWithDevice } from "../../support/instance.ts";

const planOf = ({ store }: Core, { source }: { readonly source: string }) =>
  store.db
    .prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${source.replaceAll(/@\w+|\?/g, "NULL")}`)
    .all()
    .map(({ detail }) => detail);

it("finds the links of a day or of a repository by an index, and not by reading all of a team's", async () => {
  const { core, team } = await startWithDevice();
  const { placesOfDay, countedInRepo } = linkRows(core.store);
  for (const noted of [false, true]) {
    if (noted)
      core.store.db.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
         INSERT INTO causal_links (id, team_id, repo_key, path, heading, ordinal, date, fingerprint, band, origin, evidence, created_at,
           updated_at, entry_id)
         SELECT 'lnk_' || i, '${team.id}', 'r' || (i % 2), 'e.md', 'h', 0, '2026-11-' || (10 + i % 20), x'00', 'strong', 'computed', '[]',
           1, 1, i FROM n; ANALYZE`,
      );
    expect(planOf(core, placesOfDay)).toContain("SEARCH l USING INDEX causal_links_by_date (team_id=? AND date=?)");
    expect(planOf(core, countedInRepo)).toContain(
      "SEARCH l USING INDEX causal_links_by_repo (team_id=? AND repo_key=?)",
    );
  }
});
