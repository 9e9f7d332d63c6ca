import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { readPackageJSON } from "pkg-types";
import { BuildError, ROOT } from "../bundle.ts";

/** What a release is made from. */
export interface Source {
  readonly version: string;
  /** 40 hexadecimal digits. */
  readonly commit: string;
  /** When it was committed, in seconds: the time of everything in the artefacts (SOURCE_DATE_EPOCH). */
  readonly epoch: number;
}

export interface Digest {
  readonly name: string;
  readonly sha256: string;
}

export const say = (line: string) => void process.stdout.write(`${line}\n`);

/** The commit that is checked out. @throws BuildError when files differ from it: nobody could build them again */
export async function readSource(): Promise<Source> {
  const { version } = await readPackageJSON(ROOT);
  if (!version) throw new BuildError("package.json has no version");
  const changed = run("git", ["status", "--porcelain"]);
  if (changed) throw new BuildError(`a release is made of a commit, and these files are not in it:\n${changed}`);
  const [commit = "", seconds] = run("git", ["log", "-1", "--format=%H %ct"]).trim().split(" ");
  return { version, commit, epoch: Number(seconds) };
}

/** Runs a program. @returns its stdout. @throws BuildError when it fails, with what it said */
export function run(
  command: string,
  args: readonly string[],
  { cwd = ROOT, env = {} }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string>> } = {},
): string {
  const done = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (done.status === 0) return done.stdout;
  throw new BuildError(
    `${basename(command)} ${args.join(" ")} failed (${done.error?.message ?? done.signal ?? `exit ${done.status}`})\n` +
      `${done.stdout ?? ""}${done.stderr ?? ""}`,
  );
}

/** The first line of what a program says of itself, or undefined where there is no such program. */
export function toolVersion(command: string): string | undefined {
  const done = spawnSync(command, ["--version"], { encoding: "utf8" });
  return done.status === 0 ? done.stdout.split("\n")[0]?.trim() : undefined;
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

export const sizeOf = async (file: string) => (await stat(file)).size;
