import { type AddressInfo, connect, createServer } from "node:net";
import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { storeMember } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { getUser } from "../../src/identity/people/people.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, type Person, type Site, startSite, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

interface SlowVisit {
  readonly page: Page;
  readonly url: string;
  /** Clicks a button, and once more when the server has done what the first click asks for and its answer is on the way. */
  clickTwice(button: Locator): Promise<void>;
}

/** A browser whose line to the server can be held up. */
async function openSlowly(site: Site, person?: Person, javaScript = true): Promise<SlowVisit> {
  let answered = () => {};
  let line = Promise.resolve();
  const server = createServer((browser) => {
    const upstream = connect(Number(new URL(site.url).port), "127.0.0.1");
    browser.on("error", () => {}).pipe(upstream);
    upstream.on("error", () => {}).on("close", () => browser.end());
    upstream.on("data", async (part) => {
      answered();
      await line;
      browser.write(part);
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const { page } = await site.open(person, { javaScript });
  return {
    page,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async clickTwice(button) {
      await button.scrollIntoViewIfNeeded();
      const { x = 0, y = 0, width = 0, height = 0 } = (await button.boundingBox()) ?? {};
      const click = () => page.mouse.click(x + width / 2, y + height / 2);
      const done = new Promise<void>((resolve) => (answered = resolve));
      const held = Promise.withResolvers<void>();
      line = held.promise;
      await click();
      await done;
      await click();
      held.resolve();
    },
  };
}

it("makes one code, one token and one licence of two clicks", async () => {
  const site = await startSite();
  const { page, url, clickTwice } = await openSlowly(site, await site.person());
  await page.goto(`${url}/devices/fleet`);
  await clickTwice(page.getByRole("button", { name: "Make the code" }));
  await page.locator(".secret-value").waitFor();
  await page.goto(`${url}/api-tokens`);
  await page.getByLabel("Name").fill("report");
  await clickTwice(page.locator("main .form").getByRole("button").last());
  await page.locator(".secret-value").waitFor();
  await page.goto(`${url}/license`);
  const arrived = page.waitForEvent("download");
  await clickTwice(page.getByRole("button", { name: "Mint" }));
  await arrived;
  const acts =
    "SELECT action FROM audit_events WHERE action IN ('code.created', 'api_token.created', 'license.minted')";
  expect(site.t.rows(acts).length).toBe(3);
});

it("makes one code, one token and one invitation of two clicks without script, and another one of the page drawn anew", async () => {
  const site = await startSite();
  const { page, url, clickTwice } = await openSlowly(site, await site.person(), false);
  const shown = () => page.locator(".secret-value").textContent();
  await page.goto(`${url}/devices/fleet`);
  await clickTwice(page.getByRole("button", { name: "Make the code" }));
  await page.locator(".secret-value").waitFor();
  const tokens: unknown[] = [];
  for (const _ of [1, 2]) {
    await page.goto(`${url}/api-tokens`);
    await page.getByLabel("Name").fill("report");
    await clickTwice(page.locator("main .form").getByRole("button").last());
    tokens.push(await shown());
  }
  await page.goto(`${url}/people`);
  await page.getByLabel("E-mail address").fill("grace@example.com");
  await clickTwice(page.getByRole("button", { name: "Make the invitation" }));
  await page.locator(".secret-value").waitFor();
  expect(new Set(tokens).size).toBe(2);
  expect([site.t.count("connect_codes"), site.t.count("api_tokens"), site.t.count("one_time_links")]).toEqual([
    1, 2, 1,
  ]);
});

it("repeats what was refused, and what is meant again a while later", async () => {
  const { site, person: ada } = await startSiteOf();
  const page = await (await fetch(`${site.url}/people`, { headers: { cookie: ada.cookie } })).text();
  const _csrf = /name="_csrf" value="([^"]+)"/.exec(page)?.[1] as string;
  const send = async (path: string, form: Record<string, string> = {}) => {
    const body = new URLSearchParams({ _csrf, role: "member", ...form });
    return (await fetch(site.url + path, { method: "POST", redirect: "manual", headers: { cookie: ada.cookie }, body }))
      .status;
  };
  expect(await send("/people/leave")).toBe(409);
  // Refused on a page that shows the form again.
  const email = "grace@example.com";
  const grace = await site.person({ email });
  const budget = { of: `person:${grace.userId}`, period: "month", usd: "5", at: "80" };
  expect([await send("/spend/budgets", budget), site.t.count("budgets")]).toEqual([400, 0]);
  const { core } = site.t.instance;
  await core.store.write(() => storeMember(core, ada.team.id, getUser(core, email), "owner", COMMAND_LINE));
  expect([await send("/spend/budgets", budget), site.t.count("budgets")]).toEqual([303, 1]);
  const made = () => site.t.count("one_time_links");
  for (const links of [1, 1]) expect([await send("/people/invitations"), made()]).toEqual([200, links]);
  site.t.clock.advance(10_000);
  expect([await send("/people/invitations"), made()]).toEqual([200, 2]);
  expect(await send("/people/leave")).toBe(303);
});

it("tells a person who clicked twice that it is done, not that it was done before", async () => {
  const { site, core, person: ada } = await startSiteOf();
  await createInvitation(core, { teamId: ada.team.id, role: "member", email: "grace@example.com" }, COMMAND_LINE);
  const { page, url, clickTwice } = await openSlowly(site, ada);
  await page.goto(`${url}/people`);
  await page.locator("summary", { hasText: "Revoke" }).click();
  await clickTwice(page.getByRole("button", { name: "Revoke invitation" }));
  await page.getByText("The invitation is revoked.").waitFor();
});

it("signs out who is out already, as by another tab", async () => {
  const site = await startSite();
  const { page } = await site.open(await site.person());
  const other = await page.context().newPage();
  for (const tab of [page, other]) await tab.goto(`${site.url}/overview`);
  for (const tab of [page, other]) {
    await tab.locator("details.account summary").click();
    await tab.getByRole("button", { name: "Sign out" }).click();
    await tab.getByText("You are signed out.").waitFor({ timeout: 10_000 });
    expect(tab.url()).not.toContain("next=");
  }
});

it("lets in a person who accepts an invitation by two clicks", async () => {
  const { site, person: ada } = await startSiteOf();
  const { token } = await createInvitation(site.t.instance.core, { teamId: ada.team.id, role: "member" }, COMMAND_LINE);
  const { page, url, clickTwice } = await openSlowly(site);
  await page.goto(`${url}/invitation#${token}`);
  await page.getByLabel("E-mail address").fill("grace@example.com");
  for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
  await clickTwice(page.getByRole("button", { name: "Make an account and join" }));
  await page.getByText("Welcome to the team.").waitFor();
});
