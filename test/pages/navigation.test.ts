import { expect, it } from "vitest";
import { setRole } from "../../src/identity/members/members.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { Person, Site } from "../support/browser.ts";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { fillUsage, SHOP } from "../support/usage.ts";

useBrowser();

const WORK = ["Overview", "Sessions", "Errors", "Spend", "Repositories", "Brain"];
const MEMBERS_TABS = ["People", "Policy", "Packs", "Licence", "Read tokens"];
const INSTALLATION_TABS = [
  "Settings",
  "Teams",
  "Accounts",
  "Single sign-on",
  "Configuration",
  "Installers",
  "Notifications",
  "Background work",
  "Requests",
  "Pack curation",
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

it("links for everybody what they may open, and nothing else", async () => {
  const { site, person: owner } = await startSiteOf();
  const member = await site.person({ team: owner.team, role: "member" });
  const operator = await site.person({ operator: true, team: owner.team, role: "member" });
  const stranger = await site.person();
  site.t.instance.core.store.db.prepare("DELETE FROM memberships WHERE user_id = ?").run(stranger.userId);

  const seen = await around(site, owner, "/people");
  expect(seen).toMatchObject({
    groups: ["Work", "Evidence"],
    items: [...WORK, "Evidence", "Devices", "Telemetry", "Audit", "Team settings"],
    tabs: ["People", "Policy", "Retention", "Packs", "Licence", "Notifications", "API tokens", "Read tokens"],
    current: ["Team settings", "People"],
  });
  const ofMember = await around(site, member, "/policy");
  expect(ofMember).toMatchObject({
    items: [...WORK, "Evidence", "Devices", "Telemetry", "Team settings"],
    tabs: MEMBERS_TABS,
    current: ["Team settings", "Policy"],
  });
  const installation = await around(site, operator, "/settings/teams");
  expect(installation).toMatchObject({
    items: [...WORK, "Evidence", "Devices", "Telemetry", "Audit", "Team settings", "Installation"],
    tabs: INSTALLATION_TABS,
    current: ["Installation", "Teams"],
  });
  const ofStranger = await around(site, stranger, "/overview");
  expect(ofStranger).toMatchObject({
    groups: ["Work"],
    items: ["Overview", "Team settings"],
    tabs: [],
    current: ["Overview"],
  });
  for (const [person, { addresses }] of [
    [owner, seen],
    [member, ofMember],
    [operator, installation],
    [stranger, ofStranger],
  ] as const)
    for (const path of addresses)
      expect([path, (await fetch(site.url + path, { headers: { cookie: person.cookie } })).status]).toEqual([
        path,
        200,
      ]);
});

it("links nothing from any row that is closed to a person who sees only their own", async () => {
  const { site, person: own } = await startSiteOf({ role: "own_only" });
  const { token } = await fillUsage(site, own);
  const session = { id: "s-1", outcome: "failure", spans: [{ id: "a", name: "Bash" }], commits: ["3f2a9c1d4e5f"] };
  const json = { repoKey: SHOP, sessions: [session] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const read = async (path: string) => {
    const reply = await fetch(site.url + path, { headers: { cookie: own.cookie, accept: "text/html" } });
    return { status: reply.status, text: await reply.text() };
  };
  const seen = new Map<string, number>();
  for (const from of ["/sessions", "/sessions/1", "/telemetry", "/telemetry/streams", "/spend", "/devices"])
    for (const [, to] of (await read(from)).text.matchAll(/<a [^>]*href="(\/[^"#]*)/g)) {
      const path = (to as string).replaceAll("&amp;", "&");
      if (!seen.has(path)) seen.set(path, (await read(path)).status);
    }
  expect(seen.get(`/sessions?repo=${encodeURIComponent(SHOP)}`)).toBe(200);
  expect([...seen].filter(([, status]) => status !== 200)).toEqual([]);
});

it("keeps the tabs and the item of the sidebar on the pages below", async () => {
  const { site, person: owner } = await startSiteOf({ operator: true });
  const of = async (path: string) => (await around(site, owner, path)).current;
  expect(await of("/my-brain/tokens/new")).toEqual(["Team settings", "Read tokens"]);
  expect(await of(`/settings/teams/${owner.team.id}`)).toEqual(["Installation", "Teams"]);
  expect(await of("/account")).toEqual([]);
});

it("opens the same menu on a phone", async () => {
  const { site, person: owner } = await startSiteOf();
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

/** A team in which one thing of each kind is called after a word. */
async function findable(site: Site) {
  const owner = await site.person({ name: "Grace Plover" });
  const { t } = site;
  const device = await t.device(owner.team);
  const send = async (path: string, json: object) =>
    expect((await t.post(path, { token: device.token, json })).status).toBe(200);
  const sha = "3f2a9c1d4e5f60718293a4b5c6d7e8f901234567";
  await send("/api/agent-traces/ingest", {
    repoKey: "github.com/acme/plover",
    sessions: [
      {
        id: "s-1",
        outcome: "success",
        branch: "topic-plover",
        spans: [],
        prompts: [{ text: "Tame the Plover" }],
        commits: [sha],
      },
      { id: "s-2", outcome: "success", spans: [], prompts: [{ text: "<img src=x onerror=alert(1)> heron" }] },
    ],
  });
  await send("/api/brain/ingest", {
    repoKey: "github.com/acme/plover",
    version: 1,
    files: [{ path: ".claude/brain/errors.md", content: "## 2026-11-20 Plover flew away\n\nThe plover left.\n" }],
  });
  await t.instance.core.store.write(() =>
    t.instance.core.store.db.prepare("UPDATE devices SET label = 'plover-laptop'").run(),
  );
  return { owner, sha };
}

const groupsOf = async (site: Site, person: Person, q: string) => {
  const reply = await fetch(`${site.url}/search.json?${new URLSearchParams({ q })}`, {
    headers: { cookie: person.cookie },
  });
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/json"]);
  const { groups } = (await reply.json()) as {
    groups: { label: string; hits: { title: string; context: string; href: string }[] }[];
  };
  return groups;
};

it("finds everything that somebody may open by three letters, and nothing of others", async () => {
  const site = await startSite();
  const { owner, sha } = await findable(site);
  const groups = await groupsOf(site, owner, "plo");
  expect(groups.map(({ label, hits }) => [label, hits[0]?.title])).toEqual([
    ["Sessions", "Tame the Plover"],
    ["Errors", "Plover flew away"],
    ["Repositories", "github.com/acme/plover"],
    ["Devices", "plover-laptop"],
    ["People", "Grace Plover"],
  ]);
  for (const { href } of groups.flatMap(({ hits }) => hits))
    expect([href, (await fetch(site.url + href, { headers: { cookie: owner.cookie } })).status]).toEqual([href, 200]);
  const titles = async (q: string) =>
    (await groupsOf(site, owner, q)).flatMap(({ hits }) => hits.map(({ title }) => title));
  expect(await titles(sha)).toEqual(["Tame the Plover"]);
  expect(await titles("3F2A9C")).toEqual(["Tame the Plover"]);
  expect(await titles("topic-plo")).toEqual(["Tame the Plover"]);
  expect(await titles("plover flew")).toContain("Plover flew away");
  expect(await titles("policy")).toContain("Policy");
  expect(await titles("redaction")).not.toEqual([]);
  expect(await titles("pl")).toEqual([]);
  // As the API and the command line spell it.
  expect(await titles("license")).toEqual(["Licence"]);
  expect(await titles("% _")).toEqual([]);
  const eve = await site.person();
  expect(await groupsOf(site, eve, "plo")).toEqual([]);
  expect((await fetch(`${site.url}/search.json?q=plo`, { redirect: "manual" })).status).toBe(303);
  // A member finds only their own machines.
  const member = await site.person({ team: owner.team, role: "member" });
  expect((await groupsOf(site, member, "plo")).map(({ label }) => label)).not.toContain("Devices");
  expect(site.t.rows("SELECT words FROM session_finds ORDER BY session_id")).toEqual([
    { words: "tame the plover\ns-1\ntopic-plover\n3f2a9c1d4e5f" },
    { words: "<img src=x onerror=alert(1)> heron\ns-2" },
  ]);
});

it("opens search by Ctrl-K, leads on by arrows and Enter, and gives the focus back", async () => {
  const site = await startSite();
  const { owner } = await findable(site);
  const { page, go, judge } = await site.open(owner);
  await go("/policy");
  await page.getByRole("link", { name: "Policy" }).first().focus();
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Search everything" });
  await input.fill("plo");
  await page.getByRole("option").filter({ hasText: "Tame the Plover" }).waitFor();
  await judge("search-dialog");
  expect(await page.getByRole("option", { selected: true }).textContent()).toBe(
    "Tame the Plovergithub.com/acme/plover · topic-plover",
  );
  await page.keyboard.press("ArrowDown");
  expect(await page.getByRole("option", { selected: true }).textContent()).toContain("Plover flew away");
  expect(await input.getAttribute("aria-activedescendant")).toBe("find-1");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  expect(await page.getByRole("option", { selected: true }).textContent()).toContain("Grace Plover");
  // Where the system's colours are forced, no background of ours is painted.
  await page.emulateMedia({ forcedColors: "active" });
  const outlined =
    "[...document.querySelectorAll('[role=option]')].filter((one) => getComputedStyle(one).outlineStyle === 'solid')";
  expect(await page.evaluate(`${outlined}.map((one) => one.ariaSelected)`)).toEqual(["true"]);
  await page.emulateMedia({ forcedColors: "none" });
  await page.keyboard.press("Escape");
  expect(await page.evaluate("document.activeElement.textContent")).toBe("Policy");
  await page.keyboard.press("/");
  await input.fill("heron");
  await page.getByRole("option").filter({ hasText: "<img src=x onerror=alert(1)> heron" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/sessions/2");
  await page.getByRole("link", { name: "Search" }).click();
  expect(await page.getByRole("group", { name: "Recent" }).getByRole("option").allTextContents()).toEqual(["Policy"]);
});

it("leaves the keys to an input method while it composes a word", async () => {
  const site = await startSite();
  const { owner } = await findable(site);
  const { page, context, go } = await site.open(owner);
  await go("/policy");
  await page.keyboard.press("Control+k");
  const input = page.getByRole("combobox", { name: "Search everything" });
  await input.fill("plover");
  await page.getByRole("option").filter({ hasText: "Tame the Plover" }).waitFor();
  await page.evaluate(`globalThis.keys = [];
    document.addEventListener("keydown", (event) => keys.push([event.key, event.isComposing, event.defaultPrevented]))`);
  // A word that is being composed: the arrows choose how it is written, Enter takes it.
  const keys = await context.newCDPSession(page);
  await keys.send("Input.imeSetComposition", { text: "ちどり", selectionStart: 3, selectionEnd: 3 });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("keys")).toEqual([
    ["ArrowDown", true, false],
    ["Enter", true, false],
  ]);
  expect([new URL(page.url()).pathname, await page.locator("dialog.find").isVisible()]).toEqual(["/policy", true]);
});

it("searches without a script, too", async () => {
  const site = await startSite();
  const { owner } = await findable(site);
  const { page, go } = await site.open(owner, { javaScript: false });
  await go("/policy");
  await page.getByRole("link", { name: "Search" }).click();
  await page.getByRole("searchbox").or(page.getByRole("textbox")).first().fill("plover");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("heading", { name: "Sessions" }).waitFor();
  await page.getByRole("link", { name: "Tame the Plover" }).click();
  await page.waitForURL("**/sessions/1");
  const seen = await site.open(owner);
  await seen.go("/search?q=plover");
  await seen.judge("search-page");
});

it("shows nothing of the team that another tab switched to under the name of the team before", async () => {
  const { site, person: ada } = await startSiteOf();
  const other = await site.t.team({ name: "Other" });
  await setRole(site.t.instance.core, other.id, ada.userId, "admin", COMMAND_LINE);
  const { deviceId } = await site.t.device(ada.team);
  await site.t.device(other);
  const { page, context, go } = await site.open(ada);
  const shown = async () => [
    await page.locator("#team-switch option[selected]").textContent(),
    await page.locator("#results tbody").textContent(),
  ];
  await go("/devices");
  expect(await shown()).toEqual([ada.team.name, expect.stringContaining(deviceId.slice(-6))]);
  const second = await context.newPage();
  await second.goto(`${site.url}/overview`);
  await second.locator("#team-switch").selectOption("Other");
  await second.locator("#team-switch option[selected]", { hasText: "Other" }).waitFor({ state: "attached" });
  await page.getByRole("searchbox").first().fill("dev_");
  await page.waitForURL("**/devices?q=dev_");
  expect(await shown()).toEqual(["Other", expect.not.stringContaining(deviceId.slice(-6))]);
});

it("leads a person who follows a link to what another of their teams has there, with its query, and to no team of others", async () => {
  const { site, person: ada } = await startSiteOf();
  const other = await site.t.team({ name: "Other" });
  await setRole(site.t.instance.core, other.id, ada.userId, "admin", COMMAND_LINE);
  const { deviceId } = await site.t.device(other);
  await site.t.device(await site.t.team({ name: "Strangers" }));
  const { page, go, judge } = await site.open(ada);
  await go(`/devices/${deviceId}?a=b%26c`, 404);
  await judge("not-found-in-team");
  expect(await page.getByRole("button", { name: /^Look in/ }).allTextContents()).toEqual(["Look in Other"]);
  await page.getByRole("button", { name: "Look in Other" }).click();
  await page.waitForURL(`**/devices/${deviceId}?a=b%26c`);
  await page.getByRole("heading", { level: 1, name: deviceId.slice(-6) }).waitFor();
  expect(site.t.rows("SELECT team_id FROM web_sessions WHERE user_id = ?", ada.userId)).toEqual([
    { team_id: other.id },
  ]);
  await go("/nowhere", 404);
  expect(await page.getByRole("button", { name: /^Look in/ }).count()).toBe(0);
});

it("finds pages below those of the sidebar that somebody may open, and documents by their address", async () => {
  const { site, person: ada } = await startSiteOf();
  const found = async (person: typeof ada, text: string) => {
    const reply = await fetch(`${site.url}/search?${new URLSearchParams({ q: text })}`, {
      headers: { cookie: person.cookie },
    });
    const main = /<main[\s\S]*<\/main>/.exec(await reply.text())?.[0] ?? "";
    return [...main.matchAll(/<li[^>]*><a href="([^"]+)"/g)].map(([, href]) => href);
  };
  expect(await found(ada, "budget")).toContain("/spend/budgets");
  expect(await found(ada, "conflicts")).toContain("/telemetry/conflicts");
  expect(await found(ada, "second factor")).toContain("/account/second-factor");
  expect(await found(ada, "retention")).toEqual(expect.arrayContaining(["/retention", "/docs/retention"]));
  const member = await site.person({ team: ada.team, role: "member" });
  expect(await found(ada, "many machines")).toContain("/devices/fleet");
  expect(await found(member, "many machines")).not.toContain("/devices/fleet");
});
