import { expect, it } from "vitest";
import { spendReport, spendReportInSlices } from "../../../src/insight/spend/spend.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { startWithDevice } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

it("sums tens of thousands of sessions of one day, each once, while others get their turn", async () => {
  const { core, deviceId, team } = await startWithDevice();
  const now = core.clock.now();
  // The last in order of names is usage without a session.
  core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
       INSERT INTO spend_cells (team_id, day, repo_key, branch, model, device_id, session, context, session_branch, session_model, usages, input,
         output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
       SELECT ?, ?, 'shop', '', 'claude-opus-4-6', ?, iif(i = 20000, '', printf('%x-%08x', i * 7919, i * 2654435761)), 0, '', '', 1, i, 1, 0, 0, 0, 0, 0 FROM n`,
    )
    .run(team.id, Math.floor(now / DAY_MS), deviceId);
  core.store.db.exec(
    `INSERT INTO spend_days (team_id, day, model, context, usages, input, output, cache_write, cache_write_1h, cache_read, reported_nano, reported)
     SELECT team_id, day, model, 0, sum(usages), sum(input), sum(output), 0, 0, 0, 0, 0 FROM spend_cells`,
  );
  const query = { from: now, to: now, by: "session" } as const;
  const { done, turns } = await turnsOfOthers(core, () => spendReportInSlices(core, team.id, query));
  expect([done.groupCount, done.total.inputTokens, done.total.usages]).toEqual([20_001, 200_010_000, 20_001]);
  expect(done.total).toEqual(spendReport(core, team.id, { ...query, by: "device" }).total);
  expect(new Set(done.groups.map(({ key }) => key)).size).toBe(20_001);
  expect(done.groups.reduce((sum, { inputTokens }) => sum + inputTokens, 0)).toBe(200_010_000);
  expect(turns).toBeGreaterThan(100);
  const one = done.groups.find(({ key }) => key === "");
  expect(one).toMatchObject({ deviceId, inputTokens: 20_000 });
});
