import { expect, it } from "vitest";
import {
  createInvitation,
  createResetLink,
  createSetupLink,
} from "../../src/identity/one-time-links/one-time-links.ts";
import { findUser } from "../../src/identity/people/people.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, type Site, startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { startWithTeam } from "../support/instance.ts";
import { openByForms } from "../support/links.ts";

useBrowser();

/** The full addresses that a browser asked for or was redirected to, each with the referrer that it sent. */
function watch(page: import("playwright-core").Page): string[] {
  const seen: string[] = [];
  page.on("request", (request) => seen.push(request.url(), request.headers().referer ?? ""));
  return seen;
}

const invite = (site: Site, teamId: string) =>
  createInvitation(site.t.instance.core, { teamId, role: "member" }, COMMAND_LINE);
const audit = (site: Site, action: string) =>
  site.t.rows("SELECT actor_label AS who FROM audit_events WHERE action = ?", action);

it("open by the script, without their token in any address that is asked for or told, or in the log", async () => {
  const { site, person: owner } = await startSiteOf();
  const link = await invite(site, owner.team.id);
  const { page, go, context } = await site.open();
  const seen = watch(page);
  await go(link.path);
  await page.getByRole("heading", { name: `Join ${owner.team.name}` }).waitFor();
  expect(page.url()).toBe(`${site.url}/invitation`);
  // Reloading keeps it, for this page alone.
  await page.reload();
  await page.getByRole("heading", { name: `Join ${owner.team.name}` }).waitFor();
  const held = (await context.cookies(`${site.url}/invitation`)).find(({ value }) => value === link.token);
  expect(held).toMatchObject({ path: "/invitation", httpOnly: true, sameSite: "Lax" });
  expect((await context.cookies(`${site.url}/overview`)).map(({ value }) => value)).not.toContain(link.token);
  await page.getByLabel("E-mail address").fill("grace@example.com");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("The password again").fill(PASSWORD);
  await page.getByRole("button", { name: "Make an account and join" }).click();
  await page.waitForURL("**/overview");
  expect(seen.filter((text) => text.includes("rkl_") && !text.endsWith(`/invitation#${link.token}`))).toEqual([]);
  expect(site.t.log.filter((line) => line.includes("rkl_"))).toEqual([]);
  expect(await context.cookies(`${site.url}/invitation`)).not.toContainEqual(
    expect.objectContaining({ value: link.token }),
  );
  expect(audit(site, "invitation.accepted")).toEqual([{ who: "grace@example.com" }]);
});

it("open in a tab that shows another one already, and after one that does not work", async () => {
  const { site, person: owner } = await startSiteOf();
  const other = await site.t.team();
  const [first, second] = [await invite(site, owner.team.id), await invite(site, other.id)];
  const { page, go } = await site.open();
  await go(first.path);
  await page.getByRole("heading", { name: `Join ${owner.team.name}` }).waitFor();
  await page.goto(site.url + second.path);
  await page.getByRole("heading", { name: `Join ${other.name}` }).waitFor();
  site.t.clock.advance(8 * 86_400_000);
  const fresh = await invite(site, owner.team.id);
  await go("/invitation", 410);
  expect(await page.getByRole("alert").textContent()).toBe("This link has expired. Ask for another.");
  await page.goto(site.url + fresh.path);
  await page.getByRole("heading", { name: `Join ${owner.team.name}` }).waitFor();
});

it("open without script by pasting the link or its code, and explain themselves", async () => {
  const { site, person: owner } = await startSiteOf();
  const reset = await createResetLink(site.t.instance.core, owner.email, COMMAND_LINE);
  const plain = await site.open(undefined, { javaScript: false });
  const { page, go } = plain;
  await go(reset.path);
  const paste = async (text: string) => {
    await page.getByLabel("Your link, or the code at its end").fill(text);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await paste("I have no idea");
  expect(await page.getByRole("alert").textContent()).toBe("This link is not known. Was it copied whole?");
  await paste(reset.token.slice(0, -1));
  expect(await page.getByRole("alert").textContent()).toBe("This link is not known. Was it copied whole?");
  await paste(` ${site.url}${reset.path} `);
  await page.getByLabel("Password", { exact: true }).fill(`${PASSWORD}-2`);
  await page.getByLabel("The password again").fill(`${PASSWORD}-2`);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.waitForURL("**/overview");
  expect(audit(site, "user.password_changed")).toEqual([{ who: owner.email }]);
  const scripted = await site.open();
  await scripted.go("/reset-password");
  await scripted.judge("link-paste");
});

it("keep an invitation through signing in", async () => {
  const { site, person: owner } = await startSiteOf();
  const bob = await site.person({ email: "bob@example.com" });
  const { page, go } = await site.open();
  await go((await invite(site, owner.team.id)).path);
  await page.getByRole("link", { name: "Sign in and join" }).click();
  await page.getByLabel("E-mail address").fill(bob.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Join the team" }).click();
  await page.waitForURL("**/overview");
  expect(site.t.rows("SELECT team_id FROM memberships WHERE user_id = ? ORDER BY team_id", bob.userId)).toEqual(
    [owner.team.id, bob.team.id].sort().map((team_id) => ({ team_id })),
  );
});

it("that were handed out in an earlier form still work, and leave the address bar at once", async () => {
  const { t, team } = await startWithTeam({ settings: { baseUrl: "https://reckon.example.com/sub" } });
  const { token } = await createInvitation(t.instance.core, { teamId: team.id, role: "member" }, COMMAND_LINE);
  const old = await t.get(`/sub/invitation?token=${token}`);
  expect([old.status, old.headers.get("location"), old.text]).toEqual([303, "/sub/invitation", ""]);
  expect(old.headers.getSetCookie()).toEqual([
    `__Secure-reckon-link=${token}; Path=/sub/invitation; HttpOnly; SameSite=Lax; Max-Age=1800; Secure`,
  ]);
  const page = await t.get("/sub/invitation", { headers: { cookie: `__Secure-reckon-link=${token}` } });
  expect([page.status, page.text.includes(`Join ${team.name}`)]).toEqual([200, true]);
  for (const nonsense of ["", "x", "rkd_abc", "%0d%0aset-cookie:a=b"]) {
    const { status, headers } = await t.get(`/sub/invitation?token=${nonsense}`);
    expect([nonsense, status, headers.getSetCookie().join().includes("reckon-link")]).toEqual([nonsense, 404, false]);
  }
});

it("let the first person take over the team that the command line made, with what its machines sent", async () => {
  const site = await startSite();
  const { core } = site.t.instance;
  const acme = await createTeam(core, "Acme", COMMAND_LINE);
  const { token } = await site.t.device(acme);
  const entries = [{ seq: 1, payload: { type: "prompt", text: "Fix the login test" } }];
  await site.t.post("/api/telemetry/ingest", { token, json: { repoKey: "github.com/acme/shop", entries } });
  const link = await createSetupLink(core);
  const { page, go, judge } = await site.open();
  await go(link?.path as string);
  await page.getByLabel("Your team").waitFor();
  await judge("setup-take-over");
  const fill = async () => {
    await page.getByLabel("E-mail address").fill("ada@example.com");
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByLabel("The password again").fill(PASSWORD);
  };
  await fill();
  await page.getByLabel("Your team").selectOption("Make a new team");
  await page.getByLabel("Name of the new team").fill("Acme");
  await page.getByRole("button", { name: "Set up" }).click();
  expect(await page.getByRole("alert").textContent()).toBe(
    'There is a team named "Acme" already: take it over, or choose another name.',
  );
  await fill();
  await page.getByLabel("Your team").selectOption("Take over Acme");
  await page.getByRole("button", { name: "Set up" }).click();
  expect(await page.getByRole("alert").textContent()).toMatch(/^Either take over a team that is there/);
  expect(site.t.count("users")).toBe(0);
  await fill();
  await page.getByLabel("Name of the new team").fill("");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.waitForURL("**/overview");
  await go("/telemetry");
  await page.getByText("Fix the login test").first().waitFor();
  expect(site.t.rows("SELECT team_id, role FROM memberships")).toEqual([{ team_id: acme.id, role: "owner" }]);
  expect(site.t.count("teams")).toBe(1);
});

it("set an installation with a team up by plain forms, in that team or in a new one", async () => {
  for (const [choice, teams] of [
    ["Acme", ["Acme"]],
    ["new", ["Acme", "Engine"]],
  ] as const) {
    const site = await startSite();
    const { core } = site.t.instance;
    const acme = await createTeam(core, "Acme", COMMAND_LINE);
    const link = await createSetupLink(core);
    const { status, text, cookie, csrf } = await openByForms(site.url + link?.path);
    expect([status, text.includes("Take over Acme")]).toEqual([200, true]);
    const reply = await fetch(`${site.url}/setup`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie },
      body: new URLSearchParams({
        _csrf: csrf,
        token: link?.token as string,
        email: "ada@example.com",
        password: PASSWORD,
        again: PASSWORD,
        take: choice === "new" ? "new" : acme.id,
        team: choice === "new" ? "Engine" : "",
      }),
    });
    expect([choice, reply.status, reply.headers.get("location")]).toEqual([choice, 303, "/overview"]);
    expect(site.t.rows("SELECT name FROM teams ORDER BY name").map(({ name }) => name)).toEqual(teams);
    expect(
      site.t.rows(
        "SELECT t.name, m.role FROM memberships m JOIN teams t ON t.id = m.team_id WHERE m.user_id = ?",
        findUser(core, "ada@example.com")?.id,
      ),
    ).toEqual([{ name: teams.at(-1), role: "owner" }]);
  }
});
