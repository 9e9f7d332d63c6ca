import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readConfig } from "../../src/config.ts";
import type { Core } from "../../src/core.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { databasePath, openFile, openStore } from "../../src/platform/store/store.ts";
import { type Address, Wire } from "./load.ts";

export const ROOT = resolve(import.meta.dirname, "../..");

const directories = new Set<string>();
const children = new Set<ChildProcess>();

/** Ends and removes whatever a run has left, however it ended; synchronous, so that it can be the last thing done. */
export function cleanUp(): void {
  for (const child of children) child.kill("SIGKILL");
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  directories.clear();
}

export function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "reckon-bench-"));
  directories.add(directory);
  return directory;
}

export function removeDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}

/** How a program is started. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export const RECKON: Program = { file: process.execPath, args: [join(ROOT, "src/main.ts"), "serve"] };

/** Reckon with Node's sampling profiler on; the profile appears in `directory` once the server has stopped. */
export function profiledReckon(directory: string): Program {
  return { file: RECKON.file, args: ["--cpu-prof", `--cpu-prof-dir=${directory}`, ...RECKON.args] };
}

const LIMITS = ["EXCHANGE", "TELEMETRY", "BRAIN", "TRACES", "INFLATION", "READ"].map((name) => `RECKON_LIMIT_${name}`);

/** Reckon with the limits that an installation has. */
export const withLimits = (program: Program): Program => ({
  ...program,
  env: { ...program.env, ...Object.fromEntries(LIMITS.map((name) => [name, undefined])) },
});

/** Reckon that reads every body on the thread that answers. */
export const withoutThreads = (program: Program): Program => ({ ...program, env: { RECKON_WORKERS: "0" } });

/** The machine's own settings must not reach a server, and no limit may refuse what a measurement sends. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("RECKON_") && name !== "NODE_OPTIONS");
  return { ...Object.fromEntries([...own, ...LIMITS.map((name) => [name, "off"])]), RECKON_LOG: "warn" };
}

/** A server in a process of its own. */
export class Running {
  readonly address: Address;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, address: Address) {
    this.#child = child;
    this.address = address;
  }

  /** Resident memory in MB, as the operating system counts it. */
  residentMb(): number {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(this.#child.pid)], { encoding: "utf8" })) / 1024;
  }

  /** Seconds of processor time taken so far by all its threads; undefined where the system does not say it finely. */
  cpuSeconds(): number | undefined {
    if (process.platform !== "linux") return undefined;
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ");
    // Ticks of 10 ms on every Linux that Node supports.
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  stop(): Promise<void> {
    return new Promise((done) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return done();
      this.#child.once("exit", () => done());
      this.#child.kill("SIGTERM");
    });
  }
}

function launch({ file, args, env }: Program, more: readonly string[], stdout: "pipe" | "ignore"): ChildProcess {
  const child = spawn(file, [...args, ...more], {
    env: { ...environment(), ...env },
    stdio: ["ignore", stdout, "inherit"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

/** Starts a server that prints its address as JSON, and waits for that line. */
export async function start(program: Program, more: readonly string[]): Promise<Running> {
  const child = launch(program, more, "pipe");
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`${[program.file, ...program.args].join(" ")} ended with ${code}`)));
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.includes("\n")) resolve(text);
    });
  });
  const { hostname, port } = new URL((JSON.parse(line) as { url: string }).url);
  return new Running(child, { host: hostname, port: Number(port) });
}

export const startReckon = (directory: string, program = RECKON) =>
  start(program, ["--data", directory, "--port", "0", "--json"]);

/** Runs a command of Reckon to its end, beside a server. @throws Error where it fails */
export async function runBeside(directory: string, ...args: readonly string[]): Promise<void> {
  const program = { file: process.execPath, args: [join(ROOT, "src/main.ts")] };
  const child = launch(program, [...args, "--data", directory], "ignore");
  const code = await new Promise((resolve) => child.once("exit", resolve));
  if (code !== 0) throw new Error(`reckon ${args.join(" ")} ended with ${code}`);
}

/** Waits until a server has nothing left to do: no more than a tenth of a core for a second. */
export async function idle(server: Running): Promise<void> {
  for (let quiet = 0, before = server.cpuSeconds(); quiet < 2; ) {
    await pause(500);
    const now = server.cpuSeconds();
    quiet = now === undefined || before === undefined || now - before <= 0.05 ? quiet + 1 : 0;
    before = now;
  }
}

/**
 * @param args what the floor does, see floor.ts
 * @param placed how it is started elsewhere than on any core
 */
export const startFloor = (args: readonly string[], placed = (program: Program) => program) =>
  start(placed({ file: process.execPath, args: [join(import.meta.dirname, "floor.ts")] }), args);

/**
 * Starts a server at a known port and asks until it answers.
 * @returns milliseconds from starting the process to the first success, and the server
 */
export async function firstAnswer(
  program: Program,
  more: (port: number) => readonly string[],
  request: Buffer,
): Promise<{ milliseconds: number; server: Running }> {
  const address = { host: "127.0.0.1", port: await freePort() };
  const began = performance.now();
  const child = launch(program, more(address.port), "ignore");
  const server = new Running(child, address);
  while (child.exitCode === null && performance.now() - began < 60_000) {
    const wire = await Wire.open(address).catch(() => undefined);
    const answer = await wire?.ask(request).catch(() => undefined);
    const milliseconds = performance.now() - began;
    wire?.close();
    if (answer?.status === 200) return { milliseconds, server };
    // Refusals come at once; asking without a pause would take a core from the server that is starting.
    await pause(1);
  }
  throw new Error(`${program.file} did not answer`);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

export const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

/** Longer than the time between checkpoints: what one load leaves to be done must not fall into the next. */
export const settle = () => pause(700);

/** Binds devices of one team in a data directory. @returns their tokens */
export async function bindDevices(directory: string, count: number): Promise<string[]> {
  const store = openStore(directory, { now: systemClock.now });
  try {
    const config = readConfig({ data: directory }, {});
    const core: Core = { config, clock: systemClock, random: systemRandom, log: silentLog, store, state: new Map() };
    const team = await createTeam(core, `Bench ${systemRandom(8).toString("hex")}`, COMMAND_LINE);
    return await Promise.all(
      Array.from({ length: count }, async () => {
        const { code } = await createCode(core, team.id, COMMAND_LINE);
        return (await bindDevice(core, code, "1", null)).deviceToken;
      }),
    );
  } finally {
    store.close();
  }
}

/** Changes rows of a database that no server has open. */
export function changeRows(directory: string, sql: string): void {
  const db = openFile(databasePath(directory));
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

/** One number out of a server's database. */
export function countRows(directory: string, sql: string): number {
  const db = openFile(databasePath(directory));
  try {
    return db.prepare(sql).pluck().get() as number;
  } finally {
    db.close();
  }
}
