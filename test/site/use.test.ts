import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
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
    expect([path, await page.evaluate("window.shift")]).toEqual([path, 0]);
  }
  await go("/");
  await page.getByRole("button", { name: "Copy" }).first().click();
  await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("reckon agent scan");
});

it("moves nothing in a page's head whose last part comes after it was painted", async () => {
  const site = await startSite();
  const accept = "text/html";
  const whole = await (await fetch(`${site.url}/docs`, { headers: { accept } })).text();
  let [end, rest] = ["", () => {}];
  // In front of the site: a page comes as far as `end`, and the rest when the test wants.
  const front = createServer(async (request, response) => {
    if (request.url !== "/docs") {
      const other = await fetch(site.url + request.url);
      response.setHeader("content-type", other.headers.get("content-type") ?? "");
      return response.end(await other.bytes());
    }
    const at = whole.indexOf(end) + end.length;
    rest = () => void response.end(whole.slice(at));
    response.writeHead(200, { "content-type": accept }).write(whole.slice(0, at));
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  onTestFinished(() => void front.close());
  const { page } = await site.open(undefined, { scale: 1 });
  await page.addInitScript(`
    window.shift = 0;
    new PerformanceObserver((list) => { for (const one of list.getEntries()) window.shift += one.value; })
      .observe({ type: "layout-shift", buffered: true });`);
  for (end of ["<span>Reckon</span></a>", "</nav>", "</button>"]) {
    await page.goto(`http://127.0.0.1:${(front.address() as AddressInfo).port}/docs`, { waitUntil: "commit" });
    await page.locator(".brand").waitFor();
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    rest();
    await page.waitForLoadState();
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    expect([end, await page.evaluate("window.shift")]).toEqual([end, 0]);
  }
});

it("leads whoever is signed in to the dashboard, and from its mark back to the overview", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person());
  await go("/docs");
  await page.getByRole("link", { name: "Open the dashboard" }).click();
  await page.waitForURL(`${site.url}/overview`);
  expect(await page.locator(".brand").getAttribute("href")).toBe("/overview");
});
