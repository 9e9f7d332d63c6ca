import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { CONTRACT, createInstance } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { type Credentials, type Local, type LocalOptions, openLocal } from "../../src/surfaces/dev/dev.ts";
import { TestClock } from "./instance.ts";
import { MAIN } from "./program.ts";

export interface LocalAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly body: any;
}

interface LocalAsk {
  readonly token?: string;
  readonly json?: unknown;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

export interface TestLocal {
  readonly local: Local;
  readonly base: TestClock;
  readonly directory: string;
  readonly log: string[];
  call(method: string, path: string, ask?: LocalAsk): Promise<LocalAnswer>;
  get(path: string, ask?: LocalAsk): Promise<LocalAnswer>;
  post(path: string, ask?: LocalAsk): Promise<LocalAnswer>;
  /** Posts to a control route, which must succeed. */
  control(path: string, json?: unknown): Promise<LocalAnswer["body"]>;
  close(): Promise<void>;
}

export interface TestLocalOptions
  extends Partial<Pick<LocalOptions, "seed" | "startAt" | "frozen" | "empty" | "program" | "cache">> {
  readonly directory?: string;
  readonly baseUrl?: string;
  readonly clock?: TestClock;
  readonly env?: Record<string, string>;
}

/** Keys made once for all instances of a run. */
const cache = () => join(inject("runFolder"), "dev-keys");

/** Opens a local instance in this process, without demo data unless asked; its base clock stands still. Gone with the test. */
export async function startLocal(options: TestLocalOptions = {}): Promise<TestLocal> {
  const { directory: given, baseUrl = "http://127.0.0.1:4870", env = {}, clock, ...rest } = options;
  const directory = given ?? mkdtempSync(join(tmpdir(), "reckon-local-"));
  const base = clock ?? new TestClock();
  const log: string[] = [];
  const { port } = new URL(baseUrl);
  const config = readConfig({ data: directory, port, workers: "0" }, env);
  const local = await openLocal({
    seed: undefined,
    startAt: undefined,
    frozen: false,
    empty: true,
    cache: cache(),
    // Without a seed the team is copied from an earlier one, so that its owner's slow password is hashed once.
    program: rest.seed === undefined ? "the tests" : undefined,
    ...rest,
    directory,
    baseUrl,
    config,
    base: { clock: base, random: systemRandom },
    endpoints: CONTRACT,
    open: ({ seeding, ...parts }) =>
      createInstance({
        ...parts,
        config: seeding ? readConfig({ data: directory, port, workers: "0" }, {}) : config,
        log: createLog({ level: "debug", now: base.now, write: (line) => log.push(line) }),
        checkReplies: true,
      }),
  });
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await local.close();
  };
  onTestFinished(async () => {
    await close();
    if (given === undefined) rmSync(directory, { recursive: true, force: true });
  });
  const call: TestLocal["call"] = async (method, path, ask = {}) => {
    const headers = new Headers(ask.headers);
    if (ask.token !== undefined) headers.set("authorization", `Bearer ${ask.token}`);
    const body = ask.json === undefined ? ask.body : JSON.stringify(ask.json);
    if (ask.json !== undefined) headers.set("content-type", "application/json");
    const request = new Request(baseUrl + path, { method, headers, ...(body === undefined ? {} : { body }) });
    const answer = await local.fetch(request);
    const text = await answer.text();
    const json = /json/.test(answer.headers.get("content-type") ?? "");
    return { status: answer.status, headers: answer.headers, body: json ? JSON.parse(text) : text };
  };
  const self: TestLocal = {
    local,
    base,
    directory,
    log,
    call,
    close,
    get: (path, ask) => call("GET", path, ask),
    post: (path, ask) => call("POST", path, ask),
    async control(path, json = {}) {
      const { status, body } = await call("POST", path, { json });
      if (status !== 200) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
  };
  return self;
}

export interface Started extends Credentials {
  readonly child: ChildProcess;
  readonly dataDirectory: string;
  readonly controlUrl: string;
  /** Ends it by a signal. @returns its exit code, or the signal that ended it */
  end(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/**
 * Starts `reckon dev` as a process of its own on a free port. Gone with the test.
 * @param atEnd takes what ends it, where several tests share it
 */
export async function startProcess(
  args: readonly string[] = [],
  env: Record<string, string> = {},
  stdin: "ignore" | "pipe" = "ignore",
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, "dev", "--port", "0", "--json", ...args], {
    stdio: [stdin, "pipe", "inherit"],
    env: { ...process.env, ...env },
  });
  const exited = once(child, "exit") as Promise<[number | null, NodeJS.Signals]>;
  // By a signal that it hears, so that it takes its directory with it.
  atEnd(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  const printed = JSON.parse(await firstLine(child)) as Credentials & { dataDirectory: string; controlUrl: string };
  await (await fetch(`${printed.baseUrl}/api/health`)).text();
  return {
    ...printed,
    child,
    async end(signal = "SIGTERM") {
      child.kill(signal);
      const [code, by] = await exited;
      return code ?? by;
    },
  };
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  let text = "";
  for await (const part of stdout?.setEncoding("utf8") ?? []) {
    text += part;
    if (text.includes("\n")) return text;
  }
  throw new Error("it ended without a word");
}
