import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { getUser, storePerson } from "../../src/identity/people/people.ts";
import { budgetStandings, setBudget } from "../../src/insight/budgets/budgets.ts";
import { findSessions } from "../../src/insight/sessions/sessions.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { makeAccount } from "../support/accounts.ts";
import { apiToken } from "../support/api.ts";
import { eraseNow } from "../support/erasure.ts";
import { ask, somebody } from "../support/every-page.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { WITHOUT_BLOCKS } from "../support/older.ts";
import { claudeCall, claudeLogs } from "../support/otlp.ts";

/** A call of a session in which somebody is signed in. */
const callOf = (session: string, email?: string) =>
  claudeCall(`req-${session}`, { "session.id": session, ...(email === undefined ? {} : { "user.email": email }) });

/** A fleet that exports over one token, whose agents name Ada, Kim without an account, and in one session nobody. */
async function fleet() {
  const { t, device } = await startWithDevice();
  const { id: team } = device.team;
  const ada = await makeAccount(t.instance.core, { email: "ada@example.com", team: { id: team, role: "member" } });
  const send = async (...calls: ReturnType<typeof callOf>[]) => {
    expect((await t.post("/v1/logs", { token: device.token, json: claudeLogs(...calls) })).status).toBe(200);
    await t.instance.settle();
  };
  await send(callOf("a-1", "Ada@Example.com"), callOf("a-2", "ada@example.com"), callOf("k-1", "kim@example.com"));
  await send(callOf("n-1"));
  return { t, device, team, ada, send, token: await apiToken(t, team) };
}

async function groups(t: TestInstance, token: string, query = "") {
  const { body } = await t.get(`/api/spend?by=person${query}`, { token });
  return body.groups.map(({ key, personId, usages }: Record<string, unknown>) => [key, personId, usages]);
}

async function sessionsOf(t: TestInstance, token: string, person: string) {
  const { body } = await t.get(`/api/sessions?person=${person}`, { token });
  return body.items.map(({ sessionId, userEmail }: Record<string, unknown>) => [sessionId, userEmail]).sort();
}

it("attributes sessions to whom the agents name as signed in, with an account or without, and else to the device's person", async () => {
  const { t, device, ada, token } = await fleet();
  expect(await groups(t, token)).toEqual([
    ["ada@example.com", ada.id, 2],
    ["", undefined, 1],
    ["kim@example.com", undefined, 1],
  ]);
  expect(await sessionsOf(t, token, ada.id)).toEqual([
    ["a-1", "ada@example.com"],
    ["a-2", "ada@example.com"],
  ]);
  expect(await sessionsOf(t, token, "KIM@example.com")).toEqual([["k-1", "kim@example.com"]]);
  const robot = await makeAccount(t.instance.core, {
    email: "robot@example.com",
    team: { id: device.team.id, role: "member" },
  });
  await assignDevice(t.instance.core, device.deviceId, robot.id, COMMAND_LINE);
  expect(await groups(t, token)).toContainEqual(["robot@example.com", robot.id, 1]);
  expect(await sessionsOf(t, token, "robot@example.com")).toEqual([["n-1", null]]);
  expect((await t.get(`/api/spend?by=session&person=${ada.id}`, { token })).body.total.usages).toBe(2);
  expect(verifyLedger(t.instance.core, undefined, () => {})).toMatchObject({ faults: [] });
});

it("does not confirm whose a guessed address is to somebody who knows the id of another team's person", async () => {
  const { t, device, token, send } = await fleet();
  const { team } = await t.device();
  const kim = await makeAccount(t.instance.core, { email: "kim@example.com", team: { id: team.id, role: "member" } });
  const as = await somebody(t, device.team, "member");
  for (const asked of [kim.id, kim.id.replace(/.{8}$/, "00000000")]) {
    expect(await sessionsOf(t, token, asked)).toEqual([]);
    const spend = await t.get(`/api/spend?by=session&person=${asked}`, { token });
    expect([spend.status, spend.body.groups]).toEqual([200, []]);
    expect((await ask(t, "GET", `/sessions?person=${asked}`, { as })).text).not.toContain("/sessions/1");
  }
  expect(await sessionsOf(t, token, "kim@example.com")).toEqual([["k-1", "kim@example.com"]]);
  // Whoever had a machine in the team is known there.
  await t.instance.core.store.write(() => {
    t.instance.core.store.db.prepare("UPDATE devices SET person_id = ? WHERE id = ?").run(kim.id, device.deviceId);
  });
  await send(callOf("n-2"));
  expect((await sessionsOf(t, token, kim.id)).map(([session]: string[]) => session)).toContain("k-1");
});

it("attributes earlier usage to a person who is named later, also in sums that were asked for meanwhile", async () => {
  const { t, token, send, team, ada } = await fleet();
  await setBudget(
    t.instance.core,
    team,
    {
      ...{ scope: "person", subject: ada.id, period: "month", amountUsd: 1 },
    },
    COMMAND_LINE,
  );
  const used = async () => (await budgetStandings(t.instance.core, team))[0]?.usedUsd;
  expect(await groups(t, token, "&device=none")).toEqual([]);
  expect(await groups(t, token)).toContainEqual(["ada@example.com", ada.id, 2]);
  const before = (await used()) ?? 0;
  t.clock.advance(1_000);
  await send(claudeCall("req-n-2", { "session.id": "n-1", "user.email": "ada@example.com" }));
  expect(await groups(t, token)).toEqual([
    ["ada@example.com", ada.id, 4],
    ["kim@example.com", undefined, 1],
  ]);
  expect(await used()).toBeCloseTo(2 * before, 6);
});

it("recognises an address in any case, with spaces around it and however its letters are composed", async () => {
  const { t, team, token, send } = await fleet();
  const user = await makeAccount(t.instance.core, { email: "jürgen@example.com", team: { id: team, role: "member" } });
  await send(callOf("j-1", " J\u00dcrgen@Example.com "), callOf("j-2", "ju\u0308rgen@example.com"));
  expect(await groups(t, token)).toContainEqual([user.email, user.id, 2]);
  expect((await sessionsOf(t, token, user.id)).map(([session]: string[]) => session)).toEqual(["j-1", "j-2"]);
  expect((await t.get(`/api/spend?by=session&person=${user.id}`, { token })).body.total.usages).toBe(2);
  expect(verifyLedger(t.instance.core, undefined, () => {})).toMatchObject({ faults: [] });
});

it("keeps a session with the person it named first, whatever is sent again", async () => {
  const { t, token, send, ada } = await fleet();
  const first = callOf("both", "ada@example.com");
  await send(first);
  await send(claudeCall("req-later", { "session.id": "both", "user.email": "kim@example.com" }));
  expect(await sessionsOf(t, token, "kim@example.com")).toEqual([["k-1", "kim@example.com"]]);
  await send(first);
  expect(await sessionsOf(t, token, ada.id)).toContainEqual(["both", "ada@example.com"]);
  expect(await groups(t, token)).toContainEqual([ada.email, ada.id, 4]);
});

it("keeps with a person what was used under their earlier address, unless others had that address as well", async () => {
  const { t, team, token, send, ada } = await fleet();
  const { core } = t.instance;
  await setBudget(core, team, { ...{ scope: "person", subject: ada.id, period: "month", amountUsd: 1 } }, COMMAND_LINE);
  const used = (await budgetStandings(core, team))[0]?.usedUsd;
  const move = (email: string) =>
    core.store.write(() => storePerson(core, getUser(core, ada.id), { email, name: null }, COMMAND_LINE));
  await move("ada@new.example");
  expect((await budgetStandings(core, team))[0]?.usedUsd).toBe(used);
  await send(callOf("a-3", "ada@new.example"));
  expect(await groups(t, token)).toContainEqual(["ada@new.example", ada.id, 3]);
  expect((await sessionsOf(t, token, ada.id)).map(([session]: string[]) => session)).toEqual(["a-1", "a-2", "a-3"]);
  const other = await makeAccount(core, { email: "ada@example.com", team: { id: team, role: "member" } });
  expect(await groups(t, token)).toContainEqual(["ada@example.com", other.id, 2]);
  expect((await sessionsOf(t, token, ada.id)).map(([session]: string[]) => session)).toEqual(["a-3"]);
});

/** The capture client of a machine without a person reports a session that the fleet exports, too. */
async function told(t: TestInstance, device: TestDevice, id: string, email?: string) {
  const usage = { id: `msg-${id}`, requestId: `req-${id}`, input_tokens: 100, output_tokens: 40 };
  const session = {
    id,
    userEmail: email,
    outcome: "completed",
    files: [],
    spans: [{ id: "call", kind: "llm", usage }],
  };
  const json = { repoKey: "shop", sessions: [session] };
  expect((await t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
  await t.instance.settle();
}

it.each(["before", "after"])(
  "keeps a session with the person its agent named although the capture client reports it as well, %s that",
  async (when) => {
    const { t, device, team, token, send, ada } = await fleet();
    const { core } = t.instance;
    await setBudget(
      core,
      team,
      { ...{ scope: "person", subject: ada.id, period: "month", amountUsd: 1 } },
      COMMAND_LINE,
    );
    const client = await t.device(device.team);
    const ways = [() => send(callOf("both", "ada@example.com")), () => told(t, client, "both")];
    for (const way of when === "after" ? ways : ways.toReversed()) {
      await way();
      await groups(t, token);
      await budgetStandings(core, team);
    }
    const hers = [
      ["ada@example.com", ada.id, 3],
      ["", undefined, 1],
      ["kim@example.com", undefined, 1],
    ];
    expect(await groups(t, token)).toEqual(hers);
    expect(await groups(t, token, `&device=${client.deviceId}`)).toEqual([["ada@example.com", ada.id, 1]]);
    expect(await sessionsOf(t, token, ada.id)).toContainEqual(["both", "ada@example.com"]);
    const [shown] = (await findSessions(core, team, { sources: ["ada@example.com"], repoKey: "shop" })).rows;
    expect(shown).toMatchObject({ deviceId: client.deviceId, userEmail: "ada@example.com" });
    const { body } = await t.get(`/api/spend?by=session&person=${ada.id}`, { token });
    expect((await budgetStandings(core, team))[0]?.usedUsd).toBe(body.total.usd);
    // Access still follows the device: a person who sees only their own sees what their machine sent, whomever the agent named.
    const own = await somebody(t, client.team, "own_only");
    const asked = () => ask(t, "GET", `/sessions?person=${encodeURIComponent(ada.id)}`, { as: own });
    expect((await asked()).text).not.toContain("both");
    await assignDevice(core, client.deviceId, own.id, COMMAND_LINE);
    expect((await asked()).text).toContain("both");
    expect(await groups(t, token)).toEqual(hers);
    expect(verifyLedger(core, undefined, () => {})).toMatchObject({ faults: [] });
  },
);

it("takes what the client itself names for its session before what was exported, and its device's person once that is gone", async () => {
  const { t, device, token, send, ada } = await fleet();
  const client = await t.device(device.team);
  await send(callOf("kims", "ada@example.com"), callOf("both", "ada@example.com"));
  await told(t, client, "kims", "kim@example.com");
  await told(t, client, "both");
  expect((await sessionsOf(t, token, "kim@example.com")).map(([session]: string[]) => session)).toEqual([
    "k-1",
    "kims",
  ]);
  const [{ id }] = t.rows("SELECT id FROM trace_sessions WHERE external_id = 'both' AND exported = 2");
  const { core } = t.instance;
  await eraseNow(core, { session: String(id) });
  expect((await sessionsOf(t, token, ada.id)).map(([session]: string[]) => session)).toEqual(["a-1", "a-2"]);
  expect(await sessionsOf(t, token, client.deviceId)).toEqual([]);
  expect(await groups(t, token, `&device=${client.deviceId}`)).toEqual([
    ["", undefined, 1],
    ["kim@example.com", undefined, 1],
  ]);
  expect(t.rows("SELECT DISTINCT user_email AS email FROM session_figures WHERE external_id = 'both'")).toEqual([
    { email: "" },
  ]);
});

it("attributes the sessions of an older database in the same way", async () => {
  const { t, device, token, ada } = await fleet();
  await told(t, await t.device(device.team), "a-1");
  const before = [await groups(t, token), await sessionsOf(t, token, ada.id)];
  await t.close();
  const db = new Sqlite(join(t.directory, "reckon.db"));
  // As schema 36 had it.
  db.exec(`
    ${WITHOUT_BLOCKS} DROP TABLE sso_holders; ALTER TABLE devices DROP COLUMN ends_at; ALTER TABLE connect_codes DROP COLUMN binds_for_ms; DROP INDEX erasures_unreclaimed; ALTER TABLE erasures DROP COLUMN reclaimed_at; DROP TABLE defects_gone; ALTER TABLE causal_links DROP COLUMN said_by; ALTER TABLE pack_versions ADD COLUMN created_by TEXT NOT NULL DEFAULT '';
    DROP INDEX session_figures_by_cause; ALTER TABLE trace_sessions DROP COLUMN user_email; ALTER TABLE session_figures DROP COLUMN user_email;
    ALTER TABLE spend_cells DROP COLUMN session_user; PRAGMA user_version = 36;`);
  db.close();
  const newer = await startInstance({ directory: t.directory });
  expect([await groups(newer, token), await sessionsOf(newer, token, ada.id)]).toEqual(before);
  expect(verifyLedger(newer.instance.core, undefined, () => {})).toMatchObject({ faults: [] });
});

it("gives a person who sees only their own no more, whatever address a session names", async () => {
  const { t, device, send } = await fleet();
  const own = await somebody(t, device.team, "own_only");
  const lead = await somebody(t, device.team, "viewer");
  await send(callOf("claimed", own.email));
  for (const [as, sees] of [
    [own, false],
    [lead, true],
  ] as const) {
    const { text } = await ask(t, "GET", `/sessions?person=${encodeURIComponent(own.id)}`, { as });
    expect(text.includes("claimed")).toBe(sees);
  }
});

it("ignores an address that is none", async () => {
  const { t, device } = await startWithDevice();
  const token = await apiToken(t, device.team.id);
  const sessions = ["nobody", `${"x".repeat(400)}@example.com`, { of: "ada@example.com" }].map((userEmail, i) => ({
    ...{ id: `s-${i}`, userEmail, outcome: "completed", spans: [] },
  }));
  const json = { repoKey: "r", sessions };
  expect((await t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
  expect(
    (await t.get("/api/sessions", { token })).body.items.map((one: { userEmail: unknown }) => one.userEmail),
  ).toEqual([null, null, null]);
});
