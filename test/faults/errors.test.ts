import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Data, makeData, removeData } from "./support/data.ts";
import { ask, askBytes, type RawAsk, type RawReply } from "./support/http.ts";
import { type Running, serve } from "./support/process.ts";
import { expectJsonRefusal, expectNoInternals, runKeyPem, testData, testServer } from "./support/test.ts";

const CONTROLS = 'a\r\nb\u0000c\u001b[31md\u0007e\u0085f\u2028g\u2029h\u009bi"j\\k';
const EXCHANGE = "/api/connect/exchange";
const guess = JSON.stringify({ code: "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA", consent: { version: "1" } });

let data: Data;
let server: Running;
beforeAll(async () => {
  data = await makeData({ keyPem: runKeyPem() });
  server = await serve(data.directory, { env: { RECKON_LOG: "debug", RECKON_LIMIT_EXCHANGE: "off" } });
});
afterAll(async () => {
  await server.end("SIGKILL");
  removeData(data.directory);
});
const token = () => data.devices[0]?.token as string;

/** Requests that are refused for every reason there is. */
const WRONG: readonly RawAsk[] = [
  { path: "/api/license" },
  { path: "/api/license", token: "x" },
  { path: "/api/nothing" },
  { method: "DELETE", path: "/api/health" },
  { path: "/api/health", headers: { "service-api-version": "9" } },
  { path: EXCHANGE, body: "{" },
  { path: EXCHANGE, body: guess },
  { path: EXCHANGE, body: JSON.stringify({ code: CONTROLS, consent: { version: CONTROLS } }) },
  { path: "/api/telemetry/ingest", body: "{}" },
  { method: "POST", path: "/api/connect/rotate", token: "x", headers: { "content-length": "0" } },
  { path: "/api/brain/search", token: "x" },
];

describe("error replies", () => {
  it("hold no stack, SQL, path or library name, and are JSON", async () => {
    for (const what of WRONG) expectJsonRefusal(await ask(server.port, what), [400, 401, 404, 405]);
    for (const path of ["/api/telemetry/ingest", "/api/brain/ingest", "/api/agent-traces/ingest"])
      for (const body of [
        "[]",
        '{"entries":"x","version":"x","sessions":"x"}',
        '{"entries":[1],"version":1,"files":[1],"sessions":[1]}',
        "nope",
        '{"a":"\\ud800"}',
      ])
        expectJsonRefusal(await ask(server.port, { path, token: token(), body }), 400);
  });

  it("with status 401 carry WWW-Authenticate, with invalid_token only when a token was sent", async () => {
    const get = (headers: Record<string, string>) => ask(server.port, { path: "/api/policy", headers });
    for (const headers of [
      {},
      { authorization: "Basic eDp5" },
      { authorization: "Bearer" },
      { authorization: "Bearer " },
      { authorization: "" },
    ] as Record<string, string>[]) {
      const reply = await get(headers);
      expectJsonRefusal(reply, 401);
      expect(reply.headers.get("www-authenticate")).toBe("Bearer");
    }
    const wrong = [
      "x",
      "rkd_x",
      token().replace(/.$/, (last) => (last === "0" ? "1" : "0")),
      token().replace("rkd_", "rkr_"),
      `${token()}x`,
      `"${token()}"`,
      token().toLowerCase(),
      "\u00e9",
    ];
    for (const bearer of wrong) {
      const reply = await get({ authorization: `Bearer ${bearer}` });
      expectJsonRefusal(reply, 401);
      expect(reply.headers.get("www-authenticate")).toMatch(/^Bearer .*error="invalid_token"/);
    }
    expect((await get({ authorization: `bEaReR   ${token()}` })).status).toBe(200);
    for (const [method, path] of [
      ["POST", "/api/connect/rotate"],
      ["POST", "/api/connect/disconnect"],
      ["GET", "/api/license"],
      ["POST", "/api/telemetry/ingest"],
      ["POST", "/api/telemetry/heartbeat"],
      ["POST", "/api/brain/ingest"],
      ["GET", "/api/brain/search?q=a"],
      ["POST", "/api/agent-traces/ingest"],
    ] as const) {
      const reply = await ask(server.port, { method, path, headers: { "content-length": "0" } });
      expectJsonRefusal(reply, 401);
      expect(reply.headers.get("www-authenticate"), path).toBe("Bearer");
    }
  });

  it("and replies with tokens are never stored by caches", async () => {
    for (const what of WRONG) expect((await ask(server.port, what)).headers.get("cache-control")).toBe("no-store");
    const own = await testData({ codes: 1 });
    const fresh = await testServer(own.directory);
    const exchanged = await ask(fresh.port, {
      path: EXCHANGE,
      body: JSON.stringify({ code: own.codes[0], consent: { version: "1" } }),
    });
    expect(exchanged.status).toBe(200);
    expect(exchanged.headers.get("cache-control")).toBe("no-store");
    const rotated = await ask(fresh.port, {
      method: "POST",
      path: "/api/connect/rotate",
      token: JSON.parse(exchanged.body).deviceToken,
      headers: { "content-length": "0" },
    });
    expect(rotated.status).toBe(200);
    expect(rotated.headers.get("cache-control")).toBe("no-store");
    expect(
      (await ask(fresh.port, { path: "/api/license", token: JSON.parse(rotated.body).deviceToken })).headers.get(
        "cache-control",
      ),
    ).toBe("no-store");
  });
});

describe("the log", () => {
  it("is one JSON object a line, whatever clients put into their fields", async () => {
    const label = [...CONTROLS].filter((char) => char >= " " && char !== "\u007f").join("");
    for (const text of [CONTROLS, label, '"}\n{"level":"error","event":"forged"}']) {
      const encoded = encodeURIComponent(text);
      await ask(server.port, { path: `/api/${encoded}?q=${encoded}` });
      await ask(server.port, { path: `/api/brain/search?q=${encoded}&repoKey=${encoded}`, token: token() });
      await ask(server.port, {
        path: EXCHANGE,
        body: JSON.stringify({ code: text, consent: { version: text, deviceLabel: text } }),
      });
      await ask(server.port, {
        path: "/api/telemetry/ingest",
        token: token(),
        body: JSON.stringify({ repoKey: text, mode: text, entries: [{ seq: 1, payload: { text } }] }),
      });
      await ask(server.port, {
        path: "/api/brain/ingest",
        token: token(),
        body: JSON.stringify({ version: 1, repoKey: text, files: [{ path: text, content: text }] }),
      });
      await ask(server.port, {
        path: "/api/agent-traces/ingest",
        token: token(),
        body: JSON.stringify({ repoKey: text, sessions: [{ id: text, outcome: text, spans: [{ id: text }] }] }),
      });
      await askBytes(
        server.port,
        Buffer.from(`GET /${encoded} HTTP/1.1\r\nHost: a\r\nUser-Agent: {"event":"forged"}\r\n\r\n`),
      );
    }
    const lines = server.stderr().trim().split("\n");
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const parsed = JSON.parse(line);
      expect(Object.keys(parsed).slice(0, 3)).toEqual(["at", "level", "event"]);
      expect(parsed.event).not.toBe("forged");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not stand there
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
    }
  });
});

describe("addresses and hosts that clients claim", () => {
  /** Sends guesses until the quota of three is used up. @returns statuses in order */
  async function guesses(port: number, forwarded: readonly (string | undefined)[]): Promise<number[]> {
    const statuses: number[] = [];
    for (const value of forwarded) {
      const reply = await ask(port, {
        path: EXCHANGE,
        body: guess,
        ...(value === undefined ? {} : { headers: { "x-forwarded-for": value } }),
      });
      statuses.push(reply.status);
      if (reply.status === 429) {
        expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(reply.headers.get("ratelimit-policy")).toMatch(/^exchange;q=3;w=\d+$/);
        expectNoInternals(reply.body);
      }
    }
    return statuses;
  }
  const QUOTA = { RECKON_LIMIT_EXCHANGE: "3/3600" };

  it("X-Forwarded-For is ignored from a peer that is no trusted proxy", async () => {
    const own = await testData();
    const { port } = await testServer(own.directory, { env: QUOTA });
    expect(
      await guesses(port, ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", undefined, "::1", "127.0.0.1"]),
    ).toEqual([404, 404, 404, 429, 429, 429, 429]);
  });

  it("X-Forwarded-For of a trusted proxy counts by its rightmost untrusted hop, IPv6 by /64", async () => {
    const own = await testData();
    const { port } = await testServer(own.directory, {
      env: { ...QUOTA, RECKON_TRUSTED_PROXIES: "127.0.0.0/8,10.0.0.0/8" },
    });
    // Addresses left of the client are its own claim and change nothing; trusted hops to the right are passed over.
    expect(
      await guesses(port, [
        "192.0.2.1",
        "1.1.1.1, 192.0.2.1",
        "2.2.2.2,3.3.3.3,192.0.2.1, 10.1.2.3",
        "4.4.4.4, 192.0.2.1",
      ]),
    ).toEqual([404, 404, 404, 429]);
    expect(await guesses(port, ["192.0.2.2"])).toEqual([404]);
    expect(
      await guesses(port, [
        "2001:db8:1:2::1",
        "2001:db8:1:2:ffff::2",
        "2001:0DB8:0001:0002::3",
        "[2001:db8:1:2::4]:443",
        "2001:db8:1:3::1",
      ]),
    ).toEqual([404, 404, 404, 429, 404]);
    // One address has one quota however it is spelled.
    expect(await guesses(port, ["192.0.2.9", "::ffff:192.0.2.9", "192.0.2.9:1234", "::ffff:c000:209"])).toEqual([
      404, 404, 404, 429,
    ]);
    // Nonsense counts against the peer itself, never against a quota of its own.
    expect(await guesses(port, ["nonsense", "999.1.1.1", "1.2.3", "", "unknown", "' OR 1=1"])).toEqual([
      404, 404, 404, 429, 429, 429,
    ]);
  });

  it("a poisoned Host appears in no reply: not in hints, not in the OpenAPI document, not in a licence", async () => {
    const seen: RawReply[] = [];
    for (const poison of ["evil.example", "evil.example:8080", "evil.example/../x"])
      for (const path of [
        "/api/nothing",
        "/openapi.json",
        "/api/license",
        "/api/license/pubkey",
        "/.well-known/jwks.json",
        "/api/policy",
        "/api/health",
      ])
        seen.push(
          await ask(server.port, {
            path,
            token: token(),
            headers: {
              host: poison,
              "x-forwarded-host": poison,
              forwarded: `host=${poison};proto=https`,
              "x-forwarded-proto": "https",
              "x-original-url": "/evil",
              "x-rewrite-url": "/evil",
              origin: `https://${poison}`,
            },
          }),
        );
    for (const { head, body } of seen) {
      expect(head + body).not.toContain("evil");
      const license = body.startsWith("{") ? JSON.parse(body).license : undefined;
      if (license) expect(JSON.parse(Buffer.from(license.split(".")[1], "base64url").toString()).iss).toBe(server.url);
    }
    const openapi = JSON.parse(
      (await ask(server.port, { path: "/openapi.json", headers: { host: "evil.example" } })).body,
    );
    expect(openapi.servers).toEqual([{ url: server.url }]);
  });
});
