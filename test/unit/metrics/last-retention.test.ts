import { expect, it } from "vitest";
import { rows } from "../../../src/share/erasure/rows.ts";
import { startInstance } from "../../support/instance.ts";

it("tells when retention last ran without reading all nights of a team", async () => {
  const { store } = (await startInstance()).instance.core;
  const { lastRetentionRun } = rows(store);
  const plan = store.db.prepare<[{ teamId: string; now: number }], { detail: string }>(
    `EXPLAIN QUERY PLAN ${lastRetentionRun.source}`,
  );
  for (const noted of [false, true]) {
    if (noted)
      store.db.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
         INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at, completed_at, reclaimed_at)
         SELECT printf('era_%05d', i), iif(i = 3000, 'device', 'retention'), 'team_' || (i % 9), '{}', '', 'server', i, i, i FROM n; ANALYZE`,
      );
    expect(plan.all({ teamId: "team_1", now: 0 }).map(({ detail }) => detail)).toEqual([
      "SEARCH erasures USING INDEX erasures_nightly (team_id=?)",
    ]);
  }
  const last = (now: number) => lastRetentionRun.get({ teamId: "team_2", now });
  expect([last(5_000), last(17), last(1)]).toEqual([2_999, 11, undefined]);
});
