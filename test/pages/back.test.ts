import { expect, it } from "vitest";
import { storeMember } from "../../src/identity/members/members.ts";
import { getUser } from "../../src/identity/people/people.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, startSite, useBrowser } from "../support/browser.ts";
import { fillUsage, SHOP } from "../support/usage.ts";

useBrowser();

/** What a person finds who goes back: the page as it is now, with what they typed, and nothing that says otherwise. */

it("names the team that is shown, and filters by what the page is filtered by, after a person came back", async () => {
  const site = await startSite();
  const ada = await site.person();
  const { core } = site.t.instance;
  const other = await site.t.team();
  await core.store.write(() => storeMember(core, other.id, getUser(core, ada.email), "owner", COMMAND_LINE));
  const { page, go } = await site.open(ada);
  const chosen = (label: string) => page.getByLabel(label, { exact: true }).locator("option:checked").textContent();
  await fillUsage(site, ada);
  await go("/spend");
  await page.getByLabel("Repository", { exact: true }).selectOption(SHOP);
  await page.waitForURL("**/spend?**");
  await page.goBack();
  expect([new URL(page.url()).search, await chosen("Repository")]).toEqual(["", "all"]);
  await go("/people");
  await go("/account");
  await page.getByLabel("Team", { exact: true }).selectOption(other.name);
  await page.waitForURL("**/overview");
  await page.goBack();
  await page.goBack();
  expect([new URL(page.url()).pathname, await chosen("Team")]).toEqual(["/people", other.name]);
});

it("finds what they typed in a form that was refused, whether or not browsers complete its fields, and no password", async () => {
  const site = await startSite();
  const ada = await site.person();
  const { page, go, context } = await site.open(ada);
  await go("/api-tokens");
  await page.getByLabel("Name").fill("weekly report");
  await page.getByLabel("Expires in").selectOption("7 days");
  await context.clearCookies();
  await page.getByRole("button", { name: "Make the token" }).click();
  await page.getByText("Your session has ended, so nothing was done.").waitFor();
  await page.getByLabel("E-mail address").fill(ada.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL("**/api-tokens");
  expect(await page.getByLabel("Name").inputValue()).toBe("");
  await page.goBack();
  await page.goBack();
  expect(await page.getByLabel("Name").inputValue()).toBe("weekly report");
  expect(await page.getByLabel("Expires in").inputValue()).toBe("7");
  await go("/account");
  await page.getByLabel("Present password").fill(PASSWORD);
  await go("/overview");
  await page.goBack();
  expect(JSON.stringify(await page.evaluate("history.state"))).not.toContain(PASSWORD);
  expect(await page.getByLabel("Present password").inputValue()).toBe("");
});

it("finds the page as it is now where the browser kept it as it was, with what they typed", async () => {
  const site = await startSite();
  const { page, go, context } = await site.open(await site.person());
  const isShownAgain = "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))";
  await go("/api-tokens");
  await page.getByLabel("Name").fill("weekly report");
  await page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))");
  await page.getByLabel("Name").fill("");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").waitFor();
  await Promise.all([page.waitForEvent("load"), page.evaluate(isShownAgain)]);
  expect(await page.getByLabel("Name").inputValue()).toBe("weekly report");
  expect(await page.locator("dialog[open]").count()).toBe(0);
  await context.clearCookies();
  await Promise.all([page.waitForURL("**/login?**"), page.evaluate(isShownAgain)]);
});
