import { expect, it } from "vitest";
import { createCliToken } from "../../src/identity/device-flow/device-flow.ts";
import { findSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, startSiteOf, useBrowser } from "../support/browser.ts";
import { signedIn } from "../support/sessions.ts";

useBrowser();

const HOSTILE = `Mozilla <img src=x onerror="document.title='owned'">`;

it("changes the password only for who knows the present one, and signs out everywhere else", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const { session: elsewhere } = await signedIn(core, ada.email, PASSWORD, { ip: "198.51.100.7", userAgent: HOSTILE });
  const { page, go, judge } = await site.open(ada);
  await go("/account");
  await judge("account");
  const change = async (current: string, password: string, again: string) => {
    await page.getByLabel("Present password").fill(current);
    await page.getByLabel("New password", { exact: true }).fill(password);
    await page.getByLabel("The new password again").fill(again);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  const before = site.t.rows("SELECT password_hash FROM users");
  await change("a wrong password", "another pass phrase", "another pass phrase");
  expect(await page.getByRole("alert").textContent()).toContain("The present password is not right");
  await judge("account-wrong");
  await change(PASSWORD, "another pass phrase", "another one");
  expect(await page.getByRole("alert").textContent()).toContain("not the same");
  await change(PASSWORD, "password1", "password1");
  expect(await page.getByRole("alert").textContent()).toContain("first that anybody would try");
  expect(site.t.rows("SELECT password_hash FROM users")).toEqual(before);
  expect(findSession(core, elsewhere)).toBeDefined();
  await change(PASSWORD, "another pass phrase", "another pass phrase");
  await page.getByText("The password is changed.").waitFor();
  expect([findSession(core, elsewhere), findSession(core, ada.token)?.userId]).toEqual([undefined, ada.userId]);
  expect(site.t.rows("SELECT action, actor_id, ip FROM audit_events WHERE action = 'user.password_changed'")).toEqual([
    { action: "user.password_changed", actor_id: ada.userId, ip: "127.0.0.1" },
  ]);
});

it("lists the browsers one is signed in with and signs them out, one or all others", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const others: string[] = [];
  for (let i = 0; i < 3; i++)
    others.push(
      (
        await signedIn(core, ada.email, PASSWORD, {
          ip: `198.51.100.${i}`,
          userAgent: i === 0 ? HOSTILE : `Browser ${i}`,
        })
      ).session,
    );
  const { page, go } = await site.open(ada);
  const alive = () => [ada.token, ...others].map((token) => findSession(core, token) !== undefined);
  await go("/account");
  const rows = page.getByRole("table", { name: "Sign-ins" }).locator("tbody tr");
  expect(await rows.count()).toBe(4);
  // The session that looks at the page cannot end itself by mistake.
  expect(await rows.filter({ hasText: "this one" }).getByText("Sign out").count()).toBe(0);
  await rows.filter({ hasText: "198.51.100.0" }).locator("summary").click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out" }).click();
  await page.getByText("That browser is signed out.").waitFor();
  expect(alive()).toEqual([true, false, true, true]);
  expect(await page.title()).not.toBe("owned");
  await page.locator("summary", { hasText: "Sign out everywhere else" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Sign out everywhere else" }).click();
  await page.getByText("You are signed out everywhere else.").waitFor();
  expect(alive()).toEqual([true, false, false, false]);
});

it("ends only one's own sign-ins", async () => {
  const { site, person: ada } = await startSiteOf();
  const bob = await site.person();
  const { page, go } = await site.open(ada, { javaScript: false });
  const foreign = findSession(site.t.instance.core, bob.token)?.sessionId as string;
  await signedIn(site.t.instance.core, ada.email, PASSWORD, { ip: "198.51.100.1", userAgent: null });
  await go("/account");
  await page
    .locator("form[action$='/account/sessions/end'] input[name=id]")
    .evaluate((input, id) => input.setAttribute("value", id), foreign);
  await page.locator("summary", { hasText: /^Sign out$/ }).click();
  await page.getByRole("button", { name: "Sign out", exact: true }).last().click();
  await page.getByText("This sign-in has ended already.").waitFor();
  expect(findSession(site.t.instance.core, bob.token)?.userId).toBe(bob.userId);
});

it("lists the command-line tools one approved and revokes their access", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const bob = await site.person();
  const { accessToken } = await createCliToken(core, { id: ada.userId, email: ada.email }, COMMAND_LINE);
  const foreign = await createCliToken(core, { id: bob.userId, email: bob.email }, COMMAND_LINE);
  const me = (token: string) => fetch(`${site.url}/api/cli/me`, { headers: { authorization: `Bearer ${token}` } });
  expect((await me(accessToken)).status).toBe(200);
  const { page, go, judge } = await site.open(ada);
  await go("/account");
  const rows = page.getByRole("table", { name: "Command-line tools" }).locator("tbody tr");
  expect(await rows.count()).toBe(1);
  await judge("account-tools");
  await rows.locator("summary").click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("The access token is revoked.").waitFor();
  expect([(await me(accessToken)).status, (await me(foreign.accessToken)).status]).toEqual([401, 200]);
});

it("changes one's name, and signs out", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go } = await site.open(ada);
  await go("/account");
  await page.getByLabel("Your name").fill("Ada <b>Lovelace</b>");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(site.t.rows("SELECT name FROM users")).toEqual([{ name: "Ada <b>Lovelace</b>" }]);
  expect(
    site.t.rows("SELECT actor_id, actor_label, detail FROM audit_events WHERE action = 'user.changed'"),
  ).toMatchObject([{ actor_id: ada.userId, detail: '{"changed":["name"]}' }]);
  // Beside such a name, other text would read backwards.
  await page.getByLabel("Your name").fill("Ada \u202erekcah");
  await page.getByRole("button", { name: "Save" }).click();
  expect(await page.getByRole("alert").textContent()).toContain("This name holds U+202E, which cannot be seen");
  expect(site.t.rows("SELECT name FROM users")).toEqual([{ name: "Ada <b>Lovelace</b>" }]);
  await page.locator("details.account summary").click();
  await page.getByRole("button", { name: "Sign out", exact: true }).last().click();
  await page.getByText("You are signed out.").waitFor();
  expect(findSession(site.t.instance.core, ada.token)).toBeUndefined();
  await go("/account");
  expect(page.url()).toContain("/login?next=%2Faccount");
});

it("shows instants in UTC and tells the reader's own time in their title, which a browser without script has in UTC", async () => {
  const { site, person: ada } = await startSiteOf();
  const read = async (javaScript: boolean) => {
    const { page, go } = await site.open(ada, { javaScript });
    await go("/account");
    const time = page.getByRole("table", { name: "Sign-ins" }).locator("time").first();
    return [await time.textContent(), await time.getAttribute("title")];
  };
  const utc = "2026-11-21T08:00:00.000Z, just now";
  expect(await read(false)).toEqual(["21 Nov 2026, 08:00 UTC", utc]);
  expect(await read(true)).toEqual(["21 Nov 2026, 08:00 UTC", `21 Nov 2026, 09:00 CET · ${utc}`]);
});
