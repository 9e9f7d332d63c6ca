import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { type Site, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import { sessionNumber } from "../support/sessions.ts";

useBrowser();

const START = Date.UTC(2026, 10, 20, 9);
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
const SHA = "4f9d2c1a7b3e5d60819273645546372819a0bcde";
const HOSTILE = `<img src=x onerror="alert(1)">`;
const LOG = Array.from({ length: 30 }, (_, i) => `not ok ${i + 1} ${HOSTILE}`).join("\n");

interface Step {
  readonly id: string;
  readonly [member: string]: unknown;
}

const call = (id: string, from: number, output: string | undefined, tokens: number): Step => ({
  ...{
    id,
    parentId: "turn:p1",
    name: "chat claude-sonnet-4-6",
    kind: "llm",
    startedAt: at(from),
    endedAt: at(from + 1),
  },
  usage: { id: `msg_${id}`, input_tokens: 1_000, output_tokens: tokens },
  attributes: {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "claude-sonnet-4-6",
    ...(output === undefined ? {} : { output }),
  },
});

const tool = (id: string, from: number, name: string, said: object, more: object = {}): Step => ({
  ...{ id, parentId: "c1", name: `execute_tool ${name}`, kind: "tool", startedAt: at(from), endedAt: at(from + 2) },
  ...more,
  attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, ...said },
});

const told = (input: unknown, result: string) => ({
  "gen_ai.tool.call.arguments": JSON.stringify(input),
  "gen_ai.tool.call.result": result,
});

/** As the capture client sends it: two prompts, an answer, tools that worked and one that did not, a commit. */
const captured = () => ({
  ...{ id: "captured", outcome: "committed", agent: "claude-code", agentVersion: "2.1.330", parentId: "before" },
  ...{ model: "claude-sonnet-4-6", branch: "fix/totals", title: "Totals", startedAt: at(0), endedAt: at(90) },
  prompts: [
    { at: at(0), text: "Fix the total" },
    { at: at(60), text: `And now the ${HOSTILE}` },
  ],
  files: ["src/total.ts"],
  commits: [{ sha: SHA, at: at(80) }],
  spans: [
    { id: "turn:p1", name: "turn", kind: "turn", startedAt: at(0), endedAt: at(60), attributes: {} },
    call("c1", 1, "I will look at the total first.", 300),
    tool("read", 2, "Read", told({ file_path: "/home/ada/shop/src/total.ts", limit: 40 }, "1\tconst total = 1;")),
    tool(
      "edit",
      5,
      "Edit",
      told({ file_path: "/home/ada/shop/src/total.ts", old_string: "const total = 1;", new_string: HOSTILE }, "done"),
      {
        edits: [{ path: "src/total.ts", startLine: 10, endLine: 14, commit: SHA }],
      },
    ),
    tool("test", 8, "Bash", {
      ...told({ command: "npm test -- total", description: "Run the tests" }, LOG),
      "process.exit.code": 1,
      "error.type": "tool_error",
    }),
    tool("find", 12, "Grep", told({ pattern: "total" }, "x\n".repeat(60))),
    { id: "turn:p2", name: "turn", kind: "turn", startedAt: at(60), endedAt: at(90), attributes: {} },
    call("c2", 61, undefined, 100),
  ],
});

const send = async (site: Site, token: string, sessions: object[]) => {
  const json = { repoKey: "github.com/acme/shop", sessions };
  expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
};

async function siteWith(...sessions: object[]) {
  const { site, person: ada, device } = await startSiteWithDevice({ role: "member" });
  for (const session of sessions) await send(site, device.token, [session]);
  return { site, ada, visit: await site.open(ada) };
}

/** The visible text of a part of the page on one line, without what is folded. */
const seen = async (part: Locator) => (await part.allInnerTexts()).join(" ").replace(/\s+/g, " ").trim();

it("reads a captured session as a conversation", async () => {
  const before = { ...captured(), id: "before", parentId: undefined, spans: [] };
  const { site, visit } = await siteWith(before, captured());
  const { page, go, judge } = visit;
  await go(`/sessions/${sessionNumber(site, "captured")}`);
  const turns = page.locator(".turn");
  expect(await turns.count()).toBe(2);
  const first = await seen(turns.first());
  expect(first).toMatch(
    /^Prompt 1 .*5 steps · 1 edit · 1 model call · 1\.3k tokens · \$0\.0075 09:00:00 Fix the total/,
  );
  expect(first).toContain("Answer claude-sonnet-4-6 · 1k in, 300 out · 1 s 09:00:01 I will look at the total first.");
  const step = (name: string) =>
    turns.first().locator(".timeline > li", { has: page.getByText(name, { exact: true }) });
  expect(await seen(step("Read"))).toContain(
    "Read /home/ada/shop/src/total.ts 2 s 09:00:02 Input limit: 40 Output 1 const total = 1;",
  );
  const edit = step("Edit");
  expect(await seen(edit)).toContain(`src/total.ts +1 −1 lines 10–14 in commit ${SHA.slice(0, 12)}`);
  expect(await edit.locator(".diff tr.removed .text").textContent()).toContain("const total = 1;");
  expect(await edit.locator(".diff tr.added .text").textContent()).toContain(HOSTILE);
  expect(await edit.locator(".diff tr.added .line").allInnerTexts()).toEqual(["", "10"]);
  const failed = step("Bash");
  expect(await seen(failed.locator(".timeline-head"))).toBe("Bash npm test -- total exit 1 2 s 09:00:08");
  expect(await failed.getAttribute("class")).toBe("bad");
  // A failure can be read at once, from its end; the rest of it, and what worked, is folded.
  expect(await failed.locator(".failed").textContent()).toMatch(/^…\nnot ok 15 .*not ok 30 <img/s);
  expect(await failed.getByRole("region", { name: /^Output/ }).isVisible()).toBe(false);
  const found = step("Grep");
  expect(await seen(found.locator("summary"))).toBe("Output, 60 lines x");
  expect(await found.getByRole("region", { name: /^Output/ }).isVisible()).toBe(false);
  await found.locator("summary").focus();
  await page.keyboard.press("Enter");
  expect(await found.getByRole("region", { name: /^Output/ }).isVisible()).toBe(true);
  expect(await seen(turns.last())).toMatch(/And now the <img.*Model call claude.*1k in, 100 out.*Commit 4f9d2c1a7b3e/);
  expect(await page.locator("main img").count()).toBe(0);
  expect(await seen(page.locator(".rail .facts"))).toMatch(
    /Outcome committed Duration 1 min 30 s Cost \$0\.01\d* Tokens 2\.4k 2k input · 400 output Steps 8 steps 1 failed/,
  );
  await judge("session-captured");
});

it("leads to its prompts, to the session it began in, and from the waterfall to each step", async () => {
  const usage = { input_tokens: 5, output_tokens: 7 };
  const before = { ...captured(), id: "before", parentId: "long-gone", spans: [], usage };
  const { site, visit } = await siteWith(before, captured());
  const { page, go } = visit;
  await go(`/sessions/${sessionNumber(site, "captured")}`);
  await page.getByText("All 2 prompts").click();
  await page.getByRole("link", { name: "And now the" }).click();
  expect(new URL(page.url()).hash).toBe("#prompt-2");
  expect(await seen(page.locator("#prompt-2"))).toContain("And now the");
  await page.getByRole("link", { name: "Waterfall" }).click();
  await page.locator(".waterfall").getByRole("link", { name: "Bash" }).click();
  await page.getByRole("link", { name: "Show in the transcript" }).click();
  expect(await seen(page.locator(":target .timeline-head"))).toContain("npm test -- total");
  expect(await seen(page.locator(".facts"))).toContain("Agent claude-code 2.1.330");
  await page.locator(".facts").getByRole("link", { name: "before" }).click();
  await page.waitForURL(`**/sessions/${sessionNumber(site, "before")}`);
  expect(await seen(page.locator(".facts"))).toContain("long-gone (not received)");
  // No step states tokens, so the session's own total counts.
  expect(await seen(page.locator(".facts"))).toContain("Tokens 12 5 input · 7 output");
});

it("shows the step of the waterfall that was clicked last, whichever answer comes first", async () => {
  const { site, visit } = await siteWith(captured());
  const { page, go } = visit;
  await go(`/sessions/${sessionNumber(site, "captured")}/waterfall`);
  const step = (name: string) => page.locator(".waterfall").getByRole("link", { name, exact: true });
  const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route(
    "**/waterfall?step=*",
    async (route) => {
      const response = await route.fetch();
      asked.resolve();
      await held.promise;
      // Nobody waits for this answer any more.
      await route.fulfill({ response }).catch(() => {});
    },
    { times: 1 },
  );
  const over = Promise.race([page.waitForEvent("requestfailed"), page.waitForEvent("requestfinished")]);
  await step("Edit").click();
  await asked.promise;
  const second = page.waitForResponse("**/waterfall?step=*");
  await step("Bash").click();
  await second;
  held.resolve();
  await over;
  // By now the page has handled every earlier answer.
  await page.evaluate("fetch(location.href).then((reply) => reply.text())");
  await expect.poll(() => step("Bash").getAttribute("aria-expanded")).toBe("true");
  expect(await step("Edit").getAttribute("aria-expanded")).toBe("false");
});

it("reads well where only metadata was recorded", async () => {
  const { prompts, title, ...session } = captured();
  const silent = (span: Step) => {
    const { output, ...attributes } = (span.attributes ?? {}) as Record<string, unknown>;
    delete attributes["gen_ai.tool.call.arguments"];
    delete attributes["gen_ai.tool.call.result"];
    return { ...span, attributes };
  };
  const { visit } = await siteWith({
    ...session,
    prompts: prompts.map(({ at, text }) => ({ at, chars: text.length })),
    spans: session.spans.map((span) => silent(span as Step)),
  });
  const { page, go, judge } = visit;
  await go("/sessions");
  expect(await page.locator("tbody th a").allTextContents()).toEqual(["captured"]);
  await page.getByRole("link", { name: "captured" }).click();
  const turn = await seen(page.locator(".turn").first());
  expect(turn).toContain("Text not recorded (metadata only), 13 characters.");
  expect(turn).toContain("Model call claude-sonnet-4-6 · 1k in, 300 out");
  expect(turn).toContain(`Edited src/total.ts lines 10–14 in commit ${SHA.slice(0, 12)}`);
  expect(turn).toMatch(/Bash exit 1 2 s/);
  expect(turn).not.toMatch(/npm test|Output/);
  expect(await seen(page.locator("h1"))).toBe("Session captured");
  await judge("session-metadata");
});

it("says of a prompt and of a step, too, that its cost is what the agent says", async () => {
  const { site, person: ada, token } = await startSiteWithDevice();
  const usage = { id: "msg_1", input_tokens: 1_000, output_tokens: 10 };
  const span = { id: "c1", kind: "llm", startedAt: at(1), endedAt: at(2), model: "own-model", costUsd: 0.5, usage };
  const session = {
    id: "s-1",
    outcome: "success",
    startedAt: at(0),
    prompts: [{ at: at(0), text: "Go" }],
    spans: [span],
  };
  const { status } = await site.t.post("/api/agent-traces/ingest", { token, json: { sessions: [session] } });
  expect(status).toBe(200);
  const [{ id }] = site.t.rows("SELECT id FROM trace_sessions");
  const { page, go } = await site.open(ada);
  await go(`/sessions/${id}`);
  expect(await page.locator("main").textContent()).toContain("1k tokens · $0.50 reported by the agent");
  const [step] = site.t.rows("SELECT id FROM trace_spans");
  await go(`/sessions/${id}/waterfall?step=${step.id}`);
  expect(await page.locator(".waterfall .detail").textContent()).toContain("$0.50 reported by the agent");
});

it("keeps the order of an agent that tells no times", async () => {
  const untimed = (span: Step) => ({ ...span, startedAt: undefined, endedAt: undefined });
  const session = captured();
  const { site, visit } = await siteWith({
    ...session,
    prompts: session.prompts.map(({ text }) => ({ text })),
    commits: [],
    spans: session.spans.map((span) => untimed(span as Step)),
  });
  await visit.go(`/sessions/${sessionNumber(site, "captured")}`);
  const turns = await visit.page.locator(".turn").allInnerTexts();
  expect(turns.map((turn) => /Grep/.test(turn))).toEqual([true, false]);
  expect(turns[1]).toMatch(/^Prompt 2.*And now the.*Model call/s);
});

it("pages through a session of 5,000 steps, without a script as well, and keeps each page small", async () => {
  const spans = Array.from({ length: 5_000 }, (_, i) =>
    i % 50 === 0
      ? { id: `t${i}`, name: "turn", kind: "turn", startedAt: at(i), attributes: {} }
      : tool(`s${i}`, i, "Bash", told({ command: `echo ${i}` }, `${i}\n`.repeat(700))),
  );
  const prompts = Array.from({ length: 100 }, (_, i) => ({ at: at(i * 50), text: `Task ${i + 1}` }));
  const { site, ada } = await siteWith(
    ...Array.from({ length: 10 }, (_, i) => ({
      ...captured(),
      ...{ prompts, commits: [], spans: spans.slice(i * 500, i * 500 + 500) },
    })),
  );
  const { page, go } = await site.open(ada, { javaScript: false });
  const path = `/sessions/${sessionNumber(site, "captured")}`;
  await go(path);
  expect(await page.getByText("1 to 100 of 5,000").count()).toBe(1);
  expect((await page.content()).length).toBeLessThan(1_000_000);
  await page.getByText("All 100 prompts").click();
  await page.getByRole("link", { name: "Task 88", exact: true }).click();
  expect(page.url()).toContain(`${path}?events=4300#prompt-88`);
  expect(await seen(page.locator("#prompt-88 .asked"))).toBe("Task 88");
  // The documents of the last steps exceed what is read for all steps, so they are read for their page.
  await go(`${path}?events=4900`);
  expect(await seen(page.locator(".turn").last())).toContain("echo 4999");
  await page.getByRole("link", { name: "Earlier" }).click();
  expect(await page.getByText("4,801 to 4,900 of 5,000").count()).toBe(1);
});

/** A session of which three steps fail, one of them beyond the first page. */
function failing() {
  const fine = Array.from({ length: 120 }, (_, i) => tool(`ok${i}`, 100 + i, "Bash", told({ command: "true" }, "")));
  const agent = {
    id: "agent",
    name: "invoke_agent",
    kind: "agent",
    startedAt: at(0),
    endedAt: at(900),
    status: "error",
  };
  const deploy = {
    id: "deploy",
    parentId: "agent",
    name: "Deploy",
    kind: "task",
    startedAt: at(500),
    endedAt: at(501),
  };
  return {
    ...{ ...captured(), id: "failing", outcome: "failed", commits: [], startedAt: at(0), endedAt: at(900) },
    spans: [
      agent,
      ...captured().spans,
      { ...tool("flag", 30, "Fetch", told({ url: "https://example.com" }, "no")), parentId: "agent", is_error: true },
      ...fine,
      {
        ...deploy,
        status: { code: 2, message: "no route to the registry" },
        input: "deploy --preview",
        attributes: {},
      },
    ],
  };
}

it("leads to why a session failed: the command and its output, from one failure to the next, by keys alone", async () => {
  const { site, ada, visit } = await siteWith(failing());
  const { page, go, judge } = visit;
  const path = `/sessions/${sessionNumber(site, "failing")}`;
  await go(path);
  const bar = page.locator(".failures");
  expect(await seen(bar)).toMatch(
    /^3 failed steps Jump to the failure Bash npm test -- total exit 1 Fetch url: https:\/\/example.com failed Deploy deploy --preview failed$/,
  );
  await bar.getByRole("link", { name: "Jump to the failure" }).focus();
  await page.keyboard.press("Enter");
  const target = page.locator(":target");
  expect(await seen(target)).toMatch(/^Bash npm test -- total exit 1 2 s 1\/3 ↓ Next failure 09:00:08/);
  expect(await seen(target.locator(".failed"))).toContain("not ok 30");
  await target.getByRole("link", { name: "Next failure" }).focus();
  await page.keyboard.press("Enter");
  expect(await seen(target)).toMatch(/^Fetch .*failed.*Previous failure 2\/3/);
  await page.goto(page.url());
  await target.getByRole("link", { name: "Next failure" }).click();
  expect(new URL(page.url()).search).toBe("?events=100");
  expect(await seen(target)).toMatch(/^Deploy task failed.*3\/3.*deploy --preview no route to the registry$/);
  await judge("session-failing");
  // The same without a script.
  const plain = await site.open(ada, { javaScript: false });
  await plain.go(path);
  await plain.page.getByRole("link", { name: "Jump to the failure" }).click();
  expect(await seen(plain.page.locator(":target .failed"))).toContain("not ok 30");
});

it.each([true, false])("opens a row of the waterfall, with the script: %s", async (javaScript) => {
  const { site, ada } = await siteWith(failing());
  const { page, go, judge, complaints } = await site.open(ada, { javaScript });
  await go(`/sessions/${sessionNumber(site, "failing")}/waterfall`);
  const rows = page.locator(".waterfall tbody tr");
  // The agent failed because steps below it did, and says so itself.
  expect(await rows.locator(".failed-mark").count()).toBe(4);
  expect(await rows.locator("rect.span-error").count()).toBe(4);
  const row = rows.filter({ hasText: "npm test -- total" });
  await row.getByRole("link", { name: "Bash" }).focus();
  await page.keyboard.press("Enter");
  const detail = page.locator(".waterfall .detail");
  await detail.waitFor();
  expect(await page.locator("tr.opened + tr.detail").count()).toBe(1);
  expect(await row.getByRole("link", { name: "Bash" }).getAttribute("aria-expanded")).toBe("true");
  expect(await seen(detail)).toMatch(
    /Failed exit 1 Started .*Duration 2 s .*"command": "npm test -- total".*not ok 1 .*Attributes/,
  );
  expect(new URL(page.url()).searchParams.get("step")).toMatch(/^\d+$/);
  if (javaScript) {
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Bash");
    await judge("session-waterfall");
  }
  await row.getByRole("link", { name: "Bash" }).click();
  await detail.waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

it("understands OpenTelemetry’s times, and draws a list where there are none", async () => {
  const nanos = (seconds: number) => `${START + seconds * 1_000}000000`;
  const otel = [
    { spanId: "a", name: "root", startTime: at(0), endTime: at(8) },
    { spanId: "b", parentSpanId: "a", name: "sdk", start_time: at(1), end_time: at(3) },
    { spanId: "c", parentSpanId: "a", name: "otlp", startTimeUnixNano: nanos(4), endTimeUnixNano: nanos(6) },
    { spanId: "d", parentSpanId: "c", name: "proto", start_time_unix_nano: nanos(5), end_time_unix_nano: nanos(6) },
  ];
  const timeless = otel.map(({ spanId, name }) => ({ spanId, name }));
  const { site, visit } = await siteWith(
    { id: "otel", outcome: "", spans: otel },
    { id: "timeless", outcome: "", spans: timeless },
  );
  const { page, go } = visit;
  await go(`/sessions/${sessionNumber(site, "otel")}/waterfall`);
  expect(await page.locator(".waterfall td.numeric").allTextContents()).toEqual(["8 s", "2 s", "2 s", "1 s"]);
  expect(await page.locator(".ruler text").allTextContents()).toEqual(["0", "2 s", "4 s", "6 s", "8 s"]);
  await go(`/sessions/${sessionNumber(site, "timeless")}/waterfall`);
  expect(await page.locator(".waterfall tbody tr").count()).toBe(4);
  expect(await page.locator(".waterfall svg").count()).toBe(0);
});
