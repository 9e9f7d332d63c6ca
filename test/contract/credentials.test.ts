import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { revokeScimToken } from "../../src/identity/directory/directory.ts";
import { setRole } from "../../src/identity/members/members.ts";
import { setDisabled } from "../../src/identity/sign-in/sign-in.ts";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { newToken } from "../../src/kit/tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { makeAccount } from "../support/accounts.ts";
import { apiToken } from "../support/api.ts";
import { cliToken } from "../support/cli.ts";
import { type Ask, authOf, startInstance, type TestInstance } from "../support/instance.ts";
import { memberOf, publish, readToken } from "../support/reads.ts";
import { adminToken } from "../support/remote.ts";
import { startDirectory } from "../support/scim.ts";

/** What each kind of endpoint takes; everything else is refused. */
const TAKES: Record<string, readonly string[]> = {
  device: ["device"],
  deviceAnyState: ["device"],
  deviceOrApi: ["device", "api"],
  cli: ["cli"],
  read: ["read"],
  api: ["api"],
  scim: ["scim"],
  reader: ["device", "read"],
};
const KINDS = 15;

/** Every credential there is, live, of one team and one person. */
async function credentials(t: TestInstance): Promise<Record<string, Ask>> {
  const device = await t.device();
  const user = await memberOf(t, device.team);
  const { core } = t.instance;
  const session = await core.store.write(() => storeSession(core, user.id, { ip: "127.0.0.1", userAgent: null }));
  const licence = await t.get("/api/license", { token: device.token });
  const cookie = `${cookieNames(baseUrlOf(core.config)).session}=${session.token}`;
  return {
    none: {},
    device: { token: device.token },
    cli: { token: (await cliToken(t)).accessToken },
    read: { token: (await readToken(t, user.id)).token },
    api: { token: await apiToken(t, device.team.id) },
    scim: { token: (await startDirectory(t)).token },
    "a session's token": { token: session.token },
    "a session's cookie": { headers: { cookie } },
    "a licence": { token: licence.body.license },
    "a device token nobody has": { token: newToken("rkd", systemRandom) },
    "a read token nobody has": { token: newToken("rkr", systemRandom) },
    "an API token nobody has": { token: newToken("rka", systemRandom) },
    "a SCIM token nobody has": { token: newToken("rkp", systemRandom) },
    "a token with a letter too few": { token: device.token.slice(0, -1) },
    rubbish: { token: "x" },
  };
}

/** All rows, except those that any refused request may leave. */
function stored(t: TestInstance): string {
  const tables = t.rows(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  );
  return JSON.stringify(tables.map(({ name }) => [name, t.rows(`SELECT * FROM ${name}`)]));
}

const guarded = CONTRACT.filter(({ spec }) => spec.auth !== "none").map(
  (endpoint) => [`${endpoint.spec.method} ${endpoint.spec.path}`, endpoint] as const,
);

it.each(guarded)("%s refuses every credential but its own, and changes nothing", async (_, endpoint) => {
  const { spec } = endpoint;
  const t = await startInstance();
  const takes = TAKES[authOf(endpoint)] as readonly string[];
  const wrong = Object.entries(await credentials(t)).filter(([kind]) => !takes.includes(kind));
  expect(wrong.length).toBe(KINDS - takes.length);
  const path = spec.path + (spec.query ? "?q=anything" : "");
  const body = spec.body ? { json: spec.example?.body ?? {} } : {};
  await t.instance.settle();
  const before = stored(t);
  for (const [kind, ask] of wrong) {
    const answer = await t.call(spec.method, path, { ...ask, ...body });
    expect([kind, answer.status]).toEqual([kind, 401]);
    expect(answer.headers.get("www-authenticate")).toBe(
      ask.token === undefined ? "Bearer" : 'Bearer error="invalid_token"',
    );
    expect([kind, stored(t)]).toEqual([kind, before]);
  }
});

/** Sends a body whose last bytes wait until something has happened. */
async function sendHeld(
  t: TestInstance,
  { path, token, json, headers = {} }: { path: string; token: string; json: object; headers?: object },
  meanwhile: () => unknown,
): Promise<{ status: number | undefined; body: string }> {
  const body = JSON.stringify(json);
  const sent = httpRequest({
    ...{ hostname: "127.0.0.1", port: t.instance.core.config.port, path, method: "POST" },
    headers: {
      ...{ authorization: `Bearer ${token}`, "content-type": "application/json", "content-length": body.length },
      ...{ expect: "100-continue", ...headers },
    },
  });
  const reply = once(sent, "response") as Promise<[IncomingMessage]>;
  sent.write(body.slice(0, 2));
  // The server says so once it has read the head and called whoever answers it.
  await once(sent, "continue");
  await meanwhile();
  sent.end(body.slice(2));
  const [incoming] = await reply;
  return { status: incoming.statusCode, body: await text(incoming) };
}

interface Held {
  readonly path: string;
  readonly json: object;
  readonly headers?: object;
  /** Makes a token, and returns what ends it. */
  readonly of: (t: TestInstance) => Promise<{ readonly token: string; readonly end: () => unknown }>;
  readonly status: number;
}

const ENTRY = { repoKey: "github.com/acme/shop", entries: [{ seq: 1, payload: { type: "note", text: "late" } }] };
const TELEMETRY = { path: "/api/telemetry/ingest", json: ENTRY };

const HELD: Record<string, Held> = {
  "a device token that is replaced": {
    ...TELEMETRY,
    async of(t) {
      const { token } = await t.device();
      return { token, end: () => t.post("/api/connect/rotate", { token }) };
    },
    status: 401,
  },
  "a device token whose time is over": {
    ...TELEMETRY,
    async of(t) {
      const { token } = await t.device();
      return { token, end: () => t.instance.core.store.db.exec("UPDATE device_tokens SET expires_at = 1") };
    },
    status: 401,
  },
  "a device of a team whose tier is lowered": {
    ...TELEMETRY,
    async of(t) {
      const { token, team } = await t.device();
      return { token, end: () => updateTeam(t.instance.core, team.id, { tier: "none" }, COMMAND_LINE) };
    },
    status: 402,
  },
  "a device of somebody who becomes a viewer": {
    path: "/api/causal-link/correlate",
    json: { repoKey: "github.com/acme/shop" },
    async of(t) {
      const { core } = t.instance;
      const { token, team, deviceId } = await t.device();
      const { id } = await memberOf(t, team);
      await assignDevice(core, deviceId, id, COMMAND_LINE);
      return { token, end: () => setRole(core, team.id, id, "viewer", COMMAND_LINE) };
    },
    status: 403,
  },
  "an API token of somebody who is no admin any more": {
    path: "/api/command",
    json: { argv: ["team", "create", "Late"] },
    async of(t) {
      const { core } = t.instance;
      const user = await makeAccount(core, { email: "root@example.com", operator: true });
      const { token } = await adminToken(t, { userId: user.id });
      return { token, end: () => core.store.db.exec("UPDATE users SET operator = 0") };
    },
    status: 401,
  },
  "a read token of somebody whose account is closed": {
    path: "/mcp",
    json: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "brain_search", arguments: { query: "x" } } },
    headers: { accept: "application/json, text/event-stream" },
    async of(t) {
      const device = await t.device();
      await publish(t, device, { ".claude/brain/errors.md": "## 2026-11-20 x\n\nx" }, { repoKey: "r" });
      const { id } = await memberOf(t, device.team);
      return { token: (await readToken(t, id)).token, end: () => setDisabled(t.instance.core, id, true, COMMAND_LINE) };
    },
    status: 401,
  },
  "a SCIM token that is revoked": {
    path: "/scim/v2/Users",
    json: { userName: "late@acme.example" },
    async of(t) {
      const { core } = t.instance;
      const { token, issuer } = await startDirectory(t);
      const [{ id }] = t.rows("SELECT id FROM scim_tokens");
      return { token, end: () => revokeScimToken(core, issuer, id, COMMAND_LINE) };
    },
    status: 401,
  },
};

it.each(Object.entries(HELD))("%s opens nothing to a body that was still arriving when it ended", async (_, held) => {
  const t = await startInstance({ settings: { port: "0" } });
  await t.instance.listen();
  const { token, end } = await held.of(t);
  let before = "";
  const { status, body } = await sendHeld(t, { ...held, token }, async () => {
    await end();
    await t.instance.settle();
    before = stored(t);
  });
  expect([status, body]).toEqual([held.status, expect.any(String)]);
  expect(stored(t)).toBe(before);
});
