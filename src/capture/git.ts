import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { environmentWith } from "../kit/respawn.ts";

/* What git is asked, and what is read of its files without asking it. */

const GIT_TIMEOUT_MS = 2_000;
/** Far more than the files of repositories and agents that are read here have, but for logs. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The end of a file that git or an agent keeps, or all of it. Does not wait, because whoever made it may have put a pipe there.
 * @param most bytes
 * @throws Error where there is no file
 */
export function endOfFile(path: string, most = MAX_BYTES): string {
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Error(`${path} is no file`);
    const buffer = Buffer.alloc(Math.min(stats.size, most));
    const read = readSync(fd, buffer, 0, buffer.length, stats.size - buffer.length);
    return buffer.toString("utf8", 0, read);
  } finally {
    closeSync(fd);
  }
}

/** Where a repository keeps what all its work trees share (gitrepository-layout(5)). */
export function commonDirectory(git: string): string {
  const own = gitDirectory(git);
  const file = join(own, "commondir");
  return existsSync(file) ? resolve(own, endOfFile(file).trim()) : own;
}

/** What a work tree's `.git` is, or points at. */
export function gitDirectory(git: string): string {
  if (statSync(git).isDirectory()) return git;
  const target = /^gitdir: (.+)$/m.exec(endOfFile(git))?.[1]?.trim() ?? git;
  return isAbsolute(target) ? target : resolve(dirname(git), target);
}

/** The branch that HEAD names where references are kept in tables that only git reads (git-init(1), --ref-format). */
export const IN_TABLES = ".invalid";

/** The branch that a work tree stands on now (gitrepository-layout(5), HEAD). @returns undefined where it stands on none */
export function branchNow(root: string): string | undefined {
  const branch = branchInHead(root);
  return branch === IN_TABLES ? git(root, ["symbolic-ref", "--quiet", "--short", "HEAD"])?.trim() : branch;
}

/** The branch that the file HEAD names. */
export function branchInHead(root: string): string | undefined {
  try {
    const head = endOfFile(join(gitDirectory(join(root, ".git")), "HEAD"));
    return /^ref: refs\/heads\/(.+?)\s*$/.exec(head)?.[1];
  } catch {
    return undefined;
  }
}

/** A repository's own configuration could name programs for git to start (git-config(1)). */
const NO_PROGRAMS = ["-c", "core.fsmonitor=false", "-c", "log.showSignature=false"];

const OF_THIS_REPOSITORY = {
  // For a partial clone git would fetch what it lacks, by whatever program the repository names.
  GIT_ALLOW_PROTOCOL: "none",
  // A hook of git's passes on which repository it belongs to (githooks(5)), which need not be the one asked about.
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_COMMON_DIR: undefined,
  GIT_OBJECT_DIRECTORY: undefined,
};

/** Asks git itself. @returns undefined where it is absent, slow, or does not know */
export function git(root: string, args: readonly string[], input?: string): string | undefined {
  try {
    return execFileSync("git", ["-C", root, ...NO_PROGRAMS, ...args], {
      encoding: "utf8",
      input,
      env: environmentWith(OF_THIS_REPOSITORY),
      timeout: GIT_TIMEOUT_MS,
      // The names in a folder may take more than any file of git's.
      maxBuffer: 16 * MAX_BYTES,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
  } catch {
    return undefined;
  }
}
