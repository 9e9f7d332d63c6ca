import { expect, it } from "vitest";
import type { Person, Site } from "../support/browser.ts";
import { startSite, useBrowser } from "../support/browser.ts";

useBrowser();

const WORK = ["Overview", "Sessions", "Errors", "Spend", "Brain"];
const MEMBERS_TABS = ["People", "Policy", "Packs", "Licence", "Read tokens"];
const INSTALLATION_TABS = [
  "Settings",
  "Teams",
  "Accounts",
  "Configuration",
  "Installers",
  "Background work",
  "Requests",
  "Marketplace",
];

/** What stands around a page: the sidebar's items and the tabs, and which of them is the page's own. */
async function around(site: Site, person: Person, path: string) {
  const { page, go, context } = await site.open(person);
  await go(path);
  const side = page.getByRole("navigation", { name: "Main" });
  const tabs = page.locator("main > nav.tabs").first();
  const links = [...(await side.getByRole("link").all()), ...(await tabs.getByRole("link").all())];
  const found = {
    groups: await side.getByRole("heading").allTextContents(),
    items: await side.getByRole("link").allTextContents(),
    tabs: await tabs.getByRole("link").allTextContents(),
    current: await page.locator("nav.side [aria-current], main > nav.tabs [aria-current]").allTextContents(),
    addresses: await Promise.all(links.map(async (link) => (await link.getAttribute("href")) as string)),
  };
  await context.close();
  return found;
}

it("leads everybody to what they may open, and to nothing else", async () => {
  const site = await startSite();
  const owner = await site.person();
  const member = await site.person({ team: owner.team, role: "member" });
  const operator = await site.person({ operator: true, team: owner.team, role: "member" });
  const stranger = await site.person();
  site.t.instance.core.store.db.prepare("DELETE FROM memberships WHERE user_id = ?").run(stranger.userId);

  const seen = await around(site, owner, "/people");
  expect(seen).toMatchObject({
    groups: ["Work", "Evidence"],
    items: [...WORK, "Devices", "Telemetry", "Audit", "Team settings"],
    tabs: ["People", "Policy", "Retention", "Packs", "Licence", "API tokens", "Read tokens"],
    current: ["Team settings", "People"],
  });
  expect(await around(site, member, "/policy")).toMatchObject({
    items: [...WORK, "Devices", "Telemetry", "Team settings"],
    tabs: MEMBERS_TABS,
    current: ["Team settings", "Policy"],
  });
  const installation = await around(site, operator, "/settings/teams");
  expect(installation).toMatchObject({
    items: [...WORK, "Devices", "Telemetry", "Audit", "Team settings", "Installation"],
    tabs: INSTALLATION_TABS,
    current: ["Installation", "Teams"],
  });
  expect(await around(site, stranger, "/overview")).toMatchObject({
    groups: ["Work"],
    items: ["Overview", "Team settings"],
    tabs: [],
    current: ["Overview"],
  });
  for (const [person, { addresses }] of [[owner, seen] as const, [operator, installation] as const])
    for (const path of addresses)
      expect([path, (await fetch(site.url + path, { headers: { cookie: person.cookie } })).status]).toEqual([
        path,
        200,
      ]);
});

it("keeps the tabs and the item of the sidebar on the pages below", async () => {
  const site = await startSite();
  const owner = await site.person({ operator: true });
  const of = async (path: string) => (await around(site, owner, path)).current;
  expect(await of("/my-brain/tokens/new")).toEqual(["Team settings", "Read tokens"]);
  expect(await of(`/settings/teams/${owner.team.id}`)).toEqual(["Installation", "Teams"]);
  expect(await of("/account")).toEqual([]);
});

it("opens the same menu on a phone", async () => {
  const site = await startSite();
  const owner = await site.person();
  const { page, go, judge } = await site.open(owner);
  await go("/people");
  await judge("navigation-tabs");
  await page.setViewportSize({ width: 380, height: 800 });
  const side = page.getByRole("navigation", { name: "Main" });
  expect(await side.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Menu" }).click();
  await side.getByRole("link", { name: "Errors" }).click();
  await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
});
