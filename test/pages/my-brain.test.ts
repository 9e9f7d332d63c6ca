import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { removeMember, setRole } from "../../src/identity/members/members.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { publish } from "../support/reads.ts";

useBrowser();

const run = promisify(execFile);

it("makes a token that is shown once and works as the page shows it, and lists what it read", async () => {
  const site = await startSite({ settings: { limitReadDaily: "1500" } });
  const ada = await site.person({ role: "member", team: await site.t.team({ name: "Shop" }) });
  const device = await site.t.device(ada.team);
  await publish(
    site.t,
    device,
    { "docs/guide.md": "# Cookies\n\nWhat broke last week: the cookie jar.", "notes.md": "what broke last week" },
    { repoKey: "shop" },
  );
  const { page, go, judge } = await site.open(ada);
  await go("/my-brain");
  await judge("my-brain-empty");
  await page.getByRole("link", { name: "New read token" }).first().click();
  await page.getByLabel("Name").fill("Chat bot");
  await page.getByLabel("Shop").check();
  await page.getByLabel("Notes").check();
  expect(await page.getByRole("main").textContent()).toContain("Your teams have shop.");
  await page.getByLabel("Repositories").fill("shop\n\n");
  await page.getByLabel("Paths").fill(" docs/** \n");
  await page.getByLabel("Expires in").selectOption("30");
  await judge("my-brain-new");
  await page.getByRole("button", { name: "Make the token" }).click();
  await page.getByRole("heading", { name: "Your new read token" }).waitFor();
  await judge("my-brain-token");
  const token = (await page.locator(".secret-value").textContent()) ?? "";
  expect(token).toMatch(/^rkr_[0-9A-Za-z]{36}$/);
  const curl = (await page.locator(".code code").first().textContent()) ?? "";
  const answer = JSON.parse((await run("bash", ["-c", curl])).stdout);
  expect(answer).toMatchObject({ total: 1, hits: [{ filePath: "docs/guide.md", teamName: "Shop" }] });
  const line = (await page.locator(".code code").nth(1).textContent()) ?? "";
  const [, url = "", header = ""] =
    /^claude mcp add --transport http reckon (\S+) --header "([^"]+)"$/.exec(line) ?? [];
  const [name = "", value = ""] = header.split(": ");
  const tools = await fetch(url, {
    method: "POST",
    headers: { [name]: value, accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect([tools.status, await tools.text()]).toEqual([200, expect.stringContaining("brain_search")]);
  const [row] = site.t.rows("SELECT name, scope, expires_at AS expiresAt, user_id AS userId FROM read_tokens");
  expect({ ...row, scope: JSON.parse(row.scope) }).toEqual({
    name: "Chat bot",
    scope: { teams: [ada.team.id], repos: ["shop"], paths: ["docs/**"], kinds: ["note"] },
    expiresAt: site.t.clock.now() + 30 * DAY_MS,
    userId: ada.userId,
  });
  await page.getByRole("link", { name: "Done" }).click();
  await page.waitForURL("**/my-brain");
  expect(await page.content()).not.toContain(token);
  const text = await page.getByRole("main").textContent();
  for (const said of ["Chat bot", "docs/**", "1 of 1,500", "what broke last week", "1 of 1", "127.0.0.1"])
    expect(text).toContain(said);
  await judge("my-brain");
  await page.getByText("Revoke Chat bot").click();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("The token is revoked.").waitFor();
  expect((await site.t.get("/api/me/brain/context?q=x", { token })).status).toBe(401);
  expect(
    site.t.rows(
      "SELECT actor_label AS who, action, target_label AS label FROM audit_events WHERE action LIKE 'read_token.%' ORDER BY id",
    ),
  ).toEqual([
    { who: ada.email, action: "read_token.created", label: "Chat bot" },
    { who: ada.email, action: "read_token.revoked", label: "Chat bot" },
  ]);
});

it("says what is wrong with a token without JavaScript, and keeps what was typed", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/my-brain/tokens/new");
  await page.getByLabel("Name").fill("Bot");
  await page.getByLabel("Errors").check();
  await page.getByLabel("Paths").fill("/etc/**");
  await page.getByRole("button", { name: "Make the token" }).click();
  expect(await page.getByRole("alert").textContent()).toContain('The path glob "/etc/**" begins with /');
  expect(await page.getByLabel("Errors").isChecked()).toBe(true);
  expect(site.t.count("read_tokens")).toBe(0);
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  const post = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ _csrf: csrf, name: "Bot", days: "30", ...fields });
    const headers = { cookie: ada.cookie, origin: site.url };
    return (await fetch(`${site.url}/my-brain/tokens`, { method: "POST", headers, body })).status;
  };
  const foreign = await site.t.team();
  const statuses = [];
  for (const fields of [{ team: foreign.id }, { kind: "everything" }, { days: "4000" }, { days: "" }, { name: " " }])
    statuses.push(await post(fields as Record<string, string>));
  expect(statuses).toEqual([400, 400, 400, 400, 400]);
  await page.getByLabel("Paths").fill("docs/**");
  await page.getByRole("button", { name: "Make the token" }).click();
  expect(await page.locator(".secret-value").textContent()).toMatch(/^rkr_/);
  expect(site.t.count("read_tokens")).toBe(1);
});

it("shows reads by token and page by page, hostile text harmless, and a person only their own", async () => {
  const { site, person: ada } = await startSiteOf(undefined, { settings: { limitRead: "off" } });
  const grace = await site.person();
  const { core } = site.t.instance;
  const device = await site.t.device(ada.team);
  await publish(site.t, device, { "notes.md": "cookie" });
  const many = await createReadToken(core, { userId: ada.userId, name: "<b>many</b>" }, COMMAND_LINE);
  const few = await createReadToken(core, { userId: ada.userId, name: "few" }, COMMAND_LINE);
  const ask = (token: string, q: string) => site.t.get(`/api/me/brain/context?q=${encodeURIComponent(q)}`, { token });
  await ask(few.token, "<img src=x onerror=alert(1)>");
  for (let i = 0; i < 27; i++) await ask(many.token, `cookie canary-${i}`);
  const { page, go, judge } = await site.open(ada);
  await go("/my-brain");
  const asked = page.locator("#reads tbody tr");
  expect(await asked.count()).toBe(25);
  await page.getByRole("link", { name: "Older →" }).click();
  await page.waitForURL("**/my-brain?before=*");
  expect(await asked.locator("td:nth-child(2)").allTextContents()).toEqual([
    "cookie canary-1",
    "cookie canary-0",
    "<img src=x onerror=alert(1)>",
  ]);
  expect(await page.locator("img, b").count()).toBe(0);
  await judge("my-brain-reads");
  await page.getByLabel("Token", { exact: true }).selectOption("few");
  await page.waitForURL("**/my-brain?token=*");
  expect(await asked.count()).toBe(1);
  await go("/my-brain?token=rtk_nonsense&before=-1");
  expect(await asked.count()).toBe(25);
  await setRole(core, ada.team.id, grace.email, "owner", COMMAND_LINE);
  await removeMember(core, ada.team.id, ada.userId, COMMAND_LINE);
  await go("/my-brain");
  expect(await page.getByRole("main").textContent()).toContain("You are in no team");
  const other = await site.open(grace);
  await other.go(`/my-brain?token=${many.id}`);
  expect(await other.page.content()).not.toMatch(/canary|many/);
  const csrf = await other.page.locator("input[name=_csrf]").first().inputValue();
  const revoked = await fetch(`${site.url}/my-brain/tokens/revoke`, {
    method: "POST",
    headers: { cookie: grace.cookie, origin: site.url },
    body: new URLSearchParams({ _csrf: csrf, id: many.id }),
  });
  expect(revoked.status).toBe(404);
  expect(site.t.rows("SELECT 1 FROM read_tokens WHERE revoked_at IS NOT NULL")).toEqual([]);
});
