import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { type Person, type Site, startSite, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";

useBrowser();

const HOSTILE = `</code><script>document.title='owned'</script><img src=x onerror="document.title='owned'">"'`;

type Payload = Record<string, unknown>;

/** Binds a device to somebody's team, with a label. */
async function bind(site: Site, { team }: Person, label: string) {
  const device = await site.t.device(team);
  site.t.instance.core.store.db.prepare("UPDATE devices SET label = ? WHERE id = ?").run(label, device.deviceId);
  return device;
}

async function send(
  site: Site,
  token: string,
  repoKey: string | undefined,
  from: number,
  payloads: readonly Payload[],
) {
  const entries = payloads.map((payload, i) => ({ seq: from + i, payload }));
  const { status } = await site.t.post("/api/telemetry/ingest", { token, json: { repoKey, entries } });
  expect(status).toBe(200);
}

/** A team whose agents worked on two machines: with a gap, a rollback and a hostile payload. */
async function worked(site: Site) {
  const ada = await site.person({ email: "ada@example.com" });
  const build = await bind(site, ada, "build-7");
  const laptop = await bind(site, ada, "laptop");
  await send(site, build.token, "github.com/acme/shop", 1, [
    { type: "prompt", text: "Fix the login test", sessionId: "s-1", model: "opus" },
    { type: "tool", name: "Bash", input: { command: "npm test", nested: [1, { deep: true }] }, output: "3 passed" },
    { type: "edit", path: "src/login.ts", startLine: 3, endLine: 9 },
  ]);
  await send(site, build.token, "github.com/acme/shop", 8, [{ type: "commit", sha: "abc1234", big: "n" }]);
  await send(site, build.token, "github.com/acme/shop", 2, [
    { type: "tool", name: "Bash", input: { command: "rm -rf node_modules", nested: [1, { deep: true }] }, output: "" },
  ]);
  site.t.clock.advance(DAY_MS);
  await send(site, laptop.token, undefined, 1, [
    { type: HOSTILE, text: HOSTILE },
    { type: "prompt", text: "x".repeat(20_000) },
  ]);
  return { ada, build, laptop };
}

it("shows entries newest first with gaps and rollbacks between them", async () => {
  const site = await startSite();
  const { ada } = await worked(site);
  const { page, go, judge } = await site.open(ada);
  await go("/telemetry");
  const rows = page.getByRole("table", { name: "Telemetry entries" }).locator("tbody tr");
  const texts = await rows.allTextContents();
  expect(texts.map((text) => /Gap|Rollback/.exec(text)?.[0] ?? /^\d/.exec(text.trim())?.[0])).toEqual([
    "2",
    "1",
    "8",
    "Gap",
    "3",
    "2",
    "Rollback",
    "1",
  ]);
  // Its session has a column of its own.
  expect(texts.join()).not.toContain("sessionId:");
  expect(texts[3]).toContain("4 entries never arrived in github.com/acme/shop on build-7: numbers 4 to 7.");
  await page.locator("summary", { hasText: "npm test" }).click();
  expect(await page.getByRole("region", { name: "Payload" }).filter({ visible: true }).textContent()).toContain(
    '\n    "command": "npm test",\n    "nested": [\n      1,\n      {\n        "deep": true\n      }\n    ]\n',
  );
  await judge("telemetry");
  expect(await page.title()).toBe("Telemetry · Reckon");
});

it("cuts neither the time at which an entry came nor the repository's own name at 1280 pixels", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const json = {
    repoKey: "github.com/a-long-organisation/shop",
    entries: [{ seq: 1, payload: { text: "x".repeat(200) } }],
  };
  expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  site.t.clock.advance(33 * 60_000);
  const { page, go } = await site.open(ada);
  await go("/telemetry");
  expect(await page.locator("td[data-label=Repository] a").allInnerTexts()).toEqual(["shop"]);
  expect(await page.locator("td[data-label=Received]").textContent()).toBe("33 minutes ago");
  const cut = `[...document.querySelectorAll("td[data-label=Repository], td[data-label=Received]")]
    .filter((one) => one.scrollWidth > one.clientWidth).length`;
  expect(await page.evaluate(cut)).toBe(0);
});

it("says what to do while there is no telemetry, to members too", async () => {
  const { site, person: member } = await startSiteOf({ role: "member" });
  const { page, go, judge } = await site.open(member);
  await go("/telemetry");
  await judge("telemetry-empty");
  expect(await page.getByRole("region", { name: "Command" }).textContent()).toBe(
    `reckon agent connect ${site.url} THE-CODE`,
  );
  await go("/telemetry/streams");
  expect(await page.getByText("No streams yet").count()).toBe(1);
  await go("/telemetry/conflicts");
  expect(await page.getByText("No device has sent a number twice").count()).toBe(1);
});

it("filters by everything it offers, as one types and without JavaScript", async () => {
  const site = await startSite();
  const { ada } = await worked(site);
  const { page, go } = await site.open(ada);
  const numbers = () => page.getByRole("rowheader").locator("a").allTextContents();
  await go("/telemetry");
  await page.getByLabel("Text").fill("LOGIN");
  await page.locator("#results[data-count='2']").waitFor();
  expect(await numbers()).toEqual(["3", "1"]);
  const unfold = (of: typeof page) => of.locator("summary", { hasText: "Filter" }).click();
  await unfold(page);
  await page.getByLabel("Type", { exact: true }).fill("edit");
  await page.locator("#results[data-count='1']").waitFor();
  expect(page.url()).toContain("q=LOGIN");
  expect(page.url()).toContain("type=edit");
  await page.getByRole("link", { name: "Clear filters" }).click();
  await unfold(page);
  await page.getByLabel("Contradicted only").check();
  await page.locator("#results[data-count='1']").waitFor();
  expect(await numbers()).toEqual(["2"]);

  const plain = await site.open(ada, { javaScript: false });
  await plain.go("/telemetry");
  await unfold(plain.page);
  await plain.page.getByLabel("Repository").selectOption("no repository named");
  await plain.page.getByLabel("Device").selectOption("laptop");
  await plain.page.getByRole("button", { name: "Apply" }).click();
  expect(await plain.page.getByRole("rowheader").locator("a").allTextContents()).toEqual(["2", "1"]);
  expect(await plain.page.getByText("by number, highest first").count()).toBe(1);
  await plain.go("/telemetry?from=2026-11-21&to=2026-11-21");
  expect(await plain.page.getByRole("rowheader").count()).toBe(4);
  await plain.go("/telemetry?from=2026-11-22");
  expect(await plain.page.getByRole("rowheader").count()).toBe(2);
  await plain.go("/telemetry?from=2026-02-31&to=yesterday&flagged=1&at=%00garbage&device=");
  expect(await plain.page.getByRole("rowheader").count()).toBe(6);
  await plain.go("/telemetry?type=none-of-these");
  expect(await plain.page.getByText("No entry matches these filters.").count()).toBe(1);
});

it("keeps the device and the repository from tab to tab, as one types and without JavaScript", async () => {
  const site = await startSite();
  const { ada, build, laptop } = await worked(site);
  const { page, go } = await site.open(ada);
  const tab = (name: string) => page.getByRole("navigation", { name: "Telemetry" }).getByRole("link", { name });
  const chosen = (label: string) => page.getByLabel(label).locator("option:checked").textContent();
  await go("/telemetry?type=edit");
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Device").selectOption("build-7");
  await page.getByLabel("Repository").selectOption("github.com/acme/shop");
  await page.waitForURL(/device=.*repo=/);
  await tab("Conflicts").click();
  await page.getByRole("heading", { name: "Entry 2 of github.com/acme/shop" }).waitFor();
  expect([await chosen("Device"), await chosen("Repository")]).toEqual(["build-7", "github.com/acme/shop"]);
  await tab("Streams").click();
  await page.locator("#results[data-count='1']").waitFor();
  expect(await page.getByRole("row").filter({ hasText: "build-7" }).count()).toBe(1);
  await page.getByLabel("Device").selectOption("laptop");
  await page.getByText("No stream matches these filters.").waitFor();
  await page.getByLabel("Repository").selectOption("no repository named");
  await page.locator("#results[data-count='1']").waitFor();
  await tab("Entries").click();
  await page.getByText("2 entries, by number, highest first").waitFor();
  expect(new URL(page.url()).search).toBe(`?device=${laptop.deviceId}&repo=%09`);
  // Views that were saved earlier name it so.
  await go(`/telemetry?device=${laptop.deviceId}&repo=(none)`);
  await page.getByText("2 entries, by number, highest first").waitFor();
  expect(await chosen("Repository")).toBe("no repository named");

  const plain = await site.open(ada, { javaScript: false });
  await plain.go(`/telemetry/conflicts?device=${build.deviceId}`);
  await plain.page.getByRole("link", { name: "Streams" }).click();
  await plain.page.getByRole("link", { name: "Entries", exact: true }).click();
  expect(plain.page.url()).toBe(`${site.url}/telemetry?device=${build.deviceId}`);
});

it("walks older and newer pages and keeps the filters", async () => {
  const { site, person: ada } = await startSiteOf();
  const build = await bind(site, ada, "build-7");
  await send(
    site,
    build.token,
    "shop",
    1,
    Array.from({ length: 120 }, (_, i) => ({ type: i % 2 ? "odd" : "even" })),
  );
  const { page, go } = await site.open(ada);
  await go("/telemetry?type=even");
  const seen: string[] = [];
  for (let pages = 0; pages < 10; pages++) {
    seen.push(...(await page.getByRole("rowheader").locator("a").allTextContents()));
    const older = page.getByRole("link", { name: "Older" });
    if ((await older.count()) === 0) break;
    await older.click();
  }
  expect(seen).toEqual(Array.from({ length: 60 }, (_, i) => String(119 - 2 * i)));
  await page.getByRole("link", { name: "Newer" }).click();
  expect(await page.getByRole("rowheader").locator("a").first().textContent()).toBe("119");
  expect(page.url()).toContain("type=even");
});

it("stops a search that would read everything, says how far it came, and goes on from there", async () => {
  const { site, person: ada } = await startSiteOf();
  const build = await bind(site, ada, "build-7");
  await send(site, build.token, "shop", 1, [{ type: "prompt", text: "the needle" }]);
  for (let from = 2; from <= 14_000; from += 1_000) {
    site.t.clock.advance(60_000);
    await send(
      site,
      build.token,
      "shop",
      from,
      Array.from({ length: 1_000 }, () => ({ t: 1 })),
    );
  }
  const { page, go, judge } = await site.open(ada);
  await go("/telemetry?q=needle");
  await judge("telemetry-bounded");
  // Beside it may stand that not all is read yet.
  await page
    .getByRole("status")
    .filter({ hasText: /Looked through 12,\d{3} entries, back to .* none that matches so far/s })
    .waitFor();
  await page.getByRole("link", { name: "Look further back" }).click();
  await page.getByText("the needle").first().waitFor();
  expect(await page.getByRole("rowheader").locator("a").allTextContents()).toEqual(["1"]);
});

it("says which entries of how many a page shows", async () => {
  const { site, person: ada } = await startSiteOf();
  const build = await bind(site, ada, "build-7");
  const other = await bind(site, ada, "laptop");
  const odd = Array.from({ length: 120 }, (_, i) => ({ type: i % 2 === 0 ? "odd" : "even" }));
  await send(site, build.token, "shop", 1, odd);
  await send(site, other.token, "till", 1, [{ type: "odd" }]);
  const { page, go } = await site.open(ada);
  const says = () => page.locator("#results .says").textContent();
  await go("/telemetry");
  expect(await says()).toBe("The newest 50 of 121 entries");
  await page.getByRole("link", { name: "Older →", exact: true }).click();
  await page.getByText("50 of 121 entries, newest first", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Older →", exact: true }).click();
  await page.getByText("The oldest 21 of 121 entries", { exact: true }).waitFor();
  await go(`/telemetry?device=${build.deviceId}&repo=shop`);
  expect(await says()).toBe("The highest 50 of 120 entries, by number");
  await go("/telemetry?repo=till");
  expect(await says()).toBe("1 entry, newest first");
  // How many fit other filters is known once all were read.
  await go("/telemetry?type=odd");
  expect(await says()).toBe("The newest 50 entries that match");
  await go("/telemetry?type=nothing");
  expect(await page.getByText("No entry matches these filters.").count()).toBe(1);
});

it("shows one entry whole, with its neighbours, the gap before it and what contradicts it", async () => {
  const site = await startSite();
  const { ada, build } = await worked(site);
  const { page, go, judge } = await site.open(ada);
  await go("/telemetry");
  await page.getByRole("rowheader").getByRole("link", { name: "8", exact: true }).click();
  await page.getByRole("heading", { name: "4 entries before it never arrived" }).waitFor();
  expect(await page.getByText("Numbers 4 to 7.").count()).toBe(1);
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByRole("heading", { name: "Entry 3", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Previous" }).click();
  await page.getByRole("heading", { name: "What else came under this number" }).waitFor();
  await judge("telemetry-entry");
  const changes = page.getByRole("table", { name: "Changes of entry 2" });
  expect(await changes.locator("tr.added").allTextContents()).toEqual([
    expect.stringContaining("rm -rf node_modules"),
    expect.stringContaining('"output": ""'),
  ]);
  expect(site.t.rows("SELECT count(*) AS kept FROM telemetry_conflicts")).toEqual([{ kept: 1 }]);
  await go(`/telemetry/conflicts?device=${build.deviceId}`);
  await judge("telemetry-conflicts");
  expect(await page.getByRole("heading", { name: "Entry 2 of github.com/acme/shop" }).count()).toBe(1);
  await page.getByLabel("Device").selectOption("laptop");
  await page.getByText("No stream that matches these filters was contradicted.").waitFor();
  await go("/telemetry/streams");
  await judge("telemetry-streams");
  expect(await page.getByRole("row").filter({ hasText: "build-7" }).textContent()).toMatch(
    /4 missing entries.*4 to 7.*1 conflict/s,
  );
});

it("shows the client's own times like all others", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  for (const clientTimestamp of ["2026-11-20T10:00:00+02:00", "2026-11-20T09:30:00Z"])
    await site.t.post("/api/telemetry/ingest", {
      token,
      json: { entries: [{ seq: 1, clientTimestamp, payload: {} }] },
    });
  const { page, go } = await site.open(ada);
  await go("/telemetry/conflicts");
  expect(await page.getByText("the client says").textContent()).toMatch(
    /says 20 Nov 2026, 08:00 UTC\).*says 20 Nov 2026, 09:30 UTC\)/s,
  );
  await go(`/telemetry/entries/${site.t.rows("SELECT min(id) AS id FROM telemetry_entries")[0].id}`);
  expect(await page.locator("dl").first().textContent()).toContain("20 Nov 2026, 08:00 UTC");
});

it("shows what cannot be compared as it came, and bounds what hostile payloads make of a page", async () => {
  const { site, person: ada } = await startSiteOf();
  const build = await bind(site, ada, "build-7");
  const list = (value: string) => ({ list: Array.from({ length: 4_000 }, () => value) });
  for (const value of ["a", "b", "c"])
    await send(
      site,
      build.token,
      "shop",
      1,
      Array.from({ length: 20 }, () => list(value)),
    );
  // As deep as is allowed: laid out, each element would be indented by a hundred spaces.
  const deep = `${"[".repeat(60)}${"0,".repeat(20_000)}0${"]".repeat(60)}`;
  await site.t.post("/api/telemetry/ingest", {
    token: build.token,
    body: `{"repoKey":"deep","entries":[{"seq":1,"payload":{"deep":${deep}}}]}`,
    headers: { "content-type": "application/json" },
  });
  const { page } = await site.open(ada);
  for (const path of ["/telemetry/conflicts", "/telemetry?repo=deep", "/telemetry"]) {
    const reply = await page.request.get(site.url + path);
    const body = await reply.text();
    expect([path, reply.status()]).toEqual([path, 200]);
    expect(body.length, path).toBeLessThan(4_000_000);
  }
  const [entry] = site.t.rows("SELECT max(id) AS id FROM telemetry_entries");
  const whole = await page.request.get(`${site.url}/telemetry/entries/${entry.id}`);
  expect(await whole.text()).toContain(`{&quot;deep&quot;:${deep}}`);
});

it("exports what is filtered as JSON lines in the order of arrival, payloads as they were sent", async () => {
  const site = await startSite();
  const { ada, build } = await worked(site);
  await site.t.post("/api/telemetry/ingest", {
    token: build.token,
    body: `{"repoKey":"numbers","entries":[{"seq":1,"payload":{"type":"edit","id":123456789012345678901,"e":1.0e2}}]}`,
    headers: { "content-type": "application/json" },
  });
  const { page, go } = await site.open(ada);
  await go("/telemetry?type=edit");
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export all that match" }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe("telemetry-2026-11-22.jsonl");
  const lines = (await readFile(await saved.path(), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).repoKey)).toEqual(["github.com/acme/shop", "numbers"]);
  expect(lines[1]).toContain('"payload":{"type":"edit","id":123456789012345678901,"e":1.0e2}}');
});

it("explains streams behind a question mark, and keeps what is wrong with one in one line at 1280", async () => {
  const { site, person: ada, token, deviceId } = await startSiteWithDevice();
  for (const text of ["one", "another"]) {
    const entries = [
      { seq: 1, payload: { type: "prompt", text } },
      { seq: 4, payload: { type: "prompt", text } },
    ];
    const json = { repoKey: "github.com/brightloom/parcel-sync", entries };
    expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  }
  const { page, go } = await site.open(ada);
  for (const path of ["/telemetry/streams", "/telemetry/conflicts", `/devices/${deviceId}`]) {
    await go(path);
    const says = page.getByText("A rollback is a number that came again with other content.");
    expect([path, await says.count(), await says.isVisible()]).toEqual([path, 1, false]);
    await page.locator("details.help", { has: says }).locator("summary").click();
    expect([path, await says.isVisible()]).toEqual([path, true]);
  }
  await go("/telemetry/streams");
  const badges = page.locator("#results td .badge");
  expect(await badges.allTextContents()).toEqual(["2 missing entries", "2 conflicts"]);
  for (const badge of await badges.all()) expect((await badge.boundingBox())?.height).toBeLessThan(24);
});

it("keeps an entry's session and its time in one line on a phone", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const text = "Write the intent to buy first, with a key that the carrier understands";
  const sessions = [{ id: "s-1", outcome: "success", prompts: [{ text }], spans: [] }];
  const repoKey = "github.com/acme/shop";
  expect((await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey, sessions } })).status).toBe(200);
  const entries = [{ seq: 1, payload: { type: "prompt", sessionId: "s-1", text } }];
  expect((await site.t.post("/api/telemetry/ingest", { token, json: { repoKey, entries } })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  await page.setViewportSize({ width: 380, height: 800 });
  await go("/telemetry");
  const boxes = await Promise.all(
    ["Session", "Received"].map((label) => page.locator(`tbody td[data-label=${label}]`).boundingBox()),
  );
  const [session, received] = boxes.map((box) => box ?? { x: 0, y: 0, width: 0, height: 0 });
  expect(Math.abs((session?.y ?? 0) - (received?.y ?? 0))).toBeLessThan(8);
  expect(session?.height).toBeLessThan(30);
  expect((session?.x ?? 0) + (session?.width ?? 0)).toBeLessThanOrEqual(received?.x ?? 0);
  expect(await page.locator("tbody td[data-label=Session] a").textContent()).toContain("Write the intent");
});
