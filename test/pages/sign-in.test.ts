import { expect, it } from "vitest";
import {
  createInvitation,
  createResetLink,
  createSetupLink,
} from "../../src/identity/one-time-links/one-time-links.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, startSite, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

it("sets an empty installation up through its one-time link, once", async () => {
  const site = await startSite();
  const link = await createSetupLink(site.t.instance.core);
  const { page, go, judge } = await site.open();
  await go("/");
  await page.getByRole("main").getByRole("link", { name: "Sign in" }).click();
  await page.waitForURL(`${site.url}/login`);
  await go(link?.path as string);
  await page.getByLabel("Name of your team").waitFor();
  await judge("setup");
  await page.getByLabel("E-mail address").fill("ada@example.com");
  await page.getByLabel("Your name").fill("Ada");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("The password again").fill(PASSWORD);
  await page.getByLabel("Name of your team").fill("Engine");
  await page.getByRole("button", { name: "Set up" }).click();
  await page.waitForURL("**/overview");
  expect(site.t.rows("SELECT email, operator FROM users")).toEqual([{ email: "ada@example.com", operator: 1 }]);
  expect(site.t.rows("SELECT role FROM memberships")).toEqual([{ role: "owner" }]);
  await go("/setup", 410);
});

it("signs in, says nothing of which part was wrong, and signs out", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go, judge, context } = await site.open();
  await go("/login");
  await judge("sign-in");
  const trySignIn = async (email: string, password: string) => {
    await page.getByLabel("E-mail address").fill(email);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  await trySignIn(ada.email, "wrong-password-this-is");
  const first = await page.getByRole("alert").textContent();
  await trySignIn("nobody@example.com", "wrong-password-this-is");
  expect(await page.getByRole("alert").textContent()).toBe(first);
  await trySignIn(ada.email.toUpperCase(), PASSWORD);
  await page.waitForURL("**/overview");
  const [cookie] = (await context.cookies()).filter(({ name }) => /^reckon-\d+$/.test(name));
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
  expect(site.t.rows("SELECT action FROM audit_events WHERE action LIKE 'session.%' ORDER BY id")).toEqual([
    { action: "session.refused" },
    { action: "session.refused" },
    { action: "session.started" },
  ]);
});

it("leads to the address that was asked for, also after a wrong password", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go } = await site.open();
  await go("/people?q=a%26b#invite");
  await page.getByLabel("E-mail address").fill(ada.email);
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/people?q=a%26b#invite");
});

it("leads back to the page whose form was sent when the session had ended, and to what was typed in it", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go, context } = await site.open(ada);
  const names = () => site.t.rows("SELECT name FROM users");
  const save = () => page.getByRole("button", { name: "Save" }).click();
  const signIn = async (of = page) => {
    await of.getByLabel("E-mail address").fill(ada.email);
    await of.getByLabel("Password").fill(PASSWORD);
    await of.getByRole("button", { name: "Sign in" }).click();
    await of.getByRole("heading", { level: 1, name: of === page ? "Your account" : "Overview" }).waitFor();
  };
  await go("/account");
  await context.clearCookies();
  await page.getByLabel("Your name").fill("Ada");
  await save();
  await page.getByText("Your session has ended, so nothing was done.").waitFor();
  await signIn();
  expect(names()).toEqual([{ name: null }]);
  await page.goBack();
  await page.goBack();
  expect(await page.getByLabel("Your name").inputValue()).toBe("Ada");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(names()).toEqual([{ name: "Ada" }]);
  // Signed in anew beside it: the form's token is that of the session before.
  await page.getByLabel("Your name").fill("Ada L.");
  await context.clearCookies();
  const other = await context.newPage();
  await other.goto(`${site.url}/login`);
  await signIn(other);
  await save();
  await page.getByText("Go back and send it again").waitFor();
  expect(names()).toEqual([{ name: "Ada" }]);
  await page.goBack();
  expect(await page.getByLabel("Your name").inputValue()).toBe("Ada L.");
  await save();
  await page.getByText("Saved.").waitFor();
  expect(names()).toEqual([{ name: "Ada L." }]);
});

it("lets an invited person make an account, and a member choose a new password by link", async () => {
  const { site, core, person: owner } = await startSiteOf();
  const invitation = await createInvitation(
    core,
    {
      teamId: owner.team.id,
      role: "member",
      email: "grace@example.com",
    },
    COMMAND_LINE,
  );
  const { page, go, judge } = await site.open();
  await go(invitation.path);
  await page.getByRole("button", { name: "Make an account and join" }).waitFor();
  await judge("invitation");
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("The password again").fill(PASSWORD);
  await page.getByRole("button", { name: "Make an account and join" }).click();
  await page.waitForURL("**/overview");
  expect(
    site.t.rows("SELECT u.email, m.role FROM memberships m JOIN users u ON u.id = m.user_id WHERE role = 'member'"),
  ).toEqual([{ email: "grace@example.com", role: "member" }]);
  const reset = await createResetLink(core, "grace@example.com", COMMAND_LINE);
  await go(reset.path);
  await page.getByRole("button", { name: "Change the password" }).waitFor();
  await judge("reset-password");
  await page.getByLabel("Password", { exact: true }).fill(`${PASSWORD}-2`);
  await page.getByLabel("The password again").fill(`${PASSWORD}-2`);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.waitForURL("**/overview");
  expect(
    site.t.rows("SELECT count(*) AS live FROM web_sessions WHERE ended_at IS NULL AND user_id <> ?", owner.userId),
  ).toEqual([{ live: 1 }]);
});
