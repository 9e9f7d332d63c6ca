import { expect, it } from "vitest";
import { startSite, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import { fillDefects } from "../support/defects.ts";
import { fillUsage, SHOP } from "../support/usage.ts";

useBrowser();

/** What a reader sees of a page, and what its layout hides. */

it("shows every tab, however narrow the window", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person({ operator: true }));
  await go("/settings");
  const beyond = `[...document.querySelectorAll("main > nav.tabs a")]
    .filter((tab) => tab.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((tab) => tab.textContent)`;
  for (const width of [1280, 768, 380]) {
    await page.setViewportSize({ width, height: 900 });
    expect([width, await page.evaluate(beyond)]).toEqual([width, []]);
  }
});

it("shades the side of a table that goes on there, and of no other", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillUsage(site, ada);
  const { page, go } = await site.open(ada);
  await go("/spend");
  const shades = () =>
    page.evaluate<number>(`getComputedStyle(document.querySelector("[aria-label='Spend by model']"))
      .backgroundImage.split("linear-gradient").length - 1`);
  await expect.poll(shades, { timeout: 60_000 }).toBe(0);
  await page.setViewportSize({ width: 380, height: 800 });
  await expect.poll(shades, { timeout: 60_000 }).toBe(4);
});

it("shows the whole of a list that is read as cards, at four times its size as well", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person());
  await page.setViewportSize({ width: 320, height: 640 });
  const beyond = `[...document.querySelectorAll("table.cards time")]
    .map((one) => one.getBoundingClientRect().right - one.closest(".table-frame").getBoundingClientRect().right)`;
  for (const path of ["/people", "/account"]) {
    await go(path);
    const found = await page.evaluate<number[]>(beyond);
    expect([path, found.length > 0, found.filter((px) => px > 0)]).toEqual([path, true, []]);
  }
});

it("breaks an outcome in one long word, in whatever room there is", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const sessions = [{ id: "a", outcome: "W".repeat(200), prompts: [{ text: "Plough" }], spans: [] }];
  const json = { repoKey: "shop", sessions };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { go, judge } = await site.open(ada);
  await go("/sessions/1");
  await judge("session-of-one-word");
});

it("opens explanations and menus within what they belong to, however narrow the window", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const json = {
    repoKey: "shop",
    sessions: [{ id: "a", outcome: "success", prompts: [{ text: "Plough" }], spans: [] }],
  };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  const areWithin = `[...document.querySelectorAll(".help-panel, .folded-panel")]
    .filter((panel) => panel.checkVisibility())
    .map((panel) => [panel.getBoundingClientRect(), (panel.closest(".rail") ?? document.body).getBoundingClientRect()])
    .map(([panel, frame]) => panel.left >= frame.left && panel.right <= frame.right)`;
  for (const [path, name] of [
    ["/sessions/1", "What this means"],
    ["/sessions", "Views"],
    ["/spend", "What this means"],
  ] as const)
    for (const width of [1280, 768, 380]) {
      await page.setViewportSize({ width, height: 900 });
      await go(path);
      await page
        .locator("main summary")
        .filter({ visible: true })
        .and(page.getByLabel(name).or(page.getByText(name)))
        .last()
        .click();
      expect([path, width, await page.evaluate(areWithin)]).toEqual([path, width, [true]]);
    }
});

it("prints to its end what scrolls on a screen", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const payload = { type: "tool", fields: Array.from({ length: 80 }, (_, i) => `field ${i}`) };
  const json = { repoKey: "shop", entries: [{ seq: 1, payload }] };
  expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  await go(`/telemetry/entries/${site.t.rows("SELECT min(id) AS id FROM telemetry_entries")[0].id}`);
  const hidden = () =>
    page.evaluate<boolean>(`[...document.querySelectorAll("pre")].some((one) =>
      getComputedStyle(one).overflowY !== "visible" && one.scrollHeight > one.clientHeight + 1)`);
  expect(await hidden()).toBe(true);
  await page.emulateMedia({ media: "print" });
  expect(await hidden()).toBe(false);
});

it("prints all that stands beside a session", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const json = { repoKey: "shop", sessions: [{ id: "a", outcome: "failure", agent: "codex", spans: [] }] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  await page.setViewportSize({ width: 1280, height: 320 });
  await go(`/sessions/${site.t.rows("SELECT id FROM trace_sessions")[0].id}`);
  const beyond = () =>
    page.evaluate<number>(
      "(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('.rail'))",
    );
  expect(await beyond()).toBeGreaterThan(1);
  await page.emulateMedia({ media: "print" });
  expect(await beyond()).toBeLessThanOrEqual(1);
});

it("shows the amounts beside a chart whole, however small they are", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const usage = { input_tokens: 380, output_tokens: 50 };
  const startedAt = site.t.clock.now() - 60_000;
  const span = { id: "a", name: "chat", startedAt, endedAt: startedAt + 1_000, model: "claude-sonnet-4-6", usage };
  const json = { repoKey: "shop", sessions: [{ id: "a", outcome: "success", startedAt, spans: [span] }] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  const cut = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll(".chart-axis text")].filter((text) =>
      text.getBoundingClientRect().left < text.ownerSVGElement.getBoundingClientRect().left).map((text) => text.textContent)`);
  for (const path of ["/overview", "/spend"]) {
    await go(path);
    expect(await page.locator(".chart-axis text").allTextContents()).toContain("$0.0015");
    expect([path, await cut()]).toEqual([path, []]);
    // What is pointed at lies over what is drawn.
    const [plot, hits] = [page.locator(".chart-plot").last(), page.locator(".chart-hits").last()];
    const [drawn, pointed] = [await plot.boundingBox(), await hits.boundingBox()];
    expect([pointed?.x, pointed?.width]).toEqual([drawn?.x, drawn?.width]);
  }
});

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

it("prints what its figures are narrowed by, and no filter that is not set", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillUsage(site, ada);
  const { page, go } = await site.open(ada);
  await page.emulateMedia({ media: "print" });
  const printed = () =>
    page.evaluate<string[]>(`[...document.querySelectorAll(".filters :is(label, select, input, button, summary)")]
      .filter((one) => one.checkVisibility()).map((one) => one.value ?? one.textContent)`);
  for (const [path, filters] of [
    ["/spend", []],
    [`/spend?repo=${SHOP}`, ["Repository", SHOP]],
    [`/errors?repo=${SHOP}`, ["Repository", SHOP]],
    ["/sessions?outcome=completed", []],
  ] as const) {
    await go(path);
    expect([path, await printed()]).toEqual([path, filters]);
  }
  // Of a list, what is above it says so.
  expect(await page.locator(".chips").textContent()).toContain("completed");
});

it("prints whole what a list cuts on a screen", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const text = "Plough the north field, and then the one behind the mill ".repeat(4).trim().toUpperCase();
  const json = { repoKey: "shop", sessions: [{ id: "a", outcome: "failure", prompts: [{ text }], spans: [] }] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  const areCut = () =>
    page.evaluate<number>(`[...document.querySelectorAll(".dense tbody :is(th, td, th *), .concern-title")].filter((one) =>
      getComputedStyle(one).overflowX === "hidden" && one.clientWidth > 1 &&
        (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1)).length`);
  await page.setViewportSize({ width: 800, height: 900 });
  for (const path of ["/sessions", "/overview"]) {
    await page.emulateMedia({ media: "screen" });
    await go(path);
    expect([path, await areCut()]).not.toEqual([path, 0]);
    await page.emulateMedia({ media: "print" });
    expect([path, await areCut()]).toEqual([path, 0]);
  }
});

it("cuts no figure and no time in a list, however little room there is", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const startedAt = new Date(site.t.clock.now() - 44 * 60_000).toISOString();
  const json = { repoKey: "github.com/acme/shop", sessions: [{ id: "a", outcome: "completed", startedAt, spans: [] }] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  for (const width of [720, 1_024, 1_280])
    for (const path of ["/sessions", "/overview"]) {
      await page.setViewportSize({ width, height: 900 });
      await go(path);
      const cut = await page.evaluate<string[]>(`[...document.querySelectorAll(".dense tbody .numeric")].filter((one) =>
        one.scrollWidth > one.clientWidth).map((one) => one.textContent)`);
      expect([width, path, cut]).toEqual([width, path, []]);
      expect(await page.locator(".dense tbody .numeric").last().textContent()).toBe("44 minutes ago");
    }
});

it("cuts a title that is written from right to left at its end, and keeps its figures in their place", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const text = `أصلح الخطأ في صفحة الدفع ${"حيث لا يظهر السعر الصحيح للعميل ".repeat(3)}عند استخدام قسيمة الخصم 50٪`;
  const json = { repoKey: "shop", sessions: [{ id: "a", outcome: "failure", prompts: [{ text }], spans: [] }] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  const { page, go } = await site.open(ada);
  const place = (selector: string, at: "first" | "last") =>
    page.evaluate<{ left: number; right: number }>(`(() => {
      const box = document.querySelector("${selector}");
      const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      const text = walker.nextNode();
      const range = new Range();
      range.setStart(text, "${at}" === "first" ? 0 : text.length - 1);
      range.setEnd(text, "${at}" === "first" ? 1 : text.length);
      const { left, right } = range.getBoundingClientRect();
      const seen = box.getBoundingClientRect();
      return { left: left - seen.left, right: seen.right - right };
    })()`);
  await go("/sessions");
  const { left, right } = await place(".lead > a", "first");
  expect([left > 0, Math.round(right)]).toEqual([true, 0]);
  await page.locator(".lead > a").click();
  await page.getByRole("heading", { level: 1 }).waitFor();
  // The percent sign ends the text: it stands at the left of its line.
  expect(Math.round((await place("h1", "last")).left)).toBe(0);
});

it("prints no badge a letter a line", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillDefects(site, ada);
  const { page, go } = await site.open(ada);
  await go("/errors?state=all");
  await go((await page.locator("#results tbody th a").first().getAttribute("href")) ?? "");
  await page.emulateMedia({ media: "print" });
  // A sheet of A4 within its margins.
  await page.setViewportSize({ width: 718, height: 1_040 });
  const broken = await page.evaluate(`[...document.querySelectorAll("td .badge")].flatMap((badge) => {
      const text = [...badge.childNodes].find(({ nodeType }) => nodeType === Node.TEXT_NODE);
      const range = new Range();
      return [...(text?.data ?? "").matchAll(/\\S+/g)].filter(({ 0: word, index }) => {
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return range.getClientRects().length > 1;
      }).map(String);
    })`);
  expect(broken).toEqual([]);
});

it("marks in forced colours which of several choices is taken", async () => {
  const { site, person: ada } = await startSiteOf();
  await fillUsage(site, ada);
  const { page, go } = await site.open(ada);
  await page.emulateMedia({ forcedColors: "active" });
  for (const path of ["/overview", "/spend", "/people"]) {
    await go(path);
    const plain = `[...document.querySelectorAll("a[aria-current]")]
      .filter((way) => way.checkVisibility() && getComputedStyle(way).outlineStyle === "none")
      .map((way) => way.textContent)`;
    expect([path, await page.evaluate(plain)]).toEqual([path, []]);
  }
});

it("closes an explanation by Escape, and by a click elsewhere", async () => {
  const site = await startSite();
  const { page, go } = await site.open(await site.person());
  await go("/errors");
  const mark = page.locator("main summary").and(page.getByLabel("What this means"));
  const panel = page.locator(".help-panel");
  await mark.press("Enter");
  await panel.getByText("Entries with the same prevention rule").waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.ariaLabel")).toBe("What this means");
  await mark.click();
  await panel.getByText("Entries with the same prevention rule").click();
  expect(await panel.isVisible()).toBe(true);
  await page.getByRole("heading", { level: 1 }).click();
  await panel.waitFor({ state: "hidden" });
});

it("brings into sight why a form was not taken, and begins reading there, without a script, too", async () => {
  const { site, person: ada } = await startSiteOf();
  for (const javaScript of [true, false]) {
    const { page, go } = await site.open(ada, { javaScript });
    await page.setViewportSize({ width: 380, height: 500 });
    await go("/policy");
    await page.getByLabel("Watchlist").fill("/src/**");
    await page.getByRole("button", { name: "Put in force" }).click();
    const why = page.getByRole("alert");
    await why.waitFor();
    await expect.poll(() => why.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    const [top, bottom] = await why.evaluate((one) => [
      one.getBoundingClientRect().top,
      one.getBoundingClientRect().bottom,
    ]);
    expect(Number(top)).toBeGreaterThan(0);
    expect(Number(bottom)).toBeLessThan(500);
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").getAttribute("name")).toBe("capture_mode");
    expect(await page.getByLabel("Watchlist").inputValue()).toBe("/src/**");
  }
});
