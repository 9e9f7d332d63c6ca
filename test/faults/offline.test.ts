import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createApiToken } from "../../src/identity/api-tokens/api-tokens.ts";
import { createUser } from "../../src/identity/sign-in/sign-in.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { newFolder } from "../support/folder.ts";
import { claudeCall, claudeLogs } from "../support/otlp.ts";
import type { Asked, Got } from "./support/asks.ts";
import { withDirectory } from "./support/data.ts";
import { reckon } from "./support/process.ts";
import { testData, testServer } from "./support/test.ts";

/** A server that is cut off from everything but its own machine, and never tries to be otherwise. */

const isRoot = process.getuid?.() === 0;
const APART = ["unshare", isRoot ? "-n" : "-rn"];
// -D: the process that is started is the server itself, and strace stands beside.
const TRACED = ["strace", "-D", "-f", "-qq", "-s", "64", "-e", "trace=network"];
/** The command that runs a program in a network of loopback alone, and traces its system calls. */
const within = (trace: string) => [
  ...[...APART, "sh", "-c", 'ip link set lo up && exec "$@"', "sh"],
  ...[...TRACED, "-o", trace],
];
const probe =
  process.platform === "linux" &&
  spawnSync("sh", ["-c", `${APART.join(" ")} sh -c 'ip link set lo up && strace -D -f -qq -o /dev/null true'`])
    .status === 0;
const cannot = probe ? false : "unshare, ip, nsenter and strace are not all here, or not allowed";
if (cannot) console.warn(`Skipped: ${cannot}`);

/** Asks a server from within its network. */
function asks(pid: number, url: string, list: readonly Asked[]): Got[] {
  const enter = ["-t", `${pid}`, ...(isRoot ? [] : ["-U", "--preserve-credentials"]), "-n"];
  const script = join(import.meta.dirname, "support/asks.ts");
  const input = JSON.stringify({ url, asks: list });
  return JSON.parse(execFileSync("nsenter", [...enter, process.execPath, script], { input, encoding: "utf8" }));
}

/** A process's network calls, sorted by what they mean. */
function judge(trace: string) {
  const lines = readFileSync(trace, "utf8").split("\n");
  const of = (call: string) => lines.filter((line) => new RegExp(`^\\d+\\s+${call}\\(`).test(line));
  return {
    /** Internet sockets other than TCP. A DNS query would need one. */
    datagrams: of("socket").filter((line) => /AF_INET6?,/.test(line) && !/SOCK_STREAM/.test(line)),
    connections: of("connect"),
    bound: of("bind").map((line) => /sin6?_port=htons\((\d+)\).*?"([^"]+)"/.exec(line)?.slice(1).reverse().join(":")),
    accepted: of("accept4?").filter((line) => !/= -1/.test(line)).length,
  };
}

const EMAIL = "ada@example.com";
const PASSWORD = "plough-the-north-field-9";

it.skipIf(cannot)("opens no connection and sends no DNS query, whatever requests it gets", async () => {
  const data = await testData({ codes: 1 });
  const { token: device } = data.devices[0] as { token: string };
  const api = await withDirectory(data.directory, async (core) => {
    const team = { id: data.team.id, role: "owner" } as const;
    await createUser(core, { email: EMAIL, password: PASSWORD, operator: true, team }, COMMAND_LINE);
    return createApiToken(
      core,
      { teamId: null, userId: null, name: "x", scope: "admin", lifetimeMs: 3_600_000 },
      COMMAND_LINE,
    );
  });
  const trace = join(newFolder(), "trace");
  const server = await testServer(data.directory, {
    under: within(trace),
    env: { RECKON_METRICS: "127.0.0.1:9464" },
  });
  const errors =
    "## 2026-11-20 Loop\n\nSee https://example.com/x and http://198.51.100.7/y.\n\n**Prevention rule:** no loops.\n";
  const prompt = { type: "prompt", text: `Fetch https://example.com/${"x".repeat(20_000)}`, sessionId: "s1" };
  const mcp = { accept: "application/json, text/event-stream" };
  const call = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "brain_search", arguments: { query: "loop" } },
  };
  const pages =
    "overview sessions telemetry brain errors spend devices people policy license packs api-tokens audit settings jobs account";
  const list: Asked[] = [
    { path: "/api/health" },
    { path: "/api/connect/exchange", json: { code: data.codes[0], consent: { version: "1" } } },
    {
      path: "/api/telemetry/ingest",
      token: device,
      json: { repoKey: "github.com/a/b", entries: [{ seq: 1, payload: prompt }] },
    },
    {
      path: "/api/brain/ingest",
      token: device,
      json: { repoKey: "github.com/a/b", version: 1, files: [{ path: ".claude/brain/errors.md", content: errors }] },
    },
    {
      path: "/api/agent-traces/ingest",
      token: device,
      json: {
        repoKey: "github.com/a/b",
        sessions: [{ id: "s1", spans: [], outcome: "ok", startedAt: "2026-11-20T14:00:00Z" }],
      },
    },
    { path: "/api/license", token: device },
    { path: "/v1/logs", token: device, json: claudeLogs(claudeCall("req_1")) },
    { path: "/mcp", token: device, json: call, headers: mcp },
    { path: "/api/sessions?team=Acme", token: api.token },
    { path: "/api/spend?team=Acme", token: api.token },
    { path: "/api/command", token: api.token, json: { argv: ["team", "list"] } },
    { path: "/api/requests/ingest", json: { text: "See https://example.com." } },
    { path: "/ledger/checkpoint" },
    ...["/", "/docs", "/docs/remote", "/explore", "/openapi.json", "/download"].map((path) => ({ path })),
    { path: "http://127.0.0.1:9464/metrics" },
    { path: "/login" },
    { path: "/login", form: { email: EMAIL, password: PASSWORD } },
    ...pages.split(" ").map((page) => ({ path: `/${page}` })),
  ];
  const got = asks(server.pid, server.url, list);
  expect(got.filter(({ status }) => status >= 500)).toEqual([]);
  const refused = got.filter(({ status }) => status >= 400).map(({ path, status, text }) => [path, status, text]);
  expect(refused).toEqual([]);
  const backup = join(newFolder(), "backup.db");
  const traces = ["backup", "doctor", "export"].map((name) => [name, join(newFolder(), name)] as const);
  for (const [name, file] of traces) {
    const rest = { backup: [backup], doctor: [], export: ["--team", "Acme", "--out", `${backup}.tar.zst`] }[name];
    const done = await reckon([name, ...(rest ?? []), "--data", data.directory], { under: within(file) });
    expect([name, done.code, done.stderr.includes("reckon:")]).toEqual([name, 0, false]);
  }
  await server.end();
  const { accepted, ...did } = judge(trace);
  const port = new URL(server.url).port;
  expect(did).toEqual({ datagrams: [], connections: [], bound: ["127.0.0.1:0", "127.0.0.1:9464"] });
  expect([accepted > 0, Number(port) > 0]).toEqual([true, true]);
  for (const [name, file] of traces)
    expect({ name, ...judge(file) }).toEqual({ name, datagrams: [], connections: [], bound: [], accepted: 0 });
});

it.skipIf(cannot)("the trace shows a connection and a DNS query where a process makes them", () => {
  const trace = join(newFolder(), "trace");
  const calls = "fetch('http://127.0.0.1:4').catch(() => {}); fetch('https://reckon.example.com').catch(() => {})";
  const [command = "", ...args] = [...within(trace), process.execPath, "-e", calls];
  execFileSync(command, args);
  const { connections, datagrams } = judge(trace);
  expect(connections.some((line) => line.includes("htons(4)"))).toBe(true);
  expect(datagrams.length).toBeGreaterThan(0);
});
