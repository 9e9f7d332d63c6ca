import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Data, makeData, removeData, rowsOf } from "./support/data.ts";
import { ask, askBytes, RawSocket, requestBytes } from "./support/http.ts";
import { launch, type Running, serve, until, within } from "./support/process.ts";
import { expectJsonRefusal, runKeyPem, servedData, testData, testServer } from "./support/test.ts";

const HEALTH = "GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n";

describe("requests on a raw socket", () => {
  let data: Data;
  let server: Running;
  let port: number;
  beforeAll(async () => {
    data = await makeData({ keyPem: runKeyPem() });
    server = await serve(data.directory);
    port = server.port;
  });
  afterAll(async () => {
    await server.end("SIGKILL");
    removeData(data.directory);
  });
  const token = () => (data.devices[0] as { token: string }).token;
  const telemetry = (seq: number) => JSON.stringify({ repoKey: "raw", entries: [{ seq, payload: { n: seq } }] });

  /** Requests that a front proxy and this server could read differently. Each must be refused, and its connection with it. */
  const SMUGGLED: readonly (readonly [name: string, bytes: string])[] = [
    [
      "Content-Length with Transfer-Encoding",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    [
      "Transfer-Encoding before Content-Length",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    ],
    [
      "two different Content-Lengths",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 30\r\n\r\n{}GET /api/health HTTP/1.1\r\n\r\n",
    ],
    [
      "two equal Content-Lengths",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    ],
    ["a list as Content-Length", "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\n{}"],
    ["a signed Content-Length", "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\n{}"],
    ["a negative Content-Length", "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n{}"],
    ["a hexadecimal Content-Length", "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 0x2\r\n\r\n{}"],
    [
      "an overflowing Content-Length",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n{}",
    ],
    [
      "Transfer-Encoding: identity",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
    ],
    [
      "chunked not last",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    ],
    [
      "chunked misspelled with a control character",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \u000bchunked\r\n\r\n0\r\n\r\n",
    ],
    [
      "a space before the colon",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    ],
    ["a folded header line", "GET /api/health HTTP/1.1\r\nHost: a\r\nX-Folded: one\r\n two\r\n\r\n"],
    ["a bare line feed in the headers", "GET /api/health HTTP/1.1\nHost: a\n\n"],
    ["a bare carriage return in a header", "GET /api/health HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"],
    ["NUL in a header", "GET /api/health HTTP/1.1\r\nHost: a\r\nX: a\u0000b\r\n\r\n"],
    ["NUL in the target", "GET /api/health\u0000 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a duplicate Host", "GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["a duplicate Host on an unknown path", "GET /nothing HTTP/1.1\r\nHost: a\r\nhOST: b\r\n\r\n"],
    ["a Host with a port that there is not", "GET /api/health HTTP/1.1\r\nHost: a:65536\r\n\r\n"],
    ["a Host that is no IPv4 address", "GET /login HTTP/1.1\r\nHost: 192.0.2.256\r\n\r\n"],
    ["a Host that is no IPv6 address", "GET /nothing HTTP/1.1\r\nHost: [::g]\r\n\r\n"],
    ["a Host with a user name", "GET /api/health HTTP/1.1\r\nHost: a@b\r\n\r\n"],
    ["a Host that goes on as a path", "GET /api/health HTTP/1.1\r\nHost: a/b\r\n\r\n"],
    ["a Host that goes on as a query", "GET /login HTTP/1.1\r\nHost: a?b\r\n\r\n"],
    ["a Host with a backslash", "GET /nothing HTTP/1.1\r\nHost: a\\b\r\n\r\n"],
    ["a Host with a tab", "GET /api/health HTTP/1.1\r\nHost: a\tb\r\n\r\n"],
    ["no Host", "GET /api/health HTTP/1.1\r\n\r\n"],
    ["an unknown method", "SMUGGLE /api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an unknown version", "GET /api/health HTTP/3.7\r\nHost: a\r\n\r\n"],
    ["the HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["a TLS hello", "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003"],
    [
      "chunked in HTTP/1.0",
      "POST /api/connect/exchange HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n",
    ],
    [
      "a bad chunk size",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    ],
    [
      "a chunk longer than it says",
      "POST /api/connect/exchange HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    ],
  ];
  it.each(SMUGGLED)("refuses %s with 400 in JSON, and closes or keeps nothing of it", async (_name, bytes) => {
    const socket = new RawSocket(port).send(Buffer.from(bytes, "latin1"));
    const reply = await socket.reply();
    if (!reply) throw new Error("closed without a reply");
    expectJsonRefusal(reply, 400);
    // No byte may be left that could pass for a request: the connection ends, or answers only a whole request.
    if (reply.headers.get("connection") === "close") await socket.ended();
    else expect((await socket.send(HEALTH).reply())?.status).toBe(200);
    expect(socket.rest).toBe("");
    socket.close();
  });

  it("keeps a connection whose first request offers HTTP/2, as Java's client does", async () => {
    const offer = "GET /api/health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n";
    const socket = new RawSocket(port).send(offer);
    expect((await socket.reply())?.status).toBe(200);
    expect((await socket.send(HEALTH).reply())?.status).toBe(200);
  });

  it.each(["gzip, chunked", "chunked, chunked", "identity, chunked", ", chunked"])(
    "does not read a body in the transfer coding %j as if it were chunked",
    async (coding) => {
      const body = telemetry(900);
      const headers = { "content-length": undefined, "transfer-encoding": coding };
      const head = requestBytes({ path: "/api/telemetry/ingest", token: token(), body, headers });
      const bytes = `${head.subarray(0, head.length - body.length)}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const socket = new RawSocket(port).send(`${bytes}${HEALTH}`);
      const reply = await socket.reply();
      if (!reply) throw new Error("closed without a reply");
      expectJsonRefusal(reply, [400, 501]);
      await socket.ended();
      expect([socket.rest, rowsOf(data.directory, "SELECT 1 FROM telemetry_entries WHERE seq = 900")]).toEqual([
        "",
        [],
      ]);
    },
  );

  it("answers CONNECT, TRACE, and protocol upgrades in JSON or as if they had not been asked for", async () => {
    for (const method of ["TRACE", "OPTIONS", "PUT", "DELETE", "PATCH"]) {
      const reply = await askBytes(port, `${method} /api/health HTTP/1.1\r\nHost: a\r\n\r\n`);
      expectJsonRefusal(reply, 405);
      expect(reply.headers.get("allow")).toBe("GET, HEAD");
    }
    const upgrade = await askBytes(
      port,
      "GET /api/health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    );
    expect(upgrade.status).toBe(200);
    expectJsonRefusal(
      await askBytes(port, "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"),
      [400, 404, 405],
    );
  });

  it("refuses an expectation that it cannot meet in JSON", async () => {
    const reply = await askBytes(port, "GET /api/health HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n");
    expectJsonRefusal(reply, [400, 417]);
  });

  it("goes on with Expect: 100-continue and then takes the body", async () => {
    const body = telemetry(1);
    const bytes = requestBytes({
      path: "/api/telemetry/ingest",
      token: token(),
      body,
      headers: { expect: "100-continue" },
    });
    const socket = new RawSocket(port).send(bytes.subarray(0, bytes.length - body.length));
    expect((await socket.reply())?.status).toBe(100);
    const reply = await socket.send(body).reply();
    expect(reply?.status).toBe(200);
    expect(JSON.parse(reply?.body as string)).toMatchObject({ accepted: 1, maxSeq: 1 });
    // The connection serves on.
    expect((await socket.send(HEALTH).reply())?.status).toBe(200);
    socket.close();
  });

  it.each([
    ["whose token is none", { token: "rkd_none" }, 401],
    ["that is too large", { headers: { "content-length": "999999999" } }, 413],
    ["that nobody takes", { path: "/api/nowhere" }, 404],
  ])("does not invite a body %s", async (_, given: { path?: string; token?: string; headers?: object }, status) => {
    const bytes = requestBytes({
      path: "/api/telemetry/ingest",
      token: token(),
      body: telemetry(1),
      ...given,
      headers: { expect: "100-continue", ...given.headers },
    });
    const socket = new RawSocket(port).send(bytes.subarray(0, bytes.indexOf("\r\n\r\n") + 4));
    const reply = await socket.reply();
    expect([reply?.status, reply?.headers.get("connection")]).toEqual([status, "close"]);
    // Bytes that follow are not read as a request: they may be the body.
    await socket.send(HEALTH).ended();
    expect(socket.rest).toBe("");
  });

  it("answers pipelined requests each once and in order", async () => {
    const socket = new RawSocket(port);
    const bytes: Buffer[] = [];
    for (let i = 0; i < 20; i++) {
      // Each has its own number of entries and a stream of its own, so they are worked on side by side.
      const entries = Array.from({ length: i + 1 }, (_, at) => ({ seq: at + 1, payload: { type: "prompt" } }));
      const body = Buffer.from(JSON.stringify({ repoKey: `acme/pipelined-${i}`, entries }));
      bytes.push(requestBytes({ path: "/api/telemetry/ingest", token: token(), body }));
      bytes.push(Buffer.from(HEALTH));
    }
    socket.send(Buffer.concat(bytes));
    for (let i = 0; i < 20; i++) {
      const stored = await socket.reply();
      expect(JSON.parse(stored?.body as string)).toMatchObject({ accepted: i + 1, maxSeq: i + 1, flagged: null });
      expect(JSON.parse((await socket.reply())?.body as string)).toMatchObject({ status: "ok" });
    }
    socket.close();
  });

  it("answers a good request before the refusal of what is pipelined behind it", async () => {
    const socket = new RawSocket(port);
    const good = requestBytes({ path: "/api/telemetry/ingest", token: token(), body: telemetry(300) });
    socket.send(Buffer.concat([good, Buffer.from("garbage that is no request\r\n\r\n")]));
    const first = await socket.reply();
    const second = await socket.reply();
    socket.close();
    // The first reply must be the first request's: a 400 in its place would deny what was stored.
    expect(first?.status, first?.body).toBe(200);
    if (second) expectJsonRefusal(second, 400);
  });

  const BROKEN = "zz\r\n{}\r\n0\r\n\r\n";
  const chunked = (credential: string) =>
    requestBytes({
      ...{ method: "POST", path: "/api/telemetry/ingest", token: credential },
      headers: { "transfer-encoding": "chunked", "content-type": "application/json" },
    });

  it("answers a good request before the refusal of one behind it whose body cannot be read", async () => {
    const good = requestBytes({ path: "/api/telemetry/ingest", token: token(), body: telemetry(301) });
    const socket = new RawSocket(port).send(Buffer.concat([good, chunked(token()), Buffer.from(BROKEN)]));
    const [first, second] = [await socket.reply(), await socket.reply()];
    expect([first?.status, first?.body]).toEqual([200, expect.stringContaining('"maxSeq":301')]);
    if (!second) throw new Error("closed without a reply");
    expectJsonRefusal(second, 400);
    await socket.ended();
  });

  it("answers once where it refused a request before its body, which then cannot be read", async () => {
    const socket = new RawSocket(port).send(chunked("rkd_none"));
    expect((await socket.reply())?.status).toBe(401);
    await socket.send(BROKEN).ended();
    expect(socket.rest).toBe("");
    const coding = chunked(token()).toString().replace(": chunked", ": chunked;q=1");
    const other = new RawSocket(port).send(`${coding}2\r\n{}\r\n0\r\n\r\n`);
    expect((await other.reply())?.status).toBe(501);
    await other.ended();
    expect(other.rest).toBe("");
  });

  /** Every spelling of a path is one route: the credential is checked by the route, never by a prefix. */
  const SPELLINGS: readonly (readonly [target: string, statuses: readonly number[]])[] = [
    ["//api/health", [200, 400, 404]],
    ["//api/license", [400, 401, 404]],
    ["/api//license", [400, 401, 404]],
    ["/api/%2e%2e/api/health", [200, 400, 404]],
    ["/api/%2e%2e/api/license", [400, 401, 404]],
    ["/api/health/../license", [400, 401, 404]],
    ["/api/health/%2e%2e/license", [400, 401, 404]],
    ["/api/health/..%2flicense", [400, 401, 404]],
    ["/api/health/..%5clicense", [400, 401, 404]],
    ["/api/health\\..\\license", [400]],
    ["/.\\api/health", [400]],
    ["http://evil.example\\api/health", [400]],
    ["/api/health?path=a\\b", [200]],
    ["/api/connect/../license", [400, 401, 404]],
    ["/api/license/", [400, 401, 404]],
    ["/api/license;x=1", [400, 401, 404]],
    ["/api/license%00", [400, 404]],
    ["/api/%00/license", [400, 404]],
    ["/api/lic%65nse", [400, 401, 404]],
    ["/API/LICENSE", [400, 401, 404]],
    ["/api/license%0d%0aX-Injected:1", [400, 404]],
    ["/api/%", [400, 404]],
    ["/api/%zz", [400, 404]],
    ["/api/%ff%fe", [400, 404]],
    ["/api/%c0%ae%c0%ae/license", [400, 404]],
    ["http://evil.example/api/health", [200, 400, 404]],
    ["http://evil.example/api/license", [400, 401, 404]],
    ["https://user:pw@evil.example:99/api/license", [400, 401, 404]],
    ["http://[::1/api/license", [400, 404]],
    ["http://", [400, 404]],
    ["javascript:alert(1)", [400, 404]],
    ["*", [400, 404]],
    ["?q=1", [400, 404]],
    ["/api/brain/search?q=%", [401]],
    ["/api/brain/search?q=%ff&q=b&__proto__=1&q[]=2", [401]],
    ["/api/unknown?<script>alert(1)</script>", [404]],
    ["/api/__proto__", [404]],
    ["/constructor/prototype", [404]],
  ];
  it.each(SPELLINGS)("answers the target %s in JSON and never past the credential", async (target, statuses) => {
    const reply = await askBytes(port, Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`, "latin1"));
    expect(statuses, `${reply.head}\n${reply.body}`).toContain(reply.status);
    expect(reply.headers.get("service-api-version")).toBe("1");
    JSON.parse(reply.body);
    expect(reply.head + reply.body).not.toMatch(/evil\.example|<script|injected/i);
    if (reply.status >= 400) expectJsonRefusal(reply, statuses);
  });

  it.each(["http://evil.example", "/?", "//", "/login?next=//evil.example", "/login?next=http://evil.example"])(
    "redirects %s only to its own pages",
    async (target) => {
      const reply = await askBytes(port, Buffer.from(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`, "latin1"));
      expect([target, reply.status, reply.headers.get("location")?.replace(/^\/(?!\/).*/, "own") ?? "own"]).toEqual([
        target,
        expect.toSatisfy((status: number) => [200, 303, 400, 404].includes(status)),
        "own",
      ]);
      expect(reply.head + reply.body).not.toMatch(/evil\.example/);
    },
  );

  const HOSTS = [
    "",
    " ",
    "[::1",
    "a b",
    "a/b",
    "a@b:c",
    "evil.example:999999",
    "\u00e9.example",
    "..",
    "%00",
    "a,b",
    "<x>",
  ];
  it.each(HOSTS)("answers the Host %j without failing and without repeating it", async (host) => {
    for (const path of ["/api/health", "/api/nothing"]) {
      const reply = await askBytes(port, Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, "latin1"));
      expect([200, 400, 404], `${reply.head}\n${reply.body}`).toContain(reply.status);
      expect(reply.headers.get("service-api-version")).toBe("1");
      JSON.parse(reply.body);
      if (/evil/.test(host)) expect(reply.head + reply.body).not.toContain("evil");
    }
  });

  it("refuses too many header bytes, and too long a target, with 431 or 414 in JSON", async () => {
    const long = "x".repeat(20_000);
    expectJsonRefusal(await askBytes(port, `GET /api/health HTTP/1.1\r\nHost: a\r\nX-Long: ${long}\r\n\r\n`), 431);
    expectJsonRefusal(await askBytes(port, `GET /api/${long} HTTP/1.1\r\nHost: a\r\n\r\n`), [414, 431]);
    const many = Array.from({ length: 3_000 }, (_, i) => `x${i}: 1\r\n`).join("");
    expectJsonRefusal(await askBytes(port, `GET /api/health HTTP/1.1\r\nHost: a\r\n${many}\r\n`), 431);
    const names = "__proto__: 1\r\nconstructor: 2\r\ntoString: 3\r\nhasOwnProperty: 4\r\n";
    expect((await askBytes(port, `GET /api/health HTTP/1.1\r\nHost: a\r\n${names}\r\n`)).status).toBe(200);
  });

  it("answers HTTP/1.0 and a half-closed client", async () => {
    expect((await askBytes(port, "GET /api/health HTTP/1.0\r\n\r\n")).status).toBe(200);
    const socket = new RawSocket(port).send(HEALTH);
    socket.socket.end();
    expect((await socket.reply())?.status).toBe(200);
    await socket.ended();
  });

  it("survives clients that break off anywhere in a request", async () => {
    const bytes = requestBytes({ path: "/api/telemetry/ingest", token: token(), body: telemetry(500) });
    for (let cut = 1; cut < bytes.length; cut += 7) {
      const socket = new RawSocket(port).send(bytes.subarray(0, cut));
      await within(new Promise<void>((resolve) => socket.socket.write("", () => resolve())), "bytes to leave");
      socket.reset();
    }
    // Cut off right after a refusal that came before the whole body: too large, and not allowed.
    for (const headers of [
      { "content-length": "999999999" },
      { "content-length": "999999999", authorization: "Bearer no" },
    ]) {
      const socket = new RawSocket(port).send(
        requestBytes({ path: "/api/telemetry/ingest", token: token(), body: "{}", headers }),
      );
      expect([401, 413]).toContain((await socket.reply())?.status);
      socket.send("x".repeat(100_000)).reset();
    }
    expect((await ask(port, { path: "/api/health" })).status).toBe(200);
    const whole = await ask(port, { path: "/api/telemetry/ingest", token: token(), body: telemetry(500) });
    expect(JSON.parse(whole.body).accepted).toBe(1);
    expect(server.stderr()).not.toMatch(/internal_error|uncaught|"level":"error"/i);
  });
});

describe("what a socket or a port cannot give", () => {
  it.skipIf(process.platform !== "linux")("serves again after it ran out of file descriptors", async () => {
    const { data, server } = await servedData({ under: ["prlimit", "--nofile=48"] });
    const crowd = Array.from({ length: 100 }, () => new RawSocket(server.port).send(HEALTH));
    await until("the crowd got what it gets", () => crowd.some((socket) => socket.rest !== "" || !socket.isOpen));
    for (const socket of crowd) socket.close();
    await until("it serves again", () =>
      ask(server.port, { path: "/api/health" }).then(
        (reply) => reply.status === 200,
        () => false,
      ),
    );
    const stored = await ask(server.port, {
      path: "/api/telemetry/ingest",
      token: data.devices[0]?.token as string,
      body: JSON.stringify({ entries: [{ seq: 1, payload: {} }] }),
    });
    expect(stored.status).toBe(200);
    expect((await server.end()).code).toBe(0);
  });

  it.skipIf(process.platform !== "linux")("prices nothing by other prices while it can open no file", async () => {
    const data = await testData();
    const own = { date: "2026-11-01", models: { own: { input: 3, output: 3 } } };
    writeFileSync(join(data.directory, "prices.json"), JSON.stringify(own));
    const server = await testServer(data.directory, { under: ["prlimit", "--nofile=48"] });
    const device = new RawSocket(server.port).send(HEALTH);
    expect((await device.reply())?.status).toBe(200);
    const crowd = Array.from({ length: 100 }, () => new RawSocket(server.port).send(HEALTH));
    await until("there are no more", () => crowd.some((socket) => !socket.isOpen));
    const payload = { type: "usage", model: "own", usage: { input_tokens: 1_000_000, output_tokens: 0 } };
    const [token = "", body] = [
      data.devices[0]?.token,
      JSON.stringify({ repoKey: "shop", entries: [{ seq: 1, payload }] }),
    ];
    device.send(requestBytes({ path: "/api/telemetry/ingest", token, body }));
    expect((await device.reply())?.status).toBe(200);
    await until("it tried to price it", () => /projection_failed|prices_refused|poison/.test(server.stderr()));
    for (const socket of crowd) socket.close();
    const read = "SELECT 1 FROM projections WHERE name GLOB 'spend.entries.*' AND checkpoint > 0";
    await until("it is priced", () => rowsOf(data.directory, read).length > 0);
    expect(server.stderr()).not.toMatch(/prices_refused|poison/);
    device.close();
  });

  it("says in one line that a port is taken, and exits 1", async () => {
    const [one, other] = [await testData(), await testData()];
    const server = await testServer(one.directory);
    const second = launch(["serve", "--data", other.directory, "--port", String(server.port)]);
    expect((await within(second.exited, "the second to end")).code).toBe(1);
    expect(second.stderr().trim()).toMatch(/^reckon: port \d+ on 127\.0\.0\.1 is in use.*--port/);
    expect(second.stderr().trim().split("\n")).toHaveLength(1);
  });
});
