import { expect, it } from "vitest";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { addIssuer } from "../../src/identity/sso/sso.ts";
import { createTeam, updateTeam } from "../../src/identity/teams/teams.ts";
import { findSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { makeAccount } from "../support/accounts.ts";
import { PASSWORD, sendForm, startSite, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

const HOSTILE = `<script>document.title='owned'</script>`;

it("makes, changes, suspends and restores teams", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true });
  const { page, go, judge } = await site.open(operator);
  await go("/settings/teams");
  await page.getByLabel("Name", { exact: true }).fill(HOSTILE);
  await page.getByLabel("Seats").fill("12");
  await page.getByRole("button", { name: "Make the team" }).click();
  await page.getByRole("heading", { level: 1, name: HOSTILE }).waitFor();
  const made = site.t.rows("SELECT id, tier, seats FROM teams WHERE name = ?", HOSTILE)[0];
  expect(made).toMatchObject({ tier: "team", seats: 12 });
  expect(findSession(core, operator.token)?.teams).toContainEqual({ id: made.id, name: HOSTILE, role: "owner" });
  await judge("settings-team");
  await page.getByLabel("Name", { exact: true }).fill("Engine");
  await page.getByLabel("Tier").selectOption("enterprise");
  await page.getByLabel("Subscription").selectOption("past_due");
  await page.getByLabel("Paid until").fill("2027-01-31");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const row = () =>
    site.t.rows(
      "SELECT name, tier, seats, subscription, period_end_at AS until, suspended_at IS NOT NULL AS suspended FROM teams WHERE id = ?",
      made.id,
    )[0];
  expect(row()).toEqual({
    name: "Engine",
    tier: "enterprise",
    seats: 12,
    subscription: "past_due",
    until: Date.UTC(2027, 0, 31),
    suspended: 0,
  });
  await page.getByLabel("Tier").selectOption({ label: "none: agents can send nothing" });
  await page.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => row().tier).toBe("none");
  await page.locator("summary", { hasText: "Suspend" }).click();
  await page.getByRole("button", { name: "Suspend the team" }).click();
  await page.getByText("“Engine” is suspended.").waitFor();
  expect(row().suspended).toBe(1);
  await page.locator("summary", { hasText: "Restore" }).click();
  await page.getByRole("button", { name: "Restore the team" }).click();
  await page.getByText("“Engine” is restored.").waitFor();
  expect(row().suspended).toBe(0);
  await go("/settings/teams");
  await judge("settings-teams");
  await page.getByLabel("Name", { exact: true }).fill("Engine");
  await page.getByRole("button", { name: "Make the team" }).click();
  expect(await page.getByRole("alert").textContent()).toBe(
    'There is a team named "Engine" already: choose another name.',
  );
  expect(
    site.t.rows(
      "SELECT actor_label, action FROM audit_events WHERE team_id = ? AND action LIKE 'team.%' ORDER BY id",
      made.id,
    ),
  ).toEqual([
    { actor_label: operator.email, action: "team.created" },
    { actor_label: operator.email, action: "team.changed" },
    { actor_label: operator.email, action: "team.changed" },
    { actor_label: operator.email, action: "team.changed" },
    { actor_label: operator.email, action: "team.changed" },
  ]);
});

it("gives a team without an owner one again, by an invitation, without JavaScript", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  const team = await createTeam(site.t.instance.core, "Orphan", COMMAND_LINE);
  const { page, go } = await site.open(operator, { javaScript: false });
  await go(`/settings/teams/${team.id}`);
  await page.getByText("Nobody is in this team").waitFor();
  await page.getByLabel("E-mail address").fill("grace@example.com");
  await page.getByRole("button", { name: "Make the invitation" }).click();
  expect(await page.locator(".secret-value").textContent()).toContain(`${site.url}/invitation#rkl_`);
  expect(site.t.rows("SELECT team_id, role, email FROM one_time_links")).toEqual([
    { team_id: team.id, role: "owner", email: "grace@example.com" },
  ]);
});

it("names the role of an invitation as people read it", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  const team = await createTeam(site.t.instance.core, "Acme", COMMAND_LINE);
  const { page, go } = await site.open(operator, { javaScript: false });
  await go(`/settings/teams/${team.id}`);
  await page.getByLabel("Own only").check();
  await page.getByRole("button", { name: "Make the invitation" }).click();
  expect(await page.locator(".secret-label").textContent()).toBe("Invitation into Acme as own only");
  expect(site.t.rows("SELECT role FROM one_time_links")).toEqual([{ role: "own_only" }]);
});

it("lists the machines of somebody who leaves, and revokes those that still report with the account or later", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true, email: "ada@example.com" });
  const bob = await site.person({ role: "member", email: "bob@example.com" });
  const connect = async (label: string) => {
    const { code } = await createCode(core, bob.team.id, COMMAND_LINE, undefined, bob.userId);
    return (await bindDevice(core, code, "1", label)).deviceToken;
  };
  const [old, laptop] = [await connect("old"), await connect("laptop")];
  await site.t.post("/api/connect/disconnect", { token: old });
  const { token: others } = await site.t.device(bob.team);
  const { page, go, judge } = await site.open(operator);
  await go(`/settings/people/${bob.userId}`);
  await judge("settings-person-machines");
  const machines = page.getByRole("table", { name: "Machines that report" });
  expect(await machines.getByRole("rowheader").allTextContents()).toEqual(["laptop"]);
  await page.locator("summary", { hasText: "Close it, and revoke 1 machine" }).click();
  await page.getByRole("button", { name: "Close and revoke" }).click();
  await page.getByText("The account of bob@example.com is closed, and the machines are revoked.").waitFor();
  expect(await machines.count()).toBe(0);
  const heartbeat = async (token: string) => (await site.t.post("/api/telemetry/heartbeat", { token })).status;
  expect([await heartbeat(laptop), await heartbeat(others)]).toEqual([401, 200]);

  await page.locator("summary", { hasText: "Open the account" }).click();
  await page.getByRole("button", { name: "Open it" }).click();
  await page.locator("summary", { hasText: "Close the account" }).waitFor();
  const [build, second] = [await connect("build"), await connect("second")];
  await go(`/settings/people/${bob.userId}`);
  await page.locator("summary", { hasText: "Close the account" }).click();
  await page.getByRole("button", { name: "Close it" }).click();
  await page.getByText("The account of bob@example.com is closed.").waitFor();
  expect([await heartbeat(build), await heartbeat(second)]).toEqual([200, 200]);
  // Both were connected in one instant, so either may come first.
  expect((await machines.getByRole("rowheader").allTextContents()).sort()).toEqual(["build", "second"]);
  await page.locator("summary", { hasText: "Revoke 2 machines" }).click();
  await page.getByRole("button", { name: "Revoke the machines" }).click();
  await page.getByText("is closed, and the machines are revoked.").waitFor();
  expect([await heartbeat(build), await heartbeat(second)]).toEqual([401, 401]);
  expect(
    site.t.rows(
      "SELECT target_label, actor_label, team_id FROM audit_events WHERE action = 'device.revoked' ORDER BY target_label",
    ),
  ).toEqual(
    ["build", "laptop", "second"].map((target_label) => ({
      target_label,
      actor_label: "ada@example.com",
      team_id: bob.team.id,
    })),
  );
});

it("lists all accounts, finds them, closes and opens them, and makes operators", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true, email: "ada@example.com" });
  const bob = await site.person({ role: "member", email: "bob@example.com", name: HOSTILE });
  for (let i = 0; i < 3; i++) await makeAccount(core, { email: `zed${i}@example.com` });
  const { page, go, judge } = await site.open(operator);
  await go("/settings/people");
  await judge("settings-people");
  await page.getByLabel("Name or address").fill("bob");
  await page.locator("#accounts[data-count='1']").waitFor();
  await page.getByRole("link", { name: HOSTILE }).click();
  await judge("settings-person");
  const user = () =>
    site.t.rows("SELECT operator, disabled_at IS NOT NULL AS closed FROM users WHERE id = ?", bob.userId)[0];
  await page.locator("summary", { hasText: "Make an operator" }).click();
  await page.getByRole("button", { name: "Make an operator" }).click();
  await page.getByText("bob@example.com is an operator now.").waitFor();
  expect(user()).toEqual({ operator: 1, closed: 0 });
  await page.locator("summary", { hasText: "Take the right away" }).click();
  await page.getByRole("button", { name: "Take it away" }).click();
  await page.getByText("bob@example.com is no operator now.").waitFor();
  await page.locator("summary", { hasText: "Close the account" }).click();
  await page.getByRole("button", { name: "Close it" }).click();
  await page.getByText("The account of bob@example.com is closed.").waitFor();
  expect(user()).toEqual({ operator: 0, closed: 1 });
  expect(findSession(core, bob.token)).toBeUndefined();
  await page.locator("summary", { hasText: "Open the account" }).click();
  await page.getByRole("button", { name: "Open it" }).click();
  await page.getByText("The account of bob@example.com is open.").waitFor();
  await page.locator("summary", { hasText: "Make a reset link" }).click();
  await page.getByRole("button", { name: "Make the link" }).click();
  expect(await page.locator(".secret-value").textContent()).toContain("/reset-password#rkl_");
  expect(
    site.t.rows(
      "SELECT action FROM audit_events WHERE target_id = ? AND actor_id = ? ORDER BY id",
      bob.userId,
      operator.userId,
    ),
  ).toEqual(
    ["user.operator_granted", "user.operator_withdrawn", "user.disabled", "user.enabled", "user.reset_link_made"].map(
      (action) => ({ action }),
    ),
  );
  for (const path of ["disabled", "operator"])
    expect(
      (await sendForm(site, operator, `/settings/people/${operator.userId}/${path}`, { disabled: "true" })).status,
    ).toBe(409);
});

it("says which teams nobody can administer while an account is closed", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true, email: "ada@example.com" });
  const bob = await site.person({ role: "member", email: "bob@example.com" });
  await setRole(core, bob.team.id, bob.userId, "owner", COMMAND_LINE);
  await setRole(core, bob.team.id, operator.userId, "admin", COMMAND_LINE);
  const { page, go } = await site.open(operator);
  await go(`/settings/people/${bob.userId}`);
  await page.locator("summary", { hasText: "Close the account" }).click();
  const left = `No other owner who can sign in: ${bob.team.name}.`;
  await page.getByText(`Close the account of bob@example.com? ${left}`).waitFor();
  await page.getByRole("button", { name: "Close it" }).click();
  await page.getByText(`The account of bob@example.com is closed. ${left}`).waitFor();
  await setRole(core, bob.team.id, operator.userId, "owner", COMMAND_LINE);
  await page.locator("summary", { hasText: "Open the account" }).click();
  await page.getByRole("button", { name: "Open it" }).click();
  await page.locator("summary", { hasText: "Close the account" }).click();
  expect(await page.locator("main").textContent()).not.toContain("No other owner");
});

it("pages through lists by the key they are sorted by", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true, email: "a@example.com" });
  for (let i = 0; i < 60; i++) await createTeam(core, `Team no. ${String(i).padStart(2, "0")}`, COMMAND_LINE);
  const { page, go } = await site.open(operator);
  await go("/settings/teams?q=no.");
  const names = () => page.locator("#teams tbody th").allInnerTexts();
  const first = await names();
  await page.getByRole("link", { name: "Next" }).click();
  await page.getByRole("link", { name: "First" }).waitFor();
  expect([...first, ...(await names())]).toEqual(
    Array.from({ length: 60 }, (_, i) => `Team no. ${String(i).padStart(2, "0")}`),
  );
  for (const nonsense of ["?after=%00%ff&q=%25", `?q=${"x".repeat(5_000)}`, "?q=%5C&after=%F0%9F%98%80"])
    for (const path of ["/settings/teams", "/settings/people"]) await go(path + nonsense);
});

it("leads an operator in no team to making one", async () => {
  const site = await startSite();
  const { core } = site.t.instance;
  await makeAccount(core, { email: "first@example.com", operator: true });
  const { page, go } = await site.open();
  await go("/login?next=/devices");
  await page.getByLabel("E-mail address").fill("first@example.com");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("You are in no team yet. Make one under Settings.").waitFor();
  await go("/audit");
  await page.getByText("Who did what on this installation").waitFor();
  await go("/settings/teams");
  await page.getByLabel("Name", { exact: true }).fill("Engine");
  await page.getByRole("button", { name: "Make the team" }).click();
  await page.getByText("The team “Engine” is made.").waitFor();
  await go("/people");
  expect(site.t.rows("SELECT role FROM memberships")).toEqual([{ role: "owner" }]);
});

it("changes back nothing of a team that somebody else changed while the form stood open", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true });
  const { id } = await createTeam(core, "Engine", COMMAND_LINE, { seats: 5 });
  const { page, go } = await site.open(operator);
  const periodEndAt = Date.UTC(2027, 0, 31, 18);
  await go(`/settings/teams/${id}`);
  await updateTeam(core, id, { seats: 50, periodEndAt }, COMMAND_LINE);
  const save = () => page.getByRole("button", { name: "Save" }).click();
  const row = () => site.t.rows("SELECT name, seats, period_end_at AS until FROM teams WHERE id = ?", id)[0];
  await page.getByLabel("Name", { exact: true }).fill("Engines");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(row()).toEqual({ name: "Engines", seats: 50, until: periodEndAt });
  await updateTeam(core, id, { seats: 60 }, COMMAND_LINE);
  await page.getByLabel("Seats").fill("55");
  await save();
  await page.getByText("the number of seats is 60 now. Nothing was changed").waitFor();
  expect(row().seats).toBe(60);
  await save();
  await page.getByText("Saved.").waitFor();
  expect(row().seats).toBe(55);
});

it("changes back nothing either where the form comes back with an error first", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true });
  const { id } = await createTeam(core, "Engine", COMMAND_LINE, { seats: 5, tier: "team" });
  const { page, go } = await site.open(operator);
  const save = () => page.getByRole("button", { name: "Save" }).click();
  const row = () => site.t.rows("SELECT name, seats, tier, subscription FROM teams WHERE id = ?", id)[0];
  await go(`/settings/teams/${id}`);
  await updateTeam(core, id, { seats: 50, tier: "enterprise" }, COMMAND_LINE);
  await page.getByLabel("Seats").fill("20");
  await save();
  await page.getByText("the number of seats is 50 now. Nothing was changed").waitFor();
  await save();
  await page.getByText("Saved.").waitFor();
  expect(row()).toMatchObject({ seats: 20, tier: "enterprise" });
  await createTeam(core, "Taken", COMMAND_LINE);
  await page.getByLabel("Name", { exact: true }).fill("Taken");
  await updateTeam(core, id, { subscription: "past_due" }, COMMAND_LINE);
  await save();
  await page.locator(".flash.wrong").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("Engines");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(row()).toEqual({ name: "Engines", seats: 20, tier: "enterprise", subscription: "past_due" });
});

it("takes a form that is sent twice, whatever stands around what was typed", async () => {
  const { site, core, person: operator } = await startSiteOf({ operator: true });
  const { id } = await createTeam(core, "Engine", COMMAND_LINE, { seats: 5, tier: "team" });
  const { issuer, clientId, label, scopes, groupsClaim } = await addIssuer(
    core,
    "acme",
    {
      issuer: "https://login.example.com",
      clientId: "reckon",
    },
    COMMAND_LINE,
  );
  const typed = { issuer: ` ${issuer}x `, clientId: ` ${clientId}x `, scopes: ` ${scopes} a `, groupsClaim: " roles " };
  const forms = {
    [`/settings/teams/${id}`]: {
      drawn: "name=Engine&tier=team&seats=5&subscription=active&periodEnd=",
      ...{ name: " Engines ", tier: "team", seats: "05", subscription: "active", periodEnd: "" },
    },
    "/settings/sso/acme": {
      drawn: String(new URLSearchParams({ label, issuer, clientId, scopes, groupsClaim, groups: "", domains: "" })),
      ...{ ...typed, label: " Acme ", groups: "", domains: "@ACME.example", sessionHours: "24" },
    },
  };
  for (const [path, form] of Object.entries(forms))
    for (const time of [1, 2])
      expect([path, time, (await sendForm(site, operator, path, form)).status]).toEqual([path, time, 303]);
});
