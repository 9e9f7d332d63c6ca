import { expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { newToken } from "../../src/kit/tokens.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { apiToken } from "../support/api.ts";
import { cliToken } from "../support/cli.ts";
import { type Ask, authOf, startInstance, type TestInstance } from "../support/instance.ts";
import { memberOf, readToken } from "../support/reads.ts";
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

/** Everything that is stored, but what every refused request may leave. */
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
