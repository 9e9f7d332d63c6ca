import { expect, it } from "vitest";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { roleIn, setRole } from "../../src/identity/members/members.ts";
import { createInvitation, revokeInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "../support/accounts.ts";
import { PASSWORD, sendForm, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

const HOSTILE = `<img src=x onerror="document.title='owned'">`;

/** A link's token as the page shows it, and only there. */
const shown = async (page: { locator(selector: string): { textContent(): Promise<string | null> } }) =>
  (await page.locator(".secret-value").textContent()) as string;

it("invites somebody by a link shown once, which the list knows and can take back", async () => {
  const { site, core, person: owner } = await startSiteOf({ name: "Ada Lovelace" });
  const { page, go, judge } = await site.open(owner);
  await go("/people");
  await judge("people-alone");
  await page.getByLabel("Admin").check();
  await page.getByLabel("E-mail address").fill("grace@example.com");
  await page.getByRole("button", { name: "Make the invitation" }).click();
  await page.getByRole("heading", { name: "The invitation is made" }).waitFor();
  await judge("people-invited");
  const link = await shown(page);
  expect(link.startsWith(`${site.url}/invitation#rkl_`)).toBe(true);
  await page.getByRole("link", { name: "Done" }).click();
  expect(await page.content()).not.toContain("rkl_");
  await page.getByRole("rowheader", { name: "grace@example.com" }).waitFor();
  expect(site.t.rows("SELECT kind, role, email FROM one_time_links")).toEqual([
    { kind: "invitation", role: "admin", email: "grace@example.com" },
  ]);

  await createInvitation(core, { teamId: owner.team.id, role: "member" }, COMMAND_LINE);
  await go("/people");
  await page
    .getByRole("row", { name: /whoever has the link/ })
    .getByText("Revoke", { exact: true })
    .click();
  await page.getByRole("button", { name: "Revoke invitation" }).click();
  await page.getByText("The invitation is revoked.").waitFor();
  expect(site.t.rows("SELECT email FROM one_time_links WHERE revoked_at IS NULL")).toEqual([
    { email: "grace@example.com" },
  ]);
  const guest = await site.open();
  await guest.go(new URL(link).pathname + new URL(link).hash);
  await guest.page.getByRole("heading", { name: "Join" }).waitFor();
  expect(await guest.page.getByRole("heading").first().textContent()).toBe(`Join ${owner.team.name}`);
  expect(
    site.t.rows(
      "SELECT action, actor_label, ip FROM audit_events WHERE action LIKE 'invitation.%' AND actor_kind = 'user'",
    ),
  ).toEqual([
    { action: "invitation.made", actor_label: owner.email, ip: "127.0.0.1" },
    { action: "invitation.revoked", actor_label: owner.email, ip: "127.0.0.1" },
  ]);
});

it("lists invitations beyond the first two hundred, and takes the oldest back", async () => {
  const { site, core, person: owner } = await startSiteOf();
  const { id: teamId } = owner.team;
  for (let i = 0; i <= 200; i++) {
    await createInvitation(core, { teamId, role: "member", email: `p${i}@example.com` }, COMMAND_LINE, "owner");
    site.t.clock.advance(1_000);
  }
  const { page, go } = await site.open(owner);
  await go("/people");
  expect(await page.getByText("p0@example.com").count()).toBe(0);
  await page.getByRole("link", { name: "Older" }).click();
  const row = page.locator("tr").filter({ hasText: "p0@example.com" });
  await row.locator("summary").click();
  await row.getByRole("button", { name: "Revoke invitation" }).click();
  await page.getByText("The invitation is revoked.").waitFor();
  expect(site.t.rows("SELECT email FROM one_time_links WHERE revoked_at IS NOT NULL")).toEqual([
    { email: "p0@example.com" },
  ]);
  expect(await page.getByRole("link", { name: "Older" }).count()).toBe(0);
});

it("pages through invitations while others are made and taken back: none twice, none lost", async () => {
  const { site, core, person: owner } = await startSiteOf();
  const { id: teamId } = owner.team;
  const invite = (name: string) =>
    createInvitation(core, { teamId, role: "member", email: `${name}@example.com` }, COMMAND_LINE, "owner");
  // All within one millisecond, as when a script invites a whole company.
  const made = await Promise.all(Array.from({ length: 450 }, (_, i) => invite(`p${i}`)));
  const { page, go } = await site.open(owner);
  await go("/people");
  const listed = async () =>
    (await page.locator("#invitations tbody th").allTextContents()).filter((text) => text.endsWith("@example.com"));
  const pages = [await listed()];
  for (const name of ["late", "later"]) {
    await invite(name);
    await revokeInvitation(core, teamId, made[name === "late" ? 449 : 448]?.id ?? "", COMMAND_LINE);
    await revokeInvitation(core, teamId, made[name === "late" ? 447 : 446]?.id ?? "", COMMAND_LINE);
    await page.getByRole("link", { name: "Older" }).click();
    pages.push(await listed());
  }
  expect(pages.map(({ length }) => length)).toEqual([200, 200, 50]);
  expect(new Set(pages.flat()).size).toBe(450);
  await page.getByRole("link", { name: "Newer" }).click();
  expect(await listed()).toEqual(pages[1]);
});

it("changes roles, makes reset links and removes people", async () => {
  const { site, core, person: owner } = await startSiteOf({ name: "Ada Lovelace" });
  const member = await site.person({ role: "member", team: owner.team, email: "bob@example.com", name: HOSTILE });
  const { page, go, judge } = await site.open(owner);
  await go("/people");
  await judge("people");
  await page.getByRole("link", { name: /Manage bob@example\.com/ }).click();
  await page.getByLabel("Admin").check();
  await judge("people-person");
  expect(await page.title()).not.toBe("owned");
  await page.getByRole("button", { name: "Change the role" }).click();
  await page.getByText("bob@example.com has the role “admin” now.").waitFor();
  expect(roleIn(core, owner.team.id, member.userId)).toBe("admin");

  await go(`/people/${member.userId}`);
  await page.getByText("Make a reset link").click();
  await page.getByRole("button", { name: "Make the link" }).click();
  await page.getByRole("heading", { name: "The reset link is made" }).waitFor();
  const link = new URL(await shown(page));
  const bob = await site.open();
  await bob.go(link.pathname + link.hash);
  await bob.page.getByLabel("Password", { exact: true }).fill(`${PASSWORD}-2`);
  await bob.page.getByLabel("The password again").fill(`${PASSWORD}-2`);
  await bob.page.getByRole("button", { name: "Change the password" }).click();
  await bob.page.waitForURL("**/overview");

  await go(`/people/${member.userId}`);
  await page.getByText("Remove", { exact: true }).click();
  await page.getByRole("button", { name: "Remove from the team" }).click();
  await page.getByText("bob@example.com is no longer in the team.").waitFor();
  expect(roleIn(core, owner.team.id, member.userId)).toBeUndefined();
  // They are gone from the team, whatever page they had open.
  await bob.go("/people", 403);
  expect(
    site.t.rows(
      "SELECT action, target_label FROM audit_events WHERE actor_id = ? AND team_id = ?",
      owner.userId,
      owner.team.id,
    ),
  ).toEqual([
    { action: "member.role_changed", target_label: "bob@example.com" },
    { action: "user.reset_link_made", target_label: "bob@example.com" },
    { action: "member.removed", target_label: "bob@example.com" },
  ]);
});

it("lists the machines of a member, and revokes those of this team alone with the member's removal", async () => {
  const { site, core, person: owner } = await startSiteOf({ email: "ada@example.com" });
  const bob = await site.person({ role: "member", team: owner.team, email: "bob@example.com" });
  const other = await site.t.team();
  await setRole(core, other.id, bob.userId, "member", COMMAND_LINE);
  const connect = async (teamId: string, label: string) => {
    const { code } = await createCode(core, teamId, COMMAND_LINE, undefined, bob.userId);
    return (await bindDevice(core, code, "1", label)).deviceToken;
  };
  const [here, there] = [await connect(owner.team.id, HOSTILE), await connect(other.id, "canary")];
  const { page, go, judge } = await site.open(owner);
  await go(`/people/${bob.userId}`);
  await judge("people-person-machines");
  const machines = page.getByRole("table", { name: "Machines that report" });
  expect(await machines.getByRole("rowheader").allTextContents()).toEqual([HOSTILE]);
  await page.locator("summary", { hasText: "Remove, and revoke 1 machine" }).click();
  await page.getByRole("button", { name: "Remove and revoke" }).click();
  await page.getByText("bob@example.com is no longer in the team, and the machines are revoked.").waitFor();
  const heartbeat = async (token: string) => (await site.t.post("/api/telemetry/heartbeat", { token })).status;
  expect([await heartbeat(here), await heartbeat(there)]).toEqual([401, 200]);
  expect(site.t.rows("SELECT actor_label, team_id FROM audit_events WHERE action = 'device.revoked'")).toEqual([
    { actor_label: "ada@example.com", team_id: owner.team.id },
  ]);
});

it("works without JavaScript: an invitation, and removing somebody with its question", async () => {
  const { site, person: owner } = await startSiteOf();
  const member = await site.person({ role: "member", team: owner.team, email: "bob@example.com" });
  const { page, go } = await site.open(owner, { javaScript: false });
  await go("/people");
  await page.getByRole("button", { name: "Make the invitation" }).click();
  expect(await shown(page)).toContain("/invitation#rkl_");
  await go(`/people/${member.userId}`);
  await page.locator("summary", { hasText: "Remove" }).click();
  await page.getByRole("button", { name: "Remove from the team" }).click();
  await page.getByText("bob@example.com is no longer in the team.").waitFor();
  expect(site.t.count("memberships")).toBe(1);
});

it("shows members the list and nothing to change", async () => {
  const { site, person: owner } = await startSiteOf();
  const member = await site.person({ role: "member", team: owner.team });
  const { page, go, judge } = await site.open(member);
  await go("/people");
  await judge("people-member");
  expect([await page.getByText("Invite somebody").count(), await page.getByText("Manage").count()]).toEqual([0, 0]);
});

it.for(["member", "viewer", "own_only"] as const)(
  "lets somebody with the role %s leave, under their account",
  async (role) => {
    const { site, person: owner } = await startSiteOf();
    const { page, go } = await site.open(await site.person({ role, team: owner.team }));
    await go("/account");
    await page.locator("summary", { hasText: "Leave the team" }).click();
    await page.getByRole("button", { name: "Leave the team" }).click();
    await page.getByText(`You left ${owner.team.name}.`).waitFor();
    expect(site.t.rows("SELECT user_id FROM memberships")).toEqual([{ user_id: owner.userId }]);
  },
);

it("keeps owners from admins, the last owner in place, and people of other teams unseen", async () => {
  const { site, core, person: owner } = await startSiteOf();
  const admin = await site.person({ role: "admin", team: owner.team });
  const foreign = await site.person();
  const foreignLink = await createInvitation(core, { teamId: foreign.team.id, role: "member" }, COMMAND_LINE);
  for (const [person, path, fields, status] of [
    [admin, `/people/${owner.userId}/role`, { role: "member" }, 403],
    [admin, `/people/${owner.userId}/remove`, {}, 403],
    [admin, `/people/${owner.userId}/reset-link`, {}, 403],
    [admin, `/people/${admin.userId}/role`, { role: "owner" }, 403],
    [admin, "/people/invitations", { role: "owner" }, 403],
    [owner, "/people/invitations", { role: "king" }, 400],
    [owner, "/people/invitations", { role: "member", email: "no address" }, 400],
    [owner, `/people/${owner.userId}/role`, { role: "member" }, 409],
    [owner, "/people/leave", {}, 409],
    [owner, `/people/${foreign.userId}/role`, { role: "member" }, 404],
    [owner, `/people/${foreign.userId}/remove`, {}, 404],
    [owner, `/people/${foreign.userId}/reset-link`, {}, 404],
    [owner, `/people/invitations/${foreignLink.id}/revoke`, {}, 404],
  ] as const)
    expect([path, fields, (await sendForm(site, person, path, fields)).status]).toEqual([path, fields, status]);
  const seen = await fetch(`${site.url}/people/${foreign.userId}`, { headers: { cookie: owner.cookie } });
  expect([seen.status, (await seen.text()).includes(foreign.email)]).toEqual([404, false]);
  expect([
    site.t.count("memberships"),
    site.t.rows("SELECT count(*) AS n FROM one_time_links WHERE revoked_at IS NULL"),
  ]).toEqual([3, [{ n: 1 }]]);
  expect([roleIn(core, owner.team.id, owner.userId), roleIn(core, owner.team.id, admin.userId)]).toEqual([
    "owner",
    "admin",
  ]);
});

it("lets an operator reset whoever is in the team, and nobody else an operator", async () => {
  const { site, person: owner } = await startSiteOf();
  const operator = await site.person({ role: "admin", team: owner.team, operator: true });
  expect((await sendForm(site, owner, `/people/${operator.userId}/reset-link`)).status).toBe(403);
  expect((await sendForm(site, operator, `/people/${owner.userId}/reset-link`)).status).toBe(200);
  expect(site.t.rows("SELECT user_id FROM one_time_links")).toEqual([{ user_id: owner.userId }]);
});

it("shows a large team page by page, and finds people while one types", async () => {
  const { site, core, person: owner } = await startSiteOf({ email: "owner@example.com" });
  const { id } = await makeAccount(core, { email: "template@example.com" });
  await core.store.write(() => {
    for (let i = 0; i < 300; i++) {
      core.store.db
        .prepare("INSERT INTO users SELECT ?, ?, ?, name, password_hash, 0, created_at, NULL FROM users WHERE id = ?")
        .run(`usr_${i}`, `person-${i}@example.com`, `person-${i}@example.com`, id);
      core.store.db.prepare("INSERT INTO memberships VALUES (?, ?, 'member', 0, NULL)").run(owner.team.id, `usr_${i}`);
    }
  });
  const { page, go } = await site.open(owner);
  await go("/people");
  expect(await page.locator("#people tbody tr").count()).toBe(200);
  await page.getByRole("link", { name: "Next →" }).click();
  await page.waitForURL("**/people?after=*");
  expect(await page.locator("#people tbody tr").count()).toBe(101);
  expect(await page.locator("#people tbody tr").last().textContent()).toContain("person-9@example.com");
  await page.getByRole("link", { name: "First" }).click();
  await page.getByText("owner@example.com").first().waitFor();
  await page.getByLabel("Name or address").fill("person-2");
  await page.locator("#people[data-count='111']").waitFor();
  await page.getByLabel("Name or address").fill("person-299");
  await page.locator("#people[data-count='1']").waitFor();
  expect(await page.locator("#people tbody tr").textContent()).toContain("person-299@example.com");
  await page.getByLabel("Name or address").fill("nobody-like-this");
  await page.getByText("Nobody of that name").waitFor();
});

it("keeps a long name within the page on a phone", async () => {
  const { site, person: ada } = await startSiteOf({ name: "Überlänge".repeat(10) });
  const { page, go } = await site.open(ada);
  await page.setViewportSize({ width: 390, height: 844 });
  await go(`/people/${ada.userId}`);
  const over = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  expect(over).toBeLessThanOrEqual(0);
});

it("shows of somebody's many machines those that were heard of last, and how many more there are", async () => {
  const { site, core, person: owner } = await startSiteOf({ email: "ada@example.com" });
  const bob = await site.person({ role: "member", team: owner.team, email: "bob@example.com" });
  core.store.db
    .prepare(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1250)
       INSERT INTO devices (id, team_id, label, consent_version, created_at, last_seen_at, person_id)
       SELECT 'dev_' || i, ?, 'job-' || i, '1', i, i * 1000, ? FROM n`,
    )
    .run(owner.team.id, bob.userId);
  const { page, go, judge } = await site.open(owner);
  await go(`/people/${bob.userId}`);
  await judge("people-person-many-machines");
  const names = await page
    .getByRole("table", { name: "Machines that report" })
    .getByRole("rowheader")
    .allTextContents();
  expect([names.length, names[0], names.at(-1)]).toEqual([100, "job-1250", "job-1151"]);
  await page.getByText("1,150 more, which were not seen since.").waitFor();
  await page.getByText("Remove, and revoke 1,250 machines").waitFor();
});
