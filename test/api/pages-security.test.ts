import { once } from "node:events";
import { get as httpGet, request as httpRequest, type IncomingMessage } from "node:http";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createCliToken } from "../../src/identity/device-flow/device-flow.ts";
import { createResetLink } from "../../src/identity/one-time-links/one-time-links.ts";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { findSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames, isOwnOrigin } from "../../src/platform/http/cookies.ts";
import { makeAccount } from "../support/accounts.ts";
import { answered, poll } from "../support/cli.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";

/** What guards the pages, seen over a real socket as browsers and forgers see it. */

const PASSWORD = "plough-the-north-field";
const FORM = "application/x-www-form-urlencoded";

interface Visit {
  readonly t: TestInstance;
  /** Where the socket is. */
  readonly socket: string;
  readonly baseUrl: string;
  /** The cookies that a browser holds. */
  readonly jar: Map<string, string>;
  ask(path: string, init?: RequestInit): Promise<Response>;
  post(path: string, fields: Record<string, string>, headers?: Record<string, string>): Promise<Response>;
  /** The token of the forms on a page. */
  csrf(path?: string): Promise<string>;
  signIn(): Promise<Response>;
}

async function visit(baseUrl?: string): Promise<Visit> {
  const t = await startInstance({ settings: { port: "0", ...(baseUrl === undefined ? {} : { baseUrl }) } });
  const answered = await t.instance.listen();
  const socket = `http://127.0.0.1:${t.instance.core.config.port}`;
  const team = await t.team();
  await makeAccount(t.instance.core, {
    email: "ada@example.com",
    team: { id: team.id, role: "owner" },
  });
  const jar = new Map<string, string>();
  const self: Visit = {
    t,
    socket,
    baseUrl: answered,
    jar,
    async ask(path, init = {}) {
      const headers = new Headers(init.headers);
      if (jar.size > 0 && !headers.has("cookie"))
        headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
      const reply = await fetch(socket + path, { redirect: "manual", ...init, headers });
      for (const cookie of reply.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) as unknown as [string, string, string];
        if (cookie.includes("Max-Age=0;") || cookie.endsWith("Max-Age=0")) jar.delete(name);
        else jar.set(name, value);
      }
      return reply;
    },
    post: (path, fields, headers = {}) =>
      self.ask(path, {
        method: "POST",
        headers: { "content-type": FORM, ...headers },
        body: new URLSearchParams(fields).toString(),
      }),
    async csrf(path = "/login") {
      return /name="_csrf" value="([^"]+)"/.exec(await (await self.ask(path)).text())?.[1] as string;
    },
    async signIn() {
      const _csrf = await self.csrf();
      return self.post("/login", { _csrf, email: "ada@example.com", password: PASSWORD });
    },
  };
  return self;
}

const sessions = (t: TestInstance) => t.rows("SELECT count(*) AS n FROM web_sessions WHERE ended_at IS NULL")[0].n;

describe("a form", () => {
  it("is refused without its token, with another browser's, and does nothing then", async () => {
    const { t, post, csrf, jar } = await visit();
    const credentials = { email: "ada@example.com", password: PASSWORD };
    expect((await post("/login", credentials)).status).toBe(403);
    const _csrf = await csrf();
    expect((await post("/login", { ...credentials, _csrf: `${_csrf}x` })).status).toBe(403);
    expect((await post("/login", { ...credentials, _csrf: "" })).status).toBe(403);
    const mine = new Map(jar);
    jar.clear();
    const others = await csrf();
    expect(others).not.toBe(_csrf);
    expect((await post("/login", { ...credentials, _csrf })).status).toBe(403);
    for (const [name, value] of mine) jar.set(name, value);
    expect([sessions(t), t.count("audit_events")]).toEqual([
      0,
      t.rows("SELECT count(*) AS n FROM audit_events WHERE action NOT LIKE 'session%'")[0].n,
    ]);
    expect((await post("/login", { ...credentials, _csrf })).status).toBe(303);
    // A form's token from before the sign-in is not valid after it.
    expect((await post("/account/name", { _csrf, name: "Mallory" })).status).toBe(403);
    expect((await post("/account/name", { name: "Mallory" })).status).toBe(403);
    expect(t.rows("SELECT name FROM users")).toEqual([{ name: null }]);
    expect((await post("/account/name", { _csrf: await csrf("/account"), name: "Ada" })).status).toBe(303);
    expect(t.rows("SELECT name FROM users")).toEqual([{ name: "Ada" }]);
  });

  it("does nothing for a team that another tab has switched to meanwhile", async () => {
    const { t, post, csrf, signIn, ask } = await visit();
    await signIn();
    const [ada] = t.rows("SELECT id FROM users");
    const second = await t.team({ name: "Second" });
    t.instance.core.store.db
      .prepare("INSERT INTO memberships (team_id, user_id, role, created_at) VALUES (?, ?, 'owner', 0)")
      .run(second.id, ada.id);
    const first = t.rows("SELECT id, name FROM teams WHERE id <> ?", second.id)[0];
    const left = await csrf("/people");
    expect((await post("/team", { _csrf: left, team: second.id })).status).toBe(303);
    const before = [t.rows("SELECT * FROM memberships"), t.count("connect_codes"), t.count("one_time_links")];
    for (const [path, fields] of [
      ["/people/leave", {}],
      ["/people/invitations", { role: "owner" }],
      ["/devices/codes", {}],
      ["/license/mint", {}],
    ] as const) {
      const reply = await post(path, { _csrf: left, ...fields });
      const text = await reply.text();
      expect([path, reply.status]).toEqual([path, 409]);
      expect(text).toContain(`You look at Second now, and this form was for ${first.name}.`);
    }
    expect([t.rows("SELECT * FROM memberships"), t.count("connect_codes"), t.count("one_time_links")]).toEqual(before);
    // What belongs to the person and not to a team still works in the tab left open: their name, and going back.
    expect((await post("/account/name", { _csrf: left, name: "Ada" })).status).toBe(303);
    expect((await post("/team", { _csrf: left, team: first.id })).status).toBe(303);
    expect((await post("/devices/codes", { _csrf: left })).status).toBe(200);
    expect((await ask("/devices")).status).toBe(200);
  });

  it("is refused to whoever may not send it before a byte of it is read", async () => {
    const { t, signIn, jar, socket } = await visit();
    const { hostname, port } = new URL(socket);
    const headOnly = async (path: string) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const headers = { cookie, "content-type": FORM, "content-length": 2 * 1024 * 1024 };
      const request = httpRequest({ hostname, port, path, method: "POST", headers });
      request.flushHeaders();
      const [{ statusCode }] = (await once(request, "response")) as [IncomingMessage];
      request.on("error", () => {}).destroy();
      return statusCode;
    };
    for (const path of ["/packs/new", "/policy", "/people/leave"])
      expect([path, await headOnly(path)]).toEqual([path, 303]);
    await signIn();
    t.instance.core.store.db.exec("UPDATE memberships SET role = 'member'");
    expect(await headOnly("/packs/new")).toBe(403);
    expect(await headOnly("/policy")).toBe(403);
    expect(await headOnly("/settings/teams")).toBe(403);
  });

  it("is judged by the rights that hold once its body has arrived, not when it began", async () => {
    const { t, csrf, signIn, jar, socket } = await visit();
    await signIn();
    const _csrf = await csrf("/people");
    const { hostname, port } = new URL(socket);
    /** Sends a form whose last byte waits until something has happened. */
    const held = async (path: string, fields: Record<string, string>, meanwhile: () => Promise<unknown> | unknown) => {
      const body = new URLSearchParams({ _csrf, ...fields }).toString();
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
      const request = httpRequest({
        hostname,
        port,
        path,
        method: "POST",
        headers: { cookie, "content-type": FORM, "content-length": body.length, expect: "100-continue" },
      });
      const reply = once(request, "response") as Promise<[IncomingMessage]>;
      request.write(body.slice(0, 5));
      // The server says so once it has read the head and called whoever answers it.
      await once(request, "continue");
      await meanwhile();
      request.end(body.slice(5));
      const [{ statusCode, headers }] = await reply;
      return [statusCode, headers.location];
    };
    const db = t.instance.core.store.db;
    expect(await held("/devices/binding", {}, () => db.exec("UPDATE memberships SET role = 'member'"))).toEqual([
      403,
      undefined,
    ]);
    expect(t.rows("SELECT DISTINCT binding_closed_at FROM teams")).toEqual([{ binding_closed_at: null }]);
    db.exec("UPDATE memberships SET role = 'owner'");
    expect(
      await held("/people/invitations", { role: "admin" }, () => db.exec("UPDATE memberships SET role = 'member'")),
    ).toEqual([403, undefined]);
    expect(t.count("one_time_links")).toBe(0);
    expect(
      await held("/my-brain/tokens", { name: "x", lifetime: "365" }, () =>
        db.exec("UPDATE web_sessions SET ended_at = 1"),
      ),
    ).toEqual([303, "/login?next=%2Fmy-brain%2Ftokens"]);
    expect(t.count("read_tokens")).toBe(0);
  });

  it("that signs in from a second tab leads on where the first tab is signed in already", async () => {
    const { t, post, csrf, signIn } = await visit();
    const second = await csrf("/login?next=/audit");
    await signIn();
    const reply = await post("/login", { _csrf: second, next: "/audit", email: "ada@example.com", password: "wrong" });
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/audit"]);
    expect(t.rows("SELECT count(*) AS n FROM audit_events WHERE action = 'session.refused'")[0].n).toBe(0);
  });

  it("leads back to its page when its address is opened", async () => {
    const { t, ask, signIn } = await visit("https://example.com/sub");
    await signIn();
    const [team] = t.rows("SELECT id, name FROM teams");
    const device = await t.device(team);
    for (const [path, location] of [
      ["/account/password", "/sub/account"],
      ["/my-brain/tokens", "/sub/my-brain"],
      ["/login/device/approve", "/sub/login/device"],
      [`/devices/${device.deviceId}/revoke`, `/sub/devices/${device.deviceId}`],
      // Of every page: for who is signed in, the sign-in leads on to the overview.
      ["/team", "/sub/login"],
    ] as const)
      for (const prefix of ["", "/sub"]) {
        const reply = await ask(prefix + path, { headers: { accept: "text/html" } });
        expect([path, reply.status, reply.headers.get("location")]).toEqual([path, 303, location]);
        expect((await ask(location.slice(4), { headers: { accept: "text/html" } })).status).toBeLessThan(400);
      }
    const machine = await ask("/account/password", { headers: { accept: "application/json" } });
    expect([machine.status, machine.headers.get("allow")]).toEqual([405, "POST"]);
  });

  it("is taken as a form alone: not as JSON, not as text, not over its size", async () => {
    const { t, ask, csrf, signIn } = await visit();
    await signIn();
    const _csrf = await csrf("/account");
    const send = async (type: string, body: string) =>
      (await ask("/account/name", { method: "POST", headers: { "content-type": type }, body })).status;
    expect(await send("application/json", JSON.stringify({ _csrf, name: "x" }))).toBe(400);
    expect(await send("text/plain", `_csrf=${_csrf}&name=x`)).toBe(400);
    expect(await send("multipart/form-data; boundary=x", `--x\r\n\r\n--x--`)).toBe(400);
    expect(await send(FORM, `_csrf=${_csrf}&name=${"x".repeat(70_000)}`)).toBe(413);
    expect(t.rows("SELECT name FROM users")).toEqual([{ name: null }]);
  });

  it("judges origins by what browsers send", () => {
    const judge = (site: string | null, origin: string | null, host: string | null = "10.0.0.5:4870") =>
      isOwnOrigin({ site, origin, host }, "https://reckon.example.com/sub");
    expect([
      judge("same-origin", "https://reckon.example.com"),
      judge(null, "https://reckon.example.com"),
      judge(null, null),
    ]).toEqual([true, true, true]);
    // Over plain http on a local network browsers send no Sec-Fetch-Site; the host that was asked decides.
    expect([
      judge(null, "http://10.0.0.5:4870"),
      judge(null, "http://10.0.0.6:4870"),
      judge(null, "http://10.0.0.5:4871"),
    ]).toEqual([true, false, false]);
    expect([
      judge("cross-site", "https://reckon.example.com"),
      judge(null, "not an origin"),
      judge(null, "null"),
    ]).toEqual([false, false, false]);
  });
});

describe("a page", () => {
  it("is shown while nothing can be stored, long after the session was used last", async () => {
    const { t, ask, signIn } = await visit();
    await signIn();
    const { db } = t.instance.core.store;
    const [{ page_count: pages }] = db.pragma("page_count") as [{ page_count: number }];
    const device = await t.device();
    db.pragma(`max_page_count = ${pages}`);
    // The server knows that the disk is full once a delivery found no room.
    const send = (seq: number) =>
      t.post("/api/telemetry/ingest", {
        token: device.token,
        json: { entries: [{ seq, payload: { pad: "x".repeat(60_000) } }] },
      });
    let seq = 1;
    while ((await send(seq)).status !== 503) seq++;
    t.clock.advance(120_000);
    const seen = t.rows("SELECT last_seen_at FROM web_sessions");
    for (const path of ["/overview", "/account", "/telemetry"])
      expect([path, (await ask(path, { headers: { accept: "text/html" } })).status]).toEqual([path, 200]);
    db.pragma("max_page_count = 1000000");
    await ask("/overview");
    expect(t.rows("SELECT last_seen_at FROM web_sessions")[0].last_seen_at).toBe(seen[0].last_seen_at + 120_000);
  });
});

describe("a new password", () => {
  it("set through a link ends every earlier token, and what was approved for a tool and not fetched yet", async () => {
    const { t, post, csrf } = await visit();
    const { core } = t.instance;
    const [ada] = t.rows("SELECT id, email FROM users");
    const cli = await createCliToken(core, ada, COMMAND_LINE);
    const read = await createReadToken(core, { userId: ada.id, name: "integration" }, COMMAND_LINE);
    const { deviceCode } = await answered(t, "approved", ada);
    const alive = async () => [
      (await t.get("/api/cli/me", { token: cli.accessToken })).status,
      (await t.get("/api/me/brain/context?q=x", { token: read.token })).status,
    ];
    expect(await alive()).toEqual([200, 200]);
    const reset = async (keep: Record<string, string>) => {
      const { token, path } = await createResetLink(core, ada.id, COMMAND_LINE);
      const password = "another pass phrase";
      const reply = await post("/reset-password", {
        _csrf: await csrf(path),
        token,
        password,
        again: password,
        ...keep,
      });
      expect([reply.status, reply.headers.get("location")]).toEqual([303, "/overview"]);
    };
    await reset({ keep: "yes" });
    expect(await alive()).toEqual([200, 200]);
    // Somebody else, who knew the old password, may have approved it.
    expect((await poll(t, deviceCode)).body.error).toBe("invalid_grant");
    await reset({});
    expect(await alive()).toEqual([401, 401]);
    expect(t.rows("SELECT action FROM audit_events WHERE action LIKE '%token.revoked' ORDER BY id")).toEqual([
      { action: "cli_token.revoked" },
      { action: "read_token.revoked" },
    ]);
  });

  it("chosen in the account ends the tokens if the person asks for that", async () => {
    const { t, post, csrf, signIn } = await visit();
    await signIn();
    const [ada] = t.rows("SELECT id, email FROM users");
    const read = await createReadToken(t.instance.core, { userId: ada.id, name: "integration" }, COMMAND_LINE);
    const change = async (current: string, password: string, end: Record<string, string>) =>
      (await post("/account/password", { _csrf: await csrf("/account"), current, password, again: password, ...end }))
        .status;
    const status = async () => (await t.get("/api/me/brain/context?q=x", { token: read.token })).status;
    expect([await change(PASSWORD, "another pass phrase", {}), await status()]).toEqual([303, 200]);
    expect([await change("another pass phrase", PASSWORD, { end: "yes" }), await status()]).toEqual([303, 401]);
  });
});

describe("the session's cookie", () => {
  it("is out of reach of scripts and other sites, and named by port over plain http", async () => {
    const { signIn, baseUrl } = await visit();
    const cookie = (await signIn()).headers.getSetCookie().find((one) => one.startsWith("reckon-")) as string;
    const port = new URL(baseUrl).port;
    expect(cookie).toMatch(new RegExp(`^reckon-${port}=rks_\\w{36}; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000$`));
  });

  it("is Secure and of this host alone over https", async () => {
    const { signIn, ask, jar } = await visit("https://reckon.example.com");
    const reply = await signIn();
    const cookies = reply.headers.getSetCookie();
    expect(cookies.find((one) => one.startsWith("__Host-reckon="))).toMatch(
      /^__Host-reckon=rks_\w{36}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000; Secure$/,
    );
    for (const one of cookies) expect(one).toMatch(/^__Host-.*; Path=\/;.*; Secure$/);
    expect((await ask("/account")).status).toBe(200);
    // Cookies without the __Host- prefix, which a page over http could set, are ignored.
    const token = jar.get("__Host-reckon") as string;
    expect((await ask("/account", { headers: { cookie: `reckon=${token}; reckon-443=${token}` } })).status).toBe(303);
    expect(cookieNames("https://reckon.example.com:8443/x").session).toBe("__Host-reckon");
  });

  it("is new at every sign-in, and the one before no longer works", async () => {
    const { t, signIn, jar, baseUrl, post, csrf } = await visit();
    const name = cookieNames(baseUrl).session;
    // A token that somebody planted opens nothing and is not taken over.
    const planted = `rks_${"0".repeat(36)}`;
    jar.set(name, planted);
    await signIn();
    const first = jar.get(name) as string;
    expect(first).not.toBe(planted);
    const again = await post("/login", { _csrf: await csrf("/account"), email: "ada@example.com", password: PASSWORD });
    expect(again.status).toBe(303);
    const second = jar.get(name) as string;
    const { core } = t.instance;
    expect([second === first, findSession(core, first), findSession(core, second)?.email, sessions(t)]).toEqual([
      false,
      undefined,
      "ada@example.com",
      1,
    ]);
  });

  it("of another person in the same browser ends with the next sign-in, by a password or a link", async () => {
    const { t, signIn, jar, baseUrl, post, csrf } = await visit();
    const { core } = t.instance;
    const bob = await makeAccount(core, { email: "bob@example.com" });
    const held = () => jar.get(cookieNames(baseUrl).session) as string;
    await signIn();
    const ada = held();
    await post("/login", { _csrf: await csrf("/account"), email: bob.email, password: PASSWORD });
    const bobs = held();
    expect([findSession(core, ada), findSession(core, bobs)?.email]).toEqual([undefined, bob.email]);
    const { token } = await createResetLink(core, "ada@example.com", COMMAND_LINE);
    const again = "harrow-the-south-field";
    await post("/reset-password", { _csrf: await csrf("/account"), token, password: again, again });
    expect([findSession(core, bobs), findSession(core, held())?.email]).toEqual([undefined, "ada@example.com"]);
  });

  it("ends with signing out, in the browser and in the store, and an ended one is removed", async () => {
    const { t, signIn, jar, baseUrl, post, csrf, ask } = await visit();
    await signIn();
    const name = cookieNames(baseUrl).session;
    const token = jar.get(name) as string;
    const out = await post("/logout", { _csrf: await csrf("/account") });
    expect(out.headers.getSetCookie().find((one) => one.startsWith(`${name}=`))).toContain(`${name}=; Path=/`);
    expect([jar.has(name), sessions(t)]).toEqual([false, 0]);
    const late = await ask("/account", { headers: { cookie: `${name}=${token}` } });
    expect([late.status, late.headers.get("location")]).toEqual([303, "/login?next=%2Faccount"]);
    expect(late.headers.getSetCookie().some((one) => one.startsWith(`${name}=;`))).toBe(true);
  });

  it("is, once ended, removed by no reply that a shared cache may keep", async () => {
    const { t, signIn, jar, baseUrl, ask } = await visit();
    await signIn();
    const { session } = cookieNames(baseUrl);
    const cookie = `${session}=${jar.get(session)}`;
    t.instance.core.store.db.exec("UPDATE web_sessions SET ended_at = 1");
    const front = await (await ask("/", { headers: { cookie } })).text();
    const assets = [...front.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path]) => path as string);
    expect(assets.length).toBeGreaterThan(1);
    for (const path of [...assets, "/llms.txt", "/robots.txt", "/docs.md", "/docs/"]) {
      const reply = await ask(path, { headers: { cookie } });
      expect([path, reply.headers.get("cache-control"), reply.headers.getSetCookie()]).toEqual([
        path,
        expect.stringContaining("public"),
        [],
      ]);
    }
    const page = await ask("/docs", { headers: { cookie } });
    expect(page.headers.getSetCookie()).toEqual([expect.stringMatching(new RegExp(`^${session}=;.*Max-Age=0`))]);
  });

  it("opens no endpoint of the API, and bearer tokens open no page", async () => {
    const { t, signIn, jar, baseUrl, ask } = await visit();
    await signIn();
    const token = jar.get(cookieNames(baseUrl).session) as string;
    const device = await t.device();
    expect((await ask("/api/policy")).status).toBe(401);
    expect((await ask("/api/policy", { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    expect((await ask("/api/cli/me", { headers: { authorization: `Bearer ${token}` } })).status).toBe(401);
    jar.clear();
    for (const bearer of [token, device.token])
      expect((await ask("/account", { headers: { authorization: `Bearer ${bearer}`, cookie: "none=1" } })).status).toBe(
        303,
      );
    expect(
      (await ask("/account", { headers: { cookie: `${cookieNames(baseUrl).session}=${device.token}` } })).status,
    ).toBe(303);
  });
});

describe("going on after signing in", () => {
  it("leads to a path of this site or to the overview, never elsewhere", async () => {
    const { post, csrf, jar } = await visit();
    const cases: [string, string][] = [
      ["/people?q=a%20b", "/people?q=a%20b"],
      ["//evil.example/x", "/overview"],
      ["/\\evil.example", "/overview"],
      ["/a\\..\\\\evil.example", "/overview"],
      ["https://evil.example", "/overview"],
      ["javascript:alert(1)", "/overview"],
      ["/\t/evil.example", "/overview"],
      ["/x\r\nset-cookie: a=b", "/overview"],
      ["", "/overview"],
    ];
    for (const [next, location] of cases) {
      jar.clear();
      const reply = await post("/login", { _csrf: await csrf(), next, email: "ada@example.com", password: PASSWORD });
      expect([next, reply.status, reply.headers.get("location")]).toEqual([next, 303, location]);
      expect(reply.headers.get("set-cookie")).not.toContain("a=b");
    }
  });

  it("keeps the address that was asked for", async () => {
    const { ask } = await visit();
    const reply = await ask("/audit?q=x&from=2026-11-21");
    expect([reply.status, reply.headers.get("location")]).toEqual([
      303,
      `/login?next=${encodeURIComponent("/audit?q=x&from=2026-11-21")}`,
    ]);
  });
});

describe("below a sub-path", () => {
  it("links, forms, redirects and assets stay below it, whether a proxy strips it or not", async () => {
    const { ask, post, csrf, jar } = await visit("https://example.com/tools/reckon");
    for (const prefix of ["", "/tools/reckon"]) {
      jar.clear();
      const page = await ask(`${prefix}/login`);
      const text = await page.text();
      const addresses = [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)]
        .map((match) => match[1] as string)
        .filter((one) => !/^(?:#|data:)/.test(one));
      expect(addresses.length).toBeGreaterThan(3);
      for (const one of addresses) expect(one).toMatch(/^\/tools\/reckon\//);
      const script = addresses.find((one) => one.endsWith("script.js")) as string;
      expect((await ask(script)).status).toBe(200);
      const reply = await post(`${prefix}/login`, {
        _csrf: await csrf(`${prefix}/login`),
        email: "ada@example.com",
        password: PASSWORD,
      });
      expect([reply.status, reply.headers.get("location")]).toEqual([303, "/tools/reckon/overview"]);
      expect((await ask(`${prefix}/account`)).status).toBe(200);
    }
    jar.clear();
    const away = await ask("/tools/reckon/people");
    expect(away.headers.get("location")).toBe("/tools/reckon/login?next=%2Fpeople");
  });
});

describe("every page", () => {
  it("has the headers that restrict browsers, is not cached, and reveals nothing of the inside", async () => {
    const { ask, signIn } = await visit();
    await signIn();
    for (const path of ["/account", "/people", "/nothing-here", "/settings"]) {
      const reply = await ask(path, { headers: { accept: "text/html" } });
      const policy = reply.headers.get("content-security-policy") ?? "";
      expect([path, policy.includes("default-src 'none'"), policy.includes("unsafe")]).toEqual([path, true, false]);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cache-control": "no-store",
        "content-type": "text/html; charset=utf-8",
      });
      const text = await reply.text();
      expect(text).not.toMatch(/<script>|\sstyle="|\son\w+="/);
    }
  });

  it("answers HEAD as GET without a body, and other methods 405", async () => {
    const { ask } = await visit();
    const head = await ask("/login", { method: "HEAD" });
    expect([head.status, await head.text(), head.headers.get("content-type")]).toEqual([
      200,
      "",
      "text/html; charset=utf-8",
    ]);
    for (const method of ["PUT", "DELETE", "PATCH"]) {
      const reply = await ask("/login", { method });
      expect([method, reply.status, reply.headers.get("allow")]).toEqual([method, 405, "GET, POST, HEAD"]);
    }
    const posted = await ask("/audit", { method: "POST" });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("that does not exist is a page for browsers and JSON for others", async () => {
    const { ask } = await visit();
    const html = await ask("/no/such/page", { headers: { accept: "text/html,*/*;q=0.8" } });
    expect([html.status, html.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(await html.text()).toContain("There is nothing at this address.");
    for (const [path, accept] of [
      ["/no/such/page", "application/json"],
      ["/no/such/page", "*/*"],
      ["/api/nothing", "text/html"],
    ] as const) {
      const reply = await ask(path, { headers: { accept } });
      expect([path, accept, reply.status, reply.headers.get("content-type")]).toEqual([
        path,
        accept,
        404,
        expect.stringContaining("application/json"),
      ]);
    }
  });

  it("is refused when two hosts are named", async () => {
    const { socket } = await visit();
    const { hostname, port } = new URL(socket);
    const status = await new Promise((resolve, reject) => {
      const request = httpGet(
        { hostname, port, path: "/login", headers: ["Host", `${hostname}:${port}`, "Host", "evil.example"] },
        (reply) => {
          reply.resume();
          resolve(reply.statusCode);
        },
      );
      request.on("error", reject);
    });
    expect(status).toBe(400);
  });

  it("builds no address from the Host header", async () => {
    const { socket } = await visit("https://reckon.example.com");
    const { hostname, port } = new URL(socket);
    const text = await new Promise<string>((resolve, reject) => {
      const request = httpGet(
        { hostname, port, path: "/login", headers: { host: "evil.example", "x-forwarded-host": "evil.example" } },
        (reply) => {
          let body = JSON.stringify(reply.headers);
          reply.setEncoding("utf8").on("data", (chunk) => {
            body += chunk;
          });
          reply.on("end", () => resolve(body));
        },
      );
      request.on("error", reject);
    });
    expect(text).toContain("Sign in");
    expect(text).not.toContain("evil.example");
  });
});

describe("a page of the dashboard", () => {
  /** The reply's bytes as they were sent. */
  async function raw(v: Visit, path: string, coding: string | undefined, method = "GET") {
    const cookie = [...v.jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const headers = { cookie, ...(coding === undefined ? {} : { "accept-encoding": coding }) };
    const [reply] = (await once(httpRequest(v.socket + path, { method, headers }).end(), "response")) as [
      IncomingMessage,
    ];
    const chunks: Buffer[] = [];
    for await (const chunk of reply) chunks.push(chunk);
    return { headers: reply.headers, bytes: Buffer.concat(chunks) };
  }

  it("comes compressed to whoever takes gzip, with the same content; a public page never does", async () => {
    const v = await visit();
    await v.signIn();
    // Its forms carry another token each time.
    const textOf = (bytes: Buffer) => bytes.toString().replaceAll(/(?<=name="_csrf" value=")[^"]+/g, "");
    const plain = await raw(v, "/account", undefined);
    expect([plain.headers["content-encoding"], plain.headers.vary]).toEqual([undefined, "Accept-Encoding"]);
    for (const coding of ["gzip", "br, gzip;q=0.5", "*", "deflate, GZIP"]) {
      const packed = await raw(v, "/account", coding);
      expect(packed.headers).toMatchObject({ "content-encoding": "gzip", vary: "Accept-Encoding" });
      expect(packed.headers["content-length"]).toBe(String(packed.bytes.length));
      expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 2);
      expect(textOf(gunzipSync(packed.bytes))).toBe(textOf(plain.bytes));
    }
    for (const coding of ["identity", "br", "gzip;q=0", "*, gzip; q=0.000", "gzipped"])
      expect(textOf((await raw(v, "/account", coding)).bytes)).toBe(textOf(plain.bytes));
    const head = await raw(v, "/account", "gzip", "HEAD");
    expect([head.headers["content-encoding"], head.bytes.length]).toEqual(["gzip", 0]);
    v.jar.clear();
    expect((await raw(v, "/docs", "gzip")).headers).not.toHaveProperty("content-encoding");
  });
});
