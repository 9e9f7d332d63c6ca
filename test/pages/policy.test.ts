import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { currentPolicy, parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

it("shows the default, changes it, keeps what the form does not show, and brings an earlier one back", async () => {
  const { site, core, person: ada } = await startSiteOf({ role: "admin" });
  const { page, go, judge } = await site.open(ada);
  await go("/policy");
  expect(await page.getByRole("main").textContent()).toContain("Reckon’s default; this team never set one.");
  await judge("policy-empty");
  await setPolicy(
    core,
    ada.team.id,
    parsePolicy('{"captureMode":"full","actions":{"requireApprovals":false,"maxCost":5}}'),
    COMMAND_LINE,
  );
  await go("/policy");
  await page.getByLabel("Metadata").check();
  await page.getByLabel("Watchlist").fill("src/auth/**\n\n  **/*.tf \nsrc/auth/**");
  await page.getByLabel("Require approvals").check();
  await page.getByRole("button", { name: "Put in force" }).click();
  await page.waitForURL("**/policy");
  expect(await page.getByRole("status").first().textContent()).toBe("The policy is in force.");
  expect(await page.getByRole("main").textContent()).toContain("Of brain files path, size and digest.");
  expect(currentPolicy(core, ada.team.id)).toEqual({
    captureMode: "metadata",
    watchlist: ["src/auth/**", "**/*.tf"],
    actions: { requireApprovals: true, maxCost: 5 },
  });
  expect(site.t.rows("SELECT created_by AS who FROM policies ORDER BY id")).toEqual([
    { who: "command line" },
    { who: ada.userId },
  ]);
  expect(await page.locator("#history li").first().textContent()).toContain(ada.email);
  expect(
    site.t.rows(
      "SELECT actor_label AS who, action, target_id AS id, detail FROM audit_events WHERE action LIKE 'policy.%' ORDER BY id DESC LIMIT 1",
    ),
  ).toEqual([
    {
      who: ada.email,
      action: "policy.changed",
      id: "2",
      detail: JSON.stringify({
        captureMode: { from: "full", to: "metadata" },
        requireApprovals: { from: false, to: true },
        watchlistAdded: 2,
      }),
    },
  ]);
  await judge("policy");
  expect(await page.locator("#history li").first().textContent()).toContain("Capture from Full to Metadata.");
  await page.locator("#history li").nth(1).getByText("Restore", { exact: true }).click();
  await page.getByRole("button", { name: "Restore it" }).click();
  await page.getByText("The earlier policy is in force again.").waitFor();
  expect(currentPolicy(core, ada.team.id)).toMatchObject({ captureMode: "full", watchlist: [] });
  expect(site.t.count("policies")).toBe(3);
});

it("says which lines of the watchlist are invalid, without JavaScript too, and saves nothing", async () => {
  const { site, person: ada } = await startSiteOf();
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/policy");
  await page.getByLabel("Full").check();
  await page.getByLabel("Watchlist").fill("src/**\n/etc/passwd\n\n../x\nsrc\\a\n<script>[");
  await page.getByRole("button", { name: "Put in force" }).click();
  const error = await page.locator("#f-watchlist-error").textContent();
  expect(error).toMatch(
    /Line 2 \(\/etc\/passwd\) must be relative .*Line 4 .*Line 5 .*Line 6 \(<script>\[\) must close its \[/,
  );
  expect(await page.getByLabel("Full").isChecked()).toBe(true);
  expect(await page.getByLabel("Watchlist").inputValue()).toContain("/etc/passwd");
  expect(site.t.count("policies")).toBe(0);
  await page.getByLabel("Watchlist").fill("src/**");
  await page.getByRole("button", { name: "Put in force" }).click();
  expect(await page.getByRole("status").textContent()).toBe("The policy is in force.");
  expect(currentPolicy(site.t.instance.core, ada.team.id)).toMatchObject({
    captureMode: "full",
    watchlist: ["src/**"],
  });
});

it("asks before nothing is recorded any more, without JavaScript too", async () => {
  const { site, person: ada } = await startSiteOf({ role: "admin" });
  const { page, go } = await site.open(ada, { javaScript: false });
  const send = async () => {
    await go("/policy");
    await page.locator("input[value=off]").check();
    await page.getByLabel("Watchlist").fill("src/a/**\nsrc/b/**");
    await page.getByLabel("Require approvals").check();
    await page.getByRole("button", { name: "Put in force" }).click();
  };
  await send();
  expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Record nothing any more?");
  expect(await page.getByRole("main").textContent()).toContain(ada.team.name);
  await page.getByRole("link", { name: "Keep the one in force" }).click();
  expect(site.t.count("policies")).toBe(0);
  const seen = await site.open(ada);
  await seen.go("/policy");
  await seen.page.locator("input[value=off]").check();
  await seen.page.getByRole("button", { name: "Put in force" }).click();
  await seen.page.getByRole("button", { name: "Record nothing" }).waitFor();
  await seen.judge("policy-off");
  await send();
  await page.getByRole("button", { name: "Record nothing" }).click();
  expect(await page.getByRole("status").first().textContent()).toBe("The policy is in force.");
  const off = {
    captureMode: "off",
    watchlist: ["src/a/**", "src/b/**"],
    actions: { requireApprovals: true },
  };
  expect(currentPolicy(site.t.instance.core, ada.team.id)).toEqual(off);
  // It is off already: a further change of the rest stops nothing.
  await page.getByLabel("Watchlist").fill("src/a/**");
  await page.getByRole("button", { name: "Put in force" }).click();
  expect(currentPolicy(site.t.instance.core, ada.team.id)).toEqual({ ...off, watchlist: ["src/a/**"] });
});

it("does not overwrite what somebody else changed meanwhile, and shows both", async () => {
  const { site, core, person: ada } = await startSiteOf();
  const { page, go, judge } = await site.open(ada);
  await go("/policy");
  await setPolicy(core, ada.team.id, parsePolicy('{"captureMode":"off","watchlist":["infra/**"]}'), COMMAND_LINE);
  await page.getByLabel("Watchlist").fill("/wrong");
  await page.getByRole("button", { name: "Put in force" }).click();
  await page.locator("#f-watchlist-error").waitFor();
  await page.getByLabel("Full").check();
  await page.getByLabel("Watchlist").fill("src/**");
  await page.getByRole("button", { name: "Put in force" }).click();
  await page.getByRole("heading", { name: "The policy changed meanwhile" }).waitFor();
  const text = await page.getByRole("main").textContent();
  for (const said of ["command line", "infra/**", "src/**"]) expect(text).toContain(said);
  await judge("policy-conflict");
  expect(currentPolicy(core, ada.team.id).captureMode).toBe("off");
  await page.getByRole("button", { name: "Put mine in force" }).click();
  await page.getByText("The policy is in force.").waitFor();
  expect(currentPolicy(core, ada.team.id)).toMatchObject({ captureMode: "full", watchlist: ["src/**"] });
});

it("lets members read and only admins change, each their own team's, page by page", async () => {
  const { site, person: member } = await startSiteOf({ role: "member" });
  const other = await site.person();
  const { core } = site.t.instance;
  for (let i = 0; i < 13; i++)
    await setPolicy(
      core,
      member.team.id,
      parsePolicy(JSON.stringify({ captureMode: "off", watchlist: [`canary-${i}/**`] })),
      COMMAND_LINE,
    );
  const { page, go } = await site.open(member);
  await go("/policy");
  expect(await page.getByRole("button", { name: "Put in force" }).count()).toBe(0);
  expect(await page.locator("#history li").count()).toBe(10);
  await page.getByRole("link", { name: "Older →" }).click();
  await page.waitForURL("**/policy?history=*");
  expect(await page.locator("#history li").allTextContents()).toMatchObject([/canary-2/, /canary-1/, /canary-0/]);
  await go("/policy?history=nonsense%00");
  expect(await page.locator("#history li").count()).toBe(10);
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  const post = (cookie: string, path: string, fields: Record<string, string>) =>
    fetch(`${site.url}${path}`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, origin: site.url },
      body: new URLSearchParams(fields),
    });
  expect((await post(member.cookie, "/policy", { _csrf: csrf, capture_mode: "full", based_on: "13" })).status).toBe(
    403,
  );
  expect((await post(member.cookie, "/policy/restore", { _csrf: csrf, id: "1", based_on: "13" })).status).toBe(403);
  const visit = await site.open(other);
  await visit.go("/policy");
  expect(await visit.page.content()).not.toContain("canary");
  const others = await visit.page.locator("input[name=_csrf]").first().inputValue();
  expect((await post(other.cookie, "/policy/restore", { _csrf: others, id: "1", based_on: "0" })).status).toBe(404);
  expect((await post(other.cookie, "/policy/restore", { _csrf: others, id: "1e9", based_on: "0" })).status).toBe(404);
  expect(site.t.count("policies")).toBe(13);
});
