import { expect, it } from "vitest";
import { type Role, removeMember, roleIn, setRole } from "../../../src/identity/members/members.ts";
import {
  createInvitation,
  createMemberResetLink,
  createResetLink,
  createSetupLink,
  getLink,
  LINK_LIFETIME_MS,
  listInvitations,
  revokeInvitation,
} from "../../../src/identity/one-time-links/one-time-links.ts";
import { findUser, setOperator } from "../../../src/identity/people/people.ts";
import { acceptAs, acceptAsNew, resetPassword, setDisabled, setUp } from "../../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startInstance, startWithTeam } from "../../support/instance.ts";

const PASSWORD = "plough-the-north-field";
const ORIGIN = { ip: "192.0.2.1", userAgent: null };
const chosen = (email: string) => ({ email, name: null, password: PASSWORD });
const actor = (id: string) => ({ kind: "user", id, label: "admin@example.com", ip: null }) as const;

async function start() {
  const { t, core, team } = await startWithTeam();
  const person = (email: string, role?: Role) =>
    makeAccount(core, { email, ...(role ? { team: { id: team.id, role } } : {}) });
  return { t, core, team, person };
}

it("work once: of five uses at the same time one wins", async () => {
  const { t, core, team } = await start();
  const { token } = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) => acceptAsNew(core, token, chosen(`person${i}@example.com`), ORIGIN)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const one of results)
    if (one.status === "rejected")
      expect(one.reason).toMatchObject({ status: 410, message: expect.stringContaining("used") });
  expect([t.count("users"), t.count("memberships"), t.count("web_sessions")]).toEqual([1, 1, 1]);
});

it("make one operator, whichever of several set-ups comes first", async () => {
  const { t, core } = await start();
  const earlier = await createSetupLink(core);
  const link = await createSetupLink(core);
  expect(() => getLink(core, earlier?.token as string, "setup")).toThrow("taken back");
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) =>
      setUp(core, link?.token as string, chosen(`person${i}@example.com`), { make: `Team of ${i}` }, ORIGIN),
    ),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect([t.count("users"), t.rows("SELECT operator FROM users"), t.rows("SELECT role FROM memberships")]).toEqual([
    1,
    [{ operator: 1 }],
    [{ role: "owner" }],
  ]);
  expect(await createSetupLink(core)).toBeUndefined();
});

it("make nobody an operator once somebody has an account, though the link came before", async () => {
  const { t, core } = await start();
  const { token } = (await createSetupLink(core)) as { token: string };
  const { id } = await makeAccount(core, { email: "bob@example.com" });
  await expect(setUp(core, token, chosen("ada@example.com"), { make: "Acme" }, ORIGIN)).rejects.toMatchObject({
    status: 410,
  });
  expect(t.rows("SELECT id FROM users")).toEqual([{ id }]);
});

it("make the first person owner of an existing team, whose record stays", async () => {
  const { t, core, team } = await start();
  const { deviceId } = await t.device(team);
  const { token } = (await createSetupLink(core)) as { token: string };
  await expect(setUp(core, token, chosen("ada@example.com"), { takeOver: "team_none" }, ORIGIN)).rejects.toMatchObject({
    status: 404,
  });
  expect([t.count("users"), t.rows("SELECT used_at FROM one_time_links")]).toEqual([0, [{ used_at: null }]]);
  await setUp(core, token, chosen("ada@example.com"), { takeOver: team.id }, ORIGIN);
  expect(t.rows("SELECT team_id, role FROM memberships")).toEqual([{ team_id: team.id, role: "owner" }]);
  expect(t.rows("SELECT id FROM devices WHERE team_id = ?", team.id)).toEqual([{ id: deviceId }]);
  expect([t.count("teams"), t.rows("SELECT team_id FROM web_sessions")]).toEqual([1, [{ team_id: team.id }]]);
  expect(t.rows("SELECT actor_label AS who, team_id AS team FROM audit_events WHERE action = 'member.added'")).toEqual([
    { who: "ada@example.com", team: team.id },
  ]);
});

it("expire, each kind after its time", async () => {
  const { t, core, team, person } = await start();
  const setup = await createSetupLink(core);
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const reset = await createResetLink(core, (await person("ada@example.com")).id, COMMAND_LINE);
  const all = [
    [setup?.token as string, "setup"],
    [reset.token, "reset"],
    [invitation.token, "invitation"],
  ] as const;
  let passed = 0;
  for (const [token, kind] of all) {
    t.clock.advance(LINK_LIFETIME_MS[kind] - 1 - passed);
    expect(getLink(core, token, kind).usedAt).toBeNull();
    t.clock.advance(1);
    passed = LINK_LIFETIME_MS[kind];
    expect(() => getLink(core, token, kind)).toThrow("has expired");
  }
  expect(listInvitations(core, team.id).rows).toEqual([]);
  await expect(resetPassword(core, reset.token, "another pass phrase", ORIGIN)).rejects.toMatchObject({ status: 410 });
});

it("are taken back by revoking, by a newer one of their kind, and by closing the account", async () => {
  const { core, team, person } = await start();
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const [open] = listInvitations(core, team.id).rows;
  await expect(revokeInvitation(core, "team_other", open?.id as string, COMMAND_LINE)).rejects.toMatchObject({
    status: 404,
  });
  await revokeInvitation(core, team.id, open?.id as string, COMMAND_LINE);
  await expect(acceptAsNew(core, invitation.token, chosen("bob@example.com"), ORIGIN)).rejects.toMatchObject({
    status: 410,
  });
  const ada = await person("ada@example.com");
  const first = await createResetLink(core, ada.id, COMMAND_LINE);
  const second = await createResetLink(core, ada.id, COMMAND_LINE);
  expect(() => getLink(core, first.token, "reset")).toThrow("taken back");
  expect(getLink(core, second.token, "reset").userId).toBe(ada.id);
  await setDisabled(core, ada.id, true, COMMAND_LINE);
  await setDisabled(core, ada.id, false, COMMAND_LINE);
  await expect(resetPassword(core, second.token, "another pass phrase", ORIGIN)).rejects.toMatchObject({ status: 410 });
});

it("do not reopen an account that is closed while the new password is being hashed", async () => {
  const { t, core, person } = await start();
  const ada = await person("ada@example.com");
  const { token } = await createResetLink(core, ada.id, COMMAND_LINE);
  const hash = t.rows("SELECT password_hash FROM users");
  const pending = resetPassword(core, token, "another pass phrase", ORIGIN);
  core.store.db.prepare("UPDATE users SET disabled_at = 1").run();
  await expect(pending).rejects.toMatchObject({ status: 403 });
  expect([t.rows("SELECT password_hash FROM users"), t.count("web_sessions")]).toEqual([hash, 0]);
});

it("are of one kind each: a token for one thing does nothing else", async () => {
  const { core, team, person } = await start();
  const ada = await person("ada@example.com");
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const reset = await createResetLink(core, ada.id, COMMAND_LINE);
  await expect(resetPassword(core, invitation.token, PASSWORD, ORIGIN)).rejects.toMatchObject({ status: 404 });
  await expect(acceptAsNew(core, reset.token, chosen("b@example.com"), ORIGIN)).rejects.toMatchObject({ status: 404 });
  for (const nonsense of ["", "rkl_", `${reset.token}0`, reset.token.slice(0, -1), "rkl_' OR 1=1 --"])
    expect(() => getLink(core, nonsense, "reset")).toThrow("not known");
});

it("invite the address they name and nobody else, however it is spelled", async () => {
  const { core, team, person } = await start();
  const invite = () =>
    createInvitation(core, { teamId: team.id, role: "admin", email: "Grace@Example.com" }, COMMAND_LINE);
  const mallory = await person("mallory@example.com");
  const first = await invite();
  await expect(acceptAs(core, first.token, mallory.id, actor(mallory.id))).rejects.toMatchObject({ status: 403 });
  await expect(acceptAsNew(core, first.token, chosen("eve@example.com"), ORIGIN)).rejects.toMatchObject({
    status: 403,
  });
  await acceptAsNew(core, first.token, chosen("grace@example.com"), ORIGIN);
  const grace = findUser(core, "GRACE@example.com");
  expect(roleIn(core, team.id, grace?.id as string)).toBe("admin");
  // An invitation never takes away a role that somebody has.
  await setRole(core, team.id, grace?.id as string, "owner", COMMAND_LINE);
  await acceptAs(core, (await invite()).token, grace?.id as string, actor(grace?.id as string));
  expect(roleIn(core, team.id, grace?.id as string)).toBe("owner");
});

it("for a new password are made only for those over whose account the team has power", async () => {
  const { t, core, team, person } = await start();
  const admin = await person("admin@example.com", "admin");
  const by = actor(admin.id);
  const make = (userId: string, role: Role = "admin") => createMemberResetLink(core, team.id, userId, by, role);
  const member = await person("member@example.com", "member");
  const owner = await person("owner@example.com", "owner");
  const stranger = await person("stranger@example.com");
  await expect(make(member.id)).resolves.toMatchObject({
    path: expect.stringMatching(/^\/reset-password#rkl_/),
  });
  await expect(make(member.id, "member")).rejects.toMatchObject({ status: 403 });
  await expect(make(owner.id)).rejects.toMatchObject({ status: 403 });
  await expect(make(owner.id, "owner")).resolves.toBeDefined();
  await expect(make(stranger.id)).rejects.toMatchObject({ status: 404 });
  await expect(make(admin.id)).rejects.toMatchObject({ status: 409 });
  const closed = await person("closed@example.com", "member");
  await setDisabled(core, closed.id, true, COMMAND_LINE);
  await expect(make(closed.id)).rejects.toMatchObject({ status: 409, message: expect.stringContaining("closed") });
  const made = t.count("one_time_links");
  // The account also opens another team.
  const other = await t.team();
  await setRole(core, other.id, member.id, "member", COMMAND_LINE);
  await expect(make(member.id, "owner")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("other teams"),
  });
  await setOperator(core, owner.id, true, COMMAND_LINE);
  await expect(make(owner.id, "owner")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("operator"),
  });
  // Somebody who uses single sign-on has no password for a team's admin to choose.
  const ada = await person("ada@example.com", "member");
  t.instance.core.store.db.prepare("UPDATE users SET password_hash = NULL WHERE id = ?").run(ada.id);
  await expect(make(ada.id, "owner")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("without a password: only an operator can make this link"),
  });
  expect(t.count("one_time_links")).toBe(made);
  await expect(createResetLink(core, ada.id, COMMAND_LINE)).resolves.toBeDefined();
  expect(
    t.rows("SELECT team_id FROM audit_events WHERE action = 'user.reset_link_made' AND team_id IS NOT NULL"),
  ).toEqual([{ team_id: team.id }, { team_id: team.id }]);
});

/** The result of using a link now. */
const useOf = (work: Promise<unknown>) =>
  work.then(
    () => 200,
    (error: { status: number }) => error.status,
  );

it("that reset a password end with their maker's rights, and do not grow with the account", async () => {
  const changes: [string, (of: { teamId: string; admin: string; ada: string }) => readonly [string, ...string[]]][] = [
    ["nothing", () => ["SELECT 1"]],
    ["the person became an owner", ({ ada }) => ["UPDATE memberships SET role = 'owner' WHERE user_id = ?", ada]],
    ["the person became operator", ({ ada }) => ["UPDATE users SET operator = 1 WHERE id = ?", ada]],
    ["the person left", ({ ada }) => ["DELETE FROM memberships WHERE user_id = ?", ada]],
    [
      "the person joined another team",
      ({ ada }) => [
        "INSERT INTO memberships (team_id, user_id, role, created_at) SELECT id, ?, 'member', 0 FROM teams WHERE name = 'Elsewhere'",
        ada,
      ],
    ],
    ["the maker was removed", ({ admin }) => ["DELETE FROM memberships WHERE user_id = ?", admin]],
    ["the maker became a member", ({ admin }) => ["UPDATE memberships SET role = 'member' WHERE user_id = ?", admin]],
    ["the maker's account was closed", ({ admin }) => ["UPDATE users SET disabled_at = 1 WHERE id = ?", admin]],
  ];
  for (const [what, change] of changes) {
    const { t, core, team, person } = await start();
    await t.team({ name: "Elsewhere" });
    const admin = await person("admin@example.com", "admin");
    const ada = await person("ada@example.com", "member");
    const { token } = await createMemberResetLink(core, team.id, ada.id, actor(admin.id), "admin");
    const [sql, ...parameters] = change({ teamId: team.id, admin: admin.id, ada: ada.id });
    const statement = core.store.db.prepare(sql);
    if (statement.reader) statement.all(...parameters);
    else statement.run(...parameters);
    const expected = what === "nothing" ? 200 : 410;
    expect([what, await useOf(resetPassword(core, token, "another pass phrase", ORIGIN))]).toEqual([what, expected]);
    expect([what, t.count("web_sessions")]).toEqual([what, expected === 200 ? 1 : 0]);
  }
});

it("that an operator made end with the operator's right; those of the command line depend on nobody", async () => {
  const { core, person } = await start();
  const [root, ada] = [await person("root@example.com"), await person("ada@example.com", "owner")];
  await setOperator(core, root.id, true, COMMAND_LINE);
  const { token } = await createResetLink(core, ada.id, actor(root.id));
  expect(getLink(core, token, "reset").userId).toBe(ada.id);
  await setOperator(core, root.id, false, COMMAND_LINE);
  expect(await useOf(resetPassword(core, token, "another pass phrase", ORIGIN))).toBe(410);
  const byCommand = await createResetLink(core, ada.id, COMMAND_LINE);
  expect(await useOf(resetPassword(core, byCommand.token, "another pass phrase", ORIGIN))).toBe(200);
});

it("that invite end with their maker's membership or rank, and are then no longer listed", async () => {
  const { core, team, person } = await start();
  const owner = await person("owner@example.com", "owner");
  const admin = await person("admin@example.com", "admin");
  const by = { ...actor(admin.id), label: "admin@example.com" };
  const { token } = await createInvitation(core, { teamId: team.id, role: "admin" }, by, "admin");
  expect(listInvitations(core, team.id).rows).toHaveLength(1);
  await removeMember(core, team.id, admin.id, actor(owner.id), "owner");
  expect(listInvitations(core, team.id).rows).toEqual([]);
  // A removed person lets neither themselves nor anybody else in again.
  expect(await useOf(acceptAs(core, token, admin.id, by))).toBe(410);
  expect(await useOf(acceptAsNew(core, token, chosen("new@example.com"), ORIGIN))).toBe(410);
  expect([roleIn(core, team.id, admin.id), findUser(core, "new@example.com")]).toEqual([undefined, undefined]);
  // An owner who is now an admin makes no more owners, but invitations with lower roles still work.
  const asOwner = { ...actor(owner.id), label: "owner@example.com" };
  await setRole(core, team.id, admin.id, "owner", COMMAND_LINE);
  const [makesOwner, makesMember] = [
    await createInvitation(core, { teamId: team.id, role: "owner" }, asOwner, "owner"),
    await createInvitation(core, { teamId: team.id, role: "member" }, asOwner, "owner"),
  ];
  await setRole(core, team.id, owner.id, "admin", COMMAND_LINE);
  expect(await useOf(acceptAsNew(core, makesOwner.token, chosen("o@example.com"), ORIGIN))).toBe(410);
  expect(await useOf(acceptAsNew(core, makesMember.token, chosen("m@example.com"), ORIGIN))).toBe(200);
});

it("leave the sign-in that they begin on the record, with its address", async () => {
  const { t, core, team } = await start();
  const { token } = (await createSetupLink(core)) as { token: string };
  await setUp(core, token, chosen("ada@example.com"), { takeOver: team.id }, ORIGIN);
  t.clock.advance(1);
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  await acceptAsNew(core, invitation.token, chosen("bob@example.com"), ORIGIN);
  const sessions = t.rows("SELECT id AS target_id, ip FROM web_sessions ORDER BY id");
  expect(
    t.rows("SELECT actor_label, target_id, ip FROM audit_events WHERE action = 'session.started' ORDER BY id"),
  ).toEqual(sessions.map((one, at) => ({ actor_label: ["ada@example.com", "bob@example.com"][at], ...one })));
  expect(sessions).toHaveLength(2);
});

it("take twenty forms a minute each, so that an invitation does not reveal accounts, and block no other link", async () => {
  const { t, core, team, person } = await start();
  await person("ada@example.com");
  const [one, other] = [
    await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE),
    await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE),
  ];
  const accept = (token: string) => useOf(acceptAsNew(core, token, chosen("ada@example.com"), ORIGIN));
  const seen: number[] = [];
  for (let i = 0; i < 21; i++) seen.push(await accept(one.token));
  expect(seen).toEqual([...Array(20).fill(409), 429]);
  expect(await accept(other.token)).toBe(409);
  t.clock.advance(3_000);
  expect(await useOf(acceptAsNew(core, one.token, chosen("bob@example.com"), ORIGIN))).toBe(200);
  expect(t.count("users")).toBe(2);
});

it("open no account with a password where passwords are for operators alone", async () => {
  const t = await startInstance({ settings: { passwords: "operators" } });
  const { core } = t.instance;
  const [ada, root] = [
    await makeAccount(core, { email: "ada@example.com" }),
    await makeAccount(core, { email: "root@example.com", operator: true }),
  ];
  const use = async (id: string) =>
    resetPassword(core, (await createResetLink(core, id, COMMAND_LINE)).token, "plough-the-south-field", ORIGIN);
  await expect(use(ada.id)).rejects.toMatchObject({ status: 403, message: expect.stringContaining("single sign-on") });
  expect([t.count("web_sessions"), findUser(core, ada.id)?.passwordHash]).toEqual([0, ada.passwordHash]);
  expect(await use(root.id)).toMatchObject({ session: expect.stringMatching(/^rks_/) });
});

it("make no account with a password where passwords are for operators alone", async () => {
  const { t, core, team } = await startWithTeam({ settings: { passwords: "operators" } });
  for (const email of [null, "ada@example.com"]) {
    const { token } = await createInvitation(core, { teamId: team.id, role: "owner", email }, COMMAND_LINE);
    await expect(acceptAsNew(core, token, chosen("ada@example.com"), ORIGIN)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining("single sign-on"),
    });
    expect(getLink(core, token, "invitation").usedAt).toBeNull();
  }
  expect([t.count("users"), t.count("memberships"), t.count("web_sessions")]).toEqual([0, 0, 0]);
});

it("have expired where a clock made them that was a year ahead", async () => {
  const { t, core, team } = await start();
  t.clock.jump(365 * 86_400_000);
  const { token } = await createInvitation(core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  t.clock.jump(-60_000);
  expect(getLink(core, token, "invitation")).toMatchObject({ teamId: team.id });
  t.clock.jump(-365 * 86_400_000);
  expect(() => getLink(core, token, "invitation")).toThrow("has expired");
});
