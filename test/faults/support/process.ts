import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAIN } from "../../support/program.ts";

/** The program as an operator runs it: a process of its own, signalled and read from outside. Used by tests and scripts. */

/** Far above what anything here takes on a slow machine: reaching it means a hang. */
export const DEADLINE_MS = 30_000;

/** Settles as the promise does, or fails after a deadline, naming what was waited for. */
export function within<T>(promise: Promise<T>, what: string, ms = DEADLINE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Asks again and again until the answer is yes, for states that announce themselves by no event. */
export async function until(what: string, ask: () => boolean | Promise<boolean>, ms = DEADLINE_MS): Promise<void> {
  const started = performance.now();
  while (!(await ask())) {
    if (performance.now() - started > ms) throw new Error(`waited ${ms} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly exited: Promise<Exit>;
  /** What it wrote so far. */
  stdout(): string;
  stderr(): string;
  /** Ends it with a signal and waits. */
  end(signal?: NodeJS.Signals): Promise<Exit>;
}

export interface StartOptions {
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  readonly stdio?: StdioOptions;
  /** What stands on its standard input. */
  readonly input?: string;
  /** A command to run it under, e.g. one that lowers a limit. */
  readonly under?: readonly string[];
}

function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(?:RECKON_|NODE_OPTIONS|VITEST)/.test(name));
  // Compiled once for all processes: most of a command's time is spent on reading the program.
  return { NODE_COMPILE_CACHE: join(tmpdir(), "reckon-compile-cache"), ...Object.fromEntries(own), ...more };
}

/** What a started process tells: its output so far and its exit. */
export interface Watched {
  readonly child: ChildProcess;
  readonly exited: Promise<Exit>;
  stdout(): string;
  stderr(): string;
}

/** Starts the program without waiting for anything. */
export function launch(args: readonly string[], options: StartOptions = {}): Watched {
  const [command, ...rest] = [...(options.under ?? []), process.execPath, MAIN, ...args];
  const child = spawn(command as string, rest, {
    env: environment(options.env),
    stdio: options.stdio ?? [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (options.input !== undefined) child.stdin?.end(options.input);
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  // "close" comes after the pipes are drained; a pipe that a test took over does not hold it up.
  const exited = once(child, "close").then(([code, signal]): Exit => ({ code, signal }));
  return { child, exited, stdout: () => out, stderr: () => err };
}

/** Starts a server on a directory and waits until it answers. @throws Error with its output when it ends instead */
export async function serve(directory: string, options: StartOptions = {}): Promise<Running> {
  const watched = launch(["serve", "--data", directory, "--port", "0", ...(options.args ?? [])], options);
  const { child, exited } = watched;
  const url = await within(
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = /^listening on (\S+)$/m.exec(watched.stdout());
        if (found) resolve(found[1] as string);
      };
      child.stdout?.on("data", look);
      exited.then((exit) => reject(new Error(`the server ended (${JSON.stringify(exit)}): ${watched.stderr()}`)));
    }),
    "the server to listen",
  );
  const end = async (signal: NodeJS.Signals = "SIGTERM") => {
    child.kill(signal);
    return within(exited, `the server to end after ${signal}`);
  };
  return { ...watched, pid: child.pid as number, url, port: Number(new URL(url).port), end };
}

export interface Done {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command to its end. */
export async function reckon(args: readonly string[], options: StartOptions = {}): Promise<Done> {
  const watched = launch(args, options);
  const { code } = await within(watched.exited, `reckon ${args.join(" ")}`, 60_000).catch((error) => {
    watched.child.kill("SIGKILL");
    throw error;
  });
  return { code, stdout: watched.stdout(), stderr: watched.stderr() };
}

/** Starts a server that should refuse to: one that listens instead is ended and shows by what it printed on stdout. */
export async function startRefused(directory: string, options: StartOptions = {}): Promise<Done> {
  const watched = launch(["serve", "--data", directory, "--port", "0"], options);
  watched.child.stdout?.once("data", () => watched.child.kill("SIGKILL"));
  const { code } = await within(watched.exited, "the start to be refused");
  return { code, stdout: watched.stdout(), stderr: watched.stderr() };
}

/** Resident memory in bytes: now, and the most since `resetPeak`. Linux only. */
export function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  return { now: bytes("VmRSS"), peak: bytes("VmHWM") };
}

/** Makes the kernel count a process's peak of resident memory anew (proc(5), clear_refs). */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
}
