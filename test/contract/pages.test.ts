import { expect, it } from "vitest";
import { createCliToken } from "../../src/identity/device-flow/device-flow.ts";
import { createCode, renameDevice } from "../../src/identity/devices/devices.ts";
import type { Role } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { createUser } from "../../src/identity/sign-in/sign-in.ts";
import type { Team } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames, csrfToken } from "../../src/platform/http/cookies.ts";
import type { Page } from "../../src/platform/http/page.ts";
import { setPolicy } from "../../src/record/policy/policy.ts";
import { dashboard } from "../../src/surfaces/web/dashboard/dashboard.ts";
import { startInstance, type TestDevice, type TestInstance } from "../support/instance.ts";

const PAGES = dashboard.flatMap(({ pages = [] }) => pages);

/** Who may open what, and that nobody reaches another team's record: every page there is, without a browser. */

interface Somebody {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  /** The token of the forms they see. */
  readonly csrf: string;
}

const CANARY = "canary7f3k9q";
const SHA = "3f2a9c1d4e5f60718293a4b5c6d7e8f901234567";
let people = 0;

async function somebody(t: TestInstance, team?: Team, role: Role = "member", operator = false): Promise<Somebody> {
  const { core } = t.instance;
  const email = `p${++people}@${team?.name.startsWith(CANARY) ? `${CANARY}.` : ""}example.com`;
  const wanted = { email, password: "plough-the-north-field", operator };
  const user = await createUser(core, team ? { ...wanted, team: { id: team.id, role } } : wanted);
  const { token } = await core.store.write(() => storeSession(core, user.id, { ip: "192.0.2.7", userAgent: "test" }));
  return { id: user.id, email, token, csrf: csrfToken(token, team?.id) };
}

interface Asked {
  readonly as?: Somebody;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(t: TestInstance, method: string, path: string, { as, form, headers }: Asked = {}) {
  const { core } = t.instance;
  const name = cookieNames(baseUrlOf(core.config)).session;
  const request = new Request(`http://localhost${path}`, {
    method,
    headers: { accept: "text/html", ...(as ? { cookie: `${name}=${as.token}` } : {}), ...headers },
    ...(method === "POST" ? { body: new URLSearchParams(form ?? {}) } : {}),
  });
  const response = await t.instance.fetch(request);
  // A stream ends when the instance does.
  const isStream = response.headers.get("content-type") === "text/event-stream";
  const text = isStream ? await beginning(response) : await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** The first piece of a reply that goes on. */
async function beginning({ body }: Response): Promise<string> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

const pathOf = ({ spec }: Page, id = "none") => spec.path.replace(/:\w+/g, () => encodeURIComponent(id));
const guarded = PAGES.filter(({ spec }) => spec.access !== "anyone");
const posts = PAGES.filter(({ spec }) => spec.method === "POST");

/** Everything stored, but when somebody was last seen. */
function stored(t: TestInstance, where = (_row: Record<string, unknown>) => true): string {
  const tables = t.rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return JSON.stringify(tables.map(({ name }) => [name, t.rows(`SELECT * FROM ${name}`).filter(where)]));
}

it("sends whoever is not signed in to the sign-in page, and back afterwards", async () => {
  const t = await startInstance();
  await t.instance.settle();
  const before = stored(t);
  for (const one of guarded) {
    const answer = await ask(t, one.spec.method, pathOf(one));
    expect([one.spec.id, answer.status]).toEqual([one.spec.id, 303]);
    const next = one.spec.method === "GET" ? `?next=${encodeURIComponent(pathOf(one))}` : "";
    expect([one.spec.id, answer.headers.get("location")]).toEqual([one.spec.id, `/login${next}`]);
  }
  expect(stored(t)).toBe(before);
});

it("opens no page to a role below the one it is for", async () => {
  const t = await startInstance();
  const team = await t.team();
  const below: Record<string, Somebody[]> = {
    person: [],
    member: [await somebody(t)],
    admin: [await somebody(t), await somebody(t, team, "member")],
    owner: [await somebody(t), await somebody(t, team, "member"), await somebody(t, team, "admin")],
    operator: [await somebody(t), await somebody(t, team, "owner")],
  };
  await t.instance.settle();
  const before = stored(t);
  let tried = 0;
  for (const one of guarded)
    for (const as of below[one.spec.access] ?? []) {
      const form = { _csrf: as.csrf };
      const answer = await ask(t, one.spec.method, pathOf(one), { as, form });
      expect([one.spec.id, answer.status]).toEqual([one.spec.id, 403]);
      expect(answer.text).toContain("<h1>");
      tried++;
    }
  expect(tried).toBeGreaterThan(50);
  expect(stored(t)).toBe(before);
});

it("takes no form without its token or from another site", async () => {
  const t = await startInstance();
  const as = await somebody(t, await t.team(), "owner", true);
  await t.instance.settle();
  const before = stored(t);
  const good = { _csrf: as.csrf };
  const forged: Asked[] = [
    { as },
    { as, form: { _csrf: "" } },
    { as, form: { _csrf: csrfToken("another secret") } },
    { as, form: good, headers: { origin: "https://evil.example" } },
    { as, form: good, headers: { origin: "null" } },
    { as, form: good, headers: { "sec-fetch-site": "cross-site" } },
    { as, form: good, headers: { "sec-fetch-site": "same-site" } },
  ];
  for (const one of posts)
    for (const [i, how] of forged.entries()) {
      const answer = await ask(t, "POST", pathOf(one), how);
      // Who is signed in is not signed in again.
      expect([one.spec.id, i, answer.status]).toEqual([one.spec.id, i, one.spec.signedInSince && i < 3 ? 303 : 403]);
    }
  expect(stored(t)).toBe(before);
});

/** A team with something in every table, all of it marked. */
async function fill(t: TestInstance, team: Team): Promise<{ device: TestDevice; owner: Somebody }> {
  const { core } = t.instance;
  const device = await t.device(team);
  const owner = await somebody(t, team, "owner");
  await renameDevice(core, team.id, device.deviceId, `${CANARY} device`, COMMAND_LINE);
  await createCode(core, team.id);
  await createInvitation(core, { teamId: team.id, role: "member", email: `new@${CANARY}.example` });
  await setPolicy(core, team.id, { captureMode: "full", watchlist: [`${CANARY}/**`] }, COMMAND_LINE);
  await createReadToken(core, { userId: owner.id, name: `${CANARY} token` });
  await createCliToken(core, owner, COMMAND_LINE);
  const repoKey = `${CANARY}/repo`;
  const send = (path: string, json: unknown) => t.post(path, { token: device.token, json });
  const usage = { input_tokens: 10, output_tokens: 1 };
  const payload = { type: "prompt", text: `${CANARY} prompt`, model: CANARY, branch: CANARY, usage };
  await send("/api/telemetry/ingest", {
    repoKey,
    entries: [
      { seq: 1, payload },
      { seq: 5, payload },
    ],
  });
  await send("/api/telemetry/ingest", { repoKey, entries: [{ seq: 5, payload: { type: "other" } }] });
  const files = [
    { path: `${CANARY}.md`, content: `# ${CANARY}\n` },
    {
      path: ".claude/brain/errors.md",
      content: `## 2026-11-20 ${CANARY}\n\nSince commit ${SHA}.\n\n**Prevention rule:** ${CANARY}\n`,
    },
  ];
  await send("/api/brain/ingest", { repoKey, version: 1, files });
  await send("/api/brain/ingest", { repoKey, version: 2, files: [...files, { path: "b.md", content: CANARY }] });
  const session = {
    id: `${CANARY}-session`,
    outcome: "done",
    agent: CANARY,
    prompts: [{ at: "2026-11-19T07:00:00Z", text: CANARY }],
    commits: [{ sha: SHA, at: "2026-11-19T07:30:00Z" }],
    spans: [{ id: "1", name: CANARY }],
  };
  await send("/api/agent-traces/ingest", {
    repoKey,
    sessions: [session],
    labels: [{ sessionId: session.id, name: CANARY }],
  });
  const counts = { [CANARY]: 1 };
  await send("/api/brain-pulse/ingest", { repoKey, at: "2026-11-21T07:00:00Z", counts, fingerprints: [] });
  await t.instance.settle();
  return { device, owner };
}

/** Every id and key of a team's things. */
function handles(t: TestInstance, team: Team, owner: Somebody): string[] {
  const of = (sql: string, ...parameters: unknown[]) =>
    t.rows(sql, ...parameters).map((row) => String(Object.values(row)[0]));
  return [
    team.id,
    owner.id,
    ...of("SELECT id FROM devices WHERE team_id = ?", team.id),
    ...of("SELECT lower(hex(substr(code_hash, 1, 8))) FROM connect_codes WHERE team_id = ?", team.id),
    ...of("SELECT id FROM one_time_links WHERE team_id = ?", team.id),
    ...of("SELECT id FROM policies WHERE team_id = ?", team.id),
    ...of("SELECT id FROM read_tokens WHERE user_id = ?", owner.id),
    ...of("SELECT id FROM cli_tokens WHERE user_id = ?", owner.id),
    ...of("SELECT id FROM web_sessions WHERE user_id = ?", owner.id),
    ...of("SELECT id FROM telemetry_streams WHERE team_id = ?", team.id),
    ...of(
      "SELECT e.id FROM telemetry_entries e JOIN telemetry_streams s ON s.id = e.stream_id WHERE s.team_id = ?",
      team.id,
    ),
    ...of("SELECT id FROM brain_snapshots WHERE team_id = ?", team.id),
    ...of("SELECT id FROM brain_blobs WHERE team_id = ?", team.id),
    ...of("SELECT id FROM trace_sessions WHERE team_id = ?", team.id),
    ...of("SELECT id FROM defects WHERE team_id = ?", team.id),
    ...of("SELECT lower(hex(substr(fingerprint, 1, 4))) FROM defects WHERE team_id = ?", team.id),
    ...of("SELECT id FROM causal_links WHERE team_id = ?", team.id),
    `${CANARY}-session`,
  ];
}

/** Names that pages read from the query, each given every handle of the other team. */
const NAMES = [
  "device",
  "repo",
  "path",
  "snapshot",
  "at",
  "from",
  "to",
  "after",
  "before",
  "cursor",
  "id",
  "token",
  "stream",
  "team",
  "session",
];

it("shows nothing of another team, whatever a request names", async () => {
  const t = await startInstance();
  const own = await t.team({ name: "Own" });
  const foreign = await t.team({ name: `${CANARY} team` });
  const { owner } = await fill(t, foreign);
  const as = await somebody(t, own, "owner");
  await t.device(own);
  const gets = guarded.filter(({ spec }) => spec.method === "GET" && spec.access !== "operator");
  let asked = 0;
  for (const one of gets)
    for (const handle of handles(t, foreign, owner)) {
      const query = new URLSearchParams(NAMES.map((name) => [name, handle]));
      query.set("repo", `${CANARY}/repo`);
      query.set("path", `${CANARY}.md`);
      for (const search of ["", `?${query}`]) {
        const answer = await ask(t, "GET", pathOf(one, handle) + search, { as });
        // What the request itself says may be said back; the rest must not know it.
        const said = answer.text
          .replaceAll(`${CANARY}/repo`, "")
          .replaceAll(`${CANARY}.md`, "")
          .replaceAll(`${CANARY}-session`, "");
        const spoken = said.replaceAll(encodeURIComponent(`${CANARY}/repo`), "");
        expect([one.spec.id, handle, answer.status < 500, spoken.includes(CANARY)]).toEqual([
          one.spec.id,
          handle,
          true,
          false,
        ]);
        if (one.spec.path.includes(":") && search === "")
          expect([one.spec.id, handle, [303, 404].includes(answer.status)]).toEqual([one.spec.id, handle, true]);
        asked++;
      }
    }
  expect(asked).toBeGreaterThan(200);
  // The canaries would have been seen: their own team sees them.
  const seen = await Promise.all(
    gets.filter(({ spec }) => !spec.path.includes(":")).map((one) => ask(t, "GET", pathOf(one), { as: owner })),
  );
  expect(seen.filter(({ text }) => text.includes(CANARY)).length).toBeGreaterThan(8);
});

it("changes nothing of another team, whatever a form names", async () => {
  const t = await startInstance();
  const own = await t.team({ name: "Own" });
  const foreign = await t.team({ name: `${CANARY} team` });
  const { owner } = await fill(t, foreign);
  expect(t.rows("SELECT band FROM causal_links WHERE team_id = ?", foreign.id)).toEqual([{ band: "strong" }]);
  const as = await somebody(t, own, "owner");
  const ids = handles(t, foreign, owner);
  const theirs = (row: Record<string, unknown>) =>
    Object.values(row).some((value) => typeof value === "string" && (ids.includes(value) || value.includes(CANARY)));
  await t.instance.settle();
  const before = stored(t, theirs);
  const forms = posts.filter(({ spec }) => ["person", "member", "admin", "owner"].includes(spec.access));
  for (const one of forms.filter(({ spec }) => !["signOut", "endOtherSessions"].includes(spec.id)))
    for (const id of ids) {
      const form = {
        _csrf: as.csrf,
        id,
        team: id,
        user: id,
        role: "member",
        name: "x",
        label: "x",
        device: id,
        policy: id,
        session: `${CANARY}-session`,
        commit: SHA,
        verdict: "rejected",
      };
      const answer = await ask(t, "POST", pathOf(one, id), { as, form });
      expect([
        one.spec.id,
        id,
        answer.status < 500,
        answer.text.replaceAll(`${CANARY}-session`, "").includes(CANARY),
      ]).toEqual([one.spec.id, id, true, false]);
    }
  // What was tried may be told in the record of the own team, naming what was typed.
  expect(stored(t, (row) => theirs(row) && row.team_id !== own.id && row.user_id !== as.id)).toBe(before);
});

it("leads everybody to the places they can open, and to no others", async () => {
  const t = await startInstance();
  const team = await t.team();
  const everybody: Record<string, Somebody> = {
    nobody: await somebody(t),
    member: await somebody(t, team, "member"),
    admin: await somebody(t, team, "admin"),
    operator: await somebody(t, team, "owner", true),
  };
  const led: Record<string, string[]> = {};
  for (const [role, as] of Object.entries(everybody)) {
    const { text } = await ask(t, "GET", "/account", { as });
    const nav = /<nav[\s\S]*?<\/nav>/.exec(text)?.[0] ?? "";
    const paths = [...nav.matchAll(/href="([^"]+)"/g)].map((match) => match[1] as string);
    led[role] = paths;
    for (const path of paths)
      expect([role, path, (await ask(t, "GET", path, { as })).status]).toEqual([role, path, 200]);
  }
  expect(led.member?.length).toBeGreaterThan(7);
  expect(
    ["/audit", "/settings"].map((path) => ["member", "admin", "operator"].filter((role) => led[role]?.includes(path))),
  ).toEqual([["admin", "operator"], ["operator"]]);
});

it("offers a team's audit only what can happen in a team", async () => {
  const t = await startInstance();
  const team = await t.team();
  const as = await somebody(t, team, "owner", true);
  const options = async (path: string) =>
    [...(await ask(t, "GET", path, { as })).text.matchAll(/<option value="([a-z_]+\.[a-z_]+)"/g)].map(
      (match) => match[1],
    );
  const [own, all] = [await options("/audit"), await options("/audit?all=1")];
  expect(own).toContain("read_token.created");
  expect(own.filter((action) => /^(?:session|cli_|key|release|request)/.test(action as string))).toEqual([]);
  expect(all).toEqual(expect.arrayContaining([...own, "session.started", "session.ended", "key.rotated"]));
});
