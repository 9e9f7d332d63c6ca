import { AsyncLocalStorage } from "node:async_hooks";
import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { expect, inject, onTestFinished } from "vitest";
import { CONTRACT, createInstance, type Instance } from "../../src/app.ts";
import { readConfig, type Settings } from "../../src/config.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam, type Team } from "../../src/identity/teams/teams.ts";
import type { Clock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Endpoint, faultsOf } from "../../src/platform/http/endpoint.ts";
import { SHAPE_SCHEMAS } from "../../src/platform/http/faults.ts";
import { databasePath, openStore } from "../../src/platform/store/store.ts";
import { withEntries } from "./entries.ts";

/** A clock that a test moves; it stands still otherwise. */
export class TestClock implements Clock {
  #now = Date.UTC(2026, 10, 21, 8);
  #monotonic = 0;
  now = () => this.#now;
  monotonic = () => this.#monotonic;
  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
  }
  /** Moves the wall clock alone, as an operator or NTP does. */
  jump(ms: number): void {
    this.#now += ms;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly body: any;
  readonly text: string;
}

export interface Ask {
  readonly token?: string;
  readonly json?: unknown;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Record<string, string>;
}

export interface TestDevice {
  readonly deviceId: string;
  readonly token: string;
  readonly team: Team;
}

/** Whose credential an endpoint demands; `AnyState` for one that judges it itself. */
export const authOf = ({ spec: { auth } }: Endpoint) =>
  auth === "none" ? auth : `${auth.id}${auth.lenient ? "AnyState" : ""}`;

/** The faults that this worker has noted. */
const reached = new Set<string>();

/** Notes for the run that a declared fault was reached; `call` does so by itself. */
export function noteFault(operationId: string, fault: string): void {
  const pair = `${operationId} ${fault}`;
  if (reached.has(pair)) return;
  reached.add(pair);
  appendFileSync(join(inject("runFolder"), "faults", `${process.pid}.txt`), `${pair}\n`);
}

const patternOf = (path: string) => new RegExp(`^${path.replace(/\*\*:\w+/g, ".+").replace(/:\w+/g, "[^/]+")}$`);

/** Checks a refusal against what its endpoint declares, and notes which fault it was. */
function checkRefusal(method: string, path: string, answer: Answer, fault: string | undefined): void {
  const endpoint = CONTRACT.find((one) => one.spec.method === method && patternOf(one.spec.path).test(path));
  if (!endpoint || answer.status < 400 || fault === undefined) return;
  const declared = faultsOf(endpoint).find((one) => one.name === fault && one.status === answer.status);
  expect(
    declared,
    `${endpoint.spec.id} answered ${answer.status} with the fault "${fault}", which it does not declare`,
  ).toBeDefined();
  if (!declared) return;
  const schema = SHAPE_SCHEMAS[declared.shape];
  expect(
    v.safeParse(schema.type === "object" ? v.strictObject(schema.entries) : schema, answer.body).issues,
  ).toBeUndefined();
  noteFault(endpoint.spec.id, fault);
}

export interface TestInstance {
  readonly instance: Instance;
  readonly clock: TestClock;
  readonly directory: string;
  /** Lines of the log so far. */
  readonly log: string[];
  call(
    method: "GET" | "POST" | "HEAD" | "PUT" | "PATCH" | "DELETE" | "OPTIONS",
    path: string,
    ask?: Ask,
  ): Promise<Answer>;
  get(path: string, ask?: Ask): Promise<Answer>;
  post(path: string, ask?: Ask): Promise<Answer>;
  team(options?: { name?: string; tier?: Team["tier"]; seats?: number }): Promise<Team>;
  device(team?: Team): Promise<TestDevice>;
  code(team: Team): Promise<string>;
  /** Rows of a query, for what a request changed; `telemetry_entries` are the entries that segments hold. */
  // biome-ignore lint/suspicious/noExplicitAny: rows of any table
  rows(sql: string, ...parameters: unknown[]): any[];
  count(table: string): number;
  close(): Promise<void>;
}

export interface TestOptions {
  readonly settings?: Settings;
  /** An earlier instance's directory, to see what a restart keeps. */
  readonly directory?: string;
  readonly clock?: TestClock;
  /** Let the instance make its own key and database instead of adopting the run's key and a copy of an empty database. */
  readonly freshKey?: boolean;
  /** Let the jobs run by themselves, too. By the machine's clock they run in the middle of a slow test, and not of a quick one. */
  readonly withJobs?: boolean;
}

let teams = 0;

const isJson = ({ headers }: Response) => /^application\/(?:.*\+)?json\b/.test(headers.get("content-type") ?? "");

let empty: Buffer | undefined;

/** A database that nobody has written to, as a start makes it: made once a worker, because the schema is half of what a start costs. */
function emptyDatabase(): Buffer {
  if (empty) return empty;
  const directory = mkdtempSync(join(tmpdir(), "reckon-empty-"));
  openStore(directory, { locked: true, now: Date.now }).close();
  empty = readFileSync(databasePath(directory));
  rmSync(directory, { recursive: true });
  return empty;
}

/** Starts an instance on a directory of its own; it is closed and removed with the test. */
export async function startInstance(options: TestOptions = {}): Promise<TestInstance> {
  const clock = options.clock ?? new TestClock();
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "reckon-instance-"));
  const log: string[] = [];
  // Tells apart the faults of requests made at the same time.
  const asking = new AsyncLocalStorage<{ fault?: string }>();
  if (!options.directory && !options.freshKey) {
    copyFileSync(join(inject("runFolder"), "signing-key.pem"), join(directory, "signing-key.pem"));
    writeFileSync(databasePath(directory), emptyDatabase(), { mode: 0o600 });
  }
  const instance = await createInstance({
    // Each instance would start threads of its own, for half a second of a core. That threads read the same is tested in
    // test/api/largeBodies.
    config: readConfig({ workers: "0", ...options.settings, data: directory }, {}),
    clock,
    random: systemRandom,
    log: createLog({ level: "debug", now: clock.now, write: (line) => log.push(line) }),
    checkReplies: true,
    withoutJobs: !options.withJobs,
    observe: ({ fault }) => {
      const asked = asking.getStore();
      if (asked && fault !== undefined) asked.fault = fault;
    },
  });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await instance.close();
  };
  onTestFinished(async () => {
    await close();
    if (!options.directory) rmSync(directory, { recursive: true, force: true });
  });
  const call: TestInstance["call"] = async (method, path, ask = {}) => {
    const headers = new Headers(ask.headers);
    if (ask.token !== undefined) headers.set("authorization", `Bearer ${ask.token}`);
    let body = ask.body;
    if (ask.json !== undefined) {
      body = JSON.stringify(ask.json);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
    }
    const asked: { fault?: string } = {};
    const request = new Request(`http://localhost${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    const response = await asking.run(asked, () => instance.fetch(request));
    const text = await response.text();
    const answer = {
      status: response.status,
      headers: response.headers,
      text,
      body: text === "" ? undefined : isJson(response) ? JSON.parse(text) : text,
    };
    checkRefusal(method, path.split("?")[0] as string, answer, asked.fault);
    return answer;
  };
  const self: TestInstance = {
    instance,
    clock,
    directory,
    log,
    call,
    get: (path, ask) => call("GET", path, ask),
    post: (path, ask) => call("POST", path, ask),
    team: ({ name, ...rest } = {}) => createTeam(instance.core, name ?? `Team ${++teams}`, COMMAND_LINE, rest),
    async device(team) {
      const of = team ?? (await self.team());
      const { code } = await createCode(instance.core, of.id, COMMAND_LINE);
      const bound = await bindDevice(instance.core, code, "1", null);
      return { deviceId: bound.deviceId, token: bound.deviceToken, team: of };
    },
    code: async (team) => (await createCode(instance.core, team.id, COMMAND_LINE)).code,
    rows: (sql, ...parameters) => {
      const { db } = instance.core.store;
      return withEntries(db, sql, () => db.prepare(sql).all(...parameters));
    },
    count: (table) => self.rows(`SELECT count(*) AS n FROM ${table}`)[0].n,
    close,
  };
  return self;
}

/** An instance with a team. @param options as of `startInstance` */
export async function startWithTeam(options?: TestOptions) {
  const t = await startInstance(options);
  return { t, core: t.instance.core, team: await t.team() };
}

/** An instance with a device of a team of its own. @param options as of `startInstance` */
export async function startWithDevice(options?: TestOptions) {
  const t = await startInstance(options);
  const device = await t.device();
  return { t, core: t.instance.core, device, ...device };
}
