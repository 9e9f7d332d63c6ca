import { expect, it } from "vitest";
import { assignDevice, renameDevice } from "../../src/identity/devices/devices.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { saveView } from "../../src/identity/saved-views/saved-views.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { readBundle } from "../../src/kit/transparency/bundle.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { Page } from "../../src/platform/http/page.ts";
import {
  ask,
  CANARY,
  fill,
  guarded,
  handles,
  NAMES,
  pathOf,
  posts,
  SHA,
  type Somebody,
  somebody,
  stored,
} from "../support/every-page.ts";
import { startInstance, type TestDevice, type TestInstance } from "../support/instance.ts";
import { readToken } from "../support/reads.ts";

/** What roles below a member see and do: every page and form, asked for another person's things. */

const OWN = "own4d8w2m";

interface Site {
  readonly t: TestInstance;
  readonly viewer: Somebody;
  readonly member: Somebody;
  readonly narrow: Somebody;
  readonly owner: Somebody;
  readonly ownDevice: TestDevice;
  readonly ids: readonly string[];
  readonly ownSession: number;
  /** Of their session and their entry. */
  readonly ownNumbers: readonly string[];
}

async function build(): Promise<Site> {
  const t = await startInstance({ settings: { limitRead: "off" } });
  const { core } = t.instance;
  const team = await t.team({ name: "Acme" });
  const { device, owner } = await fill(t, team);
  const viewer = await somebody(t, team, "viewer");
  const member = await somebody(t, team, "member");
  const narrow = await somebody(t, team, "own_only");
  await assignDevice(core, device.deviceId, owner.email, COMMAND_LINE);
  await saveView(
    core,
    team.id,
    owner.id,
    { place: "/sessions", name: CANARY, query: `q=${CANARY}`, shared: true },
    COMMAND_LINE,
  );
  const theirs = handles(t, team, owner).filter((id) => id !== team.id);
  const ownDevice = await t.device(team);
  await assignDevice(core, ownDevice.deviceId, narrow.email, COMMAND_LINE);
  await renameDevice(core, team.id, ownDevice.deviceId, `${OWN} device`, COMMAND_LINE);
  const usage = { input_tokens: 10, output_tokens: 1 };
  const payload = { type: "prompt", text: OWN, model: OWN, usage, sessionId: "other-session" };
  const send = async (path: string, json: unknown) => {
    const { status, body } = await t.post(path, { token: ownDevice.token, json });
    expect([path, status, body]).toEqual([path, 200, body]);
  };
  await send("/api/telemetry/ingest", { repoKey: `${OWN}/repo`, entries: [{ seq: 1, payload }] });
  const session = {
    id: `${OWN}-session`,
    agent: OWN,
    outcome: "done",
    spans: [],
    prompts: [{ at: "2026-11-19T07:00:00Z", text: OWN }],
  };
  await send("/api/agent-traces/ingest", { repoKey: `${OWN}/repo`, sessions: [session], labels: [] });
  await t.instance.settle();
  const [row] = t.rows("SELECT id FROM trace_sessions WHERE device_id = ?", ownDevice.deviceId);
  const entries = t.rows(
    "SELECT e.id FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id WHERE s.device_id = ?",
    ownDevice.deviceId,
  );
  const ownSession = row?.id as number;
  const ownNumbers = [ownSession, ...entries.map(({ id }) => id)].map(String);
  return { t, viewer, member, narrow, owner, ownDevice, ids: theirs, ownSession, ownNumbers };
}

const isForTeam = ({ spec }: Page) => spec.access === "person" || spec.access === "member";
const gets = guarded.filter((page) => page.spec.method === "GET" && isForTeam(page));
const forms = posts.filter(isForTeam);

/** The endpoints that a form's address belongs to. */
const takers = (action: string) =>
  posts.filter(({ spec }) => new RegExp(`^${spec.path.replace(/:\w+/g, "[^/]+")}$`).test(action));

it("shows a viewer what a member sees, without a form that a viewer may not send", async () => {
  const { t, viewer, member, ids } = await build();
  let seen = 0;
  for (const one of gets)
    for (const id of one.spec.path.includes(":") ? ids : ["none"]) {
      const query = new URLSearchParams({ repo: `${CANARY}/repo`, path: `${CANARY}.md`, from: "1", to: "2" });
      const path = `${pathOf(one, id)}?${query}`;
      const [theirs, ours] = [await ask(t, "GET", path, { as: member }), await ask(t, "GET", path, { as: viewer })];
      expect([one.spec.id, id, ours.status]).toEqual([one.spec.id, id, theirs.status]);
      const actions = [...ours.text.matchAll(/<form[^>]*method="post"[^>]*action="([^"?]+)/g)].map(
        (match) => match[1] ?? "",
      );
      for (const action of actions)
        expect([one.spec.id, action, takers(action).some(({ spec }) => spec.own)]).toEqual([one.spec.id, action, true]);
      if (ours.text.includes(CANARY)) seen++;
    }
  expect(seen).toBeGreaterThan(20);
});

it("lets a viewer change nothing", async () => {
  const { t, viewer, ids } = await build();
  await t.instance.settle();
  const before = stored(t);
  let tried = 0;
  for (const one of forms.filter(({ spec }) => !spec.own))
    for (const id of one.spec.path.includes(":") ? ids : ["none"]) {
      const answer = await ask(t, "POST", pathOf(one, id), { as: viewer, form: { ...formOf(id), _csrf: viewer.csrf } });
      expect([one.spec.id, answer.status]).toEqual([one.spec.id, 403]);
      expect(answer.text).toContain("You are a viewer of Acme");
      tried++;
    }
  expect(tried).toBeGreaterThan(20);
  expect(stored(t)).toBe(before);
});

const formOf = (id: string) => ({
  id,
  user: id,
  role: "owner",
  name: "x",
  label: "x",
  device: id,
  place: "/sessions",
  session: `${CANARY}-session`,
  commit: SHA,
  verdict: "rejected",
});

it("closes every page to who sees only their own, unless it declares that it narrows", async () => {
  const { t, narrow } = await build();
  const closed = gets.filter(({ spec }) => !spec.own && !spec.narrows);
  expect(closed.length).toBeGreaterThan(15);
  for (const one of closed) {
    const answer = await ask(t, "GET", pathOf(one), { as: narrow });
    expect([one.spec.id, answer.status]).toEqual([one.spec.id, 403]);
    expect(answer.text).toContain("you see what your own devices sent");
  }
  for (const one of forms.filter(({ spec }) => !spec.own && !spec.narrows)) {
    const answer = await ask(t, "POST", pathOf(one), { as: narrow, form: { _csrf: narrow.csrf } });
    expect([one.spec.id, answer.status]).toEqual([one.spec.id, 403]);
  }
});

/** A text without what the reply may repeat of the request. */
const spoken = (text: string) =>
  [`${CANARY}/repo`, encodeURIComponent(`${CANARY}/repo`), `${CANARY}.md`, `${CANARY}-session`].reduce(
    (left, said) => left.replaceAll(said, ""),
    text,
  );

it("shows who sees only their own nothing of another person's, whatever a request names", async () => {
  const { t, narrow, ids, ownNumbers } = await build();
  // The policy is the team's own rule, in force for their devices, too.
  for (const one of gets.filter(({ spec }) => spec.id !== "policy"))
    for (const id of ids) {
      const query = new URLSearchParams(NAMES.map((name) => [name, id]));
      query.set("repo", `${CANARY}/repo`);
      query.set("path", `${CANARY}.md`);
      // A number may also be that of something which is the person's own.
      if (one.spec.path.includes(":") && ownNumbers.includes(id)) continue;
      for (const search of ["", `?${query}`, "?q=canary", "?by=session", "?person=nobody", `?device=${id}`]) {
        if (!one.spec.path.includes(":") && search === "" && id !== ids[0]) continue;
        const answer = await ask(t, "GET", pathOf(one, id) + search, { as: narrow });
        const leaks = (search.includes("repo=") ? spoken(answer.text) : answer.text).replaceAll(
          `${CANARY}-session`,
          "",
        );
        expect([one.spec.id, id, search, answer.status < 500, leaks.includes(CANARY)]).toEqual([
          one.spec.id,
          id,
          search,
          true,
          false,
        ]);
        if (one.spec.path.includes(":") && search === "")
          expect([one.spec.id, id, [303, 403, 404].includes(answer.status)]).toEqual([one.spec.id, id, true]);
      }
    }
});

it("shows who sees only their own what their devices sent", async () => {
  const { t, narrow, ownSession } = await build();
  for (const path of [
    "/sessions",
    `/sessions/${ownSession}`,
    `/sessions/${ownSession}/waterfall`,
    `/sessions/${ownSession}/record`,
    `/sessions/${ownSession}/record.json`,
    "/telemetry",
    "/telemetry/streams",
    "/telemetry/export",
    "/devices",
    "/spend",
    "/spend/csv",
    `/search?q=${OWN}`,
    `/search.json?q=${OWN}`,
  ]) {
    const answer = await ask(t, "GET", path, { as: narrow });
    expect([path, answer.status, answer.text.includes(OWN)]).toEqual([path, 200, true]);
  }
  const overview = await ask(t, "GET", "/overview", { as: narrow });
  expect([overview.status, overview.headers.get("location")]).toEqual([303, "/sessions"]);
  const nav = /<nav[\s\S]*?<\/nav>/.exec((await ask(t, "GET", "/sessions", { as: narrow })).text)?.[0] ?? "";
  expect(nav).not.toMatch(/href="\/(?:errors|brain|people|repositories)"/);
});

it("lets who sees only their own change nothing of another person's", async () => {
  const { t, narrow, ids } = await build();
  await t.instance.settle();
  const rowsOf = () =>
    (JSON.parse(stored(t)) as [string, Record<string, unknown>[]][]).flatMap(([table, rows]) =>
      rows.map((row) => `${table} ${JSON.stringify(row)}`),
    );
  const theirs = rowsOf().filter((row) => row.includes(CANARY) || ids.some((id) => id.length > 8 && row.includes(id)));
  expect(theirs.length).toBeGreaterThan(20);
  for (const one of forms.filter(({ spec }) => !["signOut", "endOtherSessions", "leaveTeam"].includes(spec.id)))
    for (const id of ids) {
      const form = { ...formOf(id), _csrf: narrow.csrf };
      const answer = await ask(t, "POST", pathOf(one, id), { as: narrow, form });
      expect([one.spec.id, id, answer.status < 500]).toEqual([one.spec.id, id, true]);
      expect([one.spec.id, id, answer.text.replaceAll(`${CANARY}-session`, "").includes(CANARY)]).toEqual([
        one.spec.id,
        id,
        false,
      ]);
    }
  const after = new Set(rowsOf());
  expect(theirs.filter((row) => !after.has(row))).toEqual([]);
});

it("tells no program of theirs more than they see", async () => {
  const { t, narrow, owner, ownDevice } = await build();
  const teamId = t.rows("SELECT team_id FROM devices WHERE id = ?", ownDevice.deviceId)[0]?.team_id as string;
  const { token } = await readToken(t, narrow.id);
  const context = () => t.get(`/api/me/brain/context?q=${CANARY}`, { token });
  const paths = [
    `/api/brain/search?q=${CANARY}`,
    "/api/brain/briefing",
    "/api/brain/metrics",
    "/api/causal-link",
    "/api/prompt-for-line?path=a.ts&line=1",
    "/api/spend",
    `/adapters/git-ai/worker/notes?commits=${SHA}`,
  ];
  const content = "## 2026-11-20 Theirs\n\n**Prevention rule:** Look.\n";
  const theirs = { repoKey: OWN, version: 7, files: [{ path: "errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token: ownDevice.token, json: theirs })).status).toBe(200);
  const cause = { repoKey: OWN, file: "errors.md", heading: "2026-11-20 Theirs", commit: SHA };
  const writes = [
    ["/api/causal-link", cause],
    ["/api/causal-link/correlate", {}],
  ] as const;
  const call = (name: string, args: unknown, as: string) =>
    t.post("/mcp", {
      token: as,
      headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } },
    });
  const readsNothing = async (tokens: readonly string[] = [ownDevice.token]) => {
    for (const path of paths)
      expect([path, (await t.get(path, { token: ownDevice.token })).status]).toEqual([path, 403]);
    // A cause comes with the prompt behind it, so whoever has a commit of the repository could read its prompt.
    for (const [path, json] of writes)
      expect([path, (await t.post(path, { token: ownDevice.token, json })).status]).toEqual([path, 403]);
    for (const as of tokens) {
      const found = await call("brain_search", { query: CANARY }, as);
      expect(found.status).toBe(200);
      expect(JSON.stringify(found.body)).toContain("Nothing was found");
      for (const tool of ["brain_briefing", "errors_recurring", "spend"]) {
        const { body } = await call(tool, {}, as);
        expect([tool, JSON.stringify(body).includes("gives access to no team")]).toEqual([tool, true]);
      }
    }
  };
  await readsNothing([token, ownDevice.token]);
  expect((await context()).body).toMatchObject({ total: 0, hits: [] });
  // A member's device may, so it is the role that refuses.
  await setRole(t.instance.core, teamId, narrow.id, "member", COMMAND_LINE);
  expect((await context()).body.total).toBeGreaterThan(0);
  for (const path of paths)
    expect([path, [200, 404].includes((await t.get(path, { token: ownDevice.token })).status)]).toEqual([path, true]);
  expect(JSON.stringify((await call("brain_search", { query: CANARY }, ownDevice.token)).body)).toContain(CANARY);
  await setRole(t.instance.core, teamId, narrow.id, "own_only", COMMAND_LINE);
  expect(owner.id).not.toBe(narrow.id);
  // Every role may leave, and the machine goes on reporting. It must not gain access by that.
  await ask(t, "POST", "/people/leave", { as: narrow, form: { _csrf: narrow.csrf } });
  expect(t.rows("SELECT 1 FROM memberships WHERE user_id = ?", narrow.id)).toEqual([]);
  await readsNothing();
  await setRole(t.instance.core, teamId, narrow.id, "member", COMMAND_LINE);
  await setDisabled(t.instance.core, narrow.id, true, COMMAND_LINE);
  await readsNothing();
});

it("lets a viewer's machine report and read, but say nothing about causes", async () => {
  const { t, viewer, member, ownDevice } = await build();
  const { token } = ownDevice;
  await assignDevice(t.instance.core, ownDevice.deviceId, viewer.email, COMMAND_LINE);
  const content = "## 2026-11-20 Ours\n\n**Prevention rule:** Look.\n";
  const brain = { repoKey: OWN, version: 7, files: [{ path: "errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token, json: brain })).status).toBe(200);
  await t.instance.settle();
  const writes = [
    ["/api/causal-link", { repoKey: OWN, file: "errors.md", heading: "2026-11-20 Ours", commit: SHA }],
    ["/api/causal-link/correlate", {}],
  ] as const;
  const says = async () => {
    const statuses: number[] = [];
    for (const [path, json] of writes) statuses.push((await t.post(path, { token, json })).status);
    return [statuses, t.rows("SELECT origin FROM causal_links WHERE origin = 'person'")];
  };
  expect(await says()).toEqual([[403, 403], []]);
  expect(t.rows("SELECT 1 FROM audit_events WHERE action = 'link.created'")).toEqual([]);
  for (const path of ["/api/causal-link", "/api/brain/metrics", `/api/brain/search?q=${CANARY}`])
    expect([path, (await t.get(path, { token })).status]).toEqual([path, 200]);
  await assignDevice(t.instance.core, ownDevice.deviceId, member.email, COMMAND_LINE);
  expect(await says()).toEqual([[200, 200], [{ origin: "person" }]]);
});

it("proves to a machine only what it delivered, and audit events only to machines of owners and admins", async () => {
  const { t, member, owner, ownDevice, ownSession } = await build();
  const teamId = t.rows("SELECT team_id FROM devices WHERE id = ?", ownDevice.deviceId)[0]?.team_id as string;
  const leaves = t.rows("SELECT leaf FROM audit_events WHERE team_id = ?", teamId).map(({ leaf }) => leaf as number);
  const numbers = t
    .rows("SELECT id FROM telemetry_entries UNION SELECT id FROM deliveries")
    .map(({ id }) => id as number);
  const proved = async () => {
    const found: string[] = [];
    for (const kind of ["entry", "snapshot", "session", "delivery", "event"])
      for (const id of kind === "event" ? leaves : numbers) {
        const { status, text } = await t.call("GET", `/ledger/proof?kind=${kind}&id=${id}`, { token: ownDevice.token });
        if (status === 200) found.push(`${kind} ${JSON.stringify(readBundle(text).items.map((item) => item.text))}`);
        else expect([kind, id, status]).toEqual([kind, id, 404]);
      }
    return found;
  };
  const own = await proved();
  expect(own.filter((one) => one.replaceAll(`${CANARY}-session`, "").includes(CANARY))).toEqual([]);
  expect(own.map((one) => one.split(" ")[0])).not.toContain("event");
  expect(own.some((one) => one.startsWith("entry") && one.includes(OWN))).toBe(true);
  const session = await t.call("GET", `/ledger/proof?kind=session&id=${ownSession}`, { token: ownDevice.token });
  expect(session.status).toBe(200);
  const give = (person: Somebody) => assignDevice(t.instance.core, ownDevice.deviceId, person.email, COMMAND_LINE);
  await give(member);
  const all = await proved();
  expect(all.some((one) => one.startsWith("entry") && one.includes(CANARY))).toBe(true);
  expect(all.map((one) => one.split(" ")[0])).not.toContain("event");
  await give(owner);
  expect((await proved()).map((one) => one.split(" ")[0])).toContain("event");
});
