import { expect, it } from "vitest";
import { renameDevice } from "../../src/identity/devices/devices.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { renameUser } from "../../src/identity/people/people.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { setPolicy } from "../../src/record/policy/policy.ts";
import { dashboard } from "../../src/surfaces/web/dashboard/dashboard.ts";
import { startSite, useBrowser } from "../support/browser.ts";

const PAGES = dashboard.flatMap(({ pages = [] }) => pages);

useBrowser();

/** Would run as script somewhere: in text, in an attribute of either quote, in a URL, in rendered markdown, in SVG. */
const CORPUS = [
  "<script>window.hit=1</script>",
  '"><img src=x onerror=window.hit=1>',
  "'><svg onload=window.hit=1>",
  "</title></textarea></style></script><script>window.hit=1</script>",
  "javascript:window.hit=1",
  "<!--><iframe srcdoc='<script>parent.hit=1</script>'>",
  "{{constructor.constructor('window.hit=1')()}}`onload=window.hit=1",
  "\u202e<b onmouseover=window.hit=1>\u2066",
];
const MARKDOWN = [
  ...CORPUS,
  "[a](javascript:window.hit=1)",
  "[a](java\nscript:window.hit=1)",
  "[a](&#106;avascript:window.hit=1)",
  '![a](x"onerror="window.hit=1)',
  "<javascript:window.hit=1>",
  "[a](data:text/html;base64,PHNjcmlwdD5wYXJlbnQuaGl0PTE8L3NjcmlwdD4=)",
  "[a]: javascript:window.hit=1\n\n[a]",
  '```"onload="window.hit=1\n<script>window.hit=1</script>\n```',
  '# <img src=x onerror="window.hit=1">',
  "| <script>window.hit=1</script> |\n|---|\n| <img src=x onerror=window.hit=1> |",
].join("\n\n");
const ENTRIES = CORPUS.map((one) => `## ⚠️ 2026-11-21 ${one}\n\n${one}\n\n**Prevention rule:** ${one}\n`).join("\n");

// More than a hundred pages, each opened in a browser.
it("runs nothing that agents or people wrote, on any page", { timeout: 300_000 }, async () => {
  const site = await startSite();
  const { core } = site.t.instance;
  const team = await createTeam(core, CORPUS.slice(0, 4).join(" "), COMMAND_LINE);
  const owner = await site.person({ team, operator: true, name: CORPUS[1] as string });
  await renameUser(core, owner.userId, CORPUS[2] as string, COMMAND_LINE);
  const device = await site.t.device(team);
  await renameDevice(core, team.id, device.deviceId, CORPUS[0] as string, COMMAND_LINE);
  await createInvitation(core, { teamId: team.id, role: "member", email: null }, COMMAND_LINE);
  await setPolicy(core, team.id, { captureMode: "full", watchlist: CORPUS }, COMMAND_LINE);
  await createReadToken(core, { userId: owner.userId, name: CORPUS[1] as string }, COMMAND_LINE);
  const send = async (path: string, json: unknown) => {
    const { status, text } = await site.t.post(path, {
      token: device.token,
      json,
      headers: { "user-agent": CORPUS[1] as string },
    });
    expect([path, status, text]).toEqual([path, 200, text]);
  };
  for (const [i, repoKey] of CORPUS.entries()) {
    const entries = CORPUS.map((text, n) => ({
      seq: n + 1 + i,
      payload: {
        type: text,
        text,
        sessionId: text,
        model: text,
        branch: text,
        usage: { output_tokens: 7 },
        [text]: text,
      },
    }));
    await send("/api/telemetry/ingest", { repoKey, mode: text(i), entries: entries.slice(i % 2) });
    const files = [
      { path: ".claude/brain/errors.md", content: MARKDOWN },
      { path: `${i} <svg onload=window.hit=1>.md`, content: MARKDOWN },
    ];
    await send("/api/brain/ingest", { repoKey, version: 1, files });
    await send("/api/brain/ingest", {
      repoKey,
      version: 2,
      files: [{ path: ".claude/brain/errors.md", content: `${ENTRIES}\n\n${MARKDOWN}\n\nmore` }],
    });
    const counts = Object.fromEntries(CORPUS.map((one) => [one.slice(0, 64), 1]));
    await send("/api/brain-pulse/ingest", { repoKey, at: "2026-11-21T07:00:00Z", counts, fingerprints: [] });
    const session = {
      id: `${repoKey} ${i}`,
      outcome: repoKey,
      agent: repoKey,
      model: repoKey,
      branch: repoKey,
      startedAt: "2026-11-21T07:00:00Z",
      endedAt: "2026-11-21T07:30:00Z",
      prompts: CORPUS.map((one) => ({ at: "2026-11-21T07:01:00Z", text: one })),
      files: CORPUS,
      commits: CORPUS,
      spans: CORPUS.map((one, n) => ({
        id: `${n}${one}`,
        name: one,
        kind: one,
        startedAt: "2026-11-21T07:02:00Z",
        endedAt: "2026-11-21T07:03:00Z",
        edits: [{ path: one, startLine: 1, endLine: 2 }],
      })),
    };
    await send("/api/agent-traces/ingest", {
      repoKey,
      sessions: [session],
      labels: CORPUS.map((one) => ({ sessionId: session.id, name: one, value: one, comment: one })),
    });
  }
  await site.t.instance.settle();
  const [entry] = site.t.rows("SELECT id, lower(hex(substr(fingerprint, 1, 4))) AS class FROM defects LIMIT 1");
  const { page, go, complaints } = await site.open(owner);
  const sessionId = site.t.rows("SELECT id FROM trace_sessions LIMIT 1")[0].id;
  const ids: Record<string, string> = {
    "/devices/:id": device.deviceId,
    ...Object.fromEntries(["", "/waterfall", "/files", "/record"].map((tab) => [`/sessions/:id${tab}`, sessionId])),
    "/errors/:id": entry.id,
    "/errors/classes/:fingerprint": entry.class,
    "/telemetry/entries/:id": site.t.rows("SELECT id FROM telemetry_entries LIMIT 1")[0].id,
    "/people/:id": owner.userId,
    "/settings/teams/:id": team.id,
    "/settings/people/:id": owner.userId,
  };
  const [current] = site.t.rows("SELECT snapshot_id AS id FROM brain_currents LIMIT 1");
  const where = (one: string) =>
    new URLSearchParams({
      repo: one,
      path: ".claude/brain/errors.md",
      q: one,
      text: one,
      type: one,
      device: one,
      at: current.id,
      from: one,
      to: one,
      step: site.t.rows("SELECT id FROM trace_spans WHERE session_id = ? LIMIT 1", sessionId)[0].id,
    });
  const paths = PAGES.filter(
    ({ spec }) => spec.method === "GET" && !spec.path.startsWith("/assets") && spec.id !== "signIn",
  )
    .filter(({ spec }) => !/export|download|record\.json|keys|csv|live$/.test(spec.path))
    .flatMap(({ spec }) => {
      const path = ids[spec.path] === undefined ? spec.path : spec.path.replace(/:\w+/, String(ids[spec.path]));
      return [path, `${path}?${where(CORPUS.slice(0, 3).join(" "))}`, `${path}?${where(CORPUS[4] as string)}`];
    });
  const seen: string[] = [];
  const answers = new Set<string>();
  for (const path of paths) {
    const answer = await (await fetch(site.url + path, { headers: { cookie: owner.cookie } })).text();
    // Pages that read no parameters, and refusals, are the same again but for the tokens of forms.
    const text = answer.replace(/"[\w.-]{20,}"/g, "");
    if (answers.has(text)) continue;
    answers.add(text);
    await page.goto(site.url + path);
    expect([path, await page.evaluate("window.hit")]).toEqual([path, undefined]);
    seen.push(await page.content());
  }
  expect(complaints).toEqual([]);
  expect(seen.filter((one) => one.includes("window.hit=1")).length).toBeGreaterThan(30);
  await go("/overview");

  function text(i: number): string {
    return (CORPUS[i] as string).slice(0, 30);
  }
});

it("keeps a name that is written backwards from turning the text around it", async () => {
  const site = await startSite();
  const team = await createTeam(site.t.instance.core, "Acme", COMMAND_LINE);
  const owner = await site.person({ team });
  const { token } = await site.t.device(team);
  const backwards = "\u202etxt.exe";
  const sessions = [
    { id: "s1", agent: "codex", branch: backwards, outcome: "failed", prompts: [{ text: backwards }], spans: [] },
  ];
  expect(await site.t.post("/api/agent-traces/ingest", { token, json: { sessions } })).toMatchObject({ status: 200 });
  const [{ id }] = site.t.rows("SELECT id FROM trace_sessions");
  const entries = [{ seq: 1, payload: {} }];
  const sent = await site.t.post("/api/telemetry/ingest", { token, json: { repoKey: `shop${backwards}`, entries } });
  expect(sent.status).toBe(200);
  const [entry] = site.t.rows("SELECT id FROM telemetry_entries");
  const brain = `# Errors\n\n## 2026-11-21 Boom ${backwards}\n\nIt said ${backwards}\n`;
  const files = [{ path: ".claude/brain/errors.md", content: brain }];
  expect((await site.t.post("/api/brain/ingest", { token, json: { version: 1, files } })).status).toBe(200);
  await site.t.instance.settle();
  const [defect] = site.t.rows("SELECT id FROM defects");
  const { page, go } = await site.open(owner);
  await go(`/sessions/${id}`);
  expect(await page.locator("#session bdi").allTextContents()).toContain("⟨U+202E⟩txt.exe");
  const shown = [
    `/sessions/${id}`,
    "/sessions",
    "/overview",
    "/errors?state=all",
    `/errors/${defect.id}`,
    "/search?q=txt",
  ];
  for (const path of [...shown, "/search.json?q=txt", "/brain/file?repo=&path=.claude%2Fbrain%2Ferrors.md"]) {
    const text = await (await fetch(site.url + path, { headers: { cookie: owner.cookie } })).text();
    expect([path, text]).toEqual([path, expect.stringContaining("⟨U+202E⟩txt.exe")]);
    expect([path, text.replace(/<[^>]*>/g, "").includes("\u202e")]).toEqual([path, false]);
  }
  // A repository's name stands within sentences: there the sign is spelled out.
  for (const path of [`/telemetry/entries/${entry.id}`, "/telemetry", "/repositories"]) {
    await go(path);
    const text = await page.locator("body").textContent();
    expect([path, text]).toEqual([path, expect.stringContaining("shop⟨U+202E⟩txt.exe")]);
    expect([path, text?.includes("\u202e")]).toEqual([path, false]);
  }
});

it("lets a name that is written from the right stand among others without turning them", async () => {
  const site = await startSite();
  const name = "דנה לוי";
  const owner = await site.person({ name });
  await setPolicy(site.t.instance.core, owner.team.id, { captureMode: "full" }, { ...COMMAND_LINE, label: name });
  const { page, go } = await site.open(owner);
  await go("/people");
  const person = page.locator("#people tbody th");
  expect(await person.locator("bdi").textContent()).toBe(name);
  // The row begins where all begin, with the badge behind the name.
  expect(await page.evaluate("getComputedStyle(document.querySelector('#people tbody th')).direction")).toBe("ltr");
  await go("/policy");
  expect(await page.locator("#history li bdi").allTextContents()).toContain(name);
  await go("/audit");
  expect(await page.locator("td strong bdi").count()).toBeGreaterThan(0);
});
