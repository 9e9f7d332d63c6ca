import { expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import { claudeCall, claudeLogs } from "../support/otlp.ts";
import { fillUsage, SHOP, TILL } from "../support/usage.ts";

useBrowser();

const at = (hours: number) => new Date(Date.UTC(2026, 10, 20, hours)).toISOString();
const SHA = "4f9d2c1a7b3e5d60819273645546372819a0bcde";

async function withRepositories() {
  const { site, person: ada } = await startSiteOf({ email: "ada@example.com" });
  const device = await fillUsage(site, ada);
  const send = async (path: string, json: object) =>
    expect((await site.t.post(path, { token: device.token, json })).status).toBe(200);
  await send("/api/agent-traces/ingest", {
    repoKey: SHOP,
    sessions: Array.from({ length: 12 }, (_, i) => ({
      id: `work-${i}`,
      outcome: i % 4 === 0 ? "failed" : "completed",
      agent: "claude-code",
      branch: "main",
      startedAt: at(i),
      endedAt: at(i + 1),
      prompts: [{ text: `Task ${i}` }],
      commits: i === 3 ? [{ sha: SHA, at: at(4) }] : [],
      spans: [],
    })),
  });
  await send("/api/brain/ingest", {
    repoKey: SHOP,
    version: 1,
    files: [
      {
        path: "errors.md",
        content: "# Errors\n\n## 2026-11-20: Totals are off\n\nStatus: open\n\nMade by commit 4f9d2c1a7.\n",
      },
      { path: "decisions.md", content: "# Decisions\n\n## 2026-11-19: Cents are integers\n" },
    ],
  });
  await site.t.instance.settle();
  return { site, ada };
}

it("leads from the sessions of thirty days to a list of just these", async () => {
  const { site, ada } = await withRepositories();
  site.t.clock.advance(28 * DAY_MS);
  const { page, go } = await site.open(await site.person({ team: ada.team }));
  const isOfTwelve = async () => {
    await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
    expect(await page.locator(".list-head").textContent()).toContain("12 sessions");
  };
  await go("/repositories");
  await page.getByRole("link", { name: "12", exact: true }).click();
  await isOfTwelve();
  await go(`/repositories/overview?repo=${encodeURIComponent(SHOP)}`);
  const tile = page.locator(".stat").filter({ hasText: "Sessions, 30 days" });
  expect(await tile.locator("dd").first().textContent()).toBe("12");
  await tile.getByRole("link").click();
  await isOfTwelve();
});

it("lists repositories with their figures, in the order that somebody chooses", async () => {
  const { site, ada } = await withRepositories();
  const { page, go, judge } = await site.open(ada);
  await go("/repositories");
  await judge("repositories");
  const names = () => page.locator("tbody th").allTextContents();
  expect(await names()).toEqual([SHOP, TILL]);
  expect(await page.getByRole("row").filter({ hasText: SHOP }).textContent()).toMatch(/13.*77 %.*\$.*1/s);
  await page.getByRole("link", { name: "Repository", exact: true }).click();
  await page.getByRole("link", { name: "Repository", exact: true }).click();
  expect(await names()).toEqual([SHOP, TILL]);
  await page.getByRole("link", { name: TILL }).click();
  await page.getByRole("heading", { level: 1, name: TILL }).waitFor();
});

it("shows a hundred of very many at a time, in the same order from page to page", async () => {
  const { site, person: ada, device } = await startSiteWithDevice({ email: "ada@example.com" });
  const keys = Array.from({ length: 230 }, (_, i) => `github.com/acme/r${String(i).padStart(3, "0")}`);
  for (const repoKey of keys)
    expect(
      (
        await site.t.post("/api/telemetry/ingest", {
          token: device.token,
          json: { repoKey, entries: [{ seq: 1, payload: { type: "prompt", text: "x" } }] },
        })
      ).status,
    ).toBe(200);
  const { page, go } = await site.open(ada);
  const names = () => page.locator("tbody th").allTextContents();
  const turned = async (path: string, rows: string) => {
    await go(path);
    const pages = [await names()];
    for (const shown of [`101 to 200 of 230 ${rows}`, `201 to 230 of 230 ${rows}`]) {
      await page.getByRole("link", { name: "Next" }).click();
      await page.getByText(shown).waitFor();
      pages.push(await names());
    }
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(await page.getByRole("link", { name: "Next" }).count()).toBe(0);
    return pages;
  };
  // So many streams are pages, too.
  const streams = await turned(`/telemetry/streams?device=${device.deviceId}`, "streams");
  expect(new Set(streams.flat()).size).toBe(230);
  const pages = await turned("/repositories?sort=name&dir=asc", "repositories");
  expect(pages.flat()).toEqual(keys);
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByText("101 to 200 of 230 repositories").waitFor();
  expect(await names()).toEqual(pages[1]);
  await go("/repositories?sort=name&dir=asc&from=900");
  expect(await names()).toEqual(pages[0]);
  await go("/repositories?q=r00");
  expect([(await names()).length, await page.locator("#results").getAttribute("data-count")]).toEqual([10, "10"]);
});

it("shows all of one repository, each part leading on", async () => {
  const { site, ada } = await withRepositories();
  const { page, go, judge } = await site.open(ada);
  await go(`/repositories/overview?repo=${encodeURIComponent(SHOP)}`);
  await judge("repository");
  const tile = (name: string) => page.locator(".stat").filter({ hasText: name }).locator("dd").first().textContent();
  expect([await tile("Sessions"), await tile("Open errors")]).toEqual(["13", "1"]);
  expect(await page.getByRole("row").filter({ hasText: "4f9d2c1a7b3e" }).textContent()).toContain("Task 3");
  expect(await page.getByRole("link", { name: "Totals are off" }).count()).toBeGreaterThan(0);
  expect(await page.locator(".facts").textContent()).toMatch(/decisions1.*errors1/s);
  const figure = page.locator("figure").filter({ hasText: "Outcomes by day" });
  await figure.getByText("Show the numbers").click();
  expect(await figure.getByRole("row", { name: "2026-11-20" }).textContent()).toContain("9");
  await figure.getByRole("link", { name: "2026-11-20" }).click();
  await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
  expect(await page.locator(".list-head").textContent()).toContain("12 sessions");
});

it("answers 404 for an unknown repository and for one of another team", async () => {
  const { site } = await withRepositories();
  const other = await site.person();
  const { go } = await site.open(other);
  await go(`/repositories/overview?repo=${encodeURIComponent(SHOP)}`, 404);
  await go("/repositories/overview", 404);
  await go(`/repositories/overview?repo=${"x".repeat(5_000)}%00`, 404);
  await go("/repositories");
});

it("shows agents' own exports under no repository, and their stream not at all", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  expect((await site.t.post("/v1/logs", { token, json: claudeLogs(claudeCall("req_1")) })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  const options = (name: string) => page.locator(`select[name=${name}] option`).allTextContents();
  await go("/repositories");
  expect(await page.locator("tbody th").allTextContents()).toEqual(["no repository named"]);
  await page.getByRole("link", { name: "no repository named" }).click();
  await page.getByRole("heading", { level: 1, name: "no repository named" }).waitFor();
  expect(await page.locator("main").textContent()).toMatch(/Sessions, 30 days\s*1/);
  const devices = page.getByRole("table", { name: "Devices that send telemetry of it" });
  expect(await devices.locator("tbody tr").count()).toBe(1);
  await go("/spend");
  expect(await options("repo")).toEqual(["all", "no repository named"]);
  await go("/spend/budgets");
  expect(await options("of")).not.toContain("Repository (otlp)");
  await go("/telemetry");
  expect(await options("repo")).toEqual(["All repositories", "(otlp)"]);
});
