import { createHmac } from "node:crypto";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { setSecondFactorDemanded } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { PASSWORD, type Person, type Site, startSite, useBrowser, type Visit } from "../support/browser.ts";
import { freePort } from "../support/free-port.ts";

useBrowser();

/** Passkeys belong to a host's name, not to an address. */
async function start(): Promise<Site> {
  const port = await freePort();
  return startSite({ settings: { port: String(port), baseUrl: `http://localhost:${port}` } });
}

/** The code that an app shows (RFC 6238), reckoned apart from the server's own. */
function appCode(key: string, at: number): string {
  const bits = [...key.replace(/\s/g, "")]
    .map((char) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(char).toString(2).padStart(5, "0"))
    .join("");
  const secret = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const value = mac.readUInt32BE((mac[19] as number) & 15) & 0x7fffffff;
  return String(value % 1_000_000).padStart(6, "0");
}

async function passwordOf(visit: Visit, person: Person) {
  await visit.go("/login?next=%2Fdevices");
  await visit.page.getByLabel("E-mail address").fill(person.email);
  await visit.page.getByLabel("Password").fill(PASSWORD);
  await visit.page.getByRole("button", { name: "Sign in" }).click();
}

async function addApp({ page, go, judge }: Visit, site: Site): Promise<{ key: string; codes: string[] }> {
  await go("/account/second-factor/app");
  await judge("second-factor-app");
  const key = (await page.getByRole("region", { name: "Key" }).textContent())?.trim() ?? "";
  await page.locator("[name=current]").fill("not the password");
  await page.locator("[name=code]").fill(appCode(key, site.t.clock.now()));
  await page.getByRole("button", { name: "Add the app" }).click();
  await page.getByText("The present password is not right").first().waitFor();
  expect((await page.getByRole("region", { name: "Key" }).textContent())?.trim()).toBe(key);
  await page.locator("[name=current]").fill(PASSWORD);
  await page.locator("[name=code]").fill(appCode(key, site.t.clock.now()));
  await page.getByRole("button", { name: "Add the app" }).click();
  const codes = (await page.getByRole("region", { name: "Recovery codes" }).textContent())?.trim().split("\n") ?? [];
  await judge("second-factor-codes");
  return { key, codes };
}

const sessions = (site: Site) =>
  site.t.rows("SELECT count(*) AS n FROM web_sessions WHERE second_factor_at IS NOT NULL")[0].n;
const code = async (page: Page, text: string) => {
  await page.locator("form:not([data-passkey]) [name=code]").fill(text);
  await page.getByRole("button", { name: "Continue" }).click();
};

it("asks for a code after the password, takes each once, and a recovery code when the app is lost", async () => {
  const site = await start();
  const ada = await site.person();
  const own = await site.open(ada);
  const { key, codes } = await addApp(own, site);
  expect([codes.length, site.t.count("recovery_codes"), sessions(site)]).toEqual([10, 10, 1]);
  await own.go("/account/second-factor");
  await own.judge("second-factor");
  expect(site.t.rows("SELECT detail FROM audit_events WHERE action = 'factor.added'")).toHaveLength(1);

  const elsewhere = await site.open();
  await passwordOf(elsewhere, ada);
  await elsewhere.page.waitForURL("**/login/second-factor?**");
  await elsewhere.judge("sign-in-second-factor");
  // The right password alone opens nothing.
  await elsewhere.go("/devices");
  expect(elsewhere.page.url()).toContain("/login");
  await elsewhere.go("/login/second-factor?next=%2Fdevices");
  const now = () => site.t.clock.now();
  // The code that set the app up cannot be used again.
  await code(elsewhere.page, appCode(key, now()));
  await elsewhere.page.getByText("is not right, or was used before").first().waitFor();
  site.t.clock.advance(30_000);
  const used = appCode(key, now());
  await code(elsewhere.page, used);
  await elsewhere.page.waitForURL("**/devices");

  const third = await site.open();
  await passwordOf(third, ada);
  await code(third.page, used);
  await third.page.getByText("is not right, or was used before").first().waitFor();
  await code(third.page, codes[3]?.toUpperCase() ?? "");
  await third.page.waitForURL("**/devices");
  const fourth = await site.open();
  await passwordOf(fourth, ada);
  await code(fourth.page, codes[3] ?? "");
  await fourth.page.getByText("is not right, or was used before").first().waitFor();
  expect(site.t.rows("SELECT count(used_at) AS used FROM recovery_codes")).toEqual([{ used: 1 }]);

  // After too many guesses even the right code is refused, in every browser.
  for (let i = 0; i < 5; i++) await code(fourth.page, "000000");
  await fourth.page.getByText("There were too many wrong codes").first().waitFor();
  site.t.clock.advance(30_000);
  await code(fourth.page, appCode(key, now()));
  await fourth.page.getByText("There were too many wrong codes").first().waitFor();
  expect(sessions(site)).toBe(3);
});

it("signs in with a passkey of this site, and with no other answer", async () => {
  const site = await start();
  const ada = await site.person();
  const own = await site.open(ada);
  const devtools = await own.context.newCDPSession(own.page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await own.go("/account/second-factor");
  await own.page.locator("[name=name]").fill("Laptop");
  await own.page.locator("[data-passkey] [name=current]").fill(PASSWORD);
  await own.page.getByRole("button", { name: "Add a passkey" }).click();
  await own.page.getByRole("heading", { name: "Recovery codes" }).waitFor();
  expect(site.t.rows("SELECT kind, name FROM second_factors")).toEqual([{ kind: "passkey", name: "Laptop" }]);
  expect((await devtools.send("WebAuthn.getCredentials", { authenticatorId })).credentials).toHaveLength(1);
  // One authenticator holds one passkey.
  await own.go("/account/second-factor");
  await own.page.locator("[data-passkey] [name=current]").fill(PASSWORD);
  await own.page.getByRole("button", { name: "Add a passkey" }).click();
  await own.page.locator(".passkey-problem").waitFor();
  expect(site.t.count("second_factors")).toBe(1);

  await own.context.clearCookies();
  await passwordOf(own, ada);
  await own.page.waitForURL("**/login/second-factor?**");
  await own.page.getByRole("button", { name: "Use a passkey" }).click();
  await own.page.waitForURL("**/devices");
  const [{ signed, used }] = site.t.rows(
    "SELECT sign_count AS signed, last_used_at IS NOT NULL AS used FROM second_factors",
  );
  expect([signed > 0, used, sessions(site)]).toEqual([true, 1, 2]);

  // The same answer again, and an answer to another challenge.
  await own.context.clearCookies();
  await passwordOf(own, ada);
  await own.page.waitForURL("**/login/second-factor?**");
  const sent = new Promise<string>((resolve) =>
    own.page.on("request", (request) => {
      if (request.method() === "POST" && request.url().endsWith("/login/second-factor"))
        resolve(request.postData() ?? "");
    }),
  );
  await own.page.getByRole("button", { name: "Use a passkey" }).click();
  await own.page.waitForURL("**/devices");
  const replay = new URLSearchParams(await sent);
  await own.context.clearCookies();
  await passwordOf(own, ada);
  await own.page.waitForURL("**/login/second-factor?**");
  const fields = [...replay].filter(([name]) => name !== "_csrf");
  await own.page.evaluate(`{
    const form = document.querySelector("[data-passkey]");
    for (const [name, value] of ${JSON.stringify(fields)}) form.elements.namedItem(name).value = value;
    form.submit();
  }`);
  await own.page.getByText("This passkey was not taken").first().waitFor();
  expect(sessions(site)).toBe(3);
  expect(site.t.rows("SELECT count(*) AS n FROM audit_events WHERE action = 'factor.refused'")).toEqual([{ n: 1 }]);
});

it("leads a person without one to set one up where the team demands it, and lets an operator reset a lost one", async () => {
  const site = await start();
  const ada = await site.person();
  const root = await site.person({ operator: true });
  const visit = await site.open(ada);
  await setSecondFactorDemanded(site.t.instance.core, ada.team.id, true, COMMAND_LINE);
  for (const path of ["/overview", "/devices", "/my-brain", "/account"]) {
    await visit.go(path);
    expect([path, new URL(visit.page.url()).pathname]).toEqual([path, "/account/second-factor"]);
  }
  await visit.page.getByText("Your team demands a second factor").waitFor();
  await addApp(visit, site);
  await visit.go("/devices");
  expect(new URL(visit.page.url()).pathname).toBe("/devices");

  const operator = await site.open(root);
  await operator.go(`/settings/people/${ada.userId}`);
  await operator.page.locator("summary", { hasText: "Remove the second factor" }).click();
  await operator.page.getByRole("button", { name: "Remove", exact: true }).click();
  await operator.page.getByText("has no second factor any more").waitFor();
  expect([site.t.count("second_factors"), site.t.count("recovery_codes")]).toEqual([0, 0]);
  await visit.go("/devices");
  expect(visit.page.url()).toContain("/login");
});
