import { expect, it } from "vitest";
import {
  listMembers,
  pageOfMembers,
  ROLES,
  type Role,
  removeMember,
  roleIn,
  setRole,
} from "../../../src/identity/members/members.ts";
import { createInvitation } from "../../../src/identity/one-time-links/one-time-links.ts";
import { setOperator } from "../../../src/identity/people/people.ts";
import { setDisabled } from "../../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { makeAccount } from "../../support/accounts.ts";
import { startWithTeam } from "../../support/instance.ts";
import { turnsOfOthers } from "../../support/others.ts";

async function start() {
  const { t, core, team } = await startWithTeam();
  const person = async (email: string, role: Role) =>
    (await makeAccount(core, { email, team: { id: team.id, role } })).id;
  return { t, core, team, person };
}

const by = (id: string) => ({ kind: "user", id, label: id, ip: null }) as const;
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { status: number }) => error.status,
  );

it("may do to each other what their roles allow, and nothing more", async () => {
  const { core, team, person } = await start();
  const first = await person("first@example.com", "owner");
  const actors = {
    owner: first,
    admin: await person("a@example.com", "admin"),
    member: await person("m@example.com", "member"),
    viewer: await person("v@example.com", "viewer"),
    own_only: await person("o@example.com", "own_only"),
  };
  const seen: Record<string, unknown> = {};
  let made = 0;
  for (const actor of ROLES)
    for (const subject of ROLES) {
      for (const wanted of ROLES) {
        if (wanted === subject) continue;
        const id = await person(`s${++made}@example.com`, subject);
        seen[`${actor} makes ${subject} ${wanted}`] = await outcome(
          setRole(core, team.id, id, wanted, by(actors[actor]), actor),
        );
        const now = roleIn(core, team.id, id);
        expect(now).toBe(seen[`${actor} makes ${subject} ${wanted}`] === "done" ? wanted : subject);
      }
      const id = await person(`r${++made}@example.com`, subject);
      seen[`${actor} removes ${subject}`] = await outcome(removeMember(core, team.id, id, by(actors[actor]), actor));
      seen[`${actor} invites ${subject}`] = await outcome(
        createInvitation(core, { teamId: team.id, role: subject }, by(actors[actor]), actor),
      );
    }
  const allowed = Object.keys(seen).filter((what) => seen[what] === "done");
  const below = ROLES.filter((role) => role !== "owner");
  const ofRole = (actor: Role, roles: readonly Role[]) =>
    roles.flatMap((subject) => [
      ...roles.filter((wanted) => wanted !== subject).map((wanted) => `${actor} makes ${subject} ${wanted}`),
      `${actor} removes ${subject}`,
      `${actor} invites ${subject}`,
    ]);
  expect(allowed.sort()).toEqual([...ofRole("owner", ROLES), ...ofRole("admin", below)].sort());
  for (const [what, how] of Object.entries(seen)) if (how !== "done") expect([what, how]).toEqual([what, 403]);
});

it("may leave, whatever their role, unless they are the only owner", async () => {
  const { core, team, person } = await start();
  const owner = await person("owner@example.com", "owner");
  const member = await person("member@example.com", "member");
  expect(await outcome(removeMember(core, team.id, owner, by(owner), "owner"))).toBe(409);
  expect(await outcome(setRole(core, team.id, owner, "admin", by(owner), "owner"))).toBe(409);
  expect(await outcome(removeMember(core, team.id, member, by(member), "member"))).toBe("done");
  const second = await person("second@example.com", "owner");
  expect(await outcome(removeMember(core, team.id, owner, by(owner), "owner"))).toBe("done");
  expect((await listMembers(core, team.id)).map(({ userId }) => userId)).toEqual([second]);
});

it("get no role from an owner of a team that they are not in", async () => {
  const { t, core, team, person } = await start();
  const owner = await person("owner@example.com", "owner");
  const { id: elsewhere } = await t.team({ name: "Elsewhere" });
  const stranger = await makeAccount(core, { email: "stranger@example.com", team: { id: elsewhere, role: "member" } });
  expect(await outcome(setRole(core, team.id, stranger.id, "admin", by(owner), "owner"))).toBe(404);
  expect(await outcome(removeMember(core, team.id, stranger.id, by(owner), "owner"))).toBe(404);
  expect([roleIn(core, team.id, stranger.id), roleIn(core, elsewhere, stranger.id)]).toEqual([undefined, "member"]);
});

it("are removed together with what is to end alongside, or not at all", async () => {
  const { core, team, person } = await start();
  const owner = await person("owner@example.com", "owner");
  const member = await person("member@example.com", "member");
  const failing = removeMember(core, team.id, member, by(owner), "owner", () => {
    throw new Error("not revoked");
  });
  await expect(failing).rejects.toThrow("not revoked");
  expect(roleIn(core, team.id, member)).toBe("member");
});

it("count as owners only while their account is open, and a closed one can be removed", async () => {
  const { core, team, person } = await start();
  const open = await person("open@example.com", "owner");
  const closed = await person("closed@example.com", "owner");
  await setDisabled(core, closed, true, COMMAND_LINE);
  expect(await outcome(removeMember(core, team.id, open, by(open), "owner"))).toBe(409);
  expect(await outcome(removeMember(core, team.id, closed, by(open), "owner"))).toBe("done");
});

it("are found by part of an address or a name, without wildcards", async () => {
  const { core, team, person } = await start();
  await person("ada_l@example.com", "owner");
  await person("adaxl@example.com", "member");
  const found = async (text: string) => (await listMembers(core, team.id, text)).map(({ email }) => email);
  expect(await found("ADA")).toEqual(["ada_l@example.com", "adaxl@example.com"]);
  expect(await found("a_l")).toEqual(["ada_l@example.com"]);
  expect([await found("%"), await found("\\")]).toEqual([[], []]);
});

it("are listed by role and address, beyond the number read at once, while others get their turn", async () => {
  const { t, core, team } = await start();
  const fill = (sql: string) =>
    core.store.db.prepare(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6500) ${sql}`);
  const name = "printf('p%04d', i * 1103 % 6500)";
  fill(`INSERT INTO users (id, email, email_key, operator, created_at)
        SELECT 'usr_' || i, ${name} || '@Example.com', ${name} || '@example.com', 0, 1 FROM n`).run();
  fill(`INSERT INTO memberships (team_id, user_id, role, created_at)
        SELECT ?, 'usr_' || i, iif(i % 100 = 7, 'admin', iif(i % 1000 = 1, 'owner', 'viewer')), 1 FROM n`).run(team.id);
  const expected = (where: string, most = 200) =>
    t.rows(
      `SELECT email FROM memberships JOIN users ON id = user_id WHERE team_id = ? AND ${where}
       ORDER BY instr('owner admin member viewer', role), email_key LIMIT ?`,
      team.id,
      most,
    );
  const { turns, done } = await turnsOfOthers(core, () => listMembers(core, team.id));
  expect(done.map(({ email }) => ({ email }))).toEqual(expected("1"));
  expect(turns).toBe(4);
  for (const text of ["P1", "99@", "nobody"]) {
    const found = await listMembers(core, team.id, text);
    expect(found.map(({ email }) => ({ email }))).toEqual(expected(`email_key LIKE '%${text}%'`));
  }
  const paged: { email: string }[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof pageOfMembers>> = await pageOfMembers(core, team.id, "7", after);
    paged.push(...page.rows.map(({ email }) => ({ email })));
    after = page.next;
  }
  expect(paged.length).toBeGreaterThan(1_000);
  expect(paged).toEqual(expected("email_key LIKE '%7%'", -1));
});

it("leave the installation its last operator, but a closed operator can be let go", async () => {
  const { core, person } = await start();
  const one = await person("one@example.com", "owner");
  const two = await person("two@example.com", "member");
  await setOperator(core, one, true, COMMAND_LINE);
  expect(await outcome(setOperator(core, one, false, by(one)))).toBe(409);
  expect(await outcome(setDisabled(core, one, true, by(one)))).toBe(409);
  await setOperator(core, two, true, COMMAND_LINE);
  await setDisabled(core, two, true, COMMAND_LINE);
  expect(await outcome(setOperator(core, one, false, by(one)))).toBe(409);
  expect(await outcome(setOperator(core, two, false, by(one)))).toBe("done");
  // Whoever has the data directory may do anything.
  expect(await outcome(setOperator(core, one, false, COMMAND_LINE))).toBe("done");
});
