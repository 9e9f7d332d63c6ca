import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { attribution } from "../../../src/insight/causes/causes.ts";
import { findSessions as findByWords } from "../../../src/insight/find/find.ts";
import { findSessions, nameSession, sumSessions } from "../../../src/insight/sessions/sessions.ts";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { listSessions, sessionCounts } from "../../../src/record/traces/traces.ts";
import { eraseNow } from "../../support/erasure.ts";
import { startInstance, startWithTeam, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";
import { WITHOUT_BLOCKS } from "../../support/older.ts";
import { claudeCall, claudeLogs } from "../../support/otlp.ts";

const DAY = Date.UTC(2026, 10, 21) / DAY_MS;

/** An agent exports session s-1 with a device's token. */
async function exports(t: TestInstance, { token }: TestDevice, prompt = "Fix the login") {
  const json = claudeLogs(["user_prompt", { prompt, "prompt.id": prompt }], claudeCall("req_1"));
  expect((await t.post("/v1/logs", { token, json })).status).toBe(200);
}

/** The capture client reports the same session with another device's token. */
async function tells(t: TestInstance, { token }: TestDevice, outcome = "completed", commits: object[] = []) {
  const session = {
    ...{ id: "s-1", agent: "claude-code", outcome, startedAt: "2026-11-21T08:00:00Z", endedAt: "2026-11-21T08:01:00Z" },
    ...{ prompts: [{ text: "Fix the login" }], files: [{ path: "login.ts" }], commits, spans: [] },
  };
  const json = { repoKey: "shop", sessions: [session] };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
}

/** The same with the call that the agent exports, named by its request's id. */
async function tellsOfCall(t: TestInstance, { token }: TestDevice) {
  const usage = { id: "msg_1", requestId: "req_1", input_tokens: 100, output_tokens: 40 };
  const span = { id: "call", kind: "llm", usage: { ...usage, cache_read_input_tokens: 3000 } };
  const session = { id: "s-1", agent: "claude-code", outcome: "completed", startedAt: "2026-11-21T08:00:00Z" };
  const json = { sessions: [{ ...session, model: "claude-opus-4-6", spans: [span] }] };
  expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
}

/** The devices whose sessions each list shows, and the number that each sum counts. */
async function shown(t: TestInstance, team: string) {
  await t.instance.settle();
  const { core } = t.instance;
  const devices = (rows: readonly { readonly deviceId: string }[]) => rows.map(({ deviceId }) => deviceId);
  return {
    listed: devices((await findSessions(core, team)).rows),
    read: devices((await listSessions(core, team)).rows),
    sum: (await sumSessions(core, team)).sessions,
    days: sessionCounts.byDay(core, team, DAY, DAY).reduce((all, { sessions }) => all + sessions, 0),
  };
}
const only = ({ deviceId }: TestDevice) => ({ listed: [deviceId], read: [deviceId], sum: 1, days: 1 });

async function erase(t: TestInstance, { deviceId }: TestDevice) {
  const { core } = t.instance;
  return eraseNow(core, { device: deviceId });
}

it.each([
  ["first", [exports, tells]],
  ["last", [tells, exports]],
] as const)("counts a session once that an agent exports %s and the client tells of elsewhere", async (_, order) => {
  const { t, team } = await startWithTeam();
  const [otlp, capture] = [await t.device(team), await t.device(team)];
  const of = (way: (typeof order)[number]) => (way === exports ? otlp : capture);
  await order[0](t, of(order[0]));
  expect(await shown(t, team.id)).toEqual(only(of(order[0])));
  await order[1](t, of(order[1]));
  expect(await shown(t, team.id)).toEqual(only(capture));
  // Both versions go on.
  await exports(t, otlp, "And the logout");
  await tells(t, capture, "committed");
  expect(await shown(t, team.id)).toEqual(only(capture));
  const [row] = t.rows("SELECT id FROM trace_sessions WHERE device_id = ?", capture.deviceId);
  // Entries and spend that name the exported session lead to the one that is shown.
  const named = (seen: TestDevice) =>
    nameSession(t.instance.core, otlp.deviceId, "s-1", (deviceId) => deviceId === seen.deviceId);
  expect(named(capture)).toEqual({ id: row.id, title: "Fix the login" });
  expect(named(otlp)).toEqual({ id: undefined, title: null });
  // The exported session is kept as a whole.
  expect(t.rows("SELECT exported FROM trace_sessions ORDER BY exported")).toEqual([{ exported: 0 }, { exported: 2 }]);
  expect(ledgerFaults(t.instance.core)).toEqual([]);
});

it.each([
  ["first", [exports, tellsOfCall]],
  ["last", [tellsOfCall, exports]],
] as const)("has the session that is shown cost what an agent exports %s of it", async (_, order) => {
  const { t, team } = await startWithTeam();
  const [otlp, capture] = [await t.device(team), await t.device(team)];
  const { core } = t.instance;
  const cost = async () => {
    await t.instance.settle();
    const { body } = await t.get("/api/spend?by=device", { token: otlp.token });
    return {
      sessions: (await findSessions(core, team.id)).rows.map(({ deviceId, tokens, usd }) => [deviceId, tokens, usd]),
      sum: (await sumSessions(core, team.id)).usd,
      devices: body.groups.map((one: Record<string, unknown>) => [one.key, one.usages, one.usd, one.reportedUsd]),
    };
  };
  for (const way of order) {
    await way(t, way === exports ? otlp : capture);
    await cost();
  }
  const of = ({ deviceId }: TestDevice) => ({
    sessions: [[deviceId, 3_340, 0.0044375]],
    sum: 0.0044375,
    devices: [[deviceId, 1, 0.0044375, 0.0125]],
  });
  expect(await cost()).toEqual(of(capture));
  await erase(t, capture);
  expect(await cost()).toEqual(of(otlp));
  expect(t.rows("SELECT DISTINCT device_id AS id FROM spend_cells")).toEqual([{ id: otlp.deviceId }]);
});

it("finds it once, and holds one session answerable for what its commit broke", async () => {
  const { t, team } = await startWithTeam();
  const [otlp, capture] = [await t.device(team), await t.device(team)];
  const sha = "80281eb75be77fc3cf9ef8a3c250f98444c42f16";
  const committed = claudeLogs(
    ["user_prompt", { prompt: "Fix the login", "prompt.id": "p" }],
    [
      "tool_result",
      {
        ...{ tool_name: "Bash", tool_use_id: "toolu_1", success: "true" },
        tool_parameters: JSON.stringify({ git_commit_id: sha }),
      },
    ],
  );
  expect((await t.post("/v1/logs", { token: otlp.token, json: committed })).status).toBe(200);
  const commits = [{ sha, at: "2026-11-21T08:00:30Z" }];
  await tells(t, capture, "committed", commits);
  const content = `# Errors\n\n## 2026-11-21 — The login broke\n\n**Cause**: introduced by commit ${sha.slice(0, 12)}.\n`;
  const json = { repoKey: "shop", version: 1, files: [{ path: "errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token: capture.token, json })).status).toBe(200);
  await t.instance.settle();
  const { core } = t.instance;
  const [own] = t.rows("SELECT id FROM trace_sessions WHERE device_id = ?", capture.deviceId);
  expect(t.rows("SELECT count(*) AS held FROM trace_session_commits")).toEqual([{ held: 2 }]);
  expect(findByWords(core, team.id, "login", 10).map(({ id }) => id)).toEqual([own.id]);
  expect(t.rows("SELECT session_id FROM causal_links WHERE band <> 'weak'")).toEqual([{ session_id: own.id }]);
  const { body } = await t.get("/api/causal-link?repoKey=shop", { token: capture.token });
  expect(body.links.map(({ sessionId }: { sessionId: string }) => sessionId)).toEqual(["s-1"]);
  expect(attribution(core, team.id).agents).toMatchObject([{ name: "claude-code", sessions: 1 }]);
});

it("shows the exported session once nobody else reports it any more", async () => {
  const { t, team } = await startWithTeam();
  const [otlp, capture, again] = [await t.device(team), await t.device(team), await t.device(team)];
  await exports(t, otlp);
  await tells(t, capture);
  await tells(t, again);
  await t.instance.settle();
  await erase(t, again);
  expect(await shown(t, team.id)).toEqual(only(capture));
  await erase(t, capture);
  expect(await shown(t, team.id)).toEqual(only(otlp));
  await erase(t, otlp);
  expect(await shown(t, team.id)).toEqual({ listed: [], read: [], sum: 0, days: 0 });
  expect(t.count("session_figures")).toBe(0);
});

it("leaves alone sessions of other teams, of other names, and those that only agents report", async () => {
  const t = await startInstance();
  const [mine, theirs] = [await t.team(), await t.team()];
  const [otlp, second, other] = [await t.device(mine), await t.device(mine), await t.device(theirs)];
  await exports(t, otlp);
  await exports(t, second);
  await tells(t, other);
  expect(await shown(t, theirs.id)).toEqual(only(other));
  expect(await shown(t, mine.id)).toMatchObject({ sum: 2, days: 2 });
});

it("removes sessions that an older database has twice from lists and sums", async () => {
  const { t, team } = await startWithTeam();
  const [otlp, capture, bare] = [await t.device(team), await t.device(team), await t.device(team)];
  await exports(t, otlp);
  await tells(t, capture);
  // Sent by a program that names no repository, and not exported.
  const json = { sessions: [{ id: "s-1", outcome: "", startedAt: "2026-11-21T08:00:00Z", spans: [{ id: "a" }] }] };
  expect((await t.post("/api/agent-traces/ingest", { token: bare.token, json })).status).toBe(200);
  const after = await shown(t, team.id);
  expect(after).toMatchObject({ sum: 2, days: 2 });
  const figures = t.rows("SELECT * FROM session_figures ORDER BY id");
  await t.close();
  const db = new Sqlite(join(t.directory, "reckon.db"));
  // As schema 33 had it.
  db.exec(`
    DROP TRIGGER trace_sessions_whole_in; DROP TRIGGER trace_sessions_whole_over; DROP TRIGGER trace_sessions_whole_out;
    UPDATE trace_sessions SET exported = 0;
    DROP TRIGGER trace_sessions_day_over; CREATE TRIGGER trace_sessions_day_over AFTER UPDATE ON trace_sessions BEGIN SELECT 1; END;
    DROP TRIGGER trace_sessions_day_in; CREATE TRIGGER trace_sessions_day_in AFTER INSERT ON trace_sessions BEGIN SELECT 1; END;
    DROP TRIGGER trace_sessions_day_out; CREATE TRIGGER trace_sessions_day_out AFTER DELETE ON trace_sessions BEGIN SELECT 1; END;
    ${WITHOUT_BLOCKS} DROP TABLE sso_holders; ALTER TABLE devices DROP COLUMN ends_at; ALTER TABLE connect_codes DROP COLUMN binds_for_ms; DROP INDEX erasures_unreclaimed; ALTER TABLE erasures DROP COLUMN reclaimed_at; DROP TABLE defects_gone; DROP INDEX trace_sessions_by_name; DROP INDEX trace_sessions_unlisted; ALTER TABLE causal_links DROP COLUMN said_by; ALTER TABLE pack_versions ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
    DROP INDEX session_figures_by_cause;
    ALTER TABLE trace_sessions DROP COLUMN exported; ALTER TABLE trace_sessions DROP COLUMN user_email;
    ALTER TABLE session_figures DROP COLUMN user_email; ALTER TABLE spend_cells DROP COLUMN session_user;
    DROP INDEX trace_spans_by_arrival; ALTER TABLE trace_spans DROP COLUMN signs;
    UPDATE session_figures SET session_id = (SELECT id FROM trace_sessions s
      WHERE s.device_id = session_figures.device_id AND s.external_id = session_figures.external_id);
    PRAGMA user_version = 33;`);
  expect(db.prepare("SELECT sum(sessions) FROM trace_session_days").pluck().get()).toBe(3);
  db.close();
  const newer = await startInstance({ directory: t.directory });
  expect(await shown(newer, team.id)).toEqual(after);
  expect(newer.rows("SELECT * FROM session_figures ORDER BY id")).toEqual(figures);
  await erase(newer, capture);
  await erase(newer, bare);
  expect(await shown(newer, team.id)).toEqual(only(otlp));
});
