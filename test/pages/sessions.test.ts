import { expect, it } from "vitest";
import { assignDevice, renameDevice } from "../../src/identity/devices/devices.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { sessionOf } from "../real/convert.ts";
import { describeReal, transcripts } from "../real/data.ts";
import { type Site, startSite, startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import type { TestDevice } from "../support/instance.ts";
import { claudeCall, claudeLogs } from "../support/otlp.ts";
import { sessionNumber } from "../support/sessions.ts";

useBrowser();

const REPO = "acme/shop";
const SHA = "4f9d2c1a7b3e5d60819273645546372819a0bcde";
const START = Date.UTC(2026, 10, 20, 9);
const at = (minutes: number) => new Date(START + minutes * 60_000).toISOString();
const HOSTILE = '<img src=x onerror="alert(1)">';

const TWO_LINES = "Write the intent to buy first, then buy.";
const LONG_PROMPT = `Please go through the checkout.\n${Array.from({ length: 40 }, (_, i) => `${i + 1}. Look at case ${i + 1}`).join("\n")}`;

/** A session of three model calls, two tools, one edit and a commit. */
function checkout() {
  const usage = (id: string, output: number) => ({
    id,
    input_tokens: 1_000,
    output_tokens: output,
    cache_read_input_tokens: 5_000,
  });
  return {
    id: "ses-checkout",
    outcome: "completed",
    agent: "claude-code",
    model: "sonnet-5",
    branch: "fix/totals",
    startedAt: at(0),
    endedAt: at(12),
    prompts: [
      { at: at(0), text: "Fix the checkout total,\nit is off by a cent" },
      { at: at(5), text: LONG_PROMPT },
    ],
    files: ["src/cart/total.ts", "app/[id]/page one.tsx"],
    commits: [{ sha: SHA, at: at(11) }],
    big: "@big",
    spans: [
      { id: "t1", name: "turn", kind: "turn", startedAt: at(0), endedAt: at(4) },
      {
        id: "c1",
        parentId: "t1",
        name: "chat sonnet-5",
        kind: "llm",
        startedAt: at(0),
        endedAt: at(1),
        usage: usage("m1", 200),
      },
      {
        id: "c1b",
        parentId: "t1",
        name: "chat sonnet-5",
        kind: "llm",
        startedAt: at(1),
        endedAt: at(2),
        usage: usage("m1", 300),
      },
      {
        ...{ id: "e1", parentId: "c1", name: "execute_tool Edit", kind: "tool", startedAt: at(2), endedAt: at(3) },
        edits: [{ path: "src/cart/total.ts", startLine: 10, endLine: 14 }],
      },
      { id: "t2", name: "turn", kind: "turn", startedAt: at(5), endedAt: at(12) },
      {
        id: "c2",
        parentId: "t2",
        name: "chat sonnet-5",
        kind: "llm",
        startedAt: at(5),
        endedAt: at(9),
        usage: usage("m2", 700),
      },
    ],
  };
}

/** A number that no double holds exactly. The page must show it as it was sent. */
const BIG = "12345678901234567890";

async function send(site: Site, device: TestDevice, sessions: unknown[], more: object = {}) {
  const answer = await site.t.post("/api/agent-traces/ingest", {
    token: device.token,
    body: JSON.stringify({ repoKey: REPO, sessions, ...more }).replace('"@big"', BIG),
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(200);
}

async function withSessions() {
  const { site, person: ada, device } = await startSiteWithDevice({ role: "member" });
  await renameDevice(site.t.instance.core, ada.team.id, device.deviceId, "ada-laptop", COMMAND_LINE);
  await send(site, device, [checkout()], {
    labels: [
      { sessionId: "ses-checkout", name: "review", value: "good", comment: "Small and tested." },
      { sessionId: "ses-checkout", spanId: "e1", name: "risk", value: 2 },
    ],
  });
  await send(site, device, [
    {
      id: "ses-docs",
      outcome: "failed",
      agent: "codex",
      startedAt: at(-1_440),
      endedAt: at(-1_430),
      prompts: [{ text: "Write the docs" }],
      spans: [],
    },
    {
      id: "ses-odd",
      outcome: HOSTILE,
      agent: HOSTILE,
      branch: HOSTILE,
      prompts: [{ at: "never", text: `${HOSTILE} ${"x".repeat(3_000)}` }],
      files: [HOSTILE],
      commits: [7, "not-a-sha"],
      spans: [],
    },
  ]);
  return { site, ada, device };
}

it("says what to do when there are no sessions, and lists them when there are", async () => {
  const site = await startSite();
  const { page, go, judge } = await site.open(await site.person());
  await go("/sessions");
  expect(await page.getByText(`reckon agent connect ${site.url} THE-CODE`).count()).toBe(1);
  await judge("sessions-empty");
  const full = await withSessions();
  const visit = await full.site.open(full.ada);
  await visit.go("/sessions");
  const rows = visit.page.locator("tbody tr");
  expect(await rows.count()).toBe(3);
  expect(await rows.first().textContent()).toMatch(
    /completed.*Fix the checkout total, it is off by a cent.*acme\/shop.*fix\/totals.*claude-code.*sonnet-5.*12 min.*13k.*unpriced.*23 hours ago/s,
  );
  expect(await visit.page.locator("main img").count()).toBe(0);
  await visit.judge("sessions");
});

it("filters by what sessions hold, by day and by text, with and without a script", async () => {
  const { site, ada } = await withSessions();
  const { page, go } = await site.open(ada);
  const titles = () => page.locator("tbody th a").allTextContents();
  await go("/sessions");
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Agent").selectOption("codex");
  await page.waitForURL("**/sessions?agent=codex");
  expect(await titles()).toEqual(["Write the docs"]);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("searchbox").pressSequentially("src/cart/total.ts");
  await page.waitForURL("**/sessions?q=src%2Fcart%2Ftotal.ts");
  expect(await titles()).toEqual(["Fix the checkout total, it is off by a cent"]);
  const plain = await site.open(ada, { javaScript: false });
  await plain.go("/sessions");
  const unfold = () => plain.page.locator("summary", { hasText: "Filter" }).click();
  await unfold();
  await plain.page.getByLabel("From (UTC)").fill("2026-11-19");
  await plain.page.getByLabel("To (UTC)").fill("2026-11-19");
  await plain.page.getByRole("button", { name: "Apply" }).click();
  expect(await plain.page.locator("tbody th a").allTextContents()).toEqual(["Write the docs"]);
  await unfold();
  await plain.page.getByLabel("Outcome").selectOption("completed");
  await plain.page.getByRole("button", { name: "Apply" }).click();
  expect(await plain.page.getByText("No session fits").count()).toBe(1);
  await plain.go("/sessions?from=yesterday&to=2026-99-99&cursor=%00&repo=%09&agent=nobody");
});

it("names who was signed in for each session, or whose machine it ran on, and narrows to one person's or nobody's", async () => {
  const { site, person: ada } = await startSiteOf({ name: HOSTILE, email: "ada@example.com" });
  const [own, shared] = [await site.t.device(ada.team), await site.t.device(ada.team)];
  for (const [{ token }, id, userEmail] of [
    [own, "adas", undefined],
    [shared, "robots", undefined],
    [shared, "kims", "Kim@example.com"],
  ] as const)
    await site.t.post("/api/agent-traces/ingest", {
      token,
      json: { repoKey: REPO, sessions: [{ id, userEmail, outcome: "completed", startedAt: at(0), spans: [] }] },
    });
  const { page, go, judge } = await site.open(ada);
  await go("/sessions");
  await assignDevice(site.t.instance.core, own.deviceId, ada.userId, COMMAND_LINE);
  await go("/sessions");
  await judge("sessions-people");
  const row = (name: string) => page.getByRole("row").filter({ has: page.getByRole("rowheader", { name }) });
  expect(await row("adas").textContent()).toContain("<img src=x");
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Person").selectOption({ value: ada.userId });
  await page.locator("#results[data-count='1']").waitFor();
  expect(await page.getByRole("rowheader").allTextContents()).toEqual([expect.stringContaining("adas")]);
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "adas" }).click();
  await page.locator('dd [title="ada@example.com"]').waitFor();
  await go("/sessions?person=nobody");
  expect(await page.getByRole("rowheader").allTextContents()).toEqual([expect.stringContaining("robots")]);
  await go("/sessions");
  await page.locator("summary", { hasText: "Filter" }).click();
  await page.getByLabel("Person").selectOption({ label: "kim@example.com" });
  await page.locator("#results[data-count='1']").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "kims" }).click();
  await page.locator("dd", { hasText: "kim@example.com" }).waitFor();
  await go("/sessions?person=nonsense");
  await page.getByText("No session fits").waitFor();
});

it("pages through many sessions and keeps the filters", async () => {
  const { site, ada, device } = await withSessions();
  const many = Array.from({ length: 60 }, (_, i) => ({
    id: `m${i}`,
    outcome: "ok",
    agent: "bulk",
    startedAt: at(100 + i),
    prompts: [{ text: `Task ${i}` }],
    spans: [],
  }));
  await send(site, device, many);
  const { page, go } = await site.open(ada);
  await go("/sessions?agent=bulk");
  const titles = () => page.locator("tbody th a").allTextContents();
  expect([(await titles()).length, (await titles())[0]]).toEqual([50, "Task 59"]);
  await page.getByRole("link", { name: "Older" }).click();
  await page.waitForURL("**cursor=**");
  expect([(await titles()).length, (await titles()).at(-1)]).toEqual([10, "Task 0"]);
  await page.getByRole("link", { name: "Newer" }).click();
  expect((await titles())[0]).toBe("Task 59");
});

it("shows one session: its transcript beside its facts, its files, and its record as it was sent", async () => {
  const { site, ada } = await withSessions();
  const { page, go, judge } = await site.open(ada);
  await go("/sessions?outcome=completed");
  await page.getByRole("link", { name: "Fix the checkout total" }).click();
  const id = sessionNumber(site, "ses-checkout");
  await page.waitForURL(`**/sessions/${id}?outcome=completed`);
  // Each message counts once, by its largest record: m1 300, m2 700.
  expect(await page.locator(".facts").textContent()).toContain("13k, 83% cached2k input · 1k output · 10k cache read");
  const events = await page.locator(".timeline > li strong").allTextContents();
  expect(events).toEqual([
    "Model call",
    "Model call",
    "Edit",
    "Label risk: 2",
    "Model call",
    `Commit ${SHA.slice(0, 12)}`,
    "Label review: good",
  ]);
  expect(await page.locator(".turn h3").allTextContents()).toEqual(["Prompt 1", "Prompt 2"]);
  expect(await page.getByRole("region", { name: "Prompt 2, whole" }).isVisible()).toBe(false);
  await page.getByText("Show the whole prompt").click();
  expect(await page.getByRole("region", { name: "Prompt 2, whole" }).isVisible()).toBe(true);
  // Nothing failed, so there is nothing to jump to.
  expect(await page.getByText("Jump to the failure").count()).toBe(0);
  await judge("session");
  await page.getByRole("link", { name: "Waterfall" }).click();
  await page.waitForURL(`**/sessions/${id}/waterfall?outcome=completed`);
  expect(await page.locator(".waterfall tbody tr").count()).toBe(6);
  expect(await page.locator(".waterfall tbody th.depth-2").textContent()).toContain("Edit");
  await page.getByRole("link", { name: "Files (2)" }).click();
  expect((await page.locator("tbody th").allTextContents()).sort()).toEqual([
    "app/[id]/page one.tsx",
    "src/cart/total.ts",
  ]);
  await judge("session-files");
  await page.getByRole("link", { name: "1 edit" }).click();
  expect(await page.locator(":target strong").textContent()).toBe("Edit");
  await page.getByRole("link", { name: "Record", exact: true }).click();
  expect(await page.getByRole("region", { name: "Record of the session" }).textContent()).toContain(`"big": ${BIG}\n`);
  await judge("session-record");
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download Record" }).click(),
  ]);
  const chunks = (await (await saved.createReadStream()).toArray()) as Buffer[];
  const text = Buffer.concat(chunks).toString("utf8");
  expect(text).toContain(
    site.t.rows("SELECT document FROM trace_sessions WHERE external_id = 'ses-checkout'")[0].document,
  );
  expect(JSON.parse(text)).toMatchObject({
    session: { id: "ses-checkout" },
    spanCount: 6,
    labels: [{ name: "review" }, { name: "risk" }],
  });
});

it("goes to the sessions before and after, among those that the list was narrowed to", async () => {
  const { site, ada, device } = await withSessions();
  const others = [20, 21, 22].map((minute) => ({
    ...{ id: `near-${minute}`, outcome: "ok", agent: minute === 21 ? "codex" : "claude-code", startedAt: at(minute) },
    spans: [],
  }));
  await send(site, device, others);
  const { page, go } = await site.open(ada);
  const heading = () => page.locator("h1").textContent();
  await go(`/sessions/${sessionNumber(site, "near-22")}`);
  // This is the newest, so none comes after it.
  expect(await page.getByRole("link", { name: "Next" }).count()).toBe(0);
  await page.getByRole("link", { name: "Previous" }).click();
  expect(await heading()).toBe("Session near-21");
  await go(`/sessions/${sessionNumber(site, "near-22")}/waterfall?agent=claude-code`);
  await page.keyboard.press("[");
  await page.waitForURL(`**/sessions/${sessionNumber(site, "near-20")}/waterfall?agent=claude-code`);
  await page.keyboard.press("]");
  await page.waitForURL(`**/sessions/${sessionNumber(site, "near-22")}/waterfall?agent=claude-code`);
  await go(`/sessions/${sessionNumber(site, "near-20")}?agent=claude-code`);
  await page.keyboard.press("[");
  await page.waitForURL(`**/sessions/${sessionNumber(site, "ses-checkout")}?agent=claude-code`);
  // Those without a start come before all that have one.
  await go(`/sessions/${sessionNumber(site, "ses-odd")}`);
  expect(await page.getByRole("link", { name: "Previous" }).count()).toBe(0);
  await page.getByRole("link", { name: "Next" }).click();
  expect(await heading()).toBe("Write the docs");
});

it("links to the entries of the brain that name a commit or a file, to the line, and to nothing else", async () => {
  const { site, ada, device } = await withSessions();
  const brain = (repoKey: string, files: { path: string; content: string }[]) =>
    site.t.post("/api/brain/ingest", { token: device.token, json: { version: 1, repoKey, files } });
  const entry =
    "# Errors\n\n## 2026-11-21: Totals\n\nMade by\ncommit 4F9D2C1A7, in `src/cart/total.ts:12`.\nAlso app/[id]/page one.tsx.\n";
  const decoy = "# Errors\n\nsrc/cart/total.tsx and lib/src/cart/total.ts and 4f9d2c1ffff and total.ts\n";
  await brain(REPO, [
    { path: "errors.md", content: entry },
    { path: "errors/decoy.md", content: decoy },
    { path: "notes.md", content: entry },
  ]);
  await brain("acme/other", [{ path: "decisions.md", content: "See acme/shop@4f9d2c1 and src/cart/total.ts.\n" }]);
  const { page, go } = await site.open(ada);
  await go(`/sessions/${sessionNumber(site, "ses-checkout")}`);
  const rows = page.locator(".rail-part", { hasText: "In the brain" }).locator("li");
  expect((await rows.allTextContents()).map((text) => text.replace(/\s+/g, " ").trim())).toEqual([
    expect.stringMatching(/acme\/other · decisions.md:1.*commit 4f9d2c1/),
    expect.stringMatching(/2026-11-21: Totals.*errors.md:6.*commit 4f9d2c1/),
    expect.stringMatching(/errors.md:6.*src\/cart\/total.ts/),
    expect.stringMatching(/errors.md:7.*app\/\[id\]\/page one.tsx/),
  ]);
  await rows.nth(1).getByRole("link").click();
  expect(await page.locator(`${new URL(page.url()).hash} mark`).textContent()).toContain("4F9D2C1A7");
});

it("keeps a hostile session readable and bounded", async () => {
  const { site, ada, device } = await withSessions();
  const spans = Array.from({ length: 2_600 }, (_, i) => ({
    id: `s${i}`,
    // Cycles of two, parents that are missing, and a chain as long as the session.
    parentId: i < 10 ? `s${i ^ 1}` : i < 20 ? "gone" : `s${i - 1}`,
    name: i === 5 ? HOSTILE : "n".repeat(400),
    startedAt: i % 7 === 0 ? 1e300 : at(i),
    edits: [{ path: `f${i}.ts` }],
  }));
  const prompts = Array.from({ length: 30 }, (_, i) => ({
    at: at(i),
    text: `${i} ${HOSTILE}\n${"word ".repeat(8_000)}`,
  }));
  await send(site, device, [
    { id: "monster", outcome: "x".repeat(900), agent: "y".repeat(900), prompts, files: "none", usage: [1], spans },
  ]);
  const { page, go, judge, complaints } = await site.open(ada);
  await go(`/sessions/${sessionNumber(site, "monster")}/waterfall`);
  expect(await page.locator(".waterfall tbody tr").count()).toBe(250);
  expect(await page.getByText("1 to 250 of 2,600").count()).toBe(1);
  await go(`/sessions/${sessionNumber(site, "monster")}/waterfall?from=99999`);
  expect(await page.getByText("2,501 to 2,600 of 2,600").count()).toBe(1);
  await go(`/sessions/${sessionNumber(site, "monster")}/files`);
  expect(await page.getByText("2,100 more files").count()).toBe(1);
  await go(`/sessions/${sessionNumber(site, "monster")}`);
  // Thirty of the first hundred are prompts.
  expect([await page.locator(".asked").count(), await page.locator(".timeline > li").count()]).toEqual([30, 70]);
  expect(await page.locator("main img").count()).toBe(0);
  expect((await page.content()).length).toBeLessThan(3_000_000);
  await page.getByRole("link", { name: "Later" }).click();
  expect(await page.getByText("101 to 200 of 2,630").count()).toBe(1);
  await go(`/sessions/${sessionNumber(site, "ses-odd")}?events=999999`);
  expect(await page.locator("main img").count()).toBe(0);
  await judge("session-odd");
  expect(complaints).toEqual([]);
});

describeReal("with real transcripts", () => {
  it("shows the longest session of a real agent, and a usual one", async () => {
    const { site, person: ada, device } = await startSiteWithDevice();
    const all = transcripts().map(({ transcript, facts }) => sessionOf(transcript, facts));
    await send(site, device, all);
    const bySteps = all.toSorted((a, b) => b.spans.length - a.spans.length);
    const [longest, usual] = [
      bySteps[0],
      bySteps.find(({ commits, spans }) => commits.length > 0 && spans.length < 30),
    ];
    const { page, go, judge } = await site.open(ada);
    await go(`/sessions/${sessionNumber(site, longest?.id ?? "")}/waterfall`);
    expect(await page.locator(".waterfall tbody tr").count()).toBe(Math.min(250, longest?.spans.length ?? 0));
    await go(`/sessions/${sessionNumber(site, usual?.id ?? "")}`);
    await judge("session-real");
  });
});

it("shows what is narrowed as chips that lead back, counts what fits, and orders by columns", async () => {
  const { site, ada } = await withSessions();
  const { page, go, judge } = await site.open(ada);
  await go("/sessions?agent=claude-code&result=succeeded&sort=cost");
  await judge("sessions-chips");
  const head = () => page.locator(".list-head").textContent();
  expect(await head()).toMatch(/^1 session.*Result succeeded.*Agent claude-code.*Order cost/s);
  await page.getByRole("link", { name: /^Agent claude-code/ }).click();
  expect(new URL(page.url()).search).toBe("?result=succeeded&sort=cost");
  await go("/sessions");
  await page.getByRole("link", { name: "Duration", exact: true }).click();
  expect(await page.getByRole("columnheader", { name: "Duration" }).getAttribute("aria-sort")).toBe("descending");
  expect(await page.locator("tbody th a").first().textContent()).toContain("Fix the checkout");
  await page.getByRole("link", { name: "Duration", exact: true }).click();
  expect(await page.getByRole("columnheader", { name: "Duration" }).getAttribute("aria-sort")).toBe("ascending");
  await page.getByRole("link", { name: "Failed" }).click();
  expect(await page.locator("tbody th a").allTextContents()).toEqual(["Write the docs"]);
  for (const query of ["sort=x&dir=y&cost=-1&result=%00", "cursor=WzAsMV0&sort=cost", `q=${"x".repeat(9_000)}`])
    await go(`/sessions?${query}`);
  // What makes no sense is not set, so nothing is there to be taken back.
  await go("/sessions?sort=nonsense&dir=up&result=odd&cost=many");
  expect([await page.locator(".chip").count(), await page.locator("tbody tr").count()]).toEqual([0, 3]);
});

it("saves views for oneself and for the team, and deletes them", async () => {
  const { site, ada } = await withSessions();
  const bob = await site.person({ team: ada.team, role: "member" });
  const owner = await site.person({ team: ada.team });
  const { page, go, judge } = await site.open(ada);
  const save = async (name: string, shared: boolean) => {
    await page.locator("summary", { hasText: "Views" }).click();
    await page.getByLabel("Save this view as").fill(name);
    if (shared) await page.getByLabel("Share with the team").check();
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByText("The view is saved.").waitFor();
  };
  await go("/sessions?agent=codex&cursor=abc");
  await save(`${HOSTILE} <b>`, false);
  expect(new URL(page.url()).search).toBe("?agent=codex");
  await go("/sessions?result=failed&sort=cost");
  await save("Costly failures", true);
  await judge("sessions-views");
  const tabs = async (of: typeof page) =>
    of.getByRole("navigation", { name: "Views" }).getByRole("link").allTextContents();
  expect((await tabs(page)).slice(5)).toEqual(["Costly failures", `${HOSTILE} <b>`]);
  const other = await site.open(bob);
  await other.go("/sessions");
  expect((await tabs(other.page)).slice(5)).toEqual(["Costly failures"]);
  await other.page.getByRole("link", { name: "Costly failures" }).click();
  expect(new URL(other.page.url()).search).toBe("?result=failed&sort=cost");
  await other.page.locator("summary", { hasText: "Views" }).click();
  expect(await other.page.getByRole("button", { name: /^Delete/ }).count()).toBe(0);
  const admin = await site.open(owner);
  await admin.go("/sessions");
  await admin.page.locator("summary", { hasText: "Views" }).click();
  expect(await admin.page.getByRole("button", { name: /^Delete/ }).count()).toBe(1);
  await admin.page.getByRole("button", { name: "Delete Costly failures" }).click();
  await admin.page.getByText("The view is deleted.").waitFor();
  expect(site.t.rows("SELECT name, query, shared FROM saved_views")).toEqual([
    { name: `${HOSTILE} <b>`, query: "agent=codex", shared: 0 },
  ]);
});

it("leads from a session as the capture client sent it to the same one as its agent exported it, and back", async () => {
  const { site, person: ada } = await startSiteOf();
  const [otlp, capture] = [await site.t.device(ada.team), await site.t.device(ada.team)];
  const logs = claudeLogs(["user_prompt", { prompt: "Fix the checkout", "prompt.id": "p" }], claudeCall("req_1"));
  expect((await site.t.post("/v1/logs", { token: otlp.token, json: logs })).status).toBe(200);
  const session = { ...checkout(), id: "s-1", big: undefined };
  const json = { repoKey: REPO, sessions: [session] };
  expect((await site.t.post("/api/agent-traces/ingest", { token: capture.token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go, judge } = await site.open(ada);
  await go("/sessions");
  expect(await page.locator("tbody tr").count()).toBe(1);
  await page.click("tbody a:has-text('Fix the checkout')");
  const facts = page.getByRole("region", { name: "Facts" });
  await judge("session-exported-too");
  await facts.getByRole("link", { name: "the same, over OpenTelemetry" }).click();
  await page.waitForURL(/sessions\/1$/);
  await facts.getByRole("link", { name: "the session that the capture client tells of" }).click();
  await page.waitForURL(/sessions\/2$/);
  await go("/overview");
  expect(await page.locator(".stat", { hasText: "Sessions" }).first().textContent()).toBe(
    "Sessions11 succeeded, 100 %",
  );
});

it("leads from a session to what other devices tell of it as a whole, as far as whoever looks sees these", async () => {
  const { site, person: ada } = await startSiteOf();
  const [old, anew] = [await site.t.device(ada.team), await site.t.device(ada.team)];
  const elsewhere = await site.t.device();
  const bob = await site.person({ team: ada.team, role: "own_only" });
  for (const { token } of [old, anew, elsewhere]) {
    const json = { repoKey: REPO, sessions: [{ ...checkout(), id: "s-1", big: undefined }] };
    expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  }
  await site.t.instance.settle();
  const { db } = site.t.instance.core.store;
  db.prepare("UPDATE devices SET label = 'desk' WHERE id = ?").run(old.deviceId);
  const ofBob = "label = 'desk anew', person_id = (SELECT id FROM users WHERE email = ?)";
  db.prepare(`UPDATE devices SET ${ofBob} WHERE id = ?`).run(bob.email, anew.deviceId);
  const { page, go, judge } = await site.open(ada);
  await go("/sessions/1");
  await judge("session-of-two-devices");
  const told = (of: typeof page) =>
    of.getByRole("region", { name: "Facts" }).locator("dt:has-text('Also told by') + dd a");
  expect(await told(page).allTextContents()).toEqual(["desk anew"]);
  await told(page).click();
  await page.waitForURL(/sessions\/2$/);
  expect(await told(page).allTextContents()).toEqual(["desk"]);
  const narrowed = await site.open(bob);
  await narrowed.go("/sessions/2");
  expect(await told(narrowed.page).count()).toBe(0);
});

it("fits a screen of 1280 and more, however long the names in every column are", async () => {
  const { site, person: ada } = await startSiteOf({ name: "Wilhelmina Featherstonehaugh-Cholmondeley the Third" });
  const { token } = await site.t.device(ada.team);
  site.t.instance.core.store.db.prepare("UPDATE devices SET person_id = ?").run(ada.userId);
  const long = "a-name-that-is-longer-than-most-names-are-and-then-some-more";
  const startedAt = site.t.clock.now() - 40 * DAY_MS;
  const session = {
    ...{ id: "s-1", agent: `agent-${long}`, model: long, branch: long, outcome: "failure" },
    ...{ startedAt, endedAt: startedAt + DAY_MS - 1, prompts: [{ at: startedAt, text: `${long} ${long} ${long}` }] },
    spans: Array.from({ length: 200 }, (_, i) => ({
      ...{ id: `a${i}`, name: "Bash", status: "error", startedAt, endedAt: startedAt + 1_000 },
      ...{ model: "claude-sonnet-4-5-20250929", usage: { input_tokens: 940_000_000, output_tokens: 2_000_000 } },
    })),
  };
  const json = { repoKey: `github.com/${long}/${long}`, sessions: [session] };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  for (const width of [1920, 1440, 1366, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await go("/sessions");
    const over =
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.table-frame'))";
    expect([width, await page.evaluate(over)]).toEqual([width, 0]);
  }
});

it("shows a title in two lines, branch and model in rows of 40 px, and cuts them where they are long", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const startedAt = site.t.clock.now() - DAY_MS;
  const session = { outcome: "success", agent: "claude-code", model: "claude-sonnet-4-6", startedAt, spans: [] };
  const sessions = [
    { ...session, id: "a", branch: "fix/label-twice", prompts: [{ text: TWO_LINES }] },
    { ...session, id: "b", branch: `feature/${"long".repeat(40)}` },
  ];
  const json = { repoKey: "github.com/acme/shop", sessions };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  for (const width of [1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    await go("/sessions");
    const row = page.locator("#results tbody tr", { hasText: "fix/label-twice" });
    expect(await row.locator("[data-label=Repository], [data-label=Agent]").allInnerTexts()).toEqual([
      expect.stringMatching(/shop\nfix\/label-twice$/),
      "claude-code\nclaude-sonnet-4-6",
    ]);
    const cut = await page.evaluate(
      `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector("[title='${TWO_LINES}']"))`,
    );
    expect([width, cut]).toEqual([width, 0]);
    for (const one of await page.locator("#results tbody tr").all())
      expect([width, Math.floor((await one.boundingBox())?.height ?? 0)]).toEqual([width, 40]);
  }
});

it("names repositories where there is little room by what tells them apart", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const keys = ["github.com/EntityProcess/agentv", "github.com/EntityProcess/docs", "github.com/acme/docs", "shop"];
  for (const [i, repoKey] of keys.entries()) {
    const session = { id: `s${i}`, outcome: "success", startedAt: site.t.clock.now() - i, spans: [] };
    const json = { repoKey, sessions: [session] };
    expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  }
  await site.t.instance.settle();
  const { page, go } = await site.open(ada);
  await go("/sessions");
  const names = page.locator("#results tbody td[data-label=Repository] a");
  expect(await names.allInnerTexts()).toEqual(["agentv", "EntityProcess/docs", "acme/docs", "shop"]);
  await page.setViewportSize({ width: 1920, height: 900 });
  expect(await names.allInnerTexts()).toEqual(["EntityProcess/agentv", "EntityProcess/docs", "acme/docs", "shop"]);
  expect(await names.first().getAttribute("title")).toBe(keys[0]);
});
