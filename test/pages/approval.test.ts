import { expect, it } from "vitest";
import { startAuthorization } from "../../src/identity/device-flow/authorizations.ts";
import { csrfToken } from "../../src/platform/http/cookies.ts";
import { PASSWORD, type Site, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

const waiting = (site: Site, ip = "127.0.0.1", userAgent = "reckon-cli/1.4.0 linux") =>
  startAuthorization(site.t.instance.core, { channel: "npm", ip, userAgent });

const states = (site: Site) =>
  site.t.rows("SELECT user_code AS code, status, user_id AS userId FROM device_authorizations");

/** What the waiting tool is told when it polls. */
async function poll(site: Site, deviceCode: string) {
  const answer = await fetch(`${site.url}/api/cli/device/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ device_code: deviceCode }),
  });
  return (await answer.json()) as { error?: string; access_token?: string };
}

it("keeps the code through the sign-in, and lets a tool in only by the button", async () => {
  const { site, person: ada } = await startSiteOf();
  const { deviceCode, userCode } = await waiting(site);
  const { page, go, judge } = await site.open();
  await go(`/login/device?user_code=${userCode}`);
  expect(page.url()).toContain("/login?next=");
  await page.getByLabel("E-mail address").fill(ada.email);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.waitForURL(`**/login/device?user_code=${userCode}`);
  const text = await page.getByRole("main").textContent();
  for (const said of [
    userCode,
    ada.email,
    "reckon-cli/1.4.0 linux",
    "installed from npm",
    "127.0.0.1 (where you are too)",
  ])
    expect(text).toContain(said);
  expect(text).not.toContain("another address");
  await judge("approval");
  expect(await poll(site, deviceCode)).toEqual({ error: "authorization_pending" });
  await page.getByRole("button", { name: "Approve" }).click();
  await page.waitForURL("**/login/device/approved");
  await judge("approval-approved");
  expect(states(site)).toEqual([{ code: userCode, status: "approved", userId: ada.userId }]);
  site.t.clock.advance(5_000);
  expect((await poll(site, deviceCode)).access_token).toMatch(/^eyJ/);
  expect(
    site.t.rows("SELECT actor_label AS who, ip FROM audit_events WHERE action = 'cli_authorization.approved'"),
  ).toEqual([{ who: ada.email, ip: "127.0.0.1" }]);
  await go(`/login/device?user_code=${userCode}`, 409);
  expect(await page.getByRole("alert").textContent()).toBe("This code was answered before.");
});

it("warns when the tool asks from elsewhere and asks twice before it lets it in", async () => {
  const { site, person: ada } = await startSiteOf();
  const { userCode } = await waiting(site, "203.0.113.9", "<img src=x onerror=alert(1)>");
  const { page, go, judge } = await site.open(ada);
  await go(`/login/device?user_code=${userCode}`);
  expect(await page.getByText("The tool runs at another address than you.").count()).toBe(1);
  expect(await page.locator("img").count()).toBe(0);
  await judge("approval-elsewhere");
  await page.getByText("Approve", { exact: true }).click();
  expect(states(site)[0].status).toBe("pending");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Deny" }).click();
  await page.waitForURL("**/login/device/denied");
  expect(states(site)[0].status).toBe("denied");
});

it("takes a code in any spelling without JavaScript, and explains codes that do not work", async () => {
  const { site, person: ada } = await startSiteOf();
  const { userCode } = await waiting(site, "203.0.113.9");
  const { page, go } = await site.open(ada, { javaScript: false });
  const enter = async (code: string) => {
    await page.getByLabel("Code").fill(code);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  await go("/login/device");
  await enter("BBBB-BBBB");
  expect(await page.getByRole("alert").textContent()).toMatch(/^No tool waits under this code/);
  await enter(` ${userCode.toLowerCase().replace("-", "")} `);
  await page.waitForURL(`**/login/device?user_code=${userCode}`);
  await page.getByText("Approve", { exact: true }).click();
  await page.getByRole("button", { name: "Approve it" }).click();
  await page.waitForURL("**/login/device/approved");
  expect(states(site)[0]).toMatchObject({ status: "approved", userId: ada.userId });
  const late = await waiting(site);
  site.t.clock.advance(15 * 60_000);
  await go(`/login/device?user_code=${late.userCode}`, 410);
  expect(await page.getByRole("alert").textContent()).toBe("This code has expired. Start again in the tool.");
  expect(states(site).find(({ code }) => code === late.userCode)?.status).toBe("pending");
  const scripted = await site.open(ada);
  await scripted.go("/login/device");
  await scripted.judge("approval-code");
});

it("makes a person who guesses codes wait, and nobody else at their address", async () => {
  const { site, person: ada } = await startSiteOf();
  const grace = await site.person();
  const { userCode } = await waiting(site);
  const open = (cookie: string, code: string) =>
    fetch(`${site.url}/login/device?user_code=${code}`, { headers: { cookie } });
  for (let i = 0; i < 10; i++) expect((await open(ada.cookie, "BBBB-BBBB")).status).toBe(404);
  const refused = await open(ada.cookie, userCode);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "30"]);
  expect((await open(grace.cookie, userCode)).status).toBe(200);
  site.t.clock.advance(31_000);
  expect((await open(ada.cookie, userCode)).status).toBe(200);
  expect(states(site)[0].status).toBe("pending");
});

it("tells every one of many double clicks that the code was answered, and counts none as a guess", async () => {
  const { site, person: ada } = await startSiteOf();
  const { userCode } = await waiting(site);
  const late = await waiting(site);
  const headers = { cookie: ada.cookie };
  const approve = () =>
    fetch(`${site.url}/login/device/approve`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams({ _csrf: csrfToken(ada.token, ada.team.id), user_code: userCode }),
    }).then(({ status }) => status);
  const seen = await Promise.all(Array.from({ length: 30 }, approve));
  expect(seen.sort()).toEqual([303, ...Array(29).fill(409)]);
  expect(states(site).map(({ status }) => status)).toEqual(["approved", "pending"]);
  // Nor does an answer count as a guess that came too late.
  site.t.clock.advance(15 * 60_000);
  for (let i = 0; i < 12; i++)
    expect((await fetch(`${site.url}/login/device?user_code=${late.userCode}`, { headers })).status).toBe(410);
  expect(site.t.rows("SELECT 1 FROM audit_events WHERE action = 'cli_authorization.approved'")).toHaveLength(1);
});
