import { expect, it } from "vitest";
import {
  acceptAs,
  acceptAsNew,
  createInvitation,
  createMemberResetLink,
  createResetLink,
  createSetupLink,
  createUser,
  findUser,
  getLink,
  listInvitations,
  type Role,
  resetPassword,
  revokeInvitation,
  roleIn,
  setDisabled,
  setOperator,
  setRole,
  setUp,
} from "../../../src/accounts/accounts.ts";
import { LINK_LIFETIME_MS } from "../../../src/accounts/links.ts";
import { COMMAND_LINE } from "../../../src/audit/audit.ts";
import { startInstance } from "../../support/instance.ts";

const PASSWORD = "plough-the-north-field";
const ORIGIN = { ip: "192.0.2.1", userAgent: null };
const chosen = (email: string) => ({ email, name: null, password: PASSWORD });
const actor = (id: string) => ({ kind: "user", id, label: "admin@example.com", ip: null }) as const;

async function start() {
  const t = await startInstance();
  const team = await t.team();
  const { core } = t.instance;
  const person = (email: string, role?: Role) =>
    createUser(core, { email, password: PASSWORD, ...(role ? { team: { id: team.id, role } } : {}) });
  return { t, core, team, person };
}

it("work once: of twenty uses at the same time one wins", async () => {
  const { t, core, team } = await start();
  const { token } = await createInvitation(core, { teamId: team.id, role: "member" });
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => acceptAsNew(core, token, chosen(`person${i}@example.com`), ORIGIN)),
  );
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const one of results)
    if (one.status === "rejected")
      expect(one.reason).toMatchObject({ status: 410, message: expect.stringContaining("used") });
  expect([t.count("users"), t.count("memberships"), t.count("sessions")]).toEqual([1, 1, 1]);
});

it("make one operator, whichever of several set-ups comes first", async () => {
  const { t, core } = await start();
  const link = await createSetupLink(core);
  const results = await Promise.allSettled(
    Array.from({ length: 5 }, (_, i) =>
      setUp(core, link?.token as string, chosen(`person${i}@example.com`), `Team of ${i}`, ORIGIN),
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

it("expire, each kind after its time", async () => {
  const { t, core, team, person } = await start();
  const setup = await createSetupLink(core);
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" });
  const reset = await createResetLink(core, (await person("ada@example.com")).id);
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
  expect(listInvitations(core, team.id)).toEqual([]);
  await expect(resetPassword(core, reset.token, "another pass phrase", ORIGIN)).rejects.toMatchObject({ status: 410 });
});

it("are taken back by revoking, by a newer one of their kind, and by closing the account", async () => {
  const { core, team, person } = await start();
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" });
  const [open] = listInvitations(core, team.id);
  await expect(revokeInvitation(core, "team_other", open?.id as string, COMMAND_LINE)).rejects.toMatchObject({
    status: 404,
  });
  await revokeInvitation(core, team.id, open?.id as string, COMMAND_LINE);
  await expect(acceptAsNew(core, invitation.token, chosen("bob@example.com"), ORIGIN)).rejects.toMatchObject({
    status: 410,
  });
  const ada = await person("ada@example.com");
  const first = await createResetLink(core, ada.id);
  const second = await createResetLink(core, ada.id);
  expect(() => getLink(core, first.token, "reset")).toThrow("taken back");
  expect(getLink(core, second.token, "reset").userId).toBe(ada.id);
  await setDisabled(core, ada.id, true);
  await setDisabled(core, ada.id, false);
  await expect(resetPassword(core, second.token, "another pass phrase", ORIGIN)).rejects.toMatchObject({ status: 410 });
});

it("do not reopen an account that is closed while the new password is being hashed", async () => {
  const { t, core, person } = await start();
  const ada = await person("ada@example.com");
  const { token } = await createResetLink(core, ada.id);
  const hash = t.rows("SELECT password_hash FROM users");
  const pending = resetPassword(core, token, "another pass phrase", ORIGIN);
  core.store.db.prepare("UPDATE users SET disabled_at = 1").run();
  await expect(pending).rejects.toMatchObject({ status: 403 });
  expect([t.rows("SELECT password_hash FROM users"), t.count("sessions")]).toEqual([hash, 0]);
});

it("are of one kind each: a token for one thing does nothing else", async () => {
  const { core, team, person } = await start();
  const ada = await person("ada@example.com");
  const invitation = await createInvitation(core, { teamId: team.id, role: "member" });
  const reset = await createResetLink(core, ada.id);
  await expect(resetPassword(core, invitation.token, PASSWORD, ORIGIN)).rejects.toMatchObject({ status: 404 });
  await expect(acceptAsNew(core, reset.token, chosen("b@example.com"), ORIGIN)).rejects.toMatchObject({ status: 404 });
  for (const nonsense of ["", "rkl_", `${reset.token}0`, reset.token.slice(0, -1), "rkl_' OR 1=1 --"])
    expect(() => getLink(core, nonsense, "reset")).toThrow("not known");
});

it("invite the address they name and nobody else, however it is spelled", async () => {
  const { core, team, person } = await start();
  const invite = () => createInvitation(core, { teamId: team.id, role: "admin", email: "Grace@Example.com" });
  const mallory = await person("mallory@example.com");
  const first = await invite();
  await expect(acceptAs(core, first.token, mallory.id, actor(mallory.id))).rejects.toMatchObject({ status: 403 });
  await expect(acceptAsNew(core, first.token, chosen("eve@example.com"), ORIGIN)).rejects.toMatchObject({
    status: 403,
  });
  await acceptAsNew(core, first.token, chosen("grace@example.com"), ORIGIN);
  const grace = findUser(core, "GRACE@example.com");
  expect(roleIn(core, team.id, grace?.id as string)).toBe("admin");
  // An invitation never takes away what somebody is already.
  await setRole(core, team.id, grace?.id as string, "owner");
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
    path: expect.stringMatching(/^\/reset-password\?token=rkl_/),
  });
  await expect(make(member.id, "member")).rejects.toMatchObject({ status: 403 });
  await expect(make(owner.id)).rejects.toMatchObject({ status: 403 });
  await expect(make(owner.id, "owner")).resolves.toBeDefined();
  await expect(make(stranger.id)).rejects.toMatchObject({ status: 404 });
  await expect(make(admin.id)).rejects.toMatchObject({ status: 409 });
  const made = t.count("account_links");
  // The account opens more than this team.
  const other = await t.team();
  await setRole(core, other.id, member.id, "member");
  await expect(make(member.id, "owner")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("other teams"),
  });
  await setOperator(core, owner.id, true);
  await expect(make(owner.id, "owner")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("operator"),
  });
  expect(t.count("account_links")).toBe(made);
  expect(t.rows("SELECT team_id FROM audit_events WHERE action = 'user.reset_link_made'")).toEqual([
    { team_id: team.id },
    { team_id: team.id },
  ]);
});
