import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { bind } from "../../src/capture/bind.ts";
import { type Capture, openCapture } from "../../src/capture/capture.ts";
import { repositoryOf } from "../../src/capture/repository.ts";
import { createLog } from "../../src/kit/log.ts";
import { startInstance, TestClock, type TestInstance } from "./instance.ts";

/** A machine that is connected to an instance of its own. */
export interface TestMachine {
  readonly t: TestInstance;
  readonly url: string;
  readonly capture: Capture;
  /** Where work trees lie. */
  readonly folder: string;
  /** Makes a repository with an origin in which an agent has worked. @returns its top */
  repository(name: string, files?: Readonly<Record<string, string | Uint8Array>>): string;
  /** Asks as this machine. */
  get(path: string): ReturnType<TestInstance["get"]>;
}

export const keyOf = (name: string) => `git.example.com/acme/${name}`;

/** Writes files below a folder. */
export function write(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

export const git = (root: string, ...args: string[]): string =>
  execFileSync("git", ["-C", root, ...args], {
    encoding: "utf8",
    stdio: "pipe",
    env: { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" },
  });

/** @param through what the machine talks to instead of the instance itself */
export async function startMachine(
  settings: Readonly<Record<string, string>> = {},
  through: (url: string) => Promise<string> = async (url) => url,
  clock = new TestClock(),
): Promise<TestMachine> {
  const t = await startInstance({ clock, settings: { port: "0", ...settings } });
  const url = await through(await t.instance.listen());
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "reckon-machine-")));
  const capture = openCapture({
    machine: { home: join(folder, "home"), env: {}, platform: "linux" },
    clock: t.clock,
    log: createLog({ level: "debug", now: t.clock.now, write: () => {} }),
  });
  onTestFinished(() => {
    capture.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const { token } = await bind(capture, { url, code: await t.code(await t.team()) });
  return {
    t,
    url,
    capture,
    folder,
    repository(name, files = {}) {
      const root = join(folder, name);
      mkdirSync(root);
      git(root, "init", "--quiet", "--initial-branch=main");
      git(root, "remote", "add", "origin", `https://${keyOf(name)}.git`);
      write(root, files);
      repositoryOf(capture, root);
      return root;
    },
    get: (path) => t.get(path, { token }),
  };
}
