import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { type Person, type Site, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import { CAUSE, ERRORS, FIX, fillDefects, HOSTILE, SHOP, TILL } from "../support/defects.ts";
import { sessionNumber } from "../support/sessions.ts";

useBrowser();

async function withDefects() {
  const { site, person: ada } = await startSiteOf({ role: "member", email: "ada@example.com" });
  const device = await fillDefects(site, ada);
  return { site, ada, device };
}

const entryId = (site: Site, title: string) =>
  site.t.rows("SELECT id FROM defects WHERE title LIKE ?", `%${title}`)[0]?.id as number;
const links = (site: Site, title: string) =>
  site.t.rows(
    `SELECT l.origin, l.band, l.verdict, l.decided_by AS by, l.commit_sha AS sha, w.external_id AS session
     FROM causal_links l LEFT JOIN trace_session_windows w ON w.session_id = l.session_id
     WHERE l.heading LIKE ? ORDER BY l.origin, w.external_id`,
    `%${title}`,
  );
const events = (site: Site) =>
  site.t.rows("SELECT actor_label AS who, action FROM audit_events WHERE action LIKE 'link.%' ORDER BY id");

const tile = async (page: Page, name: string | RegExp) =>
  (await page.locator(".stat").filter({ hasText: name }).locator("dd").allTextContents())
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join(" | ");
const rowsOf = (page: Page) => page.locator("#results tbody tr");

it("lists an error a row, with its course, state and model, counts all of one population and leads on from each", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await judge("errors");
  expect(await tile(page, /^Open/)).toBe("3 | 2 came again");
  expect(await tile(page, "Unassigned")).toBe("3 | of 3 open");
  expect(await tile(page, "Last 7 days")).toMatch(/^6 \| entries: \d new, \d came again$/);
  expect(await tile(page, "Caused by a session")).toBe("3 of 22 | entries");
  const undated = page.getByText("1 heading has no date");
  expect(await undated.getByRole("link").getAttribute("href")).toMatch(/^\/brain\/file\?repo=.*path=.*errors.md$/);
  expect(await page.getByRole("navigation", { name: "States" }).locator("a").allTextContents()).toEqual([
    "Open 3",
    "Came again 2",
    "Snoozed 0",
    "Resolved 10",
    "All 13",
  ]);
  const rows = rowsOf(page);
  expect(await rows.count()).toBe(3);
  const rounding = rows.filter({ hasText: "Receipt without tax" });
  expect(await rounding.locator("td:not(:first-of-type)").allTextContents()).toEqual([
    "6 entries",
    "2 days ago",
    "Came again",
    "nobody",
    expect.anything(),
  ]);
  expect(await rounding.getByRole("img").getAttribute("aria-label")).toMatch(
    /^Entries in each of the last 12 weeks: (\d, ){11}2$/,
  );

  await rounding.getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Receipt without tax" }).waitFor();
  await judge("errors-class");
  expect(await page.locator(".rule").textContent()).toBe("amounts are whole cents; round once, at the end.");
  expect(await page.getByText("6 entries with this prevention rule, in 2 repositories").count()).toBe(1);
  await page.getByRole("link", { name: "Receipt without tax" }).click();
  await page.getByRole("heading", { level: 1, name: "Receipt without tax" }).waitFor();
  expect(await page.getByText("No session is known that could have caused it").count()).toBe(1);
  await page.getByRole("link", { name: "← Previous" }).click();
  await page.getByRole("heading", { level: 1, name: "Totals off by a cent" }).waitFor();

  await go("/errors");
  await page.getByLabel("Repository", { exact: true }).selectOption(TILL);
  await page.waitForURL("**/errors?repo=*");
  expect(await tile(page, /^Open/)).toBe("2 | 1 came again");
  expect(await rowsOf(page).count()).toBe(2);
  const [ofTill] = site.t.rows("SELECT count(*) AS n FROM defects WHERE repo_key = ?", TILL);
  expect(await tile(page, "Caused by a session")).toMatch(new RegExp(`^\\d of ${ofTill?.n} \\| entries$`));
});

it("counts in its figures and its chart only the chosen kind, and keeps the other filters", async () => {
  const { site, ada } = await withDefects();
  const { page, go } = await site.open(ada);
  await go("/errors?state=all&sort=-count&owner=nobody");
  const entries = () => site.t.rows("SELECT kind, count(*) AS n FROM defects GROUP BY kind");
  await page.getByLabel("Kind", { exact: true }).selectOption("security");
  await page.waitForURL("**/errors?*kind=security*");
  const address = new URL(page.url()).searchParams;
  expect(Object.fromEntries(address)).toMatchObject({ state: "all", sort: "-count", owner: "nobody" });
  const security = entries().find(({ kind }) => kind === "security")?.n;
  expect(security).toBeGreaterThan(0);
  expect(await tile(page, "Caused by a session")).toBe(`1 of ${security} | entries`);
  expect(await tile(page, /^Open/)).toBe("0 | none came again");
  await page.getByText("Show the numbers").click();
  const chart = page.getByRole("table", { name: /^Entries per (?:day|week)/ }).locator("tbody tr");
  const sums = (await chart.locator("td").allTextContents()).map(Number).filter((n) => !Number.isNaN(n));
  expect(sums.reduce((a, b) => a + b, 0)).toBe(security);
  await page.getByLabel("Repository", { exact: true }).selectOption(SHOP);
  await page.waitForURL("**/errors?*repo=*");
  expect(new URL(page.url()).searchParams.get("kind")).toBe("security");
});

it("says which model and agent caused how much, for each 100 of their sessions", async () => {
  const { site, ada } = await withDefects();
  const { page, go } = await site.open(ada);
  await go("/errors");
  const table = (of: string) => page.getByRole("table", { name: `Entries caused by each ${of}` }).locator("tbody tr");
  expect(await table("model").allInnerTexts()).toEqual([
    expect.stringMatching(/^claude-sonnet-4-5\s+2\s+1\s+≈ 200$/),
    expect.stringMatching(/^gpt-5.1-codex\s+1\s+1\s+≈ 100$/),
  ]);
  expect(await table("agent").allInnerTexts()).toEqual([
    expect.stringMatching(/^codex\s+1\s+1\s+≈ 100$/),
    expect.stringMatching(/^claude-code\s+2\s+3\s+≈ 67$/),
  ]);
  // A cause that is merely possible counts in no figure.
  expect(await page.locator("#causes").textContent()).not.toContain("opus");
  await table("model").first().getByRole("link").click();
  await page.waitForURL("**/errors?state=all&model=claude-sonnet-4-5*");
  expect(await rowsOf(page).count()).toBe(2);
});

it("leads from a bar of the chart to what came then, and begins with the first entry", async () => {
  const { site, ada } = await withDefects();
  const { page, go } = await site.open(ada);
  await go("/errors");
  await page.getByText("Show the numbers").click();
  const numbers = page.getByRole("table", { name: "Entries per week, in entries" }).locator("tbody tr");
  expect(await numbers.count()).toBeGreaterThan(20);
  await numbers.last().getByRole("link").click();
  await page.waitForURL("**/errors?state=all&from=2026-11-15&to=2026-11-22*");
  expect(await rowsOf(page).count()).toBe(4);
  expect(await page.getByLabel("From (UTC)").inputValue()).toBe("2026-11-15");

  const bea = await site.person();
  const device = await site.t.device(bea.team);
  const content = "## 2026-11-19 First\n\n## 2026-11-21 Second\n";
  await site.t.post("/api/brain/ingest", {
    token: device.token,
    json: { version: 1, files: [{ path: ERRORS, content }] },
  });
  const other = await site.open(bea);
  await other.go("/errors?state=all");
  await other.judge("errors-young");
  expect(await other.page.getByRole("img", { name: /^Entries per day [^.]/ }).count()).toBe(1);
});

it("keeps what a person says of a cause, lets it be taken back, and counts it before all evidence", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await go(`/errors/${entryId(site, "Login loop after the deploy")}`);
  const card = page.locator(".cause").first();
  expect(await card.textContent()).toContain("The entry calls commit 3f2a9c1 the cause; this session made it.");
  expect(await card.locator("blockquote").textContent()).toContain(HOSTILE);
  const ran = card.locator("li", { hasText: "The session ran from" });
  expect(await ran.textContent()).toMatch(/from \d+ Nov 2026, \d\d:\d\d UTC to \d+ Nov 2026, \d\d:\d\d UTC\.$/);
  expect(await ran.locator("time").first().getAttribute("title")).toMatch(/CET/);
  await judge("errors-entry");
  await card.getByRole("link", { name: "session ses-login" }).click();
  const caused = page.locator(".rail-part", { hasText: "Errors caused" }).locator("li");
  expect(await caused.first().textContent()).toContain("Caused by");
  await judge("session-caused");
  await caused.getByRole("link", { name: "Login loop" }).click();
  await page.getByRole("button", { name: "No, it was not" }).click();
  await page.getByText("Ruled out: it counts nowhere.").waitFor();
  expect(await page.getByText("1 cause was ruled out").count()).toBe(1);
  const first = () => links(site, "Login loop after the deploy").filter(({ session }) => session === "ses-login")[0];
  expect(first()).toMatchObject({ band: "strong", verdict: "rejected", by: ada.userId });
  await page.getByText("1 cause was ruled out").click();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Taken back.").waitFor();
  expect(first()).toMatchObject({ verdict: null, by: null });
  expect(events(site).map(({ action }) => action)).toEqual(["link.rejected", "link.reopened"]);

  await go(`/errors/${entryId(site, "Search was slow")}`);
  const possible = page.locator(".cause.weak");
  expect(await possible.locator(".badge").allTextContents()).toEqual(Array(3).fill("Possibly caused by"));
  await judge("errors-entry-weak");
  await possible.filter({ hasText: "ses-search-1" }).getByRole("button", { name: "Yes, it was" }).click();
  await page.getByText("Confirmed: it counts.").waitFor();
  expect(await page.locator(".cause.word").textContent()).toContain("Caused by");
  expect(links(site, "Search was slow").filter(({ verdict }) => verdict !== null)).toEqual([
    {
      origin: "computed",
      band: "weak",
      verdict: "confirmed",
      by: ada.userId,
      sha: null,
      session: "ses-search-1",
    },
  ]);
  await go("/errors");
  expect(await page.locator("#causes").textContent()).toContain("claude-opus-4-6");
});

it("takes a person's own word, without JavaScript too, and says what is wrong with it", async () => {
  const { site, ada } = await withDefects();
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/errors");
  const id = entryId(site, "Search was slow");
  await go(`/errors/${id}`);
  const say = async (session: string, commit: string) => {
    await page.getByLabel("Session").fill(session);
    await page.getByLabel("Commit").fill(commit);
    await page.getByRole("button", { name: "Add the cause" }).click();
  };
  const before = links(site, "Search was slow");
  for (const [session, commit, complaint] of [
    ["", " ", "Name a session or a commit."],
    ["ses-nobody", "", "No session of the team has this id."],
    ["", "zzzzzzzz", "A commit has 7 to 64 hexadecimal digits."],
    ["ses-totals", CAUSE, "Another session made this commit"],
  ] as const) {
    await say(session, commit);
    expect(await page.getByRole("alert").textContent()).toContain(complaint);
    expect(await page.getByLabel("Session").inputValue()).toBe(session);
  }
  expect(links(site, "Search was slow")).toEqual(before);
  await say(`${site.url}/sessions/${sessionNumber(site, "ses-totals")}`, "");
  expect(await page.getByText("Your word is kept.").count()).toBe(1);
  await say("", FIX);
  expect(links(site, "Search was slow").filter(({ origin }) => origin === "person")).toEqual([
    { origin: "person", band: "strong", verdict: null, by: null, sha: FIX, session: null },
    { origin: "person", band: "strong", verdict: null, by: null, sha: null, session: "ses-totals" },
  ]);
  await page.locator(".cause.word").filter({ hasText: "ses-totals" }).getByRole("button", { name: "Remove" }).click();
  expect(await page.locator(".cause.word").count()).toBe(1);
  expect(events(site)).toEqual(
    ["link.created", "link.created", "link.rejected"].map((action) => ({ who: "ada@example.com", action })),
  );
});

it("finds errors by text, kind, owner, model and state, in the order of a column, page by page", async () => {
  const { site, ada, device } = await withDefects();
  const { page, go } = await site.open(ada);
  const rows = rowsOf(page);
  const found = async (query: string) => {
    await go(`/errors?${query}`);
    return rows.locator("th > a").allTextContents();
  };
  await go("/errors?state=all");
  await page.getByLabel("Text").fill("Token in the");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.textContent()).toContain("Resolved");
  expect(await found("state=all&kind=security")).toEqual(["Token in the log"]);
  expect(await found("")).toContain("Drawer opened twice");
  expect(await found("owner=me")).toEqual([]);
  expect((await found("owner=nobody")).length).toBe(3);
  expect((await found("state=all&model=gpt-5.1-codex")).length).toBe(1);
  expect((await found("sort=count"))[0]).toBe("Receipt without tax");
  expect((await found("sort=-count")).at(-1)).toBe("Receipt without tax");
  expect(await found("sort=title")).toEqual([
    "Drawer opened twice",
    "Receipt without tax",
    expect.stringContaining("Login loop after the deploy"),
  ]);
  expect(await page.locator("th[aria-sort=ascending]").textContent()).toBe("Error");
  expect(await found("state=all&q=100%25&kind=%00&cursor=%ff&sort=x&from=9")).toEqual([]);
  expect(await page.getByText("No error fits").count()).toBe(1);
  await go("/errors?to=2020-01-01");
  expect(await page.getByText("No error fits").count()).toBe(1);

  const many = Array.from(
    { length: 120 },
    (_, i) => `## 2026-10-${String(28 - (i % 28)).padStart(2, "0")} Many ${i}\n`,
  );
  await site.t.post("/api/brain/ingest", {
    token: device.token,
    json: { repoKey: "many", version: 1, files: [{ path: ERRORS, content: many.join("\n") }] },
  });
  for (const sort of ["last", "-title", "state", "count"]) {
    await go(`/errors?repo=many&state=all&sort=${sort}`);
    const seen: string[] = [];
    for (let i = 0; i < 5; i++) {
      seen.push(...(await rows.locator("th > a").allTextContents()));
      if (i < 4) await page.getByRole("link", { name: "Next →" }).click();
    }
    expect([sort, new Set(seen).size]).toEqual([sort, 120]);
    await page.getByRole("link", { name: "← Previous" }).click();
    expect(await rows.locator("th > a").allTextContents()).toEqual(seen.slice(75, 100));
  }
});

it("shows what is open when the page of the list that was asked for no longer exists", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const many = Array.from(
    { length: 26 },
    (_, i) => `## 2026-10-${String(27 - i).padStart(2, "0")} Many ${i}\n\nStatus: open\n`,
  );
  const files = [{ path: ERRORS, content: many.join("\n") }];
  await site.t.post("/api/brain/ingest", { token, json: { repoKey: "many", version: 1, files } });
  const { page, go } = await site.open(ada, { javaScript: false });
  const rows = page.locator("#results tbody tr");
  await go("/errors");
  await page.getByRole("link", { name: "Next →" }).click();
  expect(await rows.count()).toBe(1);
  const address = page.url().slice(site.url.length);
  await rows.getByRole("link").first().click();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.locator(".flash.done").waitFor();
  await go(address);
  expect(await rows.count()).toBe(25);
});

const triage = (site: Site) =>
  site.t.rows(`SELECT e.kind, e.actor_label AS who, e.body FROM triage_events e ORDER BY e.id`);

it("lets an error be taken on, discussed, tracked, snoozed and resolved, without JavaScript too", async () => {
  const { site, ada } = await withDefects();
  const bea = await site.person({ team: ada.team, role: "member", email: "bea@example.com", name: "Bea" });
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/errors");
  await page.getByRole("link", { name: "Drawer opened twice" }).click();
  const panel = page.getByRole("complementary", { name: "Triage" });
  await panel.getByRole("button", { name: "Assign to me" }).click();
  await panel.getByLabel("Owner").selectOption("Bea");
  await panel.getByRole("button", { name: "Assign", exact: true }).click();
  await panel.getByLabel("Comment").fill(`It is the proxy.\n${HOSTILE}`);
  await panel.getByRole("button", { name: "Comment" }).click();
  const link = async (url: string) => {
    await panel.getByLabel("Address in your tracker").fill(url);
    await panel.getByRole("button", { name: "Link", exact: true }).click();
  };
  await panel.getByText("Link to an issue").click();
  for (const url of ["javascript:alert(1)", "http://tracker.example.com/1", "https://u:p@tracker.example.com"]) {
    await link(url);
    expect(await panel.getByRole("alert").textContent()).toContain("begins with https://");
  }
  await link("https://tracker.example.com/browse/SHOP-12?token=x");
  const out = panel.getByRole("link", { name: "tracker.example.com/browse/SHOP-12" }).first();
  expect(await out.getAttribute("rel")).toBe("noopener noreferrer nofollow");
  expect(await out.getAttribute("href")).toBe("https://tracker.example.com/browse/SHOP-12?token=x");
  await panel.getByText("Snooze", { exact: true }).first().click();
  await panel.getByRole("button", { name: "Snooze" }).click();
  expect(await panel.textContent()).toContain("until it comes again");
  await panel.getByRole("button", { name: "Wake up" }).click();
  await panel.getByRole("button", { name: "Resolve" }).click();
  expect(await page.getByText("Resolved.", { exact: true }).count()).toBe(1);
  expect(await panel.locator(".timeline li").first().textContent()).toContain("ada@example.com resolved");
  const lively = await site.open(ada);
  await lively.go(new URL(page.url()).pathname);
  await lively.judge("errors-triage");
  // What stays in sight while the rest scrolls must stay below the head of the page.
  const held = "parseFloat(getComputedStyle(document.querySelector('.triage')).top)";
  expect(await lively.page.evaluate(held)).toBeGreaterThanOrEqual(
    await lively.page.evaluate<number>("document.querySelector('header.top').offsetHeight"),
  );
  expect(await page.locator("main img, main script").count()).toBe(0);
  expect(triage(site).map(({ kind, who }) => `${kind} ${who}`)).toEqual(
    ["assigned", "assigned", "commented", "linked", "snoozed", "reopened", "resolved"].map(
      (kind) => `${kind} ada@example.com`,
    ),
  );
  expect(site.t.rows("SELECT owner_id, state, tracker FROM triage_words")).toEqual([
    { owner_id: bea.userId, state: "resolved", tracker: "https://tracker.example.com/browse/SHOP-12?token=x" },
  ]);
  await go(`/errors?state=resolved&owner=${bea.userId}`);
  expect(await rowsOf(page).textContent()).toMatch(/Drawer opened[\s\S]*Resolved\s*Bea/);
});

it("says on an entry's page who works on the whole class, as the list does", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await page.getByRole("link", { name: "Receipt without tax" }).click();
  await page.getByRole("button", { name: "Assign to me" }).click();
  await page.getByText("Assigned.", { exact: true }).waitFor();
  await go(`/errors/${entryId(site, "Receipt without tax")}`);
  const panel = page.getByRole("complementary", { name: "Triage" });
  expect(await panel.textContent()).toContain("ada@example.com is on the whole class");
  await judge("errors-entry-of-class");
  await panel.getByRole("link", { name: "the whole class" }).click();
  expect(await panel.getByLabel("Owner").inputValue()).toBe(ada.userId);
  expect(await panel.textContent()).not.toContain("is on the whole class");
  const viewer = await site.person({ team: ada.team, role: "viewer" });
  const looking = await site.open(viewer);
  await looking.go(`/errors/${entryId(site, "Receipt without tax")}`);
  expect(await looking.page.locator("#triage").textContent()).toContain("ada@example.com is on the whole class");
});

it("says of what came again who resolved it, when, and in which session it came", async () => {
  const { site, ada, device } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await page.getByRole("link", { name: "Receipt without tax" }).click();
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByText("Resolved.", { exact: true }).waitFor();
  site.t.clock.advance(86_400_000);
  const again = `## 2026-11-22 Cents lost in refunds\n\nSince commit ${CAUSE.slice(0, 7)}, the cause.\n\n**Prevention rule:** amounts are whole cents; round once, at the end.\n`;
  await site.t.post("/api/brain/ingest", {
    token: device.token,
    json: { repoKey: TILL, version: 2, files: [{ path: ERRORS, content: again }] },
  });
  await go("/errors?state=again");
  await page.getByRole("link", { name: "Cents lost in refunds" }).click();
  const note = page.locator(".came-again");
  expect(await note.textContent()).toMatch(
    /^Resolved by ada@example.com, 21 Nov 2026, 08:00 UTC\. Came again on 22 Nov 2026/,
  );
  await judge("errors-came-again");
  expect(await page.locator(".timeline li").first().textContent()).toContain("Came again");
  await page.getByRole("button", { name: "Resolve" }).click();
  await page.getByText("Resolved.", { exact: true }).waitFor();
  expect(await note.count()).toBe(0);
});

it("keeps what somebody else did meanwhile, and says so", async () => {
  const { site, ada } = await withDefects();
  const bea = await site.person({ team: ada.team, role: "member" });
  const [one, other] = [await site.open(ada), await site.open(bea)];
  for (const { page, go } of [one, other]) {
    await go("/errors");
    await page.getByRole("link", { name: "Drawer opened twice" }).click();
  }
  await one.page.getByRole("button", { name: "Resolve" }).click();
  await one.page.getByText("Resolved.", { exact: true }).waitFor();
  await other.page.getByRole("button", { name: "Assign to me" }).click();
  expect(await other.page.getByRole("alert").textContent()).toContain("Somebody else changed this meanwhile");
  expect(await other.page.locator(".triage .badge").first().textContent()).toContain("Resolved");
  await other.page.getByRole("button", { name: "Assign to me" }).click();
  await other.page.getByText("Assigned.", { exact: true }).waitFor();
  expect(site.t.rows("SELECT owner_id, state, revision FROM triage_words")).toEqual([
    { owner_id: bea.userId, state: "resolved", revision: 2 },
  ]);
});

it("takes no action without the page's token, on another team's error, or from a form that is none", async () => {
  const { site, ada } = await withDefects();
  const eve = await site.person();
  await (await fetch(`${site.url}/errors`, { headers: { cookie: ada.cookie } })).text();
  const id = entryId(site, "Drawer opened twice");
  const post = async (person: Person, path: string, form: Record<string, string>) => {
    const { page, go } = await site.open(person);
    await go("/account");
    const csrf = await page.locator("input[name=_csrf]").first().inputValue();
    const answer = await page.request.post(site.url + path, {
      form: { ...(form._csrf === undefined ? { _csrf: csrf } : {}), ...form },
      headers: { origin: site.url },
      maxRedirects: 0,
    });
    return answer.status();
  };
  const resolve = { to: "resolve", seen: "0" };
  expect(await post(eve, `/errors/${id}/state`, resolve)).toBe(404);
  expect(await post(eve, "/errors/classes/00000000/state", resolve)).toBe(404);
  expect(await post(ada, `/errors/${id}/state`, { ...resolve, _csrf: "no" })).toBe(403);
  expect(await post(ada, `/errors/${id}/owner`, { owner: eve.userId, seen: "0" })).toBe(400);
  expect(await post(ada, `/errors/${id}/snooze`, { until: "2020-01-01" })).toBe(400);
  expect(await post(ada, `/errors/${id}/snooze`, { until: "soon" })).toBe(400);
  expect(await post(ada, `/errors/${id}/comments`, { comment: "x".repeat(4_001) })).toBe(400);
  expect(await post(ada, `/errors/${id}/nothing`, resolve)).toBe(404);
  expect(triage(site)).toEqual([]);
  expect(await post(ada, `/errors/${id}/state`, { to: "resolve" })).toBe(303);
  expect(triage(site).map(({ kind }) => kind)).toEqual(["resolved"]);
});

it("offers a proof of the brain that holds an entry", async () => {
  const { site, ada } = await withDefects();
  const { page, go } = await site.open(ada);
  await go("/errors");
  await go(`/errors/${entryId(site, "Drawer opened twice")}`);
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page
      .getByRole("link", { name: "Download proof" })
      .click()
      .catch(() => {}),
  ]);
  expect(file.suggestedFilename()).toMatch(/^error-\d+\.tlog-proof$/);
  expect(site.t.rows("SELECT target_kind AS kind FROM audit_events WHERE action = 'proof.made'")).toEqual([
    { kind: "snapshot" },
  ]);
});

it("names the causes below the headings of the rendered file", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go(`/brain/file?${new URLSearchParams({ repo: SHOP, path: ERRORS })}`);
  const notes = page.locator(".entry-links");
  expect(await notes.count()).toBe(19);
  expect(
    await page
      .locator("h3:has-text('Login loop') + .entry-links, h2:has-text('Login loop') + .entry-links")
      .textContent(),
  ).toContain("Caused by");
  await judge("errors-brain-file");
  await notes.first().getByRole("link", { name: "Why" }).click();
  await page.getByRole("heading", { level: 1, name: "Login loop after the deploy" }).waitFor();
});

it("explains what an entry is while there are none", async () => {
  const { site, person: ada } = await startSiteOf({ role: "member" });
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  expect(await page.getByText("No entries yet").count()).toBe(1);
  await judge("errors-empty");
});

it("takes no statement about a link at another entry", async () => {
  const { site, ada } = await withDefects();
  await (await fetch(`${site.url}/errors`, { headers: { cookie: ada.cookie } })).text();
  const id = entryId(site, "Login loop after the deploy");
  const link = site.t.rows("SELECT id FROM causal_links WHERE band = 'strong'")[0]?.id as string;
  const { page, go } = await site.open(ada);
  await go(`/errors/${id}`);
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  const other = entryId(site, "Search was slow");
  const answer = await page.request.post(`${site.url}/errors/${other}/links/${link}`, {
    form: { _csrf: csrf, verdict: "rejected" },
    headers: { origin: site.url },
  });
  expect(answer.status()).toBe(404);
  expect(events(site)).toEqual([]);
});
