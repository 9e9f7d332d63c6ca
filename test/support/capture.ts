import { appendFileSync, cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { type Capture, openCapture, type PassResult, runPass } from "../../src/capture/capture.ts";
import { readCredentials, writeSetting } from "../../src/capture/state.ts";
import { createFleetCodes } from "../../src/identity/devices/devices.ts";
import { DAY_MS, MINUTE_MS } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Listener, listen } from "../../src/platform/http/listen.ts";
import { type CaptureMode, setPolicy } from "../../src/record/policy/policy.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { startLocal } from "./dev.ts";
import { withEntries } from "./entries.ts";
import { eraseNow } from "./erasure.ts";
import { TestClock } from "./instance.ts";
import { makeRepository, textOf, turns } from "./turns.ts";

/** Stands between the client and the server: its result is the reply. It gets the body uncompressed. */
type Between = (path: string, answer: () => Promise<Response>, body: string) => Response | Promise<Response>;

export interface TestServer {
  readonly url: string;
  /** The clock of the server and of the client. */
  readonly clock: TestClock;
  /** Paths of the requests so far. */
  readonly asked: string[];
  between: Between | undefined;
  /** Stops listening, as a machine that is switched off; `listen` takes the same port again. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
  /** Does the work, then returns to the state before it, as a server that is restored from a backup. */
  forgetting(work: () => Promise<void>): Promise<void>;
  /** What verifying its ledger finds wrong. */
  verify(): readonly unknown[];
  /** @param bindsForMs for a machine that lives for one job: for how long */
  code(bindsForMs?: number): Promise<string>;
  revoke(deviceId: string): Promise<void>;
  erase(deviceId: string): Promise<void>;
  policy(captureMode: CaptureMode): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: rows of any table
  rows(sql: string, ...parameters: unknown[]): any[];
  fault(
    operationId: string,
    status: number,
    times?: number,
    more?: { fault?: string; retryAfter?: number },
  ): Promise<void>;
}

/**
 * A local instance that answers on a socket.
 * @param team those of one name begin with one team; without it each has a team of its own, whose owner's password is hashed anew
 */
export async function startServer(team?: string): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "reckon-server-"));
  const clock = new TestClock();
  const open = () => startLocal({ directory, clock, program: team });
  let local = await open();
  const asked: string[] = [];
  const { log } = local.local.core;
  let listener: Listener | undefined;
  const plug = async (port = 0) => {
    listener = await listen({ fetch: handle }, { host: "127.0.0.1", port, maxConnections: 100, log });
    return listener.port;
  };
  const handle = async (request: Request) => {
    const { url, method, headers } = request;
    const { pathname } = new URL(url);
    asked.push(pathname);
    const { between } = self;
    if (!between) return local.local.fetch(request);
    const bytes = Buffer.from(await request.arrayBuffer());
    const again = new Request(url, { method, headers, ...(bytes.length > 0 ? { body: bytes } : {}) });
    const body = headers.get("content-encoding") === "gzip" ? gunzipSync(bytes) : bytes;
    return between(pathname, () => local.local.fetch(again), body.toString());
  };
  const unplug = async () => {
    await listener?.close();
    listener = undefined;
  };
  const port = await plug();
  onTestFinished(async () => {
    await unplug();
    await local.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const { teamId } = local.local.credentials;
  const self: TestServer = {
    asked,
    clock,
    url: `http://127.0.0.1:${port}`,
    between: undefined,
    unplug,
    plug: async () => void (await plug(port)),
    async forgetting(work) {
      const backup = `${directory}.backup`;
      await local.close();
      cpSync(directory, backup, { recursive: true });
      local = await open();
      await work();
      await local.close();
      rmSync(directory, { recursive: true });
      renameSync(backup, directory);
      // As a restore does: the last signed checkpoint belongs to the database that went.
      rmSync(join(directory, "ledger-checkpoint"), { force: true });
      local = await open();
    },
    verify: () => verifyLedger(local.local.core, undefined, () => {}).faults,
    code: async (bindsForMs) => {
      const how = { count: 1, uses: 1, lifetimeMs: DAY_MS, bindsForMs: bindsForMs ?? null };
      return (await createFleetCodes(local.local.core, teamId, how, COMMAND_LINE))[0]?.code as string;
    },
    revoke: async (deviceId) => local.control(`/_dev/devices/${deviceId}`, { action: "revoke" }),
    erase: async (device) => {
      const { core } = local.local;
      await eraseNow(core, { device });
    },
    policy: async (captureMode) => void (await setPolicy(local.local.core, teamId, { captureMode }, COMMAND_LINE)),
    rows: (sql, ...parameters) => {
      const { db } = local.local.core.store;
      return withEntries(db, sql, () => db.prepare(sql).all(...parameters));
    },
    fault: async (operationId, status, times = 1, more = {}) =>
      local.control("/_dev/faults", { operationId, status, times, ...more }),
  };
  return self;
}

export interface TestAgent {
  readonly server: TestServer;
  readonly home: string;
  /** Opened on the machine's folder; `reopen` closes and opens it, as another process does. */
  capture: Capture;
  reopen(): Capture;
  connect(since?: number): Promise<void>;
  /** A pass that a person asks for; fails where another one is at work. */
  pass(options?: Parameters<typeof runPass>[1]): Promise<PassResult>;
  /** Moves the clocks of the client and the server. */
  advance(ms: number): void;
  /** Moves the clocks, and has the machine be up again for an hour: only then it forgets anything. */
  sleep(ms: number): Promise<void>;
  /** Appends to a Claude Code transcript. @returns its path */
  write(name: string, ...records: readonly (object | string)[]): string;
  path(name: string): string;
  /** Appends turns to the session's transcript, which happen now. @param from tells them from turns of an earlier call */
  work(session: string, count: number, from?: number, folder?: string): void;
}

export interface AgentOptions {
  readonly server?: TestServer;
  /** Where the client's own folder lies; in the home folder by default. */
  readonly state?: string;
  /** Whether it is connected at once; if not, the test calls `connect`. */
  readonly connected?: boolean;
  readonly since?: number;
}

const REPO = "github.com/acme/shop";

/** A machine with a work tree, on which agents write transcripts and the capture client runs. Gone with the test. */
export async function startAgent(options: AgentOptions = {}): Promise<TestAgent> {
  const server = options.server ?? (await startServer("desk"));
  const home = mkdtempSync(join(tmpdir(), "reckon-machine-"));
  const clock = server.clock;
  makeRepository(join(home, "shop"), REPO);
  const open = () =>
    openCapture({
      machine: { home, env: { RECKON_AGENT_HOME: options.state }, platform: process.platform },
      clock,
      log: createLog({ level: "silent", now: clock.now, write: () => {} }),
    });
  const self: TestAgent = {
    server,
    home,
    capture: open(),
    reopen() {
      self.capture.close();
      self.capture = open();
      return self.capture;
    },
    async connect(since = 30 * DAY_MS) {
      await bind(self.capture, { url: server.url, code: await server.code(), label: "desk" });
      writeSetting(self.capture, "since", clock.now() - since);
    },
    async pass(passOptions = { force: true }) {
      const result = await runPass(self.capture, passOptions);
      if (!result) throw new Error("another pass is at work");
      return result;
    },
    advance: (ms) => clock.advance(ms),
    async sleep(ms) {
      clock.advance(ms);
      await self.pass();
      clock.advance(60 * MINUTE_MS);
    },
    path: (name) => join(home, ".claude/projects/-home-kim-shop", `${name}.jsonl`),
    write(name, ...records) {
      const path = self.path(name);
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, textOf(records));
      utimesSync(path, clock.now() / 1000, clock.now() / 1000);
      return path;
    },
    work(session, count, from = 0, folder = "shop") {
      self.write(session, ...turns(session, count, clock.now(), from, join(home, folder)));
    },
  };
  onTestFinished(() => {
    self.capture.close();
    rmSync(home, { recursive: true, force: true });
  });
  if (options.connected !== false) await self.connect(options.since);
  return self;
}

/** What the server holds of one device, without what tells one delivery from another: entries in the order of their numbers, spans by id. */
export function heldOf(server: TestServer, deviceId: string) {
  const entries = server.rows(
    `SELECT s.repo_key AS repo, e.seq, e.client_timestamp AS at, e.payload FROM telemetry_streams s
     JOIN telemetry_entries e ON e.stream_id = s.id WHERE s.device_id = ? ORDER BY s.repo_key, e.seq`,
    deviceId,
  ) as { repo: string; seq: number; at: string; payload: string }[];
  const spans = server.rows(
    `SELECT t.external_id AS session, p.external_id AS id, p.document FROM trace_sessions t JOIN trace_spans p ON p.session_id = t.id
     WHERE t.device_id = ? ORDER BY 1, 2`,
    deviceId,
  ) as { session: string; id: string; document: string }[];
  const sessions = server.rows(
    "SELECT external_id AS id, document FROM trace_sessions WHERE device_id = ? ORDER BY 1",
    deviceId,
  ) as { id: string; document: string }[];
  return { entries, spans, sessions };
}

/** The same for comparing one machine's with another's: what was said, in no order. */
export function saidBy(agent: TestAgent) {
  const { entries, spans, sessions } = heldOf(agent.server, deviceOf(agent));
  const anywhere = (text: string) => text.replaceAll(agent.home, "");
  return {
    entries: entries.map(({ repo, at, payload }) => anywhere(`${repo} ${at} ${payload}`)).sort(),
    spans: spans.map(({ session, document }) => [session, JSON.parse(anywhere(document))]),
    sessions: sessions.map(({ document }) => JSON.parse(anywhere(document))),
  };
}

/** @returns the device that the machine is to its server now */
export const deviceOf = ({ capture }: TestAgent): string => readCredentials(capture.places)?.deviceId as string;

/** Flags that streams carry on the server: numbers that are missing, and numbers that came again with other content. */
export function flagsOf(server: TestServer): { gaps: number; rollbacks: number } {
  const count = (table: string) => server.rows(`SELECT count(*) AS n FROM ${table}`)[0].n as number;
  return { gaps: count("telemetry_gaps"), rollbacks: count("telemetry_conflicts") };
}

/** Nothing waits, the server has what the machine has, each number once and none missing, and its ledger verifies. */
export function expectAgreement(agent: TestAgent): void {
  const { capture, server } = agent;
  const here = (sql: string) => capture.db.prepare(sql).all() as Record<string, unknown>[];
  const { entries, spans, sessions } = heldOf(server, deviceOf(agent));
  expect(flagsOf(server)).toEqual({ gaps: 0, rollbacks: 0 });
  const isKept = (sql: string) => {
    // What was sent is forgotten here after a week.
    const kept = new Set(here(sql).map((row) => JSON.stringify(Object.values(row))));
    return (...name: readonly unknown[]) => kept.has(JSON.stringify(name));
  };
  const hasEntry = isKept("SELECT repo, seq FROM entries");
  const hasSpan = isKept("SELECT session, id FROM spans");
  expect(here("SELECT repo, seq, payload FROM entries ORDER BY repo, seq")).toEqual(
    entries.filter(({ repo, seq }) => hasEntry(repo, seq)).map(({ repo, seq, payload }) => ({ repo, seq, payload })),
  );
  expect(here("SELECT repo, next_seq - 1 AS seq, acknowledged FROM streams ORDER BY repo")).toEqual(
    [...new Set(entries.map(({ repo }) => repo))].map((repo) => {
      const own = entries.filter((entry) => entry.repo === repo).map(({ seq }) => seq);
      expect(own).toEqual(Array.from(own, (_, i) => i + 1));
      return { repo, seq: own.length, acknowledged: own.length };
    }),
  );
  expect(here("SELECT session, id, body AS document FROM spans ORDER BY 1, 2")).toEqual(
    spans.filter(({ session, id }) => hasSpan(session, id)),
  );
  expect(here("SELECT id FROM sessions WHERE revision > 0 ORDER BY 1")).toEqual(sessions.map(({ id }) => ({ id })));
  expect(here("SELECT id FROM sessions WHERE revision > sent")).toEqual([]);
  expect(server.verify()).toEqual([]);
}
