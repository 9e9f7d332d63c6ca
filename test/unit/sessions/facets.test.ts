import { expect, it } from "vitest";
import { sessionFacets, sessionsProjection } from "../../../src/insight/sessions/sessions.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import { startWithDevice } from "../../support/instance.ts";
import { processorMs } from "../../support/time.ts";

it("offers the filter values of a fleet's newest sessions at the same cost however many there are", async () => {
  const { t, core, token, team, deviceId } = await startWithDevice();
  const session = { outcome: "ok", startedAt: "2026-11-20T08:00:00Z", endedAt: "2026-11-20T08:01:00Z", spans: [] };
  const sessions = [
    { ...session, id: "s-0", agent: "codex" },
    { ...session, id: "new", agent: "claude-code", startedAt: "2026-11-21T07:00:00Z" },
  ];
  await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  await catchUp(core, sessionsProjection);
  const columns = core.store.db
    .prepare<[], string>("SELECT name FROM pragma_table_info('session_figures')")
    .pluck()
    .all()
    .filter((name) => !["id", "external_id", "session_id"].includes(name));
  const look = (partial: boolean) => {
    for (let times = 0; times < 20; times++)
      expect(sessionFacets(core, team.id, [deviceId])).toMatchObject({ agents: ["claude-code", "codex"], partial });
  };
  const ofTwo = await processorMs(() => look(false));
  core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
       INSERT INTO session_figures (external_id, session_id, ${columns}) SELECT 's-' || i, i, ${columns} FROM n, session_figures WHERE external_id = 's-0'`,
    )
    .run();
  // Reading all sessions each time took two seconds.
  expect(await processorMs(() => look(true))).toBeLessThan(15 * ofTwo);
  expect(sessionFacets(core, team.id, ["dev_other"])).toMatchObject({ agents: [], partial: false });
});
