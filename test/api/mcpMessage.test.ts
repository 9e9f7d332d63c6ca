import { describe, expect, it } from "vitest";
import { TOKEN_LIFETIME_MS } from "../../src/identity/devices/binding.ts";
import { revokeDevice } from "../../src/identity/devices/devices.ts";
import { revokeReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { ACCEPT, callTool, rpc, shop } from "../support/mcp.ts";

const MODERN = "2026-07-28";
const META = { "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {} };
const PING = { jsonrpc: "2.0", method: "ping" };
/** A message of the revision 2026-07-28 with its headers. */
const modern = (
  t: TestInstance,
  token: string,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
) =>
  rpc(
    t,
    token,
    { method, params: { ...params, _meta: META } },
    { "mcp-protocol-version": MODERN, "mcp-method": method, ...headers },
  );

describe("the revisions of the protocol", () => {
  it("begins with initialize for the revisions of 2025, without a session", async () => {
    const t = await startInstance();
    const { device } = await shop(t);
    for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
      const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "a client", version: "1" } };
      const { status, body, headers } = await rpc(t, device.token, { method: "initialize", params });
      expect([status, body.id, body.result.protocolVersion, body.result.serverInfo.name]).toEqual([
        200,
        7,
        version,
        "reckon",
      ]);
      expect(body.result.capabilities).toEqual({ tools: {}, resources: {}, prompts: {} });
      expect([headers.get("mcp-session-id"), headers.get("cache-control")]).toEqual([null, "no-store"]);
    }
    const told = await t.post("/mcp", {
      ...{ token: device.token, json: { jsonrpc: "2.0", method: "notifications/initialized" } },
      headers: { accept: ACCEPT, "mcp-protocol-version": "2025-06-18" },
    });
    expect([told.status, told.text]).toEqual([202, ""]);
  });

  it("answers each request of 2026-07-28 by itself, and lets clients keep the lists for an hour", async () => {
    const t = await startInstance();
    const { device } = await shop(t);
    const found = await modern(t, device.token, "server/discover");
    expect([found.status, found.body.result.supportedVersions]).toEqual([200, [MODERN]]);
    const { body } = await modern(t, device.token, "tools/list");
    expect(body.result).toMatchObject({ resultType: "complete", ttlMs: 3_600_000, cacheScope: "private" });
    for (const [query, found] of [
      ["cookie", "3 sections found. "],
      ["guide", "1 section found. "],
    ] as const) {
      const params = { name: "brain_search", arguments: { query } };
      const called = await modern(t, device.token, "tools/call", params, { "mcp-name": "brain_search" });
      expect(called.body.result.content[0].text.slice(0, found.length)).toBe(found);
    }
  });

  it("says by the protocol's own codes what is wrong with a message of 2026-07-28", async () => {
    const t = await startInstance();
    const { token } = (await shop(t)).device;
    const code = ({ status, body }: Awaited<ReturnType<typeof rpc>>) => [status, body.error.code];
    expect(code(await modern(t, token, "nope/nope"))).toEqual([404, -32601]);
    expect(code(await modern(t, token, "tools/list", {}, { "mcp-method": "tools/call" }))).toEqual([400, -32020]);
    expect(code(await modern(t, token, "tools/list", {}, { "mcp-protocol-version": "2024-01-01" }))).toEqual([
      400, -32020,
    ]);
    const future = { ...META, "io.modelcontextprotocol/protocolVersion": "2031-01-01" };
    const unknown = await rpc(
      t,
      token,
      { method: "tools/list", params: { _meta: future } },
      { "mcp-protocol-version": "2031-01-01", "mcp-method": "tools/list" },
    );
    expect([...code(unknown), unknown.body.error.data.supported]).toEqual([400, -32022, [MODERN]]);
    expect(code(await modern(t, token, "subscriptions/listen", { notifications: {} }))).toEqual([404, -32601]);
    expect(code(await rpc(t, token, { method: "tools/list" }, { "mcp-protocol-version": "1999-01-01" }))).toEqual([
      400, -32000,
    ]);
  });
});

describe("an invalid message", () => {
  const bodies: [string, string | Uint8Array<ArrayBuffer>, number, number][] = [
    ["nothing", "", 400, -32700],
    ["no JSON", "{", 400, -32700],
    ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, -32700],
    ["a member named twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', 400, -32700],
    ["brackets without end", "[".repeat(50_000), 400, -32700],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400, -32600],
    ["a batch of ten thousand", JSON.stringify(Array(10_000).fill(1)), 400, -32600],
    ["a number", "7", 400, -32600],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
    ["an id of 60,000 characters", `{"jsonrpc":"2.0","id":"${"x".repeat(60_000)}","method":"ping"}`, 400, -32600],
    ["an id of 259 bytes of JSON", JSON.stringify({ ...PING, id: "é".repeat(129) }), 400, -32600],
    ["an id that JSON escapes", JSON.stringify({ ...PING, id: "\u0001".repeat(43) }), 400, -32600],
    [
      "a number for an id that JSON rounds",
      '{"jsonrpc":"2.0","id":123456789012345678901,"method":"ping"}',
      400,
      -32600,
    ],
    ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":1}', 400, -32600],
    ["more than 64 KiB", JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(70_000) }), 413, -32600],
  ];
  it.each(bodies)(
    "of the form %s is refused with JSON-RPC's error, reads nothing, and does not stop later ones",
    async (_, body, status, code) => {
      const t = await startInstance();
      const { device } = await shop(t);
      const headers = { accept: ACCEPT, "content-type": "application/json" };
      const answer = await t.post("/mcp", { token: device.token, body, headers });
      expect([answer.status, answer.body.jsonrpc, answer.body.id, answer.body.error.code]).toEqual([
        status,
        "2.0",
        null,
        code,
      ]);
      expect(answer.text.length).toBeLessThan(500);
      expect((await rpc(t, device.token, { method: "ping" })).body.result).toEqual({});
      expect(t.count("device_reads")).toBe(0);
    },
  );

  it("answers deep nesting and strange names within a message as wrong arguments", async () => {
    const t = await startInstance();
    const { device } = await shop(t);
    const json = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"brain_search","arguments":{"query":${"[".repeat(40)}${"]".repeat(40)},"__proto__":{"limit":1}}}}`;
    const answer = await t.post("/mcp", {
      token: device.token,
      body: json,
      headers: { accept: ACCEPT, "content-type": "application/json" },
    });
    expect([answer.status, answer.body.result.isError]).toEqual([200, true]);
    for (const name of ["__proto__", "constructor", "x".repeat(10_000), ""])
      expect((await rpc(t, device.token, { method: "tools/call", params: { name } })).body.error.code).toBe(-32602);
    const misfits: [object, number][] = [
      [{ method: "tools/call" }, -32602],
      [{ method: "resources/read", params: { uri: 5 } }, -32602],
      [{ method: "initialize", params: {} }, -32602],
      [{ method: "prompts/get", params: [] }, -32600],
    ];
    for (const [message, code] of misfits)
      expect([message, (await rpc(t, device.token, { ...message })).body.error.code]).toEqual([message, code]);
    expect((await rpc(t, device.token, { method: "nope" })).body.error.code).toBe(-32601);
    expect((await rpc(t, device.token, { method: "resources/list", params: { cursor: "-1" } })).body.error.code).toBe(
      -32602,
    );
  });

  it("demands that both media types are accepted and that the body is JSON", async () => {
    const t = await startInstance();
    const { device } = await shop(t);
    const json = { jsonrpc: "2.0", id: 1, method: "ping" };
    for (const headers of [{}, { accept: "application/json" }, { accept: "text/html" }]) {
      const { status, body } = await t.post("/mcp", { token: device.token, json, headers });
      expect([status, body.jsonrpc]).toEqual([406, "2.0"]);
    }
    // As curl asks for whatever there is.
    expect((await t.post("/mcp", { token: device.token, json, headers: { accept: "*/*" } })).status).toBe(200);
    const text = await t.post("/mcp", {
      token: device.token,
      body: JSON.stringify(json),
      headers: { accept: ACCEPT, "content-type": "text/plain" },
    });
    expect([text.status, text.body.error.code]).toEqual([400, -32700]);
  });
});

describe("who may send a message", () => {
  it("answers GET and DELETE with 405, as a server without sessions does", async () => {
    const t = await startInstance();
    const { device } = await shop(t);
    for (const method of ["GET", "DELETE"] as const) {
      const { status, headers } = await t.call(method, "/mcp", {
        token: device.token,
        headers: { accept: "text/event-stream" },
      });
      expect([method, status, headers.get("allow")]).toEqual([method, 405, "POST"]);
    }
  });

  it("answers 401 without naming an authorization server, and JSON where clients look for one", async () => {
    const t = await startInstance();
    const none = await t.post("/mcp", { json: { jsonrpc: "2.0", id: 1, method: "ping" }, headers: { accept: ACCEPT } });
    expect([none.status, none.headers.get("www-authenticate"), none.body.error.code]).toEqual([401, "Bearer", -32000]);
    for (const path of ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"]) {
      const { status, body } = await t.get(path, { headers: { accept: "application/json" } });
      expect([path, status, body.ok]).toEqual([path, 404, false]);
    }
  });

  it("lets no page of another site in, and programs of any kind", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example.com" } });
    const { device } = await shop(t);
    const from = async (origin: string) => (await rpc(t, device.token, { method: "ping" }, { origin })).status;
    for (const origin of ["https://evil.example", "http://reckon.example.com", "null"])
      expect([origin, await from(origin)]).toEqual([origin, 403]);
    for (const origin of ["https://reckon.example.com", "vscode-file://vscode-app"])
      expect([origin, await from(origin)]).toEqual([origin, 200]);
  });

  it("answers 401 once the token is revoked or has expired", async () => {
    const t = await startInstance();
    const { device, user, token } = await shop(t);
    const bearer = await token();
    expect((await callTool(t, bearer, "brain_search", { query: "cookie" })).status).toBe(200);
    const [{ id }] = t.rows("SELECT id FROM read_tokens");
    await revokeReadToken(t.instance.core, user.id, id, COMMAND_LINE);
    await revokeDevice(t.instance.core, device.deviceId, COMMAND_LINE);
    for (const gone of [bearer, device.token]) {
      expect((await callTool(t, gone, "brain_search", { query: "cookie" })).status).toBe(401);
      expect((await rpc(t, gone, { method: "tools/list" })).status).toBe(401);
    }
    // A token that expired because it was not replaced in time.
    const other = await t.device(device.team);
    t.clock.advance(TOKEN_LIFETIME_MS - 1);
    expect((await callTool(t, other.token, "brain_search", { query: "cookie" })).status).toBe(200);
    t.clock.advance(1);
    expect((await callTool(t, other.token, "brain_search", { query: "cookie" })).status).toBe(401);
  });

  it("counts messages against the token's minute, and a read token's reads against its day", async () => {
    const t = await startInstance({ settings: { limitRead: "3/60", limitReadDaily: "2" } });
    const { device, token } = await shop(t);
    const bearer = await token();
    for (const status of [200, 200, 429])
      expect((await callTool(t, bearer, "brain_search", { query: "cookie" })).status).toBe(status);
    const refused = await rpc(t, bearer, { method: "tools/list" });
    expect([refused.status, refused.body.error.code, Number(refused.headers.get("retry-after")) > 0]).toEqual([
      429,
      -32000,
      true,
    ]);
    expect(t.count("token_reads")).toBe(2);
    for (const status of [200, 200, 200, 429])
      expect((await rpc(t, device.token, { method: "ping" })).status).toBe(status);
  });

  it("refuses parallel reads beyond the day's quota, and shows them nothing", async () => {
    const t = await startInstance({ settings: { limitReadDaily: "2" } });
    const { token } = await shop(t);
    const bearer = await token();
    const answers = await Promise.all([1, 2, 3, 4].map(() => callTool(t, bearer, "brain_search", { query: "cookie" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429]);
    for (const { status, raw } of answers) expect(raw.includes("browser")).toBe(status === 200);
    expect(t.count("token_reads")).toBe(2);
  });
});
