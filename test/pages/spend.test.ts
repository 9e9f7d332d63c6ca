import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Site, startSiteOf, startSiteWithDevice, useBrowser, type Visit } from "../support/browser.ts";
import { fillUsage, HOSTILE, LONE, TILL, UNPRICED } from "../support/usage.ts";

useBrowser();

async function withUsage() {
  const { site, person: ada } = await startSiteOf({ role: "member", email: "ada@example.com" });
  const device = await fillUsage(site, ada);
  return { site, ada, device };
}

const spendOf = async (site: Site, token: string, query: string) =>
  (await site.t.get(`/api/spend?${query}`, { token })).body;
const tileIn = async ({ page }: Visit, name: string) =>
  page.locator(".stat").filter({ hasText: name }).locator("dd").first().textContent();
const rowsIn = ({ page }: Visit) => page.locator("#groups tbody tr");

it("shows what was used by day and model, the same as everywhere else, and what has no price apart", async () => {
  const { site, ada, device } = await withUsage();
  const visit = await site.open(ada);
  const { page, go, judge } = visit;
  await go("/spend");
  await judge("spend");
  const { total, groups } = await spendOf(site, device.token, "since=30d");
  expect(total.usd).toBeGreaterThan(100);
  expect(await tileIn(visit, "Cost")).toBe(`$${total.usd.toFixed(2)}`);
  await page.getByText(`agents say $${total.reportedUsd.toFixed(2)}`).waitFor();
  expect(await tileIn(visit, "Unpriced")).toBe("1.2M");
  expect(await rowsIn(visit).locator("th").allTextContents()).toEqual(
    groups.map(({ key }: { key: string }) => (key === HOSTILE ? expect.stringContaining("=HYPERLINK") : key)),
  );
  // Unpriced is not the same as free.
  expect(await rowsIn(visit).filter({ hasText: UNPRICED }).locator("td").first().textContent()).toBe("unpriced");

  const chart = page.locator("figure").filter({ hasText: "Cost per day" });
  const legend = await chart.locator(".legend li").allTextContents();
  const named = groups.slice(0, 6).map(({ key }: { key: string }) => key);
  expect(legend).toEqual([...named, "other models (2)"]);
  await chart.getByText("Show the numbers").click();
  const lone = chart.getByRole("row", { name: "2026-11-20" });
  const cells = (await lone.locator("td").allTextContents()).map((text) => Number(text.replace(/[$–]/g, "")));
  const day = await spendOf(site, device.token, "since=2026-11-20&until=2026-11-20");
  expect(cells.reduce((sum, one) => sum + one, 0)).toBeCloseTo(day.total.usd, 1);
  expect(await chart.locator("tbody tr").count()).toBe(30);
  expect(await chart.locator(".chart-axis").textContent()).toContain("$10");
  expect(await page.getByText("List prices of 6 Nov 2026").count()).toBe(1);
  expect(await page.getByRole("table", { name: "Unpriced models" }).locator("tbody tr").count()).toBe(2);
});

it("narrows to days and repositories and sums by what it was for, each leading on", async () => {
  const { site, ada } = await withUsage();
  const visit = await site.open(ada);
  const { page, go, judge } = visit;
  await go("/spend");
  await page.getByRole("link", { name: "Repository", exact: true }).click();
  expect(await page.getByRole("link", { name: TILL }).getAttribute("href")).toContain("/repositories/overview?repo=");
  await page.getByLabel("Repository", { exact: true }).selectOption(TILL);
  await page.waitForURL(/repo=/);
  expect(await tileIn(visit, "Cost")).toBe("$5.03");
  expect(await page.getByLabel("Repository", { exact: true }).inputValue()).toBe(TILL);
  await page.getByRole("link", { name: "Branch", exact: true }).click();
  expect(await rowsIn(visit).first().textContent()).toContain(LONE.branch);
  await go("/spend?days=365&by=session");
  await judge("spend-sessions");
  expect(await page.locator("figure").first().textContent()).toContain("Cost per week");
  expect(await rowsIn(visit).first().textContent()).toContain("ada@example.com");
  await page.locator("#groups").getByRole("link", { name: "Speed up the cart" }).click();
  await page.getByRole("heading", { level: 1, name: "Speed up the cart" }).waitFor();
  await go("/spend?by=device");
  await page.getByRole("link", { name: "ada-laptop" }).click();
  await page.getByRole("heading", { level: 1, name: "ada-laptop" }).waitFor();
  await go("/spend?by=day");
  await rowsIn(visit).filter({ hasText: "20 Nov 2026" }).getByRole("link").click();
  expect(await page.getByLabel("From (UTC)").inputValue()).toBe("2026-11-20");
  expect(await page.getByLabel("To (UTC)").inputValue()).toBe("2026-11-20");
  await page.getByLabel("From (UTC)").fill("2026-11-16");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/from=2026-11-16/);
  expect(await page.locator("figure").first().locator("tbody tr").count()).toBe(5);
});

it("ignores invalid values in the address", async () => {
  const { site, ada } = await withUsage();
  const visit = await site.open(ada, { javaScript: false });
  await visit.go("/spend");
  const usual = await tileIn(visit, "Cost");
  for (const query of ["days=-1&by=%00", "from=2026-02-30", "from=2026-11-20&to=2026-11-01", "from=x&to=y"]) {
    await visit.go(`/spend?${query}`);
    expect([query, await tileIn(visit, "Cost")]).toEqual([query, usual]);
  }
  const backwards = visit.page.getByRole("alert");
  expect(await backwards.count()).toBe(0);
  await visit.go("/spend?from=2026-11-20&to=2026-11-01&days=7");
  expect(await backwards.textContent()).toBe("The last day must not lie before the first: the last 7 days are shown.");
  await visit.go("/spend?from=0001-01-01&to=9999-12-31");
  expect(await visit.page.locator("figure").first().locator("tbody tr").count()).toBeLessThanOrEqual(101);
  await visit.go("/spend?repo=github.com%2Fnobody%2Fs");
  expect(await visit.page.getByText("No usage in these days").count()).toBe(1);
  expect(await visit.page.getByText("Take a filter back, or choose other days.").count()).toBe(1);
  expect(await visit.page.getByRole("main").textContent()).not.toContain("reckon agent connect");
});

it("gives all rows as values in which spreadsheets see Unicode and no formula", async () => {
  const { site, ada, device } = await withUsage();
  const { page, go } = await site.open(ada);
  await go("/spend?by=branch&days=90");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download CSV" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("spend-by-branch-2026-08-24-to-2026-11-21.csv");
  const lines = readFileSync(await file.path(), "utf8").split("\r\n");
  const { groups } = await spendOf(site, device.token, "since=90d&by=branch");
  expect(lines[0]).toBe(
    "\uFEFFbranch,usd,reportedUsd,inputTokens,outputTokens,cacheWriteTokens,cacheReadTokens,unpricedTokens,usages",
  );
  expect(lines).toHaveLength(groups.length + 2);
  const told = lines.find((line) => line.includes("HYPERLINK"));
  expect(told?.startsWith(`"'=HYPERLINK(""http://evil.example"",""`)).toBe(true);
  expect(told).toContain(",,,1200703,");
});

it("shows only output tokens where only these are known", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const payload = { type: "usage", model: "gpt-5", usage: { output_tokens: 35 } };
  const json = { repoKey: "r", entries: [{ seq: 1, payload }] };
  expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  const visit = await site.open(ada);
  await visit.go("/spend");
  expect(await visit.page.locator(".stat").filter({ hasText: "Tokens" }).first().textContent()).toMatch(/35 output$/);
});

it("prices what had no price once the installation names one, and says so when its file is wrong", async () => {
  const { site, ada } = await withUsage();
  const visit = await site.open(ada);
  const { page, go } = visit;
  const path = join(site.t.directory, "prices.json");
  await go("/spend");
  const sample = JSON.parse((await page.locator("#prices pre").textContent()) ?? "");
  expect(sample.models).toEqual({ [UNPRICED]: { input: 3, output: 15 } });
  writeFileSync(path, JSON.stringify(sample));
  await go("/spend");
  expect(await rowsIn(visit).filter({ hasText: UNPRICED }).locator("td").first().textContent()).toBe("$3.60");
  expect(await page.locator("#prices").textContent()).toContain(
    "prices.json in the data directory of this installation",
  );
  writeFileSync(path, '{"date":"2026-11-21","models":{"x":{"input":"<img src=x>"}}}');
  await go("/spend");
  expect(await page.locator("#prices .flash.warn").textContent()).toContain('prices.json["models"]["x"]');
});

it("shows hostile names as text, nothing to another team, and what to send while there is nothing", async () => {
  const { site, ada } = await withUsage();
  const visit = await site.open(ada);
  for (const by of ["model", "branch", "session"]) {
    await visit.go(`/spend?by=${by}`);
    expect(await visit.page.locator("main img, main script").count()).toBe(0);
  }
  expect(visit.complaints).toEqual([]);
  const eve = await site.person();
  const other = await site.open(eve);
  await other.go(`/spend?repo=${encodeURIComponent(TILL)}`);
  expect(await other.page.getByText("No usage in these days").count()).toBe(1);
  expect(await other.page.getByText(`reckon agent connect ${site.url} THE-CODE`).count()).toBe(1);
  expect(await other.page.content()).not.toContain(UNPRICED);
  const csv = await (await fetch(`${site.url}/spend/csv?by=branch`, { headers: { cookie: eve.cookie } })).text();
  expect(csv.split("\r\n")).toHaveLength(2);
  await other.go("/spend");
  await other.judge("spend-empty");
});

it("sums by person, whose machines they are now, narrows to one, and leads to that person's sessions", async () => {
  const { site, ada, device } = await withUsage();
  const { core } = site.t.instance;
  const bob = await site.person({ team: ada.team, role: "member", email: "bob@example.com", name: "Bob" });
  const visit = await site.open(ada);
  const { page, go, judge } = visit;
  await go("/spend?by=person");
  await judge("spend-people");
  const people = () => rowsIn(visit).locator("th").allTextContents();
  expect(await people()).toEqual(["ada@example.com", "nobody’s"]);
  const all = await spendOf(site, device.token, "since=30d&by=person");
  expect(all.groups.map(({ key, personId }: { key: string; personId?: string }) => [key, personId])).toEqual([
    ["ada@example.com", ada.userId],
    ["", undefined],
  ]);
  const byDevice = await spendOf(site, device.token, "since=30d&by=device");
  expect(all.groups.map(({ usd }: { usd: number }) => usd)).toEqual(
    byDevice.groups.map(({ usd }: { usd: number }) => usd),
  );
  expect(all.total).toEqual(byDevice.total);

  await page.getByRole("link", { name: "ada@example.com" }).click();
  await page.waitForURL((url) => url.searchParams.get("person") === ada.userId);
  expect(await tileIn(visit, "Cost")).toBe(`$${all.groups[0].usd.toFixed(2)}`);
  expect(await page.getByLabel("Person", { exact: true }).inputValue()).toBe(ada.userId);
  const csv = await page.request.get(`${site.url}/spend/csv?by=person&person=${ada.userId}`);
  expect((await csv.text()).split("\r\n").map((line) => line.split(",")[0])).toEqual([
    "\uFEFFperson",
    "ada@example.com",
    "",
  ]);
  await rowsIn(visit).first().getByRole("link").click();
  await page.waitForURL((url) => url.pathname === "/sessions" && url.searchParams.get("person") === ada.userId);

  await assignDevice(core, device.deviceId, bob.userId, COMMAND_LINE);
  await go("/spend?by=person");
  expect(await people()).toEqual(["Bob", "nobody’s"]);
  await go(`/spend?by=person&person=${ada.userId}`);
  await page.getByText("No usage in these days").waitFor();
  await go("/spend?person=nonsense");
});
