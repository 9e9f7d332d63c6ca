import { expect, it } from "vitest";
import { type Site, startSite, useBrowser } from "../support/browser.ts";
import { CAUSE, ERRORS, FIX, fillDefects, HOSTILE, SHOP } from "../support/defects.ts";

useBrowser();

async function withDefects() {
  const site = await startSite();
  const ada = await site.person({ role: "member", email: "ada@example.com" });
  const device = await fillDefects(site, ada);
  return { site, ada, device };
}

const entryId = (site: Site, title: string) =>
  site.t.rows("SELECT id FROM defects WHERE title LIKE ?", `%${title}`)[0]?.id as number;
const sessionNumber = (site: Site, id: string) =>
  site.t.rows("SELECT id FROM trace_sessions WHERE external_id = ?", id)[0]?.id as number;
const links = (site: Site, title: string) =>
  site.t.rows(
    `SELECT l.origin, l.band, l.verdict, l.decided_by AS by, l.commit_sha AS sha, w.external_id AS session
     FROM causal_links l LEFT JOIN trace_session_windows w ON w.session_id = l.session_id
     WHERE l.heading LIKE ? ORDER BY l.origin, w.external_id`,
    `%${title}`,
  );
const events = (site: Site) =>
  site.t.rows("SELECT actor_label AS who, action FROM audit_events WHERE action LIKE 'link.%' ORDER BY id");

it("says how often, what comes again and what caused it, and leads on from each", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await judge("errors");
  const tile = async (name: string) =>
    (await page.locator(".stat").filter({ hasText: name }).locator("dd").allTextContents()).join(" | ");
  expect(await tile("Last 7 days")).toBe("5 | ↑ up, from a mean of 1.33");
  expect(await tile("Open")).toBe("2 | of 21 entries in errors.md");
  expect(await tile("Came again")).toBe("2 | classes with more than one entry");
  expect(await tile("Caused by a session")).toBe("3 | by evidence or somebody's word");
  expect(await page.getByText("1 heading has no date").count()).toBe(1);
  const words = "5 entries in the last 7 days, against a mean of 1.33 in the three weeks before: up.";
  expect(await page.getByRole("img", { name: "Entries per week" }).locator("desc").textContent()).toBe(words);
  expect(await page.getByText(words, { exact: true }).first().isVisible()).toBe(true);

  const recurring = page.getByRole("table", { name: "Recurring classes" }).locator("tbody tr");
  expect(await recurring.count()).toBe(2);
  expect(await recurring.first().locator("th").textContent()).toContain(
    "amounts are whole cents; round once, at the end.",
  );
  expect(await recurring.first().getByRole("img").getAttribute("aria-label")).toMatch(
    /^6 times: 13 Jul 2026, .*19 Nov 2026$/,
  );
  const answerable = page.getByRole("table", { name: "Entries caused by sessions" }).locator("tbody tr");
  expect(await answerable.allTextContents()).toEqual([
    expect.stringMatching(/ses-login\s*claude-code\s*claude-sonnet-4-5\s*2/),
    expect.stringMatching(/ses-totals\s*codex\s*gpt-5\.1-codex\s*1/),
  ]);
  // What is possible and no more stands in no figure.
  expect(await page.locator("#causes").textContent()).not.toContain("ses-search");

  await recurring.first().getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "amounts are whole cents" }).waitFor();
  await judge("errors-class");
  expect(await page.getByText("6 entries have this prevention rule, in 2 repositories.").count()).toBe(1);
  await page.getByRole("link", { name: "Receipt without tax" }).click();
  await page.getByRole("heading", { level: 1, name: "Receipt without tax" }).waitFor();
  expect(await page.getByText("No session is known that could have caused it").count()).toBe(1);

  await go("/errors");
  await page.getByLabel("Repository", { exact: true }).selectOption("github.com/acme/till");
  await page.waitForURL("**/errors?repo=*");
  expect(await tile("Open")).toBe("1 | of 2 entries in errors.md");
  expect(await page.locator("#results tbody tr").count()).toBe(2);
});

it("keeps what a person says of a cause, lets it be taken back, and counts it before all evidence", async () => {
  const { site, ada } = await withDefects();
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  await go(`/errors/${entryId(site, "Login loop after the deploy")}`);
  const card = page.locator(".cause").first();
  expect(await card.textContent()).toContain("The entry calls commit 3f2a9c1 the cause; this session made it.");
  expect(await card.locator("blockquote").textContent()).toContain(HOSTILE);
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
  expect(first()).toMatchObject({ band: "strong", verdict: "rejected", by: "ada@example.com" });
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
      by: "ada@example.com",
      sha: null,
      session: "ses-search-1",
    },
  ]);
  await go("/errors");
  expect(await page.locator("#causes").textContent()).toContain("ses-search-1");
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
    ["", "zzzzzzzz", "A commit has 7 to 40 hexadecimal digits."],
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

it("finds entries by text, kind and state, page by page", async () => {
  const { site, ada, device } = await withDefects();
  const { page, go } = await site.open(ada);
  await go("/errors");
  const rows = page.locator("#results tbody tr");
  await page.getByLabel("Text").fill("log in the");
  await page.getByLabel("Text").fill("Token in the");
  await expect.poll(() => rows.count()).toBe(1);
  expect(await rows.textContent()).toContain("Probably caused by");
  await go("/errors?kind=security");
  expect(await rows.count()).toBe(1);
  await go("/errors?open=on");
  expect(await rows.locator("th > a").allTextContents()).toEqual([
    expect.stringContaining("Login loop"),
    "Drawer opened twice",
  ]);
  await go("/errors?q=100%25&kind=%00&open=maybe&cursor=%ff");
  expect(await page.getByText("No entry fits").count()).toBe(1);

  const many = Array.from(
    { length: 120 },
    (_, i) => `## 2026-10-${String(28 - (i % 28)).padStart(2, "0")} Many ${i}\n`,
  );
  await site.t.post("/api/brain/ingest", {
    token: device.token,
    json: { repoKey: "many", version: 1, files: [{ path: ERRORS, content: many.join("\n") }] },
  });
  await go("/errors?repo=many");
  const seen: string[] = [];
  for (let i = 0; i < 5; i++) {
    seen.push(...(await rows.locator("th > a").allTextContents()));
    if (i < 4) await page.getByRole("link", { name: "Older" }).click();
  }
  expect(new Set(seen).size).toBe(120);
  await page.getByRole("link", { name: "Newer" }).click();
  expect(await rows.locator("th > a").allTextContents()).toEqual(seen.slice(75, 100));
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

it("shows hostile text as text", async () => {
  const { site, ada } = await withDefects();
  const { page, go, complaints } = await site.open(ada);
  await go("/errors");
  const id = site.t.rows("SELECT id FROM defects WHERE date = '2026-05-02'")[0]?.id;
  for (const path of ["/errors", `/errors/${id}`, `/errors/${entryId(site, "Search was slow")}`]) {
    await go(path);
    expect(await page.locator("main img, main script").count()).toBe(0);
  }
  expect(await page.locator("main").textContent()).toContain(HOSTILE);
  expect(complaints).toEqual([]);
});

it("says what an entry is while there is none", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "member" });
  const { page, go, judge } = await site.open(ada);
  await go("/errors");
  expect(await page.getByText("No entries yet").count()).toBe(1);
  await judge("errors-empty");
});

it("answers 404 for another team's entries, classes and links, and changes nothing of them", async () => {
  const { site, ada } = await withDefects();
  const eve = await site.person();
  await (await fetch(`${site.url}/errors`, { headers: { cookie: ada.cookie } })).text();
  const id = entryId(site, "Login loop after the deploy");
  const link = site.t.rows("SELECT id FROM causal_links WHERE band = 'strong'")[0]?.id as string;
  const [{ fingerprint }] = site.t.rows(
    "SELECT lower(hex(substr(fingerprint, 1, 4))) AS fingerprint FROM defects WHERE id = ?",
    id,
  );
  const status = async (path: string, cookie: string) => (await fetch(site.url + path, { headers: { cookie } })).status;
  for (const path of [`/errors/${id}`, `/errors/classes/${fingerprint}`]) {
    expect([path, await status(path, ada.cookie)]).toEqual([path, 200]);
    expect([path, await status(path, eve.cookie)]).toEqual([path, 404]);
  }
  for (const path of [
    "/errors/0",
    "/errors/x",
    "/errors/classes/zzzzzzzz",
    "/errors/classes/00000000",
    "/errors/9999999",
  ])
    expect([path, await status(path, ada.cookie)]).toEqual([path, 404]);
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
