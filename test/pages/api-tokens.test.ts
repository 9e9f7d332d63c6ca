import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { fillRecords } from "../support/api.ts";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { ran } from "../support/remote.ts";

useBrowser();

const run = promisify(execFile);

it("makes a token that is shown once and works as the page shows it, counts its reads, and ends it", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "admin", team: await site.t.team({ name: "Shop" }) });
  await fillRecords(site.t, await site.t.device(ada.team));
  const { page, go, judge } = await site.open(ada);
  await go("/api-tokens");
  await judge("api-tokens-empty");
  await page.getByLabel("Name").fill("<b>Weekly</b> report");
  await page.getByLabel("Expires in").selectOption("30");
  await page.getByRole("button", { name: "Make the token" }).click();
  await page.getByRole("heading", { name: "Your new API token" }).waitFor();
  await judge("api-tokens-token");
  const token = (await page.locator(".secret-value").textContent()) ?? "";
  expect(token).toMatch(/^rka_[0-9A-Za-z]{36}$/);
  const curl = (await page.locator(".code code").first().textContent()) ?? "";
  expect(JSON.parse((await run("bash", ["-c", curl])).stdout).items).toEqual([
    expect.objectContaining({ sessionId: "login-1" }),
  ]);
  expect(site.t.rows("SELECT name, team_id, user_id, expires_at FROM api_tokens")).toEqual([
    {
      ...{ name: "<b>Weekly</b> report", team_id: ada.team.id, user_id: ada.userId },
      expires_at: site.t.clock.now() + 30 * DAY_MS,
    },
  ]);
  await page.getByRole("link", { name: "Done" }).click();
  await page.waitForURL("**/api-tokens");
  expect(await page.content()).not.toContain(token);
  const row = await page.locator("tbody tr").first().textContent();
  for (const said of ["<b>Weekly</b> report", "active", ada.email, "1"]) expect(row).toContain(said);
  await judge("api-tokens");
  await page.getByText("Revoke <b>Weekly</b> report").click();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("The token is revoked.").waitFor();
  expect((await site.t.get("/api/sessions", { token })).status).toBe(401);
  expect(
    site.t.rows("SELECT actor_label AS who, action FROM audit_events WHERE action LIKE 'api_token.%' ORDER BY id"),
  ).toEqual([
    { who: ada.email, action: "api_token.created" },
    { who: ada.email, action: "api_token.revoked" },
  ]);
});

it("makes a token that administers for 30 days at most, which runs commands as the page shows", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "admin", team: await site.t.team({ name: "Shop" }) });
  const { page, go, judge } = await site.open(ada);
  await go("/api-tokens");
  await page.getByLabel("Name").fill("deploy");
  await page.getByLabel("Scope").selectOption("admin");
  await page.getByLabel("Expires in").selectOption("90");
  await page.getByRole("button", { name: "Make the token" }).click();
  await page.getByText("30 days at most.", { exact: false }).first().waitFor();
  await judge("api-tokens-too-long");
  expect(site.t.count("api_tokens")).toBe(0);
  expect(await page.getByLabel("Scope").inputValue()).toBe("admin");
  await page.getByLabel("Expires in").selectOption("7");
  await page.getByRole("button", { name: "Make the token" }).click();
  await page.getByRole("heading", { name: "Your new API token" }).waitFor();
  await judge("api-tokens-admin-token");
  const shown = (await page.locator(".code code").first().textContent()) ?? "";
  const [, token, url] = /^RECKON_TOKEN=(rka_\w+) \\\s+reckon --server (\S+) device list$/.exec(shown) ?? [];
  const { code, out } = await ran(["--server", `${url}`, "team", "list"], { RECKON_TOKEN: `${token}` });
  expect([code, out]).toEqual([0, expect.stringContaining("Shop")]);
  await go("/api-tokens");
  expect(await page.locator("tbody tr").first().textContent()).toContain("Admin");
  await judge("api-tokens-with-admin");
  await go("/audit");
  expect(await page.locator("main").textContent()).not.toContain(`${token}`);
});

it("is for owners and admins, who see and end the tokens of their own team alone", async () => {
  const site = await startSite();
  const [ada, bob] = [await site.person({ role: "owner" }), await site.person({ role: "member" })];
  const { core } = site.t.instance;
  const foreign = await site.t.team();
  const { id, token } = await createApiToken(core, { teamId: foreign.id, userId: null, name: "canary" }, COMMAND_LINE);
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/api-tokens");
  expect(await page.content()).not.toContain("canary");
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  const post = async (path: string, fields: Record<string, string>) => {
    const headers = { cookie: ada.cookie, origin: site.url };
    return (
      await fetch(`${site.url}${path}`, {
        method: "POST",
        headers,
        body: new URLSearchParams({ _csrf: csrf, ...fields }),
      })
    ).status;
  };
  expect(await post("/api-tokens/revoke", { id })).toBe(404);
  expect((await site.t.get("/api/teams", { token })).status).toBe(200);
  expect([
    await post("/api-tokens", { name: "x", days: "4000" }),
    await post("/api-tokens", { name: " ", days: "30" }),
  ]).toEqual([400, 400]);
  expect(site.t.count("api_tokens")).toBe(1);
  const refused = await fetch(`${site.url}/api-tokens`, { headers: { cookie: bob.cookie } });
  expect([refused.status, (await refused.text()).includes("New API token")]).toEqual([403, false]);
});

it("shows a token that works before any number of those that do not, and ends it", async () => {
  const { site, core, person: ada } = await startSiteOf({ role: "admin" });
  await createApiToken(core, { teamId: ada.team.id, userId: ada.userId, name: "of last year" }, COMMAND_LINE);
  core.store.db
    .prepare(
      `WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 250)
       INSERT INTO api_tokens (id, token_hash, team_id, user_id, name, scopes, created_at, expires_at, revoked_at)
       SELECT 'old-' || value, randomblob(32), team_id, user_id, 'nightly', scopes, created_at + 1, expires_at, created_at + 2
       FROM api_tokens, n`,
    )
    .run();
  const { page, go } = await site.open(ada);
  await go("/api-tokens");
  await page.locator("summary", { hasText: "Revoke of last year" }).click();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.locator(".flash.done").waitFor();
  expect(site.t.count("api_tokens WHERE revoked_at IS NULL")).toBe(0);
});
