import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { changeRequest, mergeRequest } from "../../src/share/feature-requests/feature-requests.ts";
import { type Site, sendForm, startSite, startSiteOf, useBrowser } from "../support/browser.ts";

useBrowser();

const HOSTILE = `<script>document.title='owned'</script><img src=x onerror="document.title='owned'">`;

const TEXTS = [
  "Export the telemetry of a repository as CSV, for our auditors",
  "Dark theme follows the system; please let me choose it by hand",
  'The search should match whole phrases. "login cookie" finds every page with one of the words.',
  "Let the brain search match whole phrases in quotation marks",
  "A webhook when a device has not reported for a day",
];

async function file(site: Site, json: unknown): Promise<string> {
  // Requests made in one millisecond have no order; these are a minute apart.
  site.t.clock.advance(60_000);
  const answer = await site.t.post("/api/requests/ingest", { json });
  expect(answer.status).toBe(200);
  return answer.body.id;
}

async function start() {
  const { site, person: operator } = await startSiteOf({ operator: true }, { settings: { limitRequestIntake: "off" } });
  const ids: string[] = [];
  for (const text of TEXTS)
    ids.push(await file(site, { text, version: "2.1.0", os: { name: "linux", arch: "arm64" } }));
  return { site, operator, ids: ids as [string, string, string, string, string] };
}

it("tells an operator how to send the first request, with the real address", async () => {
  const site = await startSite();
  const { page, go, judge } = await site.open(await site.person({ operator: true }));
  await go("/overview");
  await page.getByRole("link", { name: "Installation" }).click();
  await page.getByRole("link", { name: "Requests" }).click();
  await page.getByText("No requests yet").waitFor();
  expect(await page.locator("pre").textContent()).toContain(`curl ${site.url}/api/requests/ingest`);
  await judge("requests-empty");
});

it("lists requests, finds them as one types, and by status", async () => {
  const { site, operator, ids } = await start();
  const { core } = site.t.instance;
  const statuses = ["shipped", "declined", "planned", undefined, "in_progress"] as const;
  for (const [i, status] of statuses.entries())
    if (status) await changeRequest(core, ids[i] as string, { status }, COMMAND_LINE);
  await mergeRequest(core, ids[3], ids[2], COMMAND_LINE);
  await file(site, { message: `${"A very long request without an end. ".repeat(40)}${"x".repeat(300)}` });
  const { page, go, judge } = await site.open(operator);
  await go("/requests");
  const titles = () => page.locator("#requests tbody th").allInnerTexts();
  expect((await titles()).length).toBe(6);
  expect((await titles())[3]).toMatch(/^The search should[\s\S]*1 duplicate$/);
  await judge("requests");
  await page.getByLabel("Text, note or id").fill("PHRASES");
  await page.locator("#requests[data-count='2']").waitFor();
  await page.getByLabel("Status").selectOption("merged");
  await page.locator("#requests[data-count='1']").waitFor();
  expect(await titles()).toEqual([TEXTS[3]]);
  await page.getByLabel("Status").selectOption("declined");
  await page.getByText("Nothing like that").waitFor();
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.locator("#requests[data-count='6']").waitFor();
});

it("sets a status and a note, which the asker and the audit can see", async () => {
  const { site, operator, ids } = await start();
  const { page, go } = await site.open(operator);
  await go("/requests");
  await page.getByRole("link", { name: "Export the telemetry" }).click();
  await page.getByRole("heading", { level: 1, name: "Export the telemetry" }).waitFor();
  expect(await page.locator("pre").last().textContent()).toContain('"arch": "arm64"');
  await page.getByLabel("Status").selectOption("in_progress");
  await page.getByLabel("Note").fill("Grace does it.");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(site.t.rows("SELECT status, note FROM product_requests WHERE id = ?", ids[0])).toEqual([
    { status: "in_progress", note: "Grace does it." },
  ]);
  expect((await site.t.get(`/api/requests/status?ids=${ids[0]}`)).body.statuses).toEqual([
    { id: ids[0], status: "in_progress" },
  ]);
  await go("/audit?all=1");
  await page.getByText("changed the request Export the telemetry").waitFor();
  expect(
    site.t.rows("SELECT actor_id AS who, team_id AS team, ip FROM audit_events WHERE action = 'request.changed'"),
  ).toEqual([{ who: operator.userId, team: null, ip: "127.0.0.1" }]);
});

it("offers requests in similar words to merge into, and takes a merge back", async () => {
  const { site, operator, ids } = await start();
  const { page, go, judge } = await site.open(operator);
  const merged = () =>
    site.t.rows("SELECT merged_into AS into_id FROM product_requests WHERE id = ?", ids[3])[0].into_id;
  await go(`/requests/${ids[3]}`);
  const similar = page.getByRole("region", { name: "Similar requests" });
  expect(await similar.locator("tbody tr").count()).toBe(1);
  await judge("request-similar");
  await similar.locator("summary", { hasText: "Merge into it" }).click();
  await page.getByRole("button", { name: "Merge", exact: true }).last().click();
  await page.getByText("It is a duplicate of “The search should match whole phrases").waitFor();
  expect(merged()).toBe(ids[2]);
  await judge("request-merged");
  await page.locator(".facts").getByRole("link", { name: ids[2] }).click();
  await page.getByRole("region", { name: "Duplicates" }).waitFor();
  await judge("request-duplicates");
  await page.getByRole("link", { name: TEXTS[3] as string }).click();
  await page.locator("summary", { hasText: "Take the merge back" }).click();
  await page.getByRole("button", { name: "Take it back" }).click();
  await page.getByText("The merge is taken back.").waitFor();
  expect(merged()).toBeNull();
});

it("works without JavaScript: searching, merging by an address, and saying what was wrong", async () => {
  const { site, operator, ids } = await start();
  const { page, go } = await site.open(operator, { javaScript: false });
  await go("/requests");
  await page.getByLabel("Text, note or id").fill("webhook");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("link", { name: "A webhook" }).click();
  await page.getByLabel("It repeats").fill("that other one");
  await page.getByRole("button", { name: "Merge", exact: true }).first().click();
  expect(await page.getByRole("alert").textContent()).toContain("begins with req_");
  expect(await page.getByLabel("It repeats").inputValue()).toBe("that other one");
  await page.getByLabel("It repeats").fill("req_nobody");
  await page.getByRole("button", { name: "Merge", exact: true }).first().click();
  expect(await page.getByRole("alert").textContent()).toContain("There is no request req_nobody");
  await page.getByLabel("It repeats").fill(ids[4]);
  await page.getByRole("button", { name: "Merge", exact: true }).first().click();
  expect(await page.getByRole("alert").textContent()).toContain("into itself");
  await page.getByLabel("It repeats").fill(` ${site.url}/requests/${ids[0]} `);
  await page.getByRole("button", { name: "Merge", exact: true }).first().click();
  await page.getByText("It is a duplicate of “Export the telemetry").waitFor();
  expect(site.t.rows("SELECT id, merged_into AS into_id FROM product_requests WHERE merged_into IS NOT NULL")).toEqual([
    { id: ids[4], into_id: ids[0] },
  ]);
});

it("answers 404 for an unknown request, and refuses invalid changes", async () => {
  const { site, operator, ids } = await start();
  for (const path of ["", "/merge", "/unmerge"]) {
    const fields = { status: "shipped", into: ids[1] };
    expect((await sendForm(site, operator, `/requests/req_nobody${path}`, fields)).status).toBe(404);
  }
  expect((await sendForm(site, operator, `/requests/${ids[0]}`, { status: "done" })).status).toBe(400);
  expect(
    (await sendForm(site, operator, `/requests/${ids[0]}`, { status: "planned", note: "x".repeat(2_001) })).status,
  ).toBe(400);
  await mergeRequest(site.t.instance.core, ids[0], ids[1], COMMAND_LINE);
  expect((await sendForm(site, operator, `/requests/${ids[0]}`, { status: "shipped" })).status).toBe(409);
  expect((await sendForm(site, operator, `/requests/${ids[1]}/merge`, { into: ids[0] })).status).toBe(409);
  expect(site.t.rows("SELECT DISTINCT status, note FROM product_requests")).toEqual([
    { status: "received", note: null },
  ]);
  const visit = await site.open(operator);
  await visit.go("/requests/req_nobody", 404);
  for (const query of [
    "?before=%00&status=x",
    `?q=${"x".repeat(5_000)}`,
    "?after=req_a%27b&q=%25%5C",
    "?q=%F0%9F%98%80",
  ])
    await visit.go(`/requests${query}`);
});

it("shows hostile text as text, wherever it stands", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  const id = await file(site, { text: HOSTILE, [HOSTILE]: [HOSTILE], nul: "\0\u202e" });
  const other = await file(site, { text: `${HOSTILE} again` });
  const { core } = site.t.instance;
  await changeRequest(core, id, { note: `</textarea>${HOSTILE}` }, COMMAND_LINE);
  const { page, go, complaints } = await site.open(operator);
  const paths = [`/requests?q=${encodeURIComponent(HOSTILE)}`, `/requests/${id}`, `/requests/${other}`, "/audit?all=1"];
  for (const path of paths) {
    await go(path);
    expect([path, await page.title()]).toEqual([path, expect.stringMatching(/ · Reckon$/)]);
    expect(await page.locator("main img").count()).toBe(0);
  }
  await mergeRequest(core, other, id, COMMAND_LINE);
  for (const path of [`/requests/${id}`, `/requests/${other}`]) {
    await go(path);
    expect([path, await page.title()]).toEqual([path, expect.stringMatching(/ · Reckon$/)]);
  }
  expect(complaints).toEqual([]);
});

it("pages through many", async () => {
  const { site, person: operator } = await startSiteOf({ operator: true });
  site.t.instance.core.store.db.exec(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
     INSERT INTO product_requests (id, text, context, status, address_hash, created_at, updated_at)
     SELECT printf('req_%03d', i), 'Request ' || i, '{}', 'received', x'00', 0, 0 FROM n`,
  );
  const { page, go } = await site.open(operator);
  await go("/requests?status=received");
  const titles = () => page.locator("#requests tbody th").allInnerTexts();
  const first = await titles();
  await page.getByRole("link", { name: "Older" }).click();
  await page.getByRole("link", { name: "Newer" }).waitFor();
  expect([...first, ...(await titles())]).toEqual(Array.from({ length: 60 }, (_, i) => `Request ${60 - i}`));
  await page.getByRole("link", { name: "Newer" }).click();
  await page.getByText("Request 60").waitFor();
  expect(await titles()).toEqual(first);
  expect(new URL(page.url()).searchParams.get("status")).toBe("received");
});

it("changes of a request only what an operator changed, and undoes nothing of another's", async () => {
  const { site, operator, ids } = await start();
  const { core } = site.t.instance;
  const { page, go } = await site.open(operator);
  const row = () => site.t.rows("SELECT status, note FROM product_requests WHERE id = ?", ids[0]);
  await go(`/requests/${ids[0]}`);
  await changeRequest(core, ids[0], { note: "Asked for by three teams" }, COMMAND_LINE);
  await page.getByLabel("Status").selectOption("planned");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(row()).toEqual([{ status: "planned", note: "Asked for by three teams" }]);
  await changeRequest(core, ids[0], { status: "shipped" }, COMMAND_LINE);
  await page.getByLabel("Status").selectOption("declined");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Somebody changed this meanwhile: the status is “Shipped” now.").waitFor();
  expect(row()).toEqual([{ status: "shipped", note: "Asked for by three teams" }]);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  expect(row()).toEqual([{ status: "declined", note: "Asked for by three teams" }]);
});
