import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { verifyLicense } from "../../src/identity/license/license.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { rotateKey } from "../../src/platform/keys/keys.ts";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { newFolder } from "../support/folder.ts";

useBrowser();

const DAY = 86_400_000;

it("mints a licence that verifies offline by the commands shown, and records who did", async () => {
  const site = await startSite();
  const ada = await site.person({ role: "admin", team: await site.t.team({ name: "Ünïted & Co", seats: 3 }) });
  await site.t.device(ada.team);
  const { page, go, judge } = await site.open(ada);
  await go("/license");
  const text = await page.getByRole("main").textContent();
  for (const said of ["Active", "1 of 3", "No end", "30 days", "None yet"]) expect(text).toContain(said);
  const folder = newFolder();
  const save = async (click: () => Promise<void>) => {
    const [file] = await Promise.all([page.waitForEvent("download"), click()]);
    await file.saveAs(join(folder, file.suggestedFilename()));
    return file.suggestedFilename();
  };
  await page.getByLabel("Days it is valid").fill("200");
  const name = await save(() => page.getByRole("button", { name: "Mint and download" }).click());
  expect(name).toBe("reckon-united-co-2026-11-21.lic");
  const pem = await save(() => page.getByRole("link", { name: "Download the public key" }).click());
  const verdict = await verifyLicense(
    readFileSync(join(folder, name), "utf8"),
    readFileSync(join(folder, pem), "utf8"),
    new Date(site.t.clock.now()),
  );
  expect(verdict).toMatchObject({ valid: true, claims: { team: ada.team.id, seats: 3, status: "active" } });
  expect((verdict.claims?.exp ?? 0) * 1000).toBe(site.t.clock.now() + 200 * DAY);
  await page.getByText("With openssl alone").click();
  const recipe = (await page.locator("#openssl code").first().textContent()) ?? "";
  expect(execFileSync("bash", ["-c", recipe], { cwd: folder, encoding: "utf8" })).toMatch(
    /^Verified OK\n[^\n]*"typ":"license\+jwt"/,
  );
  await go("/license");
  expect(await page.getByRole("row").filter({ hasText: "200" }).textContent()).toContain(ada.email);
  await judge("license");
  expect(
    site.t.rows(
      "SELECT actor_label AS who, ip, team_id AS team, detail FROM audit_events WHERE action = 'license.minted'",
    ),
  ).toMatchObject([
    { who: ada.email, ip: "127.0.0.1", team: ada.team.id, detail: expect.stringContaining('"days":200') },
  ]);
});

it("caps a licence by the paid period and its grace, and refuses invalid numbers of days", async () => {
  const { site, person: ada } = await startSiteOf();
  const end = site.t.clock.now() - 4 * DAY;
  await updateTeam(site.t.instance.core, ada.team.id, { periodEndAt: end }, COMMAND_LINE);
  const { page, go } = await site.open(ada, { javaScript: false });
  await go("/license");
  expect(await page.getByRole("main").textContent()).toContain("10 days of grace");
  await page.getByLabel("Days it is valid").fill("365");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Mint and download" }).click(),
  ]);
  const claims = readFileSync(await file.path(), "utf8").split(".")[1] as string;
  expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
    status: "past_due",
    exp: Math.floor((end + 14 * DAY) / 1000),
  });
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  for (const days of ["0", "-1", "1e3", "99999", "", "<b>"]) {
    const answer = await fetch(`${site.url}/license/mint`, {
      method: "POST",
      headers: { cookie: ada.cookie, origin: site.url },
      body: new URLSearchParams({ _csrf: csrf, days }),
    });
    expect([
      days,
      answer.status,
      (await answer.text()).includes("Nothing was minted: a licence lives 1 to 3650 days."),
    ]).toEqual([days, 400, true]);
  }
  expect(site.t.rows("SELECT 1 FROM audit_events WHERE action = 'license.minted'").length).toBe(1);
  const scripted = await site.open(ada);
  await scripted.go("/license");
  await scripted.judge("license-past-due");
});

it("explains why there is no licence, to members as well, who cannot mint", async () => {
  const { site, core, person: member } = await startSiteOf({ role: "member" });
  const { page, go, judge } = await site.open(member);
  await go("/license");
  expect(await page.getByRole("button", { name: "Mint and download" }).count()).toBe(0);
  const csrf = await page.locator("input[name=_csrf]").first().inputValue();
  const post = await fetch(`${site.url}/license/mint`, {
    method: "POST",
    headers: { cookie: member.cookie, origin: site.url },
    body: new URLSearchParams({ _csrf: csrf, days: "30" }),
  });
  expect(post.status).toBe(403);
  const says = async (change: Parameters<typeof updateTeam>[2]) => {
    await updateTeam(core, member.team.id, change, COMMAND_LINE);
    await go("/license");
    return page.getByRole("main").textContent();
  };
  expect(await says({ subscription: "canceled" })).toContain("The subscription was cancelled.");
  expect(await says({ subscription: "none" })).toContain("has no subscription");
  expect(await says({ subscription: "active", periodEndAt: site.t.clock.now() - 20 * DAY })).toContain(
    "14 days of grace after it are over",
  );
  expect(await says({ suspended: true })).toContain("The account was suspended");
  await judge("license-suspended");
  await go("/license/keys/nothing", 404);
});

it("says what switched off signing means, and keeps older keys at hand", async () => {
  const first = await startSite();
  const owner = await first.person();
  const before = (await first.t.get("/.well-known/jwks.json")).body.keys[0].kid;
  await rotateKey(first.t.instance.core, COMMAND_LINE);
  const { page, go } = await first.open(owner);
  await go("/license");
  expect(await page.getByRole("row").filter({ hasText: before }).textContent()).toContain("retired");
  const pem = await fetch(`${first.url}/license/keys/${before}`, { headers: { cookie: owner.cookie } });
  expect([pem.headers.get("content-disposition"), (await pem.text()).slice(0, 26)]).toEqual([
    expect.stringMatching(/^attachment; filename="reckon-key-\w{1,8}\.pem"$/),
    "-----BEGIN PUBLIC KEY-----",
  ]);
  const { site, person: ada } = await startSiteOf(undefined, { settings: { signing: "off" } });
  const visit = await site.open(ada);
  await visit.go("/license");
  expect(await visit.page.getByRole("main").textContent()).toContain("Signing is switched off");
  expect(await visit.page.getByRole("button", { name: "Mint and download" }).count()).toBe(0);
  await visit.judge("license-signing-off");
});
