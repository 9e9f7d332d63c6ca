import { createCliToken } from "../../src/identity/device-flow/device-flow.ts";
import { createCode, renameDevice } from "../../src/identity/devices/devices.ts";
import type { Role } from "../../src/identity/members/members.ts";
import { createInvitation } from "../../src/identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import type { Team } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames, csrfToken } from "../../src/platform/http/cookies.ts";
import type { Page } from "../../src/platform/http/page.ts";
import { setPolicy } from "../../src/record/policy/policy.ts";
import { dashboard } from "../../src/surfaces/web/dashboard/dashboard.ts";
import { makeAccount } from "./accounts.ts";
import type { TestDevice, TestInstance } from "./instance.ts";

/** Every page there is, asked without a browser, and a team with something of everything in it. */

export const PAGES = dashboard.flatMap(({ pages = [] }) => pages);

export interface Somebody {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  /** The token of the forms they see. */
  readonly csrf: string;
}

export const CANARY = "canary7f3k9q";
export const SHA = "3f2a9c1d4e5f60718293a4b5c6d7e8f901234567";
let people = 0;

export async function somebody(
  t: TestInstance,
  team?: Team,
  role: Role = "member",
  operator = false,
): Promise<Somebody> {
  const { core } = t.instance;
  const email = `p${++people}@${team?.name.startsWith(CANARY) ? `${CANARY}.` : ""}example.com`;
  const user = await makeAccount(core, { email, operator, ...(team ? { team: { id: team.id, role } } : {}) });
  const { token } = await core.store.write(() => storeSession(core, user.id, { ip: "192.0.2.7", userAgent: "test" }));
  return { id: user.id, email, token, csrf: csrfToken(token, team?.id) };
}

export interface Asked {
  readonly as?: Somebody;
  readonly form?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export async function ask(t: TestInstance, method: string, path: string, { as, form, headers }: Asked = {}) {
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

export const pathOf = ({ spec }: Page, id = "none") => spec.path.replace(/:\w+/g, () => encodeURIComponent(id));
export const guarded = PAGES.filter(({ spec }) => spec.access !== "anyone");
export const posts = PAGES.filter(({ spec }) => spec.method === "POST");

/** Everything stored, but when somebody was last seen. */
export function stored(t: TestInstance, where = (_row: Record<string, unknown>) => true): string {
  const tables = t.rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return JSON.stringify(tables.map(({ name }) => [name, t.rows(`SELECT * FROM ${name}`).filter(where)]));
}

/** A team with something in every table, all of it marked. */
export async function fill(t: TestInstance, team: Team): Promise<{ device: TestDevice; owner: Somebody }> {
  const { core } = t.instance;
  const device = await t.device(team);
  const owner = await somebody(t, team, "owner");
  await renameDevice(core, team.id, device.deviceId, `${CANARY} device`, COMMAND_LINE);
  await createCode(core, team.id, COMMAND_LINE);
  await createInvitation(core, { teamId: team.id, role: "member", email: `new@${CANARY}.example` }, COMMAND_LINE);
  await setPolicy(core, team.id, { captureMode: "full", watchlist: [`${CANARY}/**`] }, COMMAND_LINE);
  await createReadToken(core, { userId: owner.id, name: `${CANARY} token` }, COMMAND_LINE);
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
export function handles(t: TestInstance, team: Team, owner: Somebody): string[] {
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
export const NAMES = [
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
