import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";
import { fillSite } from "../support/site.ts";

useBrowser();

const PAGES = [
  ["/", "home"],
  ["/docs", "docs"],
  ["/docs/operate", "docs-operate"],
  ["/docs/configuration", "docs-configuration"],
  ["/docs/faults", "docs-faults"],
  ["/docs/security", "docs-security"],
  ["/docs/api", "api"],
  ["/docs/api/brainIngest", "api-operation"],
  ["/marketplace", "marketplace"],
  ["/marketplace/cookie-rules", "pack"],
  ["/explore", "explore"],
  ["/download", "download"],
] as const;

it("looks right on every kind of page, in light, dark and narrow", async () => {
  const site = await startSite();
  await fillSite(site.t);
  const { go, judge } = await site.open();
  for (const [path, name] of PAGES) {
    await go(path);
    await judge(`site-${name}`);
  }
});

it("stacks the rows of tables of three columns on a phone, so that they are read without scrolling sideways", async () => {
  const site = await startSite();
  const { page, go } = await site.open();
  await page.setViewportSize({ width: 390, height: 844 });
  await go("/docs/configuration");
  const hidden =
    "[...document.querySelectorAll('.table-scroll')].filter((one) => one.scrollWidth > one.clientWidth).length";
  expect(await page.evaluate(hidden)).toBe(0);
  const [name, fallback, meaning] = await Promise.all(
    ["RECKON_PORT", "4870", "port to listen on"].map((text) =>
      page.locator("td", { hasText: text }).first().boundingBox(),
    ),
  );
  expect(fallback?.x).toBe(name?.x);
  expect(fallback?.y).toBeGreaterThan(name?.y ?? Infinity);
  expect(meaning?.y).toBeGreaterThan(fallback?.y ?? Infinity);
});

it("says what to do where there is nothing yet, and what is not there", async () => {
  const site = await startSite();
  const { page, go, judge } = await site.open();
  for (const [path, name, says] of [
    ["/marketplace", "marketplace-empty", "reckon pack publish"],
    ["/explore", "explore-empty", "As soon as a team publishes"],
    ["/download", "download-empty", "Nothing is published here to download"],
  ] as const) {
    await go(path);
    expect(await page.locator("main").textContent()).toContain(says);
    await judge(`site-${name}`);
  }
  await go("/docs/nothing", 404);
  await judge("site-not-found");
});

it("names each operation's method on one line, in a colour of its own kind", async () => {
  const site = await startSite();
  const { page, go } = await site.open();
  await go("/docs/api");
  const looks = await page.evaluate<
    [string, number, string][]
  >(`[...document.querySelectorAll(".ops .verb")].map((verb) => {
    const { lineHeight, backgroundColor } = getComputedStyle(verb);
    return [verb.textContent, Math.round(verb.getBoundingClientRect().height / parseFloat(lineHeight)), backgroundColor];
  })`);
  const methods = new Map(looks.map(([method, , colour]) => [method, colour]));
  expect([...methods.keys()].sort()).toEqual(["GET", "POST"]);
  expect(new Set(looks.map(([, lines]) => lines))).toEqual(new Set([1]));
  expect(new Set(methods.values()).size).toBe(2);
  expect([...methods.values()]).not.toContain("rgba(0, 0, 0, 0)");
});
