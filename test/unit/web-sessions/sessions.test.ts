import { expect, it } from "vitest";
import { removeMember, setRole } from "../../../src/identity/members/members.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import {
  endSession,
  findSession,
  listSessions,
  SESSION_IDLE_MS,
  SESSION_LIFETIME_MS,
  signOutEverywhere,
  storeSession,
  switchTeam,
  touchSession,
} from "../../../src/identity/web-sessions/web-sessions.ts";
import { DAY_MS, MINUTE_MS } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startWithTeam } from "../../support/instance.ts";

async function start() {
  const { t, core, team } = await startWithTeam();
  const user = await makeAccount(core, {
    email: "ada@example.com",
    team: { id: team.id, role: "owner" },
  });
  const begin = () => core.store.write(() => storeSession(core, user.id, { ip: "192.0.2.1", userAgent: "test" }));
  return { t, core, team, user, begin, ...(await begin()) };
}

it("are found by a token that is not stored", async () => {
  const { t, core, token, user, team } = await start();
  expect(findSession(core, token)).toMatchObject({
    userId: user.id,
    team: { id: team.id, role: "owner" },
    operator: false,
  });
  expect(
    findSession(
      core,
      token.replace(/.$/, (c) => (c === "0" ? "1" : "0")),
    ),
  ).toBeUndefined();
  expect(findSession(core, "")).toBeUndefined();
  const dump = JSON.stringify(t.rows("SELECT id, hex(token_hash) AS h, user_id, ip FROM web_sessions"));
  expect(dump).not.toContain(token);
});

it("end after a week without use", async () => {
  const { t, core, token, user } = await start();
  t.clock.advance(SESSION_IDLE_MS - 1);
  expect(findSession(core, token)).toBeDefined();
  t.clock.advance(1);
  expect([findSession(core, token), listSessions(core, user.id)]).toEqual([undefined, []]);
});

it("end after thirty days however busy", async () => {
  const { t, core, token } = await start();
  for (let day = 1; day < SESSION_LIFETIME_MS / DAY_MS; day++) {
    t.clock.advance(DAY_MS);
    const session = findSession(core, token);
    expect(session).toBeDefined();
    if (session) await touchSession(core, session, "192.0.2.1");
  }
  t.clock.advance(DAY_MS);
  expect(findSession(core, token)).toBeUndefined();
});

it("note their use once a minute at most, with the address it came from", async () => {
  const { t, core, token } = await start();
  const touch = async (ip: string) => {
    const session = findSession(core, token);
    if (session) await touchSession(core, session, ip);
    return t.rows("SELECT ip FROM web_sessions")[0].ip;
  };
  t.clock.advance(MINUTE_MS - 1);
  expect(await touch("192.0.2.2")).toBe("192.0.2.1");
  t.clock.advance(1);
  expect(await touch("192.0.2.3")).toBe("192.0.2.3");
});

it("end with their account, and stay ended when it is opened again", async () => {
  const { core, token, user } = await start();
  await setDisabled(core, user.id, true, COMMAND_LINE);
  expect(findSession(core, token)).toBeUndefined();
  await setDisabled(core, user.id, false, COMMAND_LINE);
  expect(findSession(core, token)).toBeUndefined();
});

it("show another team, or none, once their person has left the team they showed", async () => {
  const { t, core, token, user, team } = await start();
  const other = await t.team();
  await setRole(core, other.id, user.id, "member", COMMAND_LINE);
  const session = findSession(core, token);
  if (session) await switchTeam(core, session, other.id);
  expect(findSession(core, token)?.team).toMatchObject({ id: other.id, role: "member" });
  await removeMember(core, other.id, user.id, COMMAND_LINE);
  expect(findSession(core, token)?.team).toMatchObject({ id: team.id, role: "owner" });
  const second = await makeAccount(core, { email: "bob@example.com" });
  await setRole(core, team.id, second.id, "owner", COMMAND_LINE);
  await removeMember(core, team.id, user.id, COMMAND_LINE);
  expect(findSession(core, token)).toMatchObject({ team: null, teams: [] });
});

it("cannot be switched to a team that the person is not in", async () => {
  const { t, core, token } = await start();
  const foreign = await t.team();
  const session = findSession(core, token);
  await expect(switchTeam(core, session as never, foreign.id)).rejects.toMatchObject({ status: 404 });
  expect(t.rows("SELECT count(*) AS n FROM web_sessions WHERE team_id = ?", foreign.id)).toEqual([{ n: 0 }]);
});

it("end in a browser in which anybody signs in anew", async () => {
  const { core, token, id } = await start();
  const { id: bob } = await makeAccount(core, { email: "bob@example.com" });
  const origin = { ip: "192.0.2.1", userAgent: "test" };
  const next = await core.store.write(() => storeSession(core, bob, origin, { previousId: id }));
  expect([findSession(core, token), findSession(core, next.token)?.userId]).toEqual([undefined, bob]);
});

it("are ended one by one or all at once, and by nobody but their person", async () => {
  const { t, core, token, id, user, begin } = await start();
  const second = await begin();
  const third = await begin();
  expect(listSessions(core, user.id)).toHaveLength(3);
  expect(await endSession(core, "usr_somebody_else", id, COMMAND_LINE)).toBe(false);
  expect([
    await endSession(core, user.id, id, COMMAND_LINE),
    await endSession(core, user.id, id, COMMAND_LINE),
  ]).toEqual([true, false]);
  expect(findSession(core, token)).toBeUndefined();
  await signOutEverywhere(core, user.id, COMMAND_LINE, third.id);
  expect([findSession(core, second.token), findSession(core, third.token)?.sessionId]).toEqual([undefined, third.id]);
  expect(t.rows("SELECT action, target_id AS of FROM audit_events WHERE action LIKE 'session.%' ORDER BY id")).toEqual([
    { action: "session.ended", of: id },
    { action: "session.ended_all", of: null },
  ]);
});

it("that a clock began which was a year ahead do not work for a year", async () => {
  const { t, core, begin } = await start();
  t.clock.jump(365 * DAY_MS);
  const { token } = await begin();
  expect(findSession(core, token)).toBeDefined();
  // Corrections of some days end nothing.
  t.clock.jump(-20 * DAY_MS);
  expect(findSession(core, token)).toBeDefined();
  t.clock.jump(-345 * DAY_MS);
  expect(findSession(core, token)).toBeUndefined();
});
