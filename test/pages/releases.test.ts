import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { addRelease } from "../../src/share/releases/releases.ts";
import { type Site, sendForm, startSite, useBrowser } from "../support/browser.ts";
import { installer } from "../support/site.ts";

useBrowser();

const PATH = "/settings/releases";

async function add(site: Site, version: string, url?: string) {
  const file = installer(site.t, `Setup ${version}.exe`, Buffer.from(version));
  return addRelease(site.t.instance.core, { platform: "win32", version, url, file }, COMMAND_LINE);
}

it("says on an empty page how an installer is registered", async () => {
  const site = await startSite();
  const { page, go, judge } = await site.open(await site.person({ operator: true }));
  await go(PATH);
  await judge("releases-empty");
  expect(await page.locator("main").textContent()).toContain("reckon release add --platform win32");
});

it("lists installers, warns of a file that is gone, and withdraws one", async () => {
  const site = await startSite();
  const { t } = site;
  await add(site, "1.0.0");
  const gone = await add(site, "1.1.0");
  await add(site, "2.0.0-rc.1", "https://dl.example.com/Setup.exe");
  rmSync(join(t.directory, "releases", Buffer.from(gone.sha512, "base64").toString("hex")));
  const { page, go, judge } = await site.open(await site.person({ operator: true, email: "ada@example.com" }));
  await go(PATH);
  await judge("releases");
  expect(await page.locator("tbody th").allInnerTexts()).toEqual(["2.0.0-rc.1", "1.1.0", "1.0.0"]);
  expect(await page.getByRole("row", { name: /1\.1\.0/ }).textContent()).toContain("file missing");
  await page
    .getByRole("row", { name: /1\.0\.0/ })
    .getByText("Withdraw", { exact: true })
    .click();
  await page.getByRole("button", { name: "Withdraw installer" }).click();
  await page.waitForURL(`**${PATH}`);
  expect(await page.locator(".flash").textContent()).toContain("1.0.0 is withdrawn.");
  expect(t.rows("SELECT version FROM releases ORDER BY version")).toEqual([
    { version: "1.1.0" },
    { version: "2.0.0-rc.1" },
  ]);
  expect(t.rows("SELECT actor_label, action, target_id FROM audit_events WHERE action = 'release.removed'")).toEqual([
    { actor_label: "ada@example.com", action: "release.removed", target_id: "win32 1.0.0" },
  ]);
});

it("withdraws without JavaScript, and answers 404 for what is not registered", async () => {
  const site = await startSite();
  await add(site, "1.0.0");
  const operator = await site.person({ operator: true });
  const { page, go } = await site.open(operator, { javaScript: false });
  await go(PATH);
  await page.locator("summary", { hasText: "Withdraw" }).click();
  await page.getByRole("button", { name: "Withdraw installer" }).click();
  expect(site.t.count("releases")).toBe(0);
  const again = await sendForm(site, operator, `${PATH}/remove`, { platform: "win32", version: "1.0.0" });
  expect(again.status).toBe(404);
});
