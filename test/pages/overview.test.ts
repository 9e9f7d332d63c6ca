import { mkdirSync, statfsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { createCode } from "../../src/identity/devices/devices.ts";
import type { Team } from "../../src/identity/teams/teams.ts";
import { setMembersBind, updateTeam } from "../../src/identity/teams/teams.ts";
import { setBudget } from "../../src/insight/budgets/budgets.ts";
import { DAY_MS, isoInstant } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { digestJob } from "../../src/share/alarms/digest.ts";
import { noteBackup } from "../../src/share/maintenance/last-backup.ts";
import { noteReplicaCheck } from "../../src/share/maintenance/maintenance.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { mountTmpfs, noMounts } from "../faults/support/disk.ts";
import { fillRecords, REPO } from "../support/api.ts";
import { type Site, startSite, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import { leaveFailing } from "../support/jobs.ts";
import { newMachine } from "../support/machine.ts";

useBrowser();

const ERRORS = `# Errors

## ⏳ 2026-11-20 Login loop
The cookie lacked its path.

## [2026-11-19]: Flaky test
- **Status**: in progress

## 2026-11-18 - <img src=x onerror="document.title='owned'">
**Status:** resolved

## 2026-12-08 Flaky test
**Status:** resolved

## Not dated
Status: open
`;

it("leads from nothing to a first session and a first error by lines that work as they stand, and follows by itself", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const { page, go, judge } = await site.open(ada);
  const machine = newMachine();
  const line = async (region: string) => (await page.getByRole("region", { name: region }).textContent()) ?? "";
  await go("/overview");
  await judge("overview-first");
  expect(await page.getByText("0 of 3 done.").count()).toBe(1);
  await page.getByRole("button", { name: "Make a connect code" }).click();
  await page.getByText("shown once").waitFor();

  const { code } = await createCode(core, ada.team.id, COMMAND_LINE);
  await go("/overview");
  const connect = (await line("Connect a device")).replace("THE-CODE", code);
  await machine.run(`${connect} --yes --json --label first`);
  // The page is not reloaded from here on.
  await page.locator("#first-steps").getByText("1 of 3 done.").waitFor();
  const work = join(machine.home, "shop");
  const transcript = join(machine.home, ".claude", "projects", "-work-shop", "s1.jsonl");
  mkdirSync(dirname(transcript), { recursive: true });
  await machine.run(`git init -q ${work} && git -C ${work} remote add origin https://git.example.com/acme/shop.git`);
  const said = { type: "user", uuid: "p1", sessionId: "s1", cwd: work, version: "2.1.330" };
  const message = { role: "user", content: "Fix the login test" };
  writeFileSync(transcript, `${JSON.stringify({ ...said, timestamp: isoInstant(Date.now()), message })}\n`);
  await machine.run(await line("Receive a session"));
  await page.locator("#first-steps").getByText("2 of 3 done.").waitFor();
  await judge("overview-first-error");
  await machine.run(`cd ${work} && ${await line("Record an error")}`);
  await page.getByText("First steps").waitFor({ state: "detached" });
  await page.getByRole("heading", { name: "Latest sessions" }).waitFor();
  expect(site.t.rows("SELECT label FROM devices")).toEqual([{ label: "first" }]);
  expect([site.t.count("telemetry_entries"), site.t.count("brain_snapshots")]).toEqual([1, 1]);
  expect(site.t.rows("SELECT title FROM defects")).toEqual([{ title: "Tests failed after the upgrade" }]);
});

const tile = async (page: Page, name: string) =>
  (
    await page
      .locator(".stat")
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator("dd:not(.stat-spark)")
      .allTextContents()
  ).join(" | ");

/** Three weeks of a team: sessions that end in every way, cost, errors, a gap and a rollback. */
async function threeWeeks(site: Site, team: Team) {
  const quiet = await site.t.device(team);
  await site.t.post("/api/telemetry/heartbeat", { token: quiet.token });
  const busy = await site.t.device(team);
  const send = async (path: string, json: object) =>
    expect((await site.t.post(path, { token: busy.token, json })).status).toBe(200);
  const entries = (from: number, count: number, text = "x") =>
    send("/api/telemetry/ingest", {
      repoKey: "shop",
      entries: Array.from({ length: count }, (_, i) => ({ seq: from + i, payload: { text } })),
    });
  const outcomes = ["success", "success", "failure", "partial", ""];
  for (let day = 0; day < 21; day++) {
    const at = site.t.clock.now();
    await send("/api/agent-traces/ingest", {
      repoKey: "github.com/acme/shop",
      sessions: Array.from({ length: 1 + (day % 5) }, (_, i) => ({
        id: `s-${day}-${i}`,
        agent: "claude-code",
        model: day % 7 === 6 ? "unheard-of-1" : "claude-sonnet-4-5-20250929",
        branch: "main",
        outcome: outcomes[(day + i) % outcomes.length],
        startedAt: at,
        endedAt: at + 600_000,
        prompts: [{ at, text: `Make step ${i} of day ${day} of the migration of orders pass its tests again` }],
        spans: [{ id: "a", startedAt: at, endedAt: at + 1_000, usage: { input_tokens: 40_000, output_tokens: 2_000 } }],
      })),
    });
    site.t.clock.advance(DAY_MS);
  }
  await entries(1, 3);
  await entries(8, 5);
  await entries(1, 1, "rewritten");
  await send("/api/brain/ingest", {
    repoKey: "github.com/acme/shop",
    version: 1,
    files: [{ path: ".claude/brain/errors.md", content: ERRORS }],
  });
  await site.t.instance.settle();
}

it("tells what agents did, whether it gets better and what needs somebody, and every figure leads on", async () => {
  const site = await startSite();
  const team = await site.t.team();
  await threeWeeks(site, team);
  const ada = await site.person({ team });
  const { page, go, judge } = await site.open(ada);
  await go("/overview?days=30");
  await judge("overview");
  const [{ sessions }] = site.t.rows("SELECT count(*) AS sessions FROM trace_sessions");
  expect(await tile(page, "Sessions")).toMatch(new RegExp(`^${sessions} \\| \\d+ succeeded, 51 %$`));
  expect(await tile(page, "Spend")).toMatch(/^\$\d+\.\d\d \| \$0\.\d+ a session$/);
  expect(await tile(page, "Error entries")).toBe("4 | 1 came again");
  await go("/overview?days=7");
  await judge("overview-7");
  const week = site.t.rows(
    `SELECT sum(started_at >= ${Date.UTC(2026, 11, 6)}) AS now, sum(started_at < ${Date.UTC(2026, 11, 6)}) AS before
     FROM trace_sessions WHERE started_at >= ${Date.UTC(2026, 10, 29)}`,
  )[0];
  const percent = Math.round(((week.now - week.before) / week.before) * 100);
  expect(await tile(page, "Sessions")).toContain(
    `${week.now} | ${percent > 0 ? "up ↑" : "down ↓"} ${Math.abs(percent)} % against the 7 days before · `.replace(
      / (?=[↑↓])/,
      " ",
    ),
  );
  expect(await tile(page, "Sessions")).toMatch(/succeeded, \d+ % (?:better|worse) than \d+ % in the 7 days before$/);
  const sticksOut =
    "[...document.querySelectorAll('.stat')].filter((card) => card.scrollWidth > card.clientWidth).length";
  expect(await page.evaluate(sticksOut), "figures whose words leave their card").toBe(0);
  expect(await page.locator("nav.choices [aria-current]").textContent()).toBe("7 days");

  const day = page.getByRole("figure").filter({ hasText: "Outcomes by day" });
  await day.getByText("Show the numbers").click();
  await day.getByRole("link", { name: "2026-12-11" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  const [{ count }] = site.t.rows(
    `SELECT count(*) AS count FROM trace_sessions WHERE started_at BETWEEN ${Date.UTC(2026, 11, 11)} AND ${Date.UTC(2026, 11, 12) - 1}`,
  );
  expect(await page.locator("#results tbody tr").count()).toBe(count);
});

it("shows the days of a weekly digest to whoever follows its link, also days later", async () => {
  const site = await startSite({ settings: { outbound: "hooks.example.com" } });
  const { core } = site.t.instance;
  const team = await site.t.team();
  const target = "https://hooks.example.com/x";
  await createChannel(
    core,
    { teamId: team.id, kind: "webhook", name: "Ours", target, events: ["digest.weekly"] },
    COMMAND_LINE,
  );
  await threeWeeks(site, team);
  site.t.clock.advance(Date.UTC(2026, 11, 16, 12) - site.t.clock.now());
  await digestJob.run(core);
  const { path, data } = site.t.rows("SELECT path, data FROM notices WHERE type = 'digest.weekly'")[0];
  const told = JSON.parse(data);
  expect(told).toMatchObject({ from: "2026-12-07", to: "2026-12-13", sessions: expect.any(Number) });
  const { page, go, judge } = await site.open(await site.person({ team }));
  await go(path);
  await judge("overview-digest");
  await page.getByText("7 Dec 2026 to 13 Dec 2026").waitFor();
  expect(await tile(page, "Sessions")).toMatch(new RegExp(`^${told.sessions} \\| `));
  expect(await tile(page, "Spend")).toContain(`$${told.spend_usd.toFixed(2)} | `);
  await page.locator(".stat").filter({ hasText: "Spend" }).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Spend" }).waitFor();
  expect(new URL(page.url()).search).toBe("?from=2026-12-07&to=2026-12-13");
  expect(await page.locator("main").textContent()).toContain(`$${told.spend_usd.toFixed(2)}`);
  for (const day of ["2027-01-01", "0001-01-01", "soon"]) {
    await go(`/overview?to=${day}`);
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  }
});

it("says what a session costs as the page on spend does, and takes no part of it from what was used without a session", async () => {
  const site = await startSite();
  const team = await site.t.team();
  const { token } = await site.t.device(team);
  const send = async (path: string, json: object) =>
    expect((await site.t.post(path, { token, json: { repoKey: "shop", ...json } })).status).toBe(200);
  const usage = { input_tokens: 1_000_000 };
  const at = site.t.clock.now();
  const spans = [{ id: "a", startedAt: at, usage }];
  const session = { id: "s", outcome: "success", model: "claude-opus-4-6", startedAt: at, spans };
  await send("/api/agent-traces/ingest", {
    sessions: [session, { ...session, id: "earlier", startedAt: at - 8 * DAY_MS }],
  });
  await send("/api/telemetry/ingest", { entries: [{ seq: 1, payload: { usage, model: "claude-opus-4-6" } }] });
  await site.t.instance.settle();
  const { page, go } = await site.open(await site.person({ team }));
  await go("/overview");
  expect(await tile(page, "Spend")).toBe("$15.00 | $5.00 a session");
  await go("/spend?days=7");
  expect(await tile(page, "Per session")).toBe("$5.00 | 1 session");
});

it("adds nothing that agents say of cost to what is known by list prices, as the page on spend does", async () => {
  const site = await startSite();
  const team = await site.t.team();
  const { token } = await site.t.device(team);
  const usage = { input_tokens: 1_000_000 };
  const say = async (repoKey: string, payload: object) => {
    const json = { repoKey, entries: [{ seq: 1, payload: { usage, ...payload } }] };
    expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  };
  const { page, go } = await site.open(await site.person({ team }));
  await say("till", { model: "own-model", costUsd: 7, at: "2026-11-20T10:00:00Z" });
  await go("/overview");
  expect(await tile(page, "Spend")).toBe("– | nothing that has a price · agents say $7.00");
  await say("shop", { model: "claude-opus-4-6", at: "2026-11-19T10:00:00Z" });
  await go("/overview");
  expect(await tile(page, "Spend")).toBe("$5.00 | ");
  await page.getByText("$5.00 in 7 days.").waitFor({ state: "attached" });
  await go("/spend?days=7");
  expect(await page.locator(".stat").filter({ hasText: "Cost" }).locator("dd").first().textContent()).toBe("$5.00");
});

it("leaves out an error that somebody resolved or snoozed, here and on its repository's page, and takes in one reopened", async () => {
  const site = await startSite();
  site.t.clock.advance(20 * DAY_MS);
  const ada = await site.person();
  const { token } = await site.t.device(ada.team);
  const files = [{ path: ".claude/brain/errors.md", content: ERRORS }];
  const sent = await site.t.post("/api/brain/ingest", { token, json: { repoKey: REPO, version: 1, files } });
  expect(sent.status).toBe(200);
  const { page, go } = await site.open(ada);
  const seen = async () => {
    await go("/overview");
    const concerns = await page.locator(".concerns > li").allTextContents();
    await go("/repositories");
    const listed = await page.locator("tbody td[data-label='Open errors']").textContent();
    await go(`/repositories/overview?repo=${encodeURIComponent(REPO)}`);
    const errors = page.getByRole("table", { name: "Open and recurring errors" });
    return {
      concerns: concerns.map((text) => /^(?:Came again|Open error)\w+ \w+/.exec(text)?.[0]).filter(Boolean),
      open: [listed, await tile(page, "Open errors"), await tile(page, "Came again")],
      errors: await errors.locator("tbody tr").allTextContents(),
    };
  };
  const say = async (error: string, word: string) => {
    await go("/errors?state=all");
    await page.getByRole("table", { name: "Errors" }).getByRole("link", { name: error }).click();
    if (word === "Snooze") await page.getByText(word, { exact: true }).first().click();
    await page.getByRole("button", { name: word, exact: true }).click();
  };
  expect(await seen()).toEqual({
    concerns: ["Came againFlaky test", "Open errorLogin loop"],
    open: ["2", "2 | of 3 errors", "1 | of the open errors"],
    errors: ["Flaky test2Came again8 Dec 2026", "Login loop1Open20 Nov 2026"],
  });
  await say("Flaky test", "Resolve");
  await say("Login loop", "Snooze");
  expect(await seen()).toEqual({
    concerns: [],
    open: ["–", "0 | of 3 errors", "0 | of the open errors"],
    errors: [],
  });
  await say("Flaky test", "Reopen");
  expect(await seen()).toMatchObject({
    concerns: ["Open errorFlaky test"],
    open: ["1", "1 | of 3 errors", expect.any(String)],
  });
});

it("puts what is most urgent first, each line with where it is dealt with", async () => {
  const site = await startSite();
  const team = await site.t.team();
  await threeWeeks(site, team);
  const ada = await site.person({ team });
  const { page, go } = await site.open(ada);
  await go("/overview");
  expect(await page.locator(".section > .more").textContent()).toMatch(
    /(?:^| · )1 error that came again · 1 more open error · /,
  );
  const lines = await page.locator(".concerns > li").all();
  const shown = await Promise.all(
    lines.map(async (one) => (await one.locator(".concern-kind").textContent()) as string),
  );
  expect(shown.slice(0, 2).sort()).toEqual(["Came again", "Rollback"]);
  expect(new Set(shown.slice(2))).toEqual(new Set(["Failed session", "Gap", "Open error", "Unpriced", "Quiet device"]));
  expect(shown.slice(-2)).toEqual(["Quiet device", "Unpriced"]);
  for (const one of await page.locator(".concerns a, .section > .more a").all()) {
    const path = (await one.getAttribute("href")) as string;
    expect([path, (await fetch(site.url + path, { headers: { cookie: ada.cookie } })).status]).toEqual([path, 200]);
  }
  await page.locator(".concerns > li").filter({ hasText: "Rollback" }).getByRole("link").click();
  await page.getByRole("heading", { name: "Entry 1 of shop" }).waitFor();
  // A member's own machines are theirs to look after, and no others.
  const eve = await site.person({ team: ada.team, role: "member" });
  const other = await site.open(eve);
  await other.go("/overview");
  expect(await other.page.locator(".concerns").textContent()).not.toContain("Quiet device");
});

it("counts failed sessions as the figures above do, whatever word agents have for it, and leads to a list of just these", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const today = site.t.clock.now();
  const sessions = [
    ["a", "failure", 0],
    ["b", "error", 1],
    ["c", "success", 1],
    ["d", "failed", 7],
  ] as const;
  const json = {
    repoKey: "shop",
    sessions: sessions.map(([id, outcome, ago]) => ({ id, outcome, startedAt: today - ago * DAY_MS, spans: [] })),
  };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  await go("/overview");
  expect(await tile(page, "Sessions")).toMatch(/^3 \| .*1 succeeded, 33 %/);
  await page.getByRole("link", { name: "2 failed sessions" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  expect(await page.locator("#results tbody th a").allTextContents()).toEqual(["a", "b"]);
});

it("shows rollbacks, and no gap of a week ago that was filled since", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const send = async (seq: number, text: string) => {
    const json = { repoKey: "shop", entries: [{ seq, payload: { text } }] };
    expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  };
  await send(1, "first");
  await send(3, "third");
  site.t.clock.advance(7 * DAY_MS + 60_000);
  await send(2, "second");
  await send(3, "another");
  expect(site.t.rows("SELECT flagged FROM deliveries ORDER BY id").map(({ flagged }) => flagged)).toEqual([
    ...[null, "gap", null, "rollback"],
  ]);
  const { page, go } = await site.open(await site.person({ team: ada.team }));
  await go("/overview");
  expect(await page.locator(".concerns > li").filter({ hasText: "Rollback" }).count()).toBe(1);
  expect(await page.locator(".section > .more").textContent()).toMatch(/(?:^| · )1 rollback(?: · |$)/);
  const course = page.locator(".stat").filter({ hasText: "Needs attention" }).locator(".spark");
  expect(await course.getAttribute("aria-label")).toBe(
    "Failed sessions, errors, gaps and rollbacks a day: 0 to 1, 1 on the last day",
  );
  await go("/overview?days=30");
  expect(await course.getAttribute("aria-label")).toBe(
    "Failed sessions, errors, gaps and rollbacks a day: 0 to 1, 1 on the last day",
  );
  const heights = (await course.locator("path").getAttribute("d"))
    ?.split(/[ML]/)
    .slice(1)
    .map((point) => Number(point.split(" ")[1]));
  expect(heights?.filter((height) => height < Math.max(...heights))).toHaveLength(2);
});

it("leads from figures of errors files to a list of these, without what security and anti-patterns files hold", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const twice = (title: string) => `# File\n\n## 2026-11-19 ${title}\n\n## 2026-11-20 ${title}\n`;
  const files = [
    { path: ".claude/brain/errors.md", content: twice("Login loop") },
    { path: ".claude/brain/anti-patterns.md", content: twice("Waiting in a loop") },
  ];
  const json = { repoKey: "shop", version: 1, files };
  expect((await site.t.post("/api/brain/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  for (const link of [
    page.locator(".stat").filter({ hasText: "Error entries" }).getByRole("link"),
    page.getByRole("link", { name: "1 error that came again" }),
  ]) {
    await go("/overview");
    expect(await tile(page, "Error entries")).toBe("2 | 1 came again");
    await link.click();
    await page.getByRole("heading", { level: 1, name: "Errors" }).waitFor();
    expect(await page.locator("#results tbody th a").allTextContents()).toEqual(["Login loop"]);
  }
});

it("counts what came again as the page of errors does, also where both entries are of one day", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const content = "# Errors\n\n## 2026-11-20 Login loop\n\n## 2026-11-20 Login loop\n";
  for (const repoKey of ["shop", "till"]) {
    const json = { repoKey, version: 1, files: [{ path: ".claude/brain/errors.md", content }] };
    expect((await site.t.post("/api/brain/ingest", { token, json })).status).toBe(200);
  }
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  await go("/overview");
  expect(await tile(page, "Error entries")).toBe("4 | 3 came again");
  await go("/errors?kind=error&state=all");
  expect(await tile(page, "Last 7 days")).toBe("4 | entries: 1 new, 3 came again");
});

it("shows the beginning of titles that are written from right to left, however little room there is", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const words = "\u0625\u0635\u0644\u0627\u062d the login page ".repeat(12);
  const at = site.t.clock.now();
  const session = { id: "a", outcome: "failure", startedAt: at, prompts: [{ at, text: words }], spans: [] };
  const content = `# Errors\n\n## 2026-11-20 ${words}\n\nStatus: open\n`;
  for (const [path, json] of [
    ["/api/agent-traces/ingest", { repoKey: "shop", sessions: [session] }],
    ["/api/brain/ingest", { repoKey: "shop", version: 1, files: [{ path: ".claude/brain/errors.md", content }] }],
  ] as const)
    expect((await site.t.post(path, { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  const directions = (cut: string) =>
    page.evaluate(`[...document.querySelectorAll("${cut}")].map((one) => getComputedStyle(one).direction)`);
  await go("/overview");
  expect(await directions(".concern-title")).toEqual(["rtl", "rtl"]);
  await go("/errors");
  expect(await directions("#results tbody th")).toEqual(["rtl"]);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("login");
  await page.locator("#find-1").waitFor();
  expect(new Set((await directions("#find-list a > span")) as string[])).toEqual(new Set(["rtl"]));
});

it("stays at the day that was asked for while more days are shown, and comes back to it", async () => {
  const site = await startSite();
  const team = await site.t.team();
  await threeWeeks(site, team);
  const { page, go } = await site.open(await site.person({ team }));
  await go("/overview?to=2026-12-01");
  const days = page.getByText(" to 1 Dec 2026");
  await days.waitFor();
  await page.getByRole("link", { name: "30 days" }).click();
  await page.waitForURL("**/overview?days=30&to=2026-12-01");
  await days.waitFor();
  await page.getByRole("link", { name: "7 days" }).click();
  await page.waitForURL("**/overview?to=2026-12-01");
  await page.goBack();
  await page.waitForURL("**/overview?days=30&to=2026-12-01");
});

it("counts an entry that is dated tomorrow, which is today somewhere, as the page of errors does", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const tomorrow = isoInstant(site.t.clock.now() + DAY_MS).slice(0, 10);
  const files = [{ path: ".claude/brain/errors.md", content: `# Errors\n\n## ${tomorrow} Login loop\n` }];
  const json = { repoKey: "shop", version: 1, files };
  expect((await site.t.post("/api/brain/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  await go("/overview");
  expect(await tile(page, "Error entries")).toBe("1 | 0 came again");
  await go("/errors");
  expect(await tile(page, "Last 7 days")).toBe("1 | entries: 1 new, 0 came again");
  await go(`/overview?to=${isoInstant(site.t.clock.now() - DAY_MS).slice(0, 10)}`);
  expect(await tile(page, "Error entries")).toBe("0 | 0 came again");
});

it("adds up what devices count in their brains, and names what several have met", async () => {
  const { site, person: ada } = await startSiteOf();
  const devices = [await site.t.device(ada.team), await site.t.device(ada.team)];
  const send = async (path: string, token: string, json: object) =>
    expect((await site.t.post(path, { token, json })).status).toBe(200);
  const rule = "Set `Path` on every cookie.";
  await send("/api/brain/ingest", devices[0]?.token ?? "", {
    ...{ repoKey: "shop", version: 1 },
    files: [{ path: ".claude/brain/errors.md", content: `## 2026-11-20 Login loop\n\n**Prevention rule:** ${rule}\n` }],
  });
  const { page, go, judge } = await site.open(ada);
  await go("/devices");
  expect(await page.locator("#pulses").count()).toBe(0);
  await site.t.instance.settle();
  const [{ known }] = site.t.rows("SELECT lower(hex(substr(fingerprint, 1, 4))) AS known FROM defects");
  for (const [i, { token }] of devices.entries())
    await send("/api/brain-pulse/ingest", token, {
      ...{ repoKey: "shop", at: isoInstant(site.t.clock.now()), fingerprints: ["00c0ffee", known, `1234567${i}`] },
      counts: { errors: 2 + i, open: 1, "<img src=x>": 1 },
    });
  await go("/devices");
  await judge("devices-pulses");
  const pulses = page.locator("#pulses");
  expect(await pulses.textContent()).toContain("What 2 devices counted in their brains");
  expect(await pulses.locator(".facts > div").allTextContents()).toEqual(["<img src=x>2", "errors5", "open2"]);
  const shared = pulses.getByRole("table").locator("tbody tr");
  expect((await shared.allTextContents()).sort()).toEqual([
    "00c0ffee in no published brain2",
    "Set Path on every cookie.2",
  ]);
  await shared.getByRole("link").click();
  await page.locator(".rule", { hasText: "Set Path on every cookie." }).waitFor();
  const eve = await site.person();
  await site.t.device(eve.team);
  const other = await site.open(eve);
  await other.go("/devices");
  expect(await other.page.locator("#pulses").count()).toBe(0);
});

it("names budgets that do not hold, and to operators what fails in the background and a backup that nobody made", async () => {
  const { site, core, person: ada, device } = await startSiteWithDevice();
  await fillRecords(site.t, device);
  const month = { period: "month", subject: "", scope: "team" } as const;
  await setBudget(core, ada.team.id, { ...month, amountUsd: 0.6 }, COMMAND_LINE);
  await setBudget(core, ada.team.id, { ...month, scope: "repo", subject: REPO, amountUsd: 0.5 }, COMMAND_LINE);
  const { page, go, judge } = await site.open(ada);
  await go("/overview");
  const concerns = page.locator(".concerns > li");
  const lines = async () => (await concerns.allTextContents()).map((text) => text.trim());
  expect(await concerns.first().getAttribute("class")).toBe("bad");
  expect(await lines()).toEqual(
    expect.arrayContaining([
      `Over budget${REPO}: $0.55 of $0.50 this month`,
      expect.stringMatching(/^Budget at riskWhole team: \$0\.55 of \$0\.60 this month used up on/),
    ]),
  );
  expect(await page.locator(".section > .more").textContent()).toContain(
    "1 budget exceeded, 1 budget about to be exceeded",
  );
  const row = page.getByRole("row").filter({ hasText: "Mend the login" });
  expect(await row.textContent()).toContain("$0.55");
  await concerns.filter({ hasText: "Over budget" }).getByRole("link").click();
  await page.getByRole("heading", { level: 1, name: "Budgets" }).waitFor();

  const grace = await site.person({ team: ada.team, operator: true });
  await leaveFailing(core);
  site.t.clock.advance(3 * DAY_MS);
  await go("/overview");
  expect((await lines()).filter((text) => /^(?:Backup|Failing job)/.test(text))).toEqual([]);
  const other = await site.open(grace);
  await other.go("/overview");
  await other.judge("overview-operator");
  const theirs = other.page.locator(".concerns > li");
  expect(await theirs.filter({ hasText: "Backup" }).textContent()).toContain("None was made yet");
  expect(await theirs.filter({ hasText: "Failing job" }).textContent()).toContain("test.interval");
  await theirs.filter({ hasText: "Backup" }).getByRole("link").click();
  await other.page.getByRole("heading", { name: "Backups" }).waitFor();
  noteBackup(core, "a.db", 1);
  await other.go("/overview");
  expect(await theirs.filter({ hasText: "Backup" }).count()).toBe(0);
  await judge("overview-budgets");
});

it("says when the licence is in trouble and when seats are overdrawn", async () => {
  const { site, core, person: ada } = await startSiteOf();
  await site.t.device(ada.team);
  await updateTeam(core, ada.team.id, { seats: 0, periodEndAt: site.t.clock.now() - DAY_MS }, COMMAND_LINE);
  const { page, go, judge } = await site.open(ada);
  await go("/overview");
  const concerns = page.locator(".concerns > li");
  expect(await concerns.allTextContents()).toEqual([
    expect.stringMatching(/LicencePast due: works until 4 Dec 2026/),
    expect.stringMatching(/Seats1 of 0 are taken/),
  ]);
  await updateTeam(core, ada.team.id, { suspended: true }, COMMAND_LINE);
  await go("/overview");
  await judge("overview-licence");
  expect(await concerns.first().getAttribute("class")).toBe("bad");
  expect(await concerns.first().textContent()).toMatch(/Suspended/);
});

it("names what is about to expire, a failing replica and a key a year old to whom they concern, although nothing may leave the server", async () => {
  const site = await startSite();
  site.t.clock.advance(370 * DAY_MS);
  const ada = await site.person({ operator: true });
  const member = await site.person({ team: ada.team, role: "member" });
  const { core } = site.t.instance;
  await site.t.device(ada.team);
  noteBackup(core, "a.db", 1);
  const soon = site.t.clock.now() + 5 * DAY_MS;
  await updateTeam(core, ada.team.id, { periodEndAt: soon }, COMMAND_LINE);
  const lifetimeMs = 7 * DAY_MS;
  const token = { teamId: ada.team.id, userId: ada.userId, name: "report", scope: "read", lifetimeMs } as const;
  await createApiToken(core, token, COMMAND_LINE);
  await createApiToken(core, { ...token, name: "fresh", lifetimeMs: 90 * DAY_MS }, COMMAND_LINE);
  site.t.clock.advance(DAY_MS);
  noteReplicaCheck(core, "it is not whole");
  const seenBy = async (person: typeof ada) => {
    const { page, go, judge } = await site.open(person);
    await go("/overview");
    await judge(`overview-due-${person.email.split("@")[0]}`);
    const lines = (await page.locator(".concerns > li").allTextContents()).map((line) => line.trim());
    return { page, go, due: lines.filter((line) => /^(?:Licence|Key|Replica)/.test(line)).toSorted() };
  };
  const licence = "Licence dueThe paid period ends on 2027-12-01";
  expect((await seenBy(member)).due).toEqual([licence]);
  const { page, due } = await seenBy(ada);
  expect(due).toEqual([
    expect.stringMatching(/^Key or token dueAPI token report expires on 2027-/),
    "Key or token dueThe signing key is a year old",
    licence,
    "Replica staleThe last check of the replica failed. It never was found whole",
  ]);
  await page.getByRole("link", { name: "The signing key is a year old" }).click();
  await page.getByText("reckon key rotate").waitFor();
});

it.skipIf(noMounts)("tells operators alone of a disk that is nearly full", async () => {
  const disk = mountTmpfs("400m");
  onTestFinished(() => disk.unmount());
  const { site, person: ada } = await startSiteOf(undefined, { directory: disk.path });
  const operator = await site.person({ team: ada.team, operator: true });
  const teamless = await site.person({ operator: true });
  site.t.instance.core.store.db.prepare("DELETE FROM memberships WHERE user_id = ?").run(teamless.userId);
  await site.t.device(ada.team);
  const { bavail, bsize } = statfsSync(disk.path);
  writeFileSync(join(disk.path, "filler"), Buffer.alloc((bavail - 3_000) * bsize));
  for (const [person, count] of [
    [ada, 0],
    [operator, 1],
    [teamless, 1],
  ] as const) {
    const { page, go } = await site.open(person);
    await go("/overview");
    expect(await page.locator(".concerns > .bad").filter({ hasText: "Disk low0.0 GB left for the data" }).count()).toBe(
      count,
    );
  }
  await site.t.close();
});

it("asks for no brain of a team whose tier has none, and tells members whom to ask", async () => {
  const site = await startSite();
  const team = await site.t.team({ tier: "starter" });
  const member = await site.person({ team, role: "member" });
  const { page, go } = await site.open(member);
  await go("/overview");
  expect(await page.getByText("0 of 2 done.").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Make a connect code" }).count()).toBe(1);
  await setMembersBind(site.t.instance.core, team.id, false, COMMAND_LINE);
  await go("/overview");
  expect(await page.getByText("In this team only owners and admins connect machines: ask one").count()).toBe(1);
  expect(await page.getByRole("button", { name: "Make a connect code" }).count()).toBe(0);
});

it("shows nothing of other teams, and to somebody in none whom to ask", async () => {
  const { site, device } = await startSiteWithDevice();
  await site.t.post("/api/telemetry/ingest", {
    token: device.token,
    json: { repoKey: "canary", entries: [1, 5].map((seq) => ({ seq, payload: {} })) },
  });
  const eve = await site.person();
  await site.t.device(eve.team);
  const { page, go, judge } = await site.open(eve);
  await go("/overview");
  expect(await page.content()).not.toContain("canary");
  expect(await page.getByText("1 of 3 done.").count()).toBe(1);
  expect(await page.locator(".concerns").count()).toBe(0);
  site.t.instance.core.store.db.prepare("DELETE FROM memberships WHERE user_id = ?").run(eve.userId);
  await go("/overview");
  await judge("overview-no-team");
  expect(await page.getByText("You are in no team yet").count()).toBe(1);
  await go("/devices", 403);
});

it("says that a session was received only when one was", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const entries = [{ seq: 1, payload: { type: "prompt", text: "Fix the login test" } }];
  const sent = await site.t.post("/api/telemetry/ingest", { token, json: { repoKey: REPO, entries } });
  expect(sent.status).toBe(200);
  const { page, go } = await site.open(ada);
  const steps = page.locator("#first-steps");
  const step = steps.locator("li", { hasText: "Receive a session" });
  await go("/overview");
  expect(await steps.textContent()).toContain("1 of 3 done.");
  expect(await step.locator(".badge").textContent()).toBe("next");
  expect(await page.getByRole("heading", { name: "Latest sessions" }).count()).toBe(0);
  const sessions = [{ id: "a", outcome: "success", spans: [] }];
  expect((await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey: REPO, sessions } })).status).toBe(
    200,
  );
  await go("/overview");
  expect(await step.locator(".badge").textContent()).toBe("done");
});
