import Sqlite from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { CONTRACT } from "../../src/app.ts";
import { teamMoves } from "../../src/identity/teams/teams.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { newToken } from "../../src/kit/tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Endpoint, faultsOf } from "../../src/platform/http/endpoint.ts";
import { type Fault, faultBody } from "../../src/platform/http/faults.ts";
import { createApp } from "../../src/platform/http/serve.ts";
import { addRelease } from "../../src/share/releases/releases.ts";
import { apiToken, fillRecords, pathOf } from "../support/api.ts";
import { answered, cliToken } from "../support/cli.ts";
import { type Ask, authOf, noteFault, startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";
import { memberOf, readToken } from "../support/reads.ts";
import { oktaUser, startDirectory } from "../support/scim.ts";
import { installer } from "../support/site.ts";

/** What the contract's table says of authentication; held here so that a declaration cannot drift from it unseen. */
const AUTH: Record<string, string> = {
  "GET /api/health": "none",
  "POST /api/connect/exchange": "none",
  "POST /api/connect/rotate": "deviceAnyState",
  "POST /api/connect/disconnect": "device",
  "POST /api/cli/device/code": "none",
  "POST /api/cli/device/token": "none",
  "GET /api/cli/me": "cli",
  "GET /api/license": "device",
  "GET /api/license/pubkey": "none",
  "POST /api/telemetry/ingest": "device",
  "POST /api/telemetry/heartbeat": "device",
  "POST /api/brain/ingest": "device",
  "GET /api/brain/search": "device",
  "GET /api/brain/metrics": "device",
  "GET /api/brain/briefing": "device",
  "POST /api/brain-pulse/ingest": "device",
  "POST /api/agent-traces/ingest": "device",
  "POST /api/causal-link/correlate": "device",
  "GET /api/causal-link": "device",
  "POST /api/causal-link": "device",
  "GET /api/prompt-for-line": "device",
  "GET /api/spend": "deviceOrApi",
  "GET /api/policy": "device",
  "GET /api/me/brain/context": "read",
  "POST /api/requests/ingest": "none",
  "GET /api/requests/status": "none",
  "GET /api/marketplace/public": "none",
  "GET /api/explore": "none",
  "GET /api/download/latest": "none",
};

/** The statuses of refusals that the contract gives a meaning. */
const STATUSES = [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 501, 503];

/** A fault as the endpoint declares it; its own test holds it against the contract. */
const declared = (endpoint: Endpoint, name: string) => faultsOf(endpoint).find((fault) => fault.name === name) as Fault;

const nameOf = ({ spec }: Endpoint) => `${spec.method} ${spec.path}`;
const withAuth = CONTRACT.filter((endpoint) => ["device", "deviceOrApi"].includes(authOf(endpoint)));
const withBody = CONTRACT.filter(({ spec }) => spec.body);
const withLimits = CONTRACT.filter(({ spec }) => spec.limits.length > 0);
const needing = CONTRACT.filter((one) => faultsOf(one).some((fault) => fault.name === "storeUnavailable"));
/** Endpoints that write. Reads by read tokens and API tokens count, because they are recorded before they are answered. */
const writing = CONTRACT.filter((one) => one.spec.method !== "GET" || ["read", "api"].includes(authOf(one)));

/** A live credential of the kind that the endpoint asks for. */
async function credential(t: TestInstance, endpoint: Endpoint): Promise<string | undefined> {
  const auth = authOf(endpoint);
  if (auth === "none") return undefined;
  if (auth === "cli") return (await cliToken(t)).accessToken;
  if (auth === "scim") return (await startDirectory(t, `acme-${t.count("sso_issuers")}`)).token;
  if (auth === "read") return (await readToken(t, (await memberOf(t)).id)).token;
  if (auth === "api") {
    const device = await t.device();
    await fillRecords(t, device);
    return apiToken(t, device.team.id);
  }
  return (await t.device()).token;
}

/** A body that the endpoint takes: its example, unless that names things that must exist. */
async function goodBody(t: TestInstance, { spec }: Endpoint, token: string | undefined): Promise<unknown> {
  if (spec.id === "connectExchange") return { code: await t.code(await t.team()), consent: { version: "1" } };
  if (spec.id === "cliDeviceToken") return { device_code: (await answered(t)).deviceCode };
  if (spec.id === "causalLinkCreate") {
    const brain = CONTRACT.find((one) => one.spec.id === "brainIngest")?.spec;
    await t.post("/api/brain/ingest", { token: token as string, json: brain?.example?.body });
  }
  return spec.example?.body;
}

/** A request that the endpoint takes. */
async function goodRequest(t: TestInstance, endpoint: Endpoint): Promise<{ path: string; ask: Ask }> {
  const token = await credential(t, endpoint);
  if (endpoint.spec.id === "downloadLatest" && t.count("releases") === 0)
    await addRelease(t.instance.core, { platform: "win32", version: "1.0.0", file: installer(t) }, COMMAND_LINE);
  const body = await goodBody(t, endpoint, token);
  const query = new URLSearchParams(endpoint.spec.example?.query);
  if (endpoint.spec.id === "ledgerProof") {
    await t.post("/api/telemetry/ingest", { token: token as string, json: { entries: [{ seq: 1, payload: {} }] } });
    query.set("id", `${t.rows("SELECT max(id) AS id FROM deliveries")[0].id}`);
  }
  if (endpoint.spec.id === "gitAiNotesRead") {
    const entries = [{ commit_sha: query.get("commits"), content: "" }];
    await t.post("/adapters/git-ai/worker/notes/upload", { token: token as string, json: { entries } });
  }
  if (authOf(endpoint) === "scim")
    return {
      path: (await scimPath(t, endpoint, token as string)) + (endpoint.spec.method === "GET" ? "?" : ""),
      ask: { token: token as string, ...(body === undefined ? {} : { json: body }) },
    };
  // The example's filters name things that are not there.
  if (authOf(endpoint) === "api" && endpoint.spec.method === "GET") {
    const ask = { token: token as string };
    return { path: `${await pathOf(t, endpoint.spec.path, ask.token)}?limit=5`, ask };
  }
  return {
    path: endpoint.spec.path.replace("**:tile", "0/000.p/1") + (endpoint.spec.query ? `?${query}` : ""),
    ask: {
      // A client of the Model Context Protocol must say that it takes both.
      headers: { accept: "application/json, text/event-stream" },
      ...(token === undefined ? {} : { token }),
      ...(body === undefined ? {} : { json: body }),
    },
  };
}

/** A path of SCIM, to somebody or something that is there. */
async function scimPath(t: TestInstance, { spec: { method, path } }: Endpoint, token: string): Promise<string> {
  if (!path.includes(":id")) return path;
  const list = path.replace("/:id", "");
  if (!/(?:Users|Groups)$/.test(list)) return `${list}/${(await t.get(list, { token })).body.Resources[0].id}`;
  // A request that closes an account needs a new one each time; one that replaces a person keeps that person's address.
  const name = method === "PUT" ? "ada" : `bob-${t.count("users")}`;
  const json = list.endsWith("Users") ? oktaUser(`${name}@acme.example`) : { displayName: "others" };
  return `${list}/${(await t.post(list, { token, json })).body.id}`;
}

const okOf = ({ spec }: Endpoint) => spec.okStatus ?? 200;

async function send(t: TestInstance, endpoint: Endpoint, change: Ask = {}) {
  const { path, ask } = await goodRequest(t, endpoint);
  return t.call(endpoint.spec.method, path, { ...ask, ...change, headers: { ...ask.headers, ...change.headers } });
}

describe("every endpoint", () => {
  it("answers no status to which the contract gives no meaning", () => {
    for (const endpoint of CONTRACT)
      for (const { name, status } of faultsOf(endpoint))
        expect([endpoint.spec.id, name, STATUSES.includes(status)]).toEqual([endpoint.spec.id, name, true]);
  });

  it("asks for the credential that the contract names", () => {
    for (const [name, auth] of Object.entries(AUTH))
      expect(CONTRACT.filter((one) => nameOf(one) === name).map((one) => [name, authOf(one)])).toEqual([[name, auth]]);
  });

  it.each(CONTRACT.map((one) => [nameOf(one), one] as const))(
    "%s takes its own example as version 1, pinned or not, and refuses any other version, naming what it serves",
    async (_, endpoint) => {
      const t = await startInstance();
      for (const pin of [{}, { "service-api-version": "1" }]) {
        const answer = await send(t, endpoint, { headers: pin });
        expect(answer.status).toBe(okOf(endpoint));
        expect(answer.headers.get("service-api-version")).toBe("1");
        expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
      }
      const answer = await send(t, endpoint, { headers: { "service-api-version": "2" } });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ ok: false, code: "unsupported_api_version", served: ["1"] });
      expect(answer.body.error).toContain("1");
      expect(answer.headers.get("service-api-version")).toBe("1");
    },
  );

  it("answers another method with 405 and what it allows", async () => {
    const t = await startInstance();
    for (const { spec } of CONTRACT) {
      const taken = CONTRACT.filter((one) => one.spec.path === spec.path).map((one) => one.spec.method);
      const other = (["POST", "GET", "PUT"] as const).find((method) => method === "PUT" || !taken.includes(method));
      const { status, headers, body } = await t.call(other as "PUT", spec.path, {});
      const allow = taken.map((method) => (method === "GET" ? "GET, HEAD" : method)).join(", ");
      expect([spec.path, status, headers.get("allow")]).toEqual([spec.path, 405, allow]);
      // SCIM has refusals of its own (RFC 7644, section 3.12).
      const isScim = spec.path.startsWith("/scim/");
      expect(body).toMatchObject(isScim ? { status: "405" } : { ok: false, code: "method_not_allowed" });
    }
  });

  it.each(CONTRACT.map((one) => [nameOf(one), one] as const))(
    "%s says nothing of an unforeseen failure but in the log, and 503 with Retry-After when the disk fails it, reading as well as writing",
    async (_, endpoint) => {
      const t = await startInstance();
      const response = await sendBroken(t, endpoint, new Error("SELECT secret FROM /srv/reckon.db"));
      expect(response.status).toBe(500);
      expect(await response.json()).toEqual(faultBody(declared(endpoint, "internal"), {}));
      expect(t.log.join("")).toContain("SELECT secret");
      noteFault(endpoint.spec.id, "internal");
      if (!needing.includes(endpoint)) return;
      for (const code of ["SQLITE_IOERR_READ", "SQLITE_CORRUPT", "SQLITE_CANTOPEN", "SQLITE_BUSY"]) {
        const response = await sendBroken(t, endpoint, new Sqlite.SqliteError(`trouble at /srv ${code}`, code));
        expect([code, response.status, response.headers.get("retry-after")]).toEqual([code, 503, "5"]);
        expect(await response.json()).toEqual(faultBody(declared(endpoint, "storeUnavailable"), {}));
        expect(t.log.join("")).toContain(`trouble at /srv ${code}`);
      }
      noteFault(endpoint.spec.id, "storeUnavailable");
    },
  );
});

/** Sends a good request to an endpoint whose handler fails. */
async function sendBroken(t: TestInstance, endpoint: Endpoint, failure: Error): Promise<Response> {
  const { core } = t.instance;
  const broken = {
    ...endpoint,
    handle: () => {
      throw failure;
    },
  };
  const app = createApp(core, [broken], {
    baseUrl: () => baseUrlOf(core.config),
  });
  const { path, ask } = await goodRequest(t, endpoint);
  const headers = {
    "content-type": "application/json",
    ...(ask.token ? { authorization: `Bearer ${ask.token}` } : {}),
  };
  return app.fetch(
    new Request(`http://localhost${path}`, {
      method: endpoint.spec.method,
      headers,
      ...(ask.json ? { body: JSON.stringify(ask.json) } : {}),
    }),
  );
}

describe("every endpoint behind a device token", () => {
  it.each(withAuth.map((one) => [nameOf(one), one] as const))(
    "%s refuses a missing token without calling it invalid, and unknown, mistyped, foreign, expired, revoked and replaced ones",
    async (_, endpoint) => {
      const t = await startInstance();
      const { path, ask } = await goodRequest(t, endpoint);
      const { token: _token, ...rest } = ask;
      const missing = await t.call(endpoint.spec.method, path, rest);
      expect([missing.status, missing.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const expired = await t.device();
      t.clock.advance(90 * DAY_MS);
      const revoked = await t.device();
      await t.post("/api/connect/disconnect", { token: revoked.token });
      const replaced = await t.device();
      await t.post("/api/connect/rotate", { token: replaced.token });
      const tokens = [
        newToken("rkd", systemRandom),
        `${(await t.device()).token.slice(0, -1)}-`,
        newToken("rkr", systemRandom),
        "not-a-token-of-ours",
        expired.token,
        revoked.token,
        replaced.token,
      ];
      for (const token of tokens) {
        const answer = await send(t, endpoint, { token });
        expect(answer.status).toBe(401);
        expect(answer.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
        expect(answer.text).not.toContain(token);
      }
    },
  );

  it.each(withAuth.map((one) => [nameOf(one), one] as const))(
    "%s tells where its team moved, and does nothing for it",
    async (_, endpoint) => {
      const { t, token, team } = await startWithDevice();
      const request = { ...(await goodRequest(t, endpoint)).ask, token };
      await teamMoves.begin(t.instance.core, team.id, "https://new.example", COMMAND_LINE);
      const written = t.instance.core.store.stats.changes;
      const answer = await t.call(endpoint.spec.method, endpoint.spec.path.replace("**:tile", "0/000"), request);
      expect([answer.status, answer.text]).toEqual([401, expect.stringContaining("https://new.example")]);
      const { shape } = declared(endpoint, "teamMoved");
      if (shape === "moved") expect(answer.body.movedTo).toBe("https://new.example");
      expect(t.instance.core.store.stats.changes).toBe(written);
    },
  );
});

describe("every endpoint with a body", () => {
  it.each(withBody.map((one) => [nameOf(one), one] as const))(
    "%s refuses what is not a JSON object, other media types, unknown codings and a body over its cap, and stores nothing",
    async (_, endpoint) => {
      const t = await startInstance({ settings: { limitExchange: "off", limitRequestIntake: "off" } });
      const tables = [
        "devices",
        "device_authorizations",
        "cli_tokens",
        "deliveries",
        "telemetry_entries",
        "brain_snapshots",
        "trace_sessions",
        "product_requests",
      ];
      const { path, ask } = await goodRequest(t, endpoint);
      const before = tables.map((table) => t.count(table));
      const { json: _json, ...rest } = ask;
      for (const body of [
        ...(endpoint.spec.body?.optional ? [] : ["", "{}"]),
        "{",
        "[]",
        "null",
        '"text"',
        "\ufeff{}",
        '{"a":1e400',
        `${"[".repeat(70)}${"]".repeat(70)}`,
      ]) {
        const answer = await t.call(endpoint.spec.method, path, {
          ...rest,
          body,
          headers: { "content-type": "application/json" },
        });
        expect([body, answer.status]).toEqual([body, 400]);
      }
      for (const headers of [
        { "content-type": "text/plain" },
        { "content-type": "application/json", "content-encoding": "br" },
        { "content-type": "application/json", "content-encoding": "gzip, gzip" },
      ] as Record<string, string>[])
        expect([headers, (await t.call(endpoint.spec.method, path, { ...ask, headers })).status]).toEqual([
          headers,
          400,
        ]);
      const most = endpoint.spec.body?.maxBytes(t.instance.core.config) ?? 0;
      const answer = await t.call(endpoint.spec.method, path, { ...ask, json: { filler: "x".repeat(most) } });
      expect(answer.status).toBe(declared(endpoint, "tooLarge").status);
      expect(tables.map((table) => t.count(table))).toEqual(before);
    },
  );
});

describe("every endpoint that writes", () => {
  it.each(writing.map((one) => [nameOf(one), one] as const))(
    "%s answers 503 with Retry-After while the store takes no writes, and recovers",
    async (_, endpoint) => {
      const t = await startInstance();
      const { path, ask } = await goodRequest(t, endpoint);
      t.instance.core.store.db.pragma("query_only = ON");
      const answer = await t.call(endpoint.spec.method, path, ask);
      expect(answer.status).toBe(503);
      expect(answer.headers.get("retry-after")).toBe("5");
      t.instance.core.store.db.pragma("query_only = OFF");
      expect((await t.call(endpoint.spec.method, path, ask)).status).toBe(okOf(endpoint));
    },
  );
});

describe("every endpoint with a quota", () => {
  const settings = {
    limitExchange: "2/60",
    limitDeviceCode: "2/60",
    limitDeviceToken: "2/60",
    limitTelemetry: "2/60",
    limitRead: "2/60",
    limitApi: "2/60",
    limitScim: "2/60",
    limitBrain: "2/60",
    limitTraces: "2/60",
    limitRequestIntake: "2/60",
    limitRequestStatus: "2/60",
  };

  it.each(
    withLimits.filter(({ spec }) => spec.limits[0]?.headers === "always").map((one) => [nameOf(one), one] as const),
  )(
    "%s says what is left of the quota when it refuses for another reason, too",
    async (_, { spec: { method, path, limits } }) => {
      const t = await startInstance({ settings });
      const refused = await t.call(method, path, method === "POST" ? { json: [] } : {});
      expect(refused.status).toBe(400);
      expect(refused.headers.get("ratelimit-limit")).toBe("2");
      expect(refused.headers.get("ratelimit-remaining")).toBe("1");
      expect(refused.headers.get("ratelimit-policy")?.split(", ")[0]).toBe(`${limits[0]?.name};q=2;w=60`);
      expect(refused.headers.get("retry-after")).toBeNull();
    },
  );

  it.each(withLimits.map((one) => [nameOf(one), one] as const))(
    "%s answers 429 with the quota and the wait, and takes requests again after it",
    async (_, endpoint) => {
      const t = await startInstance({ settings });
      const { path, ask } = await goodRequest(t, endpoint);
      const once = () => t.call(endpoint.spec.method, path, ask);
      const first = await once();
      expect(first.headers.get("ratelimit-limit")).toBe(endpoint.spec.limits[0]?.headers === "always" ? "2" : null);
      await once();
      // Where only refusals count, the first request did not: it was right.
      if (endpoint.spec.limits[0]?.counts === "refusals") await once();
      const limited = await once();
      expect(limited.status).toBe(429);
      expect(Object.keys(limited.body)).toEqual(Object.keys(faultBody(declared(endpoint, "rateLimited"), {})));
      const name = endpoint.spec.limits[0]?.name;
      expect(limited.headers.get("ratelimit-limit")).toBe("2");
      expect(limited.headers.get("ratelimit-remaining")).toBe("0");
      expect(limited.headers.get("ratelimit-reset")).toBe("60");
      expect(limited.headers.get("ratelimit-policy")?.split(", ")[0]).toBe(`${name};q=2;w=60`);
      expect(limited.headers.get("retry-after")).toBe("30");
      t.clock.advance(30_000);
      expect((await once()).status).not.toBe(429);
    },
  );

  it("counts a team's quota for the team, whichever of its devices sends", async () => {
    const { t, device: one } = await startWithDevice({ settings });
    const two = await t.device(one.team);
    const other = await t.device();
    const batch = { entries: [{ seq: 1, payload: {} }] };
    for (const { token } of [one, two])
      expect((await t.post("/api/telemetry/ingest", { token, json: batch })).status).toBe(200);
    expect((await t.post("/api/telemetry/ingest", { token: one.token, json: batch })).status).toBe(429);
    expect((await t.post("/api/telemetry/ingest", { token: other.token, json: batch })).status).toBe(200);
  });
});

describe("paths that are no endpoint", () => {
  it("answers unknown API paths with a JSON 404 that names the description", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const answer = await t.get("/api/nothing", { headers: { host: "evil.example" } });
    expect(answer.status).toBe(404);
    expect(answer.body).toMatchObject({
      ok: false,
      code: "not_found",
      hint: "The API is described at https://reckon.example/sub/openapi.json",
    });
    expect(answer.headers.get("service-api-version")).toBe("1");
  });

  it("answers under the base URL's sub-path as well", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub/" } });
    expect((await t.get("/sub/api/health")).status).toBe(200);
    expect((await t.get("/api/health")).status).toBe(200);
  });

  it("answers HEAD like GET without a body", async () => {
    const t = await startInstance();
    const answer = await t.call("HEAD", "/api/health");
    expect(answer.status).toBe(200);
    expect(answer.text).toBe("");
  });
});

it("declares every operation with an id of its own", () => {
  const ids = CONTRACT.map(({ spec }) => spec.id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const endpoint of CONTRACT)
    expect(new Set(faultsOf(endpoint).map((fault) => fault.name)).size).toBe(faultsOf(endpoint).length);
});
