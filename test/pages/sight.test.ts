import { expect, it } from "vitest";
import { startSite, useBrowser } from "../support/browser.ts";

useBrowser();

/** What is seen of a page, and what of it is hidden by how it is laid out. */

it("prints dark on white, whatever theme was chosen", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person());
  await go("/policy");
  await page.locator("[data-theme-switch]").click();
  await page.locator("[data-theme-switch]").click();
  const ink = () => page.evaluate<string>("getComputedStyle(document.body).color");
  expect([await page.locator("html").getAttribute("data-theme"), await ink()]).toEqual(["dark", "rgb(232, 233, 236)"]);
  await page.emulateMedia({ media: "print" });
  expect(await ink()).toBe("rgb(27, 29, 34)");
});
