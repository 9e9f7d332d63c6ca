import { readFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { sessionCounts } from "../../../src/record/traces/traces.ts";
import { startInstance, startWithDevice, type TestInstance } from "../../support/instance.ts";

const DAY = Date.UTC(2026, 10, 20) / DAY_MS;

const send = async (t: TestInstance, token: string, ...sessions: object[]) => {
  const json = { repoKey: "shop", sessions: sessions.map((one) => ({ spans: [], outcome: "", ...one })) };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
};
const stored = (t: TestInstance) => t.rows("SELECT * FROM trace_session_days ORDER BY team_id, day, outcome");
const recount = (t: TestInstance) =>
  t.rows(
    `SELECT team_id, started_at / 86400000 AS day, substr(outcome, 1, 40) AS outcome, count(*) AS sessions FROM trace_sessions
     WHERE started_at IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
  );

it("counts sessions by day and outcome as they come, grow, move and go", async () => {
  const { t, token, team } = await startWithDevice();
  const other = await t.device();
  const at = (day: number) => day * DAY_MS + 1;
  const counted = () =>
    sessionCounts
      .byDay(t.instance.core, team.id, DAY, DAY + 9)
      .map(({ day, outcome, sessions }) => [day - DAY, outcome, sessions]);
  await send(t, other.token, { id: "theirs", outcome: "success", startedAt: at(DAY) });
  await send(t, token, { id: "a" }, { id: "b", outcome: "success", startedAt: at(DAY) });
  expect(counted()).toEqual([[0, "success", 1]]);
  await send(t, token, { id: "a", startedAt: at(DAY) }, { id: "c", outcome: "x".repeat(60), startedAt: at(DAY + 1) });
  expect(counted()).toEqual([
    [0, "", 1],
    [0, "success", 1],
    [1, "x".repeat(40), 1],
  ]);
  await send(t, token, { id: "a", outcome: "success" }, { id: "c", outcome: "x".repeat(60), startedAt: at(DAY) });
  expect(counted()).toEqual([
    [0, "success", 2],
    [0, "x".repeat(40), 1],
  ]);
  expect(stored(t)).toEqual(recount(t));
  const { db } = t.instance.core.store;
  db.prepare("DELETE FROM session_finds").run();
  db.prepare("DELETE FROM trace_session_windows").run();
  db.prepare("DELETE FROM trace_sessions WHERE external_id = 'c'").run();
  expect(counted()).toEqual([[0, "success", 2]]);
  expect(stored(t)).toEqual(recount(t));
});

it("counts what an older database holds", async () => {
  const { t, token } = await startWithDevice();
  const usage = { id: "m1", input_tokens: 10, output_tokens: 5 };
  const span = { id: "s", startedAt: DAY * DAY_MS, model: "claude-haiku-4-5", usage };
  await send(t, token, { id: "a", outcome: "success", startedAt: DAY * DAY_MS, spans: [span] }, { id: "b" });
  await t.instance.settle();
  const days = [stored(t), t.rows("SELECT * FROM spend_days")];
  expect(days.map((rows) => rows.length)).toEqual([1, 1]);
  await t.close();
  const db = new Sqlite(join(t.directory, "reckon.db"));
  db.exec(
    `DROP TRIGGER trace_sessions_day_in; DROP TRIGGER trace_sessions_day_out; DROP TRIGGER trace_sessions_day_over;
     DROP TABLE trace_session_days; DROP TABLE spend_days; DROP TABLE session_finds;
     DELETE FROM projections WHERE name = 'finds';`,
  );
  for (const step of ["0022-days", "0023-finds"])
    db.exec(readFileSync(`src/platform/store/migrations/${step}.sql`, "utf8"));
  // The present triggers replace those of step 22.
  db.exec("DROP TRIGGER spend_cells_day; DROP TRIGGER spend_cells_day_out");
  db.close();
  const newer = await startInstance({ directory: t.directory });
  expect([stored(newer), newer.rows("SELECT * FROM spend_days")]).toEqual(days);
  await newer.instance.settle();
  expect(newer.rows("SELECT words FROM session_finds ORDER BY session_id")).toEqual([
    { words: "a\na" },
    { words: "b\nb" },
  ]);
});
