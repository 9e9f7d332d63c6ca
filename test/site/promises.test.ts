import { expect, it } from "vitest";
import { startSite, startSiteOf, useBrowser } from "../support/browser.ts";
import { fillSite } from "../support/site.ts";

useBrowser();

it("link a download only where there is one, and name the command to people who can use it", async () => {
  const site = await startSite();
  const { t } = site;
  const text = async (path: string, headers = {}) => (await t.get(path, { headers })).text;
  const leads = async () => {
    const pages = [await text("/"), await text("/docs"), await text("/llms-full.txt"), await text("/sitemap.xml")];
    return pages.map((page) => /\/download(?=["<.)]|$)/m.test(page));
  };
  expect(await leads()).toEqual([false, false, false, false]);
  for (const accept of ["text/html", "text/markdown"]) {
    const page = await text("/download", { accept });
    expect([accept, page.includes("Nothing is published here"), page.includes("reckon release add")]).toEqual([
      accept,
      true,
      false,
    ]);
  }
  const operator = await site.person({ operator: true });
  const { page, go, judge } = await site.open(operator);
  await go("/download");
  expect(await page.locator("main").textContent()).toContain("reckon release add");
  await judge("site-download-operator");
  await fillSite(t);
  expect(await leads()).toEqual([true, true, true, true]);
  expect(await text("/download", { accept: "text/html" })).toContain("Download for Windows");
});

it("name the line that connects a machine, with this installation's address, and where it is written what is sent", async () => {
  const { site, person: owner } = await startSiteOf();
  for (const [path, cookie] of [
    ["/", ""],
    ["/index.md", ""],
    ["/overview", owner.cookie],
  ] as const) {
    const { text } = await site.t.get(path, { headers: { cookie, accept: "text/html" } });
    expect([path, text.includes(`reckon agent connect ${site.url} `)]).toEqual([path, true]);
    expect([path, text.includes("/docs/capture")]).toEqual([path, true]);
    expect([path, /No capture client|supports Reckon|nothing to install/i.test(text)]).toEqual([path, false]);
  }
});
