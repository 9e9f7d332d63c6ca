import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import {
  type ConnectPlan,
  connectMachine,
  disconnectMachine,
  examine,
  openCapture,
  planConnect,
  runPass,
} from "../../src/capture/capture.ts";
import { type Credentials, readCredentials, writeCredentials } from "../../src/capture/state.ts";
import { readStatus } from "../../src/capture/status.ts";
import { baseUrlOf } from "../../src/kit/base-url.ts";
import { DAY_MS, HOUR_MS, isoInstant, MINUTE_MS } from "../../src/kit/clock.ts";
import { reckon } from "../faults/support/process.ts";
import { deviceOf, flagsOf, heldOf, startAgent, startServer, type TestAgent } from "../support/capture.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance } from "../support/instance.ts";
import { MAIN } from "../support/program.ts";
import { git } from "../support/work-tree.ts";

const KNOWN = "/api/agent-traces/known";

/** Commits a file at an instant. */
function commitIn(root: string, path: string, at: number): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), "one\n");
  git(root, "init", "--quiet");
  git(root, "add", path);
  const when = isoInstant(at);
  for (const name of ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]) process.env[name] = when;
  try {
    git(root, "-c", "user.name=Kim", "-c", "user.email=kim@example.com", "commit", "--quiet", "-m", "one");
  } finally {
    for (const name of ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]) delete process.env[name];
  }
}

it("connects with the address of a page, also below a path, and keeps the server's own", async () => {
  const t = await startInstance({ settings: { port: "0", baseUrl: "https://reckon.example.com/sub" } });
  await t.instance.listen();
  const url = baseUrlOf({ ...t.instance.core.config, baseUrl: null });
  const a = await startAgent();
  for (const page of ["/docs/install", "/sessions/12", "/sub/settings/teams/team_x", "/sub"]) {
    const code = await t.code(await t.team());
    const home = page.startsWith("/sub") ? `${url}/sub` : url;
    expect([page, (await bind(a.capture, { url: url + page, code })).url]).toEqual([page, home]);
    expect(readCredentials(a.capture.places)?.url).toBe(home);
  }
  await expect(bind(a.capture, { url: `${url}/sub/overview`, code: "0000-0000" })).rejects.toThrow(
    `${url}/sub did not connect this machine: No team was found`,
  );
  expect(t.count("devices")).toBe(4);
});

it("disconnecting waits for the pass that is running, which ends well", async () => {
  const a = await startAgent();
  const { server, capture } = a;
  a.work("s1", 2);
  const { machine, clock, log } = capture;
  let gone: ReturnType<typeof disconnectMachine> | undefined;
  server.between = (path, answer) => {
    if (path === "/api/policy") gone ??= disconnectMachine(openCapture({ machine, clock, log }), false);
    return answer();
  };
  const device = deviceOf(a);
  expect(await a.pass()).toMatchObject({ sessionsSent: 1, stopped: undefined });
  expect(await gone).toMatchObject({ problems: [] });
  expect(heldOf(server, device).sessions).toHaveLength(1);
  expect(server.asked.at(-1)).toBe("/api/connect/disconnect");
  expect(existsSync(capture.places.home)).toBe(false);
});

it("disconnecting leaves nothing behind, although a hook had rung just before", async () => {
  const a = await startAgent();
  const { home } = a.capture.places;
  await disconnectMachine(a.capture, false);
  const env = { PATH: process.env.PATH, HOME: a.home, RECKON_AGENT_HOME: home };
  execFileSync(process.execPath, [MAIN, "agent", "run", "--background"], { env, stdio: "pipe" });
  expect(existsSync(home)).toBe(false);
  expect(readdirSync(a.home)).toEqual(["shop"]);
});

it("connecting waits for its turn where many connect at the same moment, and tells of a longer wait", async () => {
  const a = await startAgent({ connected: false });
  const tries = () => a.server.asked.filter((path) => path === "/api/connect/exchange").length;
  await a.server.fault("connectExchange", 429, 2, { retryAfter: 1 });
  await a.connect();
  expect([tries(), a.server.rows("SELECT label FROM devices WHERE label = 'desk'").length]).toEqual([3, 1]);
  await a.server.fault("connectExchange", 429, 2, { retryAfter: 600 });
  await expect(a.connect()).rejects.toThrow("did not connect this machine: Too many requests");
  expect(tries()).toBe(4);
});

it("a binding for one job keeps its token, because no other would outlive it", async () => {
  const a = await startAgent({ connected: false });
  await bind(a.capture, { url: a.server.url, code: await a.server.code(HOUR_MS) });
  a.work("s1", 2);
  expect(await a.pass()).toMatchObject({ stopped: undefined });
  expect(a.server.asked).not.toContain("/api/connect/rotate");
  expect(a.server.rows("SELECT count(*) AS n FROM audit_events WHERE action = 'device.rotated'")).toEqual([{ n: 0 }]);
  expect(await examine(a.capture)).toContainEqual({
    name: "token",
    state: "ok",
    message: "is for one job, until 2026-11-21T09:00:00.000Z",
  });
  // A clock that was ahead when the machine was connected does not change that.
  const ahead = { ...readCredentials(a.capture.places), connectedAt: "2027-01-01T00:00:00.000Z" };
  writeCredentials(a.capture.places, ahead as Credentials);
  a.advance(DAY_MS / 48);
  await a.pass();
  expect(a.server.asked).toContain("/api/connect/rotate");
});

it("connecting with the same team at another address sends nothing twice", async () => {
  const a = await startAgent();
  const { server } = a;
  a.work("s1", 3);
  await a.pass();
  const before = heldOf(server, deviceOf(a)).entries.length;
  expect(before).toBeGreaterThan(0);
  await bind(a.capture, { url: server.url.replace("127.0.0.1", "localhost"), code: await server.code() });
  expect(await a.pass()).toMatchObject({ recorded: 0, stopped: undefined });
  expect(heldOf(server, deviceOf(a)).entries).toEqual([]);
  a.work("s1", 1, 3);
  expect(await a.pass()).toMatchObject({ sessionsSent: 1, stopped: undefined });
  expect(heldOf(server, deviceOf(a)).entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(server.verify()).toEqual([]);
});

it("connecting anew leaves the server's sessions with the old device, and sends one as a whole that goes on", async () => {
  const a = await startAgent();
  const { server } = a;
  a.work("s1", 2);
  a.work("s2", 1);
  await a.pass();
  const [old, before] = [deviceOf(a), heldOf(server, deviceOf(a))];
  await server.revoke(old);
  a.work("s3", 1);
  expect((await a.pass()).stopped).toBeTypeOf("string");
  await a.connect();
  await a.pass();
  const told = () => heldOf(server, deviceOf(a)).sessions.map(({ id }) => id);
  expect(told()).toEqual(["s3"]);
  a.work("s1", 1, 2);
  await a.pass();
  expect(told()).toEqual(["s1", "s3"]);
  const spans = heldOf(server, deviceOf(a)).spans.filter(({ session }) => session === "s1");
  expect(spans.length).toBeGreaterThan(before.spans.filter(({ session }) => session === "s1").length);
  // The new device sends again what the old one had sent of s1; s2 is sent once.
  expect(server.rows("SELECT external_id AS id, count(*) AS n FROM trace_sessions GROUP BY 1 ORDER BY 1")).toEqual([
    { id: "s1", n: 2 },
    { id: "s2", n: 1 },
    { id: "s3", n: 1 },
  ]);
  // Its calls count once, because the client gives each an id.
  const { token } = readCredentials(a.capture.places) as Credentials;
  const reply = await fetch(`${server.url}/api/spend`, { headers: { authorization: `Bearer ${token}` } });
  const calls = [...before.spans, ...heldOf(server, deviceOf(a)).spans].flatMap(
    ({ document }) => JSON.parse(document).usage?.id ?? [],
  );
  expect(await reply.json()).toMatchObject({ total: { usages: new Set(calls).size } });
  // A restored server is sent again what the new device sent, and no more.
  await server.forgetting(async () => {
    a.work("s3", 1, 1);
    await a.pass();
  });
  await a.pass();
  expect(told()).toEqual(["s1", "s3"]);
  expect(heldOf(server, old)).toEqual(before);
});

describe("after disconnecting, when the machine no longer knows what it sent", () => {
  const listed = (a: TestAgent) =>
    a.server.rows("SELECT external_id AS id, device_id AS device FROM trace_sessions ORDER BY id").map(({ id }) => id);
  const prompts = (a: TestAgent) =>
    a.server
      .rows("SELECT e.payload FROM telemetry_streams s JOIN telemetry_entries e ON e.stream_id = s.id")
      .filter(({ payload }) => JSON.parse(payload).type === "prompt").length;
  const again = async (a: TestAgent) => {
    await disconnectMachine(a.capture, true);
    a.reopen();
    await a.connect();
  };

  it("sends nothing twice, and all that is new", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    a.work("s2", 1);
    await a.pass();
    const [old, before] = [deviceOf(a), heldOf(a.server, deviceOf(a))];
    await again(a);
    a.advance(HOUR_MS);
    a.work("s3", 1);
    expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 1 });
    expect([listed(a), prompts(a)]).toEqual([["s1", "s2", "s3"], 4]);
    expect(heldOf(a.server, old)).toEqual(before);
    expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["s3"]);
    expect([flagsOf(a.server), a.server.verify()]).toEqual([{ gaps: 0, rollbacks: 0 }, []]);
    // A session that goes on is sent as a whole, and its entries from there on.
    a.work("s2", 1, 1);
    await a.pass();
    expect([listed(a), prompts(a)]).toEqual([["s1", "s2", "s2", "s3"], 5]);
    expect(readStatus(a.capture).waiting).toMatchObject({ sessions: 0, entries: 0 });
    // The server is not asked about what is new.
    const asked = a.server.asked.filter((path) => path === KNOWN).length;
    a.work("s4", 1);
    await a.pass();
    expect(a.server.asked.filter((path) => path === KNOWN)).toHaveLength(asked);
  });

  it("sends a session as a whole that went on meanwhile, or was not sent to its end", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    a.work("s2", 1);
    await a.pass();
    a.server.rows("DELETE FROM trace_spans WHERE external_id = 'toolu_s2-0' RETURNING id");
    await disconnectMachine(a.capture, true);
    a.advance(HOUR_MS);
    a.work("s1", 1, 1);
    a.reopen();
    await a.connect();
    await a.pass();
    const { sessions, spans } = heldOf(a.server, deviceOf(a));
    expect(sessions.map(({ id }) => id)).toEqual(["s1", "s2"]);
    expect(spans.map(({ id }) => id)).toEqual(expect.arrayContaining(["toolu_s1-0", "toolu_s1-1", "toolu_s2-0"]));
    expect(prompts(a)).toBe(3);
  });

  it("sends nothing twice where only the database was deleted, as when it is damaged", async () => {
    const a = await startAgent();
    a.work("s1", 2);
    await a.pass();
    a.capture.close();
    const { home } = a.capture.places;
    for (const name of readdirSync(home)) if (name.startsWith("agent.db")) rmSync(join(home, name));
    a.reopen();
    await a.connect();
    a.work("s2", 1);
    expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 1 });
    expect([listed(a), prompts(a)]).toEqual([["s1", "s2"], 3]);
    expect([flagsOf(a.server), a.server.verify()]).toEqual([{ gaps: 0, rollbacks: 0 }, []]);
  });

  it("sends nothing twice where the database was deleted because a newer version had made it, as the message advises", async () => {
    const a = await startAgent();
    const { machine, clock, log, places } = a.capture;
    a.work("s1", 2);
    await a.pass();
    a.capture.db.pragma("user_version = 99");
    a.capture.close();
    expect(() => openCapture({ machine, clock, log })).toThrow(
      `${places.database} was made by a newer version of this program: use that; to go on with this one, delete it and agent.db-*, with what waits there unsent, then connect again with a new code`,
    );
    for (const name of readdirSync(places.home)) if (name.startsWith("agent.db")) rmSync(join(places.home, name));
    a.reopen();
    await a.connect();
    a.work("s2", 1);
    expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 1 });
    expect([listed(a), prompts(a)]).toEqual([["s1", "s2"], 3]);
  });

  it("sends a commit that was made since", async () => {
    const a = await startAgent();
    const root = join(a.home, "shop");
    a.work("s1", 1);
    await a.pass();
    await disconnectMachine(a.capture, false);
    const at = a.server.clock.now();
    commitIn(root, "src/0.ts", at + 20_000);
    a.advance(2 * MINUTE_MS);
    a.reopen();
    await a.connect();
    await a.pass();
    const { sessions } = heldOf(a.server, deviceOf(a));
    expect(sessions.map(({ document }) => JSON.parse(document).commits.length)).toEqual([1]);
  });

  it("sends all to a server that does not say what it has, and waits for one that cannot say it now", async () => {
    const a = await startAgent();
    a.work("s1", 1);
    await a.pass();
    await again(a);
    a.server.between = (path, answer) => (path === KNOWN ? new Response("", { status: 503 }) : answer());
    expect((await a.pass()).stopped).toBeTypeOf("string");
    expect(listed(a)).toEqual(["s1"]);
    a.server.between = undefined;
    expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 0 });
    expect(listed(a)).toEqual(["s1"]);
    await again(a);
    const headers = { "service-api-version": "1" };
    a.server.between = (path, answer) => (path === KNOWN ? Response.json({}, { status: 404, headers }) : answer());
    expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 1 });
    expect(listed(a)).toEqual(["s1", "s1"]);
  });
});

it("connecting anew ends the earlier binding, whose seat nobody would give back", async () => {
  const a = await startAgent();
  const bindings = () => a.server.rows("SELECT id FROM devices WHERE revoked_at IS NULL");
  const before = bindings();
  const old = deviceOf(a);
  await a.connect();
  expect(bindings()).toHaveLength(before.length);
  expect(bindings()).not.toContainEqual({ id: old });
  a.work("s1", 1);
  expect(await a.pass()).toMatchObject({ stopped: undefined, sessionsSent: 1 });
});

it("connecting again brings nothing back that was erased with the device", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.pass();
  await a.server.erase(deviceOf(a));
  expect(a.server.rows("SELECT * FROM trace_sessions")).toEqual([]);
  await a.connect();
  a.work("s2", 1);
  await a.pass();
  expect(heldOf(a.server, deviceOf(a)).sessions.map(({ id }) => id)).toEqual(["s2"]);
  // Nor does a session that goes on: only what was not sent yet, and what is new, is sent of it.
  const heldNow = () => JSON.stringify(heldOf(a.server, deviceOf(a)));
  a.work("s1", 1, 2);
  await a.pass();
  expect(heldNow()).toContain("Do s1-2");
  expect(heldNow()).not.toMatch(/s1-[01]\b|src\/1\.ts/);
});

it("connecting brings nothing back that was erased with the device where the server was restored before", async () => {
  const a = await startAgent();
  a.work("s1", 2);
  await a.pass();
  await a.server.forgetting(async () => {});
  await a.server.erase(deviceOf(a));
  a.work("s1", 1, 2);
  expect((await a.pass()).stopped).toBeTypeOf("string");
  await a.connect();
  await a.pass();
  const held = JSON.stringify(heldOf(a.server, deviceOf(a)));
  expect(held).toContain("Do s1-2");
  expect(held).not.toMatch(/s1-[01]\b|src\/1\.ts/);
});

it("a process that waited while the machine was connected elsewhere takes nothing from before to the other server", async () => {
  const a = await startAgent();
  const { machine, clock, log, places } = a.capture;
  await a.server.unplug();
  a.work("s1", 1);
  await a.pass();
  const waiting = openCapture({ machine, clock, log });
  onTestFinished(() => waiting.close());
  await disconnectMachine(a.capture, true);
  await expect(runPass(waiting)).rejects.toThrow("this machine was disconnected meanwhile");
  expect(existsSync(places.home)).toBe(false);
  const server = await startServer();
  await bind(a.reopen(), { url: server.url, code: await server.code(), label: "desk" });
  await expect(runPass(waiting)).rejects.toThrow("this machine was disconnected meanwhile");
  expect(server.rows("SELECT * FROM trace_sessions")).toEqual([]);
  expect(server.rows("SELECT * FROM telemetry_entries")).toEqual([]);
});

it("a process that waited while a newer version changed the database reads and sends nothing", async () => {
  const a = await startAgent();
  const { machine, clock, log, places } = a.capture;
  const newer = openCapture({ machine, clock, log });
  onTestFinished(() => newer.close());
  a.work("s1", 1);
  newer.db.pragma(`user_version = ${(newer.db.pragma("user_version", { simple: true }) as number) + 1}`);
  await expect(runPass(a.capture)).rejects.toThrow("a newer version of this program is at work by now: start it again");
  expect(a.server.rows("SELECT * FROM trace_sessions")).toEqual([]);
  expect(newer.rows.countSources.all()).toEqual([]);
  expect(existsSync(places.credentials)).toBe(true);
});

it("disconnecting removes the client's own files and nothing else of a folder that was somebody's before", async () => {
  const state = newFolder();
  mkdirSync(join(state, "photos"));
  writeFileSync(join(state, "photos/summer.txt"), "sea");
  writeFileSync(join(state, "notes.txt"), "mine");
  const a = await startAgent({ state });
  a.work("s1", 1);
  writeFileSync(join(state, "spool/1-1-claude-code-Stop"), "");
  await a.pass();
  expect(await disconnectMachine(a.capture, false)).toMatchObject({ problems: [] });
  expect(readdirSync(state).sort()).toEqual(["notes.txt", "photos"]);
  expect(readFileSync(join(state, "photos/summer.txt"), "utf8")).toBe("sea");
});

it("disconnecting keeps what it needs to put settings back, also where database and credentials are gone", async () => {
  const a = await startAgent({ connected: false });
  const settings = join(a.home, ".claude/settings.json");
  const plan = planConnect(a.capture, a.server.url, await a.server.code(), { agents: ["claude-code"] });
  if (!plan) throw new Error("no plan");
  await connectMachine(a.capture, plan, () => {});
  expect(existsSync(settings)).toBe(true);
  a.capture.close();
  const { home } = a.capture.places;
  for (const name of readdirSync(home)) if (/^agent\.db|^credentials/.test(name)) rmSync(join(home, name));
  // As a command does that only looks.
  a.reopen().close();
  await disconnectMachine(a.reopen(), false);
  expect([dirname(settings), home].filter(existsSync)).toEqual([]);
});

it("connecting only some agents leaves the settings of the others alone, also when hooks are put in place again", async () => {
  const a = await startAgent({ connected: false });
  for (const folder of [".claude", ".codex"]) mkdirSync(join(a.home, folder));
  const connect = async (code?: string, agents?: string[]) => {
    const plan = planConnect(a.capture, code && a.server.url, code, { agents });
    if (!plan) throw new Error("no plan");
    await connectMachine(a.capture, plan, () => {});
    const hooks = (await examine(a.capture)).map(({ name }) => name).filter((name) => name.startsWith("hook: "));
    return [plan.found.map(({ agent }) => agent), hooks, existsSync(join(a.home, ".claude/settings.json"))];
  };
  const codex = [["codex"], ["hook: Codex"], false];
  expect(await connect(await a.server.code(), ["codex"])).toEqual(codex);
  expect(await connect()).toEqual(codex);
  const both = [["claude-code", "codex"], ["hook: Claude Code", "hook: Codex"], true];
  expect(await connect(await a.server.code())).toEqual(both);
});

it("disconnecting puts back settings in every folder that a variable named when the hooks came there", async () => {
  const a = await startAgent({ connected: false });
  const work = join(a.home, "work");
  const before = '{"model": "opus"}';
  mkdirSync(work);
  writeFileSync(join(work, "settings.json"), before);
  const { machine } = a.capture;
  const seen = (env: Record<string, string>) => ({
    ...a.capture,
    machine: { ...machine, env: { ...machine.env, ...env } },
  });
  for (const [env, code] of [[{}, await a.server.code()], [{ CLAUDE_CONFIG_DIR: work }]] as const) {
    const url = code && a.server.url;
    const plan = planConnect(seen(env), url, code, { agents: ["claude-code"] });
    if (!plan) throw new Error("no plan");
    await connectMachine(seen(env), plan, () => {});
  }
  expect(readFileSync(join(work, "settings.json"), "utf8")).toContain("reckon/agent/hook");
  expect(await disconnectMachine(a.capture, false)).toMatchObject({ changed: [{}, {}], problems: [] });
  expect(readFileSync(join(work, "settings.json"), "utf8")).toBe(before);
  expect(readdirSync(a.home).toSorted()).toEqual(["shop", "work"]);
});

it("disconnecting with --force works also where the credentials cannot be read", async () => {
  const a = await startAgent();
  writeFileSync(a.capture.places.credentials, "");
  await expect(disconnectMachine(a.capture, false)).rejects.toThrow("disconnect --force");
  await disconnectMachine(a.reopen(), true);
  expect(readdirSync(a.home)).toEqual(["shop"]);
});

it("disconnecting removes the folders that it made, and keeps those that were there", async () => {
  const a = await startAgent();
  expect(existsSync(join(a.home, ".local/state/reckon/agent"))).toBe(true);
  await disconnectMachine(a.capture, false);
  expect(readdirSync(a.home)).toEqual(["shop"]);
  mkdirSync(join(a.home, ".local/state"), { recursive: true });
  a.reopen();
  await a.connect();
  await disconnectMachine(a.capture, false);
  expect(readdirSync(join(a.home, ".local/state"))).toEqual([]);
});

it.each([
  { command: ["connect", "http://127.0.0.1:4", "CODE", "--dry-run"], code: 0 },
  { command: ["connect", "http://127.0.0.1:4", "CODE", "--yes"], code: 1 },
  { command: ["status"], code: 0 },
])("leaves nothing behind where no binding was made: $command", async ({ command, code }) => {
  const home = newFolder();
  mkdirSync(join(home, ".claude"));
  const env = { HOME: home, XDG_STATE_HOME: "", RECKON_AGENT_HOME: "" };
  expect(await reckon(["agent", ...command], { env })).toMatchObject({ code });
  expect([readdirSync(home), readdirSync(join(home, ".claude"))]).toEqual([[".claude"], []]);
});

it("says that its own folder has to be named by a whole path, because hooks run in every folder", async () => {
  for (const args of [["status"], ["connect", "http://127.0.0.1:9", "CODE", "--yes"]]) {
    const { code, stderr } = await reckon(["agent", ...args], {
      env: { HOME: newFolder(), RECKON_AGENT_HOME: "state" },
    });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('RECKON_AGENT_HOME is "state": it has to be a whole path'),
    ]);
  }
  const hook = await reckon(["agent", "hook", "claude-code", "SessionStart"], { env: { RECKON_AGENT_HOME: "state" } });
  expect(hook).toMatchObject({ code: 0, stdout: "", stderr: "" });
});

it("says that no folder can be made, as in a home folder that is read-only, and how to name another", async () => {
  const home = newFolder();
  const state = join(home, "state");
  symlinkSync(join(home, "is/not/there"), state);
  const { code, stderr } = await reckon(["agent", "status"], { env: { HOME: home, RECKON_AGENT_HOME: state } });
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${state}: no folder can be made there`)]);
  expect(stderr).toContain("name another folder with RECKON_AGENT_HOME");
});

it.skipIf(process.platform !== "linux")(
  "says so of a place that takes no folders, and does not try for ever",
  async () => {
    const { code, stderr } = await reckon(["agent", "status"], { env: { RECKON_AGENT_HOME: "/proc/reckon" } });
    expect([code, stderr]).toEqual([1, expect.stringContaining("/proc/reckon: no folder can be made there")]);
  },
);

it("connecting anew waits for the pass that is running, whose numbers are the old binding's", async () => {
  const a = await startAgent();
  const { server, capture } = a;
  a.work("s1", 3);
  const { machine, clock, log } = capture;
  const code = await server.code();
  let bound: ReturnType<typeof connectMachine> | undefined;
  server.between = (path, answer) => {
    if (path === "/api/policy" && !bound) {
      const other = openCapture({ machine, clock, log });
      bound = connectMachine(other, planConnect(other, server.url, code, {}) as ConnectPlan, () => {}).finally(() =>
        other.close(),
      );
    }
    return answer();
  };
  const before = deviceOf(a);
  expect(await a.pass()).toMatchObject({ sessionsSent: 1, stopped: undefined });
  expect(await bound).toMatchObject({ problems: [] });
  const { asked } = server;
  expect(asked.lastIndexOf("/api/connect/exchange")).toBeGreaterThan(asked.indexOf("/api/telemetry/heartbeat"));
  expect(heldOf(server, before).entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  server.between = undefined;
  a.work("s2", 1);
  await a.pass();
  expect(heldOf(server, deviceOf(a)).entries.map(({ seq }) => seq)).toEqual([1, 2, 3]);
  expect(server.verify()).toEqual([]);
});
