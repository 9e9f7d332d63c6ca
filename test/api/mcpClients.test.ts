import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as Client2025 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio2025 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http2025 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { describe, expect, it, onTestFinished } from "vitest";
import { reckon } from "../faults/support/process.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { REPO, shop } from "../support/mcp.ts";
import { MAIN } from "../support/program.ts";
import { startMachine } from "../support/work-tree.ts";

/* The protocol's own client libraries, of both of its eras, against a server that listens. */

const ME = { name: "a client", version: "1" };

/** What the clients of both libraries have in common. */
interface AnyClient {
  close(): Promise<void>;
  listTools(): Promise<{ tools: { name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  readResource(params: { uri: string }): Promise<unknown>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<unknown>;
}

/** Goes through all that the server offers, as an agent's client does. */
async function useAll(t: TestInstance, client: AnyClient): Promise<void> {
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("record_error");
  const found = await client.callTool({ name: "brain_search", arguments: { query: "cookie" } });
  expect(JSON.stringify(found)).toContain(".claude/brain/errors.md:3");
  await expect(client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toThrow("no tool of that name");
  const { resources } = await client.listResources();
  const [first] = resources;
  expect(JSON.stringify(await client.readResource({ uri: `${first?.uri}` }))).toContain("Login loop");
  expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["briefing", "postmortem"]);
  const prompt = await client.getPrompt({ name: "briefing", arguments: { repo: REPO } });
  expect(JSON.stringify(prompt)).toContain("Cart lost");
  const read = t.rows("SELECT tool FROM device_reads ORDER BY id");
  expect(read.map(({ tool }) => tool)).toEqual(["brain_search", "resources/list", "resources/read", "prompt briefing"]);
}

async function listening() {
  const t = await startInstance({ settings: { port: "0" } });
  const url = await t.instance.listen();
  return { t, url, ...(await shop(t)) };
}

const bearer = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });
/** Era by era: a client that prefers the newest revision, and one that knows only those with `initialize`. */
const MODES = [
  ["auto", "2026-07-28"],
  ["legacy", "2025-11-25"],
] as const;

describe("clients over HTTP", () => {
  it.each(MODES)("of the second library, %s, speak %s", async (mode, version) => {
    const { t, url, device } = await listening();
    const client = new Client(ME, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), bearer(device.token)));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await useAll(t, client as unknown as AnyClient);
  });

  it("of the first library speak the newest revision with initialize", async () => {
    const { t, url, device } = await listening();
    const client = new Client2025(ME);
    await client.connect(new Http2025(new URL(`${url}/mcp`), bearer(device.token)) as never);
    expect(client.getServerVersion()?.name).toBe("reckon");
    await useAll(t, client as unknown as AnyClient);
  });

  it("learn from 401 that a token is invalid, and try nothing else", async () => {
    const { url } = await listening();
    const client = new Client(ME, { versionNegotiation: { mode: "auto" } });
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), bearer("rkr_nobody"));
    await expect(client.connect(transport)).rejects.toThrow(/401|nauthorized/);
  });
});

/** How a client starts the bridge. */
const bridge = (url: string, token: string) => ({
  command: process.execPath,
  args: [MAIN, "mcp", "--url", url],
  env: { PATH: `${process.env.PATH}`, RECKON_TOKEN: token },
  stderr: "pipe" as const,
});

describe("reckon mcp", () => {
  it.each(MODES)("lets clients without HTTP, %s, speak %s", async (mode, version) => {
    const { t, url, device } = await listening();
    const client = new Client(ME, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport(bridge(url, device.token)));
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    await useAll(t, client as unknown as AnyClient);
  });

  it("lets clients of the first library connect", async () => {
    const { t, url, device } = await listening();
    const client = new Client2025(ME);
    await client.connect(new Stdio2025(bridge(url, device.token)) as never);
    await useAll(t, client as unknown as AnyClient);
  });

  it("answers every message that expects a reply, whatever stands between them, and ends with its input", async () => {
    const { url, device } = await listening();
    const ping = (id: unknown) => JSON.stringify({ jsonrpc: "2.0", id, method: "ping" });
    const told = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const input = [
      ping(1),
      "",
      "no JSON",
      told,
      "[1]",
      ping("two\u2028and\u2029"),
      JSON.stringify({ jsonrpc: "2.0", id: 3 }),
    ].join("\n");
    const { code, stdout, stderr } = await reckon(["mcp", "--url", url], {
      input,
      env: { RECKON_TOKEN: device.token },
    });
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect([code, stderr]).toEqual([0, ""]);
    expect(
      answers
        .filter(({ result }) => result)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([1, "two\u2028and\u2029"]);
    expect(answers.filter(({ error }) => error).map(({ id, error }) => [id, error.code])).toEqual([
      [null, -32700],
      [null, -32700],
    ]);
  });

  it("tells each client why it gets no answer: no server, or an invalid token", async () => {
    const { t, url } = await listening();
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/list" })}\n`;
    const ask = async () => {
      const { stdout } = await reckon(["mcp", "--url", url], { input, env: { RECKON_TOKEN: "rkr_nobody" } });
      return JSON.parse(stdout);
    };
    expect(await ask()).toMatchObject({ id: 9, error: { code: -32000, message: "The bearer token is not valid." } });
    await t.close();
    expect(await ask()).toMatchObject({
      ...{ id: 9, error: { code: -32000, message: "Reckon cannot answer: nothing listens at the server's address." } },
    });
  });

  it("sends this machine's own token to its own server only, and no token unencrypted", async () => {
    const machine = await startMachine();
    const own = { RECKON_AGENT_HOME: machine.capture.places.home };
    const input = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })}\n`;
    expect(JSON.parse((await reckon(["mcp"], { env: own, input })).stdout)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {},
    });
    const astray = await reckon(["mcp", "--url", "https://other.example.com"], { env: own, input });
    expect([astray.code, astray.stderr]).toEqual([1, expect.stringContaining("this machine is connected to http://")]);
    const env = { RECKON_AGENT_HOME: `${machine.folder}/nothing` };
    const lost = await reckon(["mcp"], { env });
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining("this machine is not connected")]);
    const plain = await reckon(["mcp", "--url", "http://reckon.example.com"], { env: { RECKON_TOKEN: "rkr_x" } });
    expect([plain.code, plain.stderr]).toEqual([1, expect.stringContaining("would send everything unencrypted")]);
  });
});
