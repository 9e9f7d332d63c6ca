import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";
import { fillSite } from "../support/site.ts";

useBrowser();

it("finds packs by words and stack, at once with the script and by a button without it", async () => {
  const site = await startSite();
  await fillSite(site.t);
  const titles = async (page: Awaited<ReturnType<typeof site.open>>["page"]) =>
    page.locator(".packs h3").allInnerTexts();
  const { page, go } = await site.open();
  await go("/marketplace");
  expect(await titles(page)).toHaveLength(3);
  await page.getByLabel("Search").fill("hydration");
  await expect.poll(() => titles(page)).toEqual(["Hydration mismatches in React, collected over one long winter"]);
  expect(page.url()).toBe(`${site.url}/marketplace?q=hydration`);
  await page.getByLabel("Search").fill("nothing like it");
  await expect.poll(() => page.locator("#results").textContent()).toContain("No pack fits");

  const plain = await site.open(undefined, { javaScript: false });
  await plain.go("/marketplace");
  await plain.page.getByLabel("Stack").selectOption("postgres");
  await plain.page.getByRole("button", { name: "Apply" }).click();
  expect(await titles(plain.page)).toEqual(["Safe migrations"]);
  await plain.page.getByRole("link", { name: "Safe migrations" }).click();
  expect(await plain.page.locator("h1").textContent()).toBe("Safe migrations");
  expect(plain.complaints).toEqual([]);
});

it("moves nothing while it loads, and copies commands", async () => {
  const site = await startSite();
  await fillSite(site.t);
  // Coarse pixels would be counted as moves.
  const { page, context, go } = await site.open(undefined, { scale: 1 });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.addInitScript(`
    window.shift = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value; })
      .observe({ type: "layout-shift", buffered: true });`);
  for (const path of ["/", "/docs/operate", "/docs/api/telemetryIngest", "/marketplace/cookie-rules"]) {
    await go(path);
    await page.waitForLoadState("networkidle");
    // On a slow machine the head is painted before its last part came, and its box grows around its middle, where nothing is seen to move.
    expect([path, await page.evaluate("window.shift < 0.001")]).toEqual([path, true]);
  }
  await go("/");
  await page.getByRole("button", { name: "Copy" }).first().click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("reckon agent scan");
});

it("leads whoever is signed in to the dashboard, and from its mark back to the overview", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person());
  await go("/docs");
  await page.getByRole("link", { name: "Open the dashboard" }).click();
  await page.waitForURL(`${site.url}/overview`);
  expect(await page.locator(".brand").getAttribute("href")).toBe("/overview");
});
