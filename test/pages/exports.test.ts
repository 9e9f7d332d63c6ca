import { expect, it } from "vitest";
import { removeMember, setRole } from "../../src/identity/members/members.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { endSession, storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { makeAccount } from "../support/accounts.ts";
import { startInstance } from "../support/instance.ts";

/** Every copy of the record that somebody downloads is in the audit, with what it holds. */

const SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

async function start() {
  const t = await startInstance();
  const { core } = t.instance;
  const team = await createTeam(core, "Acme", COMMAND_LINE);
  const user = await makeAccount(core, {
    email: "ada@example.com",
    operator: true,
    team: { id: team.id, role: "owner" },
  });
  const { token } = await core.store.write(() => storeSession(core, user.id, { ip: "127.0.0.1", userAgent: null }));
  const headers = { cookie: `${cookieNames(baseUrlOf(core.config)).session}=${token}` };
  const device = await t.device(team);
  const send = async (path: string, json: unknown) => {
    const { status, text } = await t.post(path, { token: device.token, json });
    expect([path, status, text]).toEqual([path, 200, expect.any(String)]);
  };
  await send("/api/telemetry/ingest", { repoKey: "shop", entries: [{ seq: 1, payload: { type: "prompt" } }] });
  await send("/api/brain/ingest", {
    repoKey: "shop",
    version: 4,
    files: [{ path: "docs/errors.md", content: "# E\n" }],
  });
  await send("/api/agent-traces/ingest", {
    repoKey: "shop",
    sessions: [{ id: "s-1", outcome: "done", spans: [{ id: "1", name: "x" }] }],
  });
  await t.instance.settle();
  const { id } = t.rows("SELECT id FROM trace_sessions")[0];
  const paths = {
    "telemetry.exported": `/telemetry/export?repo=shop&type=prompt&q=${SECRET}&from=2026-11-01`,
    "brain_file.exported": "/brain/download?repo=shop&path=docs/errors.md",
    "agent_session.exported": `/sessions/${id}/record.json`,
    "spend.exported": "/spend/csv?by=branch&from=2026-11-01&to=2026-11-02&repo=shop",
    "audit.exported": "/audit/export?format=csv&what=team.created",
  };
  const events = () =>
    t
      .rows(
        "SELECT action, actor_label AS who, ip, team_id AS team, target_label AS target, detail FROM audit_events WHERE action LIKE '%.exported' ORDER BY id",
      )
      .map(({ detail, ...rest }) => ({ ...rest, detail: JSON.parse(detail) }));
  return { t, team, headers, paths, events };
}

it("leaves an event with who, from where and what, before the copy goes out", async () => {
  const { t, team, headers, paths, events } = await start();
  for (const path of Object.values(paths)) {
    const answer = await t.get(path, { headers });
    expect([path, answer.status, answer.headers.get("content-disposition")]).toEqual([
      path,
      200,
      expect.stringContaining("attachment"),
    ]);
  }
  const by = { who: "ada@example.com", ip: "127.0.0.1", team: team.id };
  expect(events()).toEqual([
    {
      ...by,
      action: "telemetry.exported",
      target: null,
      detail: { repo: "shop", type: "prompt", text: expect.stringMatching(/^\[REDACTED/), firstDay: "2026-11-01" },
    },
    { ...by, action: "brain_file.exported", target: "docs/errors.md", detail: { repo: "shop", version: "4" } },
    { ...by, action: "agent_session.exported", target: "s-1", detail: { repo: "shop", steps: "1" } },
    {
      ...by,
      action: "spend.exported",
      target: null,
      detail: { by: "branch", repo: "shop", firstDay: "2026-11-01", lastDay: "2026-11-02" },
    },
    { ...by, action: "audit.exported", target: null, detail: { format: "csv", what: "team.created" } },
  ]);
  await t.get("/audit/export?all=1", { headers });
  expect(events().at(-1)).toMatchObject({ action: "audit.exported", team: null, detail: { format: "jsonl" } });
  for (const path of ["/spend/csv?repo=%09", "/telemetry/export?repo=%09", "/telemetry/export?repo=(none)"]) {
    await t.get(path, { headers });
    expect(events().at(-1)).toMatchObject({ detail: { repo: "(none)" } });
  }
  const { text } = await t.get("/audit", { headers });
  for (const words of [
    "downloaded the brain file <strong><bdi>docs/errors.md</bdi></strong>",
    "exported what was spent",
  ])
    expect(text).toContain(words);
});

it("records none for HEAD, for what is not there, and for somebody who may not have it", async () => {
  const { t, headers, paths, events } = await start();
  for (const path of Object.values(paths)) {
    expect([path, (await t.call("HEAD", path, { headers })).status]).toEqual([path, 200]);
    expect([path, (await t.get(path)).status]).toEqual([path, 303]);
  }
  expect((await t.get("/sessions/999/record.json", { headers })).status).toBe(404);
  expect((await t.get("/brain/download?repo=shop&path=none.md", { headers })).status).toBe(404);
  expect(events()).toEqual([]);
});

it("sends nothing while the event cannot be stored", async () => {
  const { t, headers, paths, events } = await start();
  t.instance.core.store.db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no event'); END",
  );
  for (const path of Object.values(paths)) {
    const answer = await t.get(path, { headers });
    expect([path, answer.status >= 500, answer.headers.get("content-disposition")]).toEqual([path, true, null]);
  }
  expect(events()).toEqual([]);
});

it("breaks a copy off once its reader is signed out, or may no longer see what it holds", async () => {
  const { t, team, headers } = await start();
  const { core } = t.instance;
  const device = await t.device(team);
  const text = "a prompt of some length ".repeat(40);
  const entries = Array.from({ length: 500 }, (_, at) => ({ seq: at + 1, payload: { type: "prompt", text } }));
  expect(
    (await t.post("/api/telemetry/ingest", { token: device.token, json: { repoKey: "shop", entries } })).status,
  ).toBe(200);
  const user = t.rows("SELECT id FROM users")[0].id as string;
  const { id } = t.rows("SELECT id FROM web_sessions")[0];
  await setRole(core, team.id, (await makeAccount(core, { email: "bob@example.com" })).id, "owner", COMMAND_LINE);
  /** Takes the first piece, and the others once something has happened. @returns how many lines came */
  const taken = async (path: string, happens: () => unknown) => {
    const reader = (await t.instance.fetch(new Request(`http://localhost${path}`, { headers }))).body?.getReader();
    let got = Buffer.from((await reader?.read())?.value ?? []).toString();
    await happens();
    t.clock.advance(1_000);
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done) return got.split("\n").length - 1;
      got += Buffer.from(value as Uint8Array).toString();
    }
  };
  const telemetry = "/telemetry/export?repo=shop";
  const narrowed = taken(telemetry, () => setRole(core, team.id, user, "own_only", COMMAND_LINE));
  await expect(narrowed).rejects.toMatchObject({ status: 403 });
  await setRole(core, team.id, user, "member", COMMAND_LINE);
  expect(await taken(telemetry, () => setRole(core, team.id, user, "admin", COMMAND_LINE))).toBe(501);
  await expect(taken(telemetry, () => removeMember(core, team.id, user, COMMAND_LINE))).rejects.toMatchObject({
    status: 403,
  });
  await setRole(core, team.id, user, "owner", COMMAND_LINE);
  await expect(taken(telemetry, () => endSession(core, user, id, COMMAND_LINE))).rejects.toMatchObject({ status: 403 });
});
