import { existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { DAY_MS, MINUTE_MS } from "../kit/clock.ts";
import { redactText } from "../redact/redact.ts";
import { commonDirectory, endOfFile, git } from "./git.ts";
import type { SessionHead } from "./session-head.ts";
import type { Capture } from "./state.ts";

/** The repository that a folder belongs to. */
export interface Repository {
  /** The top of its work tree; null where the folder belongs to none. */
  readonly root: string | null;
  /** The folder within it; `""` for the top itself. */
  readonly below: string;
  /** `host/owner/name` of its origin, else `root:` and its first commit; `""` where it has neither. */
  readonly repo: string;
}

const BY_COMMIT = "root:";
const NONE: Repository = { root: null, below: "", repo: "" };
/** What the service takes for a repository's key. */
const MAX_KEY_CHARS = 512;

/**
 * Finds the repository of a folder, and remembers it: the folder may be gone when its transcript is read.
 * @param folder absolute
 */
export function repositoryOf(capture: Capture, folder: string): Repository {
  const { rows, clock } = capture;
  const known = rows.folder.get(folder);
  const now = clock.now();
  const age = known ? now - known.lookedAt : Number.POSITIVE_INFINITY;
  // A minute, since another repository may lie there soon, or this one gets an origin. A day where the first commit names it, because git
  // may take long to find that.
  const isKept =
    age < MINUTE_MS || (age < DAY_MS && known?.root && isByCommit(known.repo) && isStill(known.root, known.repo));
  if (known && isKept && known.repo !== "") return known;
  const found = existsSync(folder) ? lookUp(folder) : known === undefined ? lookUpGone(folder) : undefined;
  if (!found) return known ?? NONE;
  rows.putFolder.run(folder, found.root, found.below, found.repo, now);
  return found;
}

/**
 * The repository of a session. It is looked up again while the session has none (it may have been made since, or got its first commit), and
 * while its first commit names it (it may have got an origin). The place that was found goes into the head.
 */
export function repositoryFor(capture: Capture, head: SessionHead, known: string): string {
  if ((known !== "" && !isByCommit(known)) || head.cwd === undefined) return known;
  const { root, below, repo } = repositoryOf(capture, head.cwd);
  if (known !== "" && (repo === known || !root || firstCommit(root) !== known)) return known;
  head.root = root;
  head.below = below;
  return repo;
}

/** Moves a session to the folder where it works now, if it began above its repositories, or its work tree was moved or removed since. */
export function goOver(capture: Capture, head: SessionHead, known: string, cwd: string): void {
  if (head.root && existsSync(head.root)) return;
  const { root, below, repo } = repositoryOf(capture, cwd);
  if (root && (known === "" || repo === known)) Object.assign(head, { cwd, root, below });
}

/**
 * The repository of a session that began in none, as in a folder above several: that of the file which is edited first.
 * @returns its key; `""` where it has none
 */
export function repositoryByEdit(capture: Capture, head: SessionHead, file: string): string {
  if (head.root || !isAbsolute(file)) return "";
  const { root, repo } = repositoryOf(capture, dirname(file));
  if (repo !== "") Object.assign(head, { root, below: undefined });
  return repo;
}

/**
 * The other work tree of the session's repository that a file lies in, if it does: agents go over to one that they make.
 * @returns its top as the file's path spells it, and without links
 */
export function otherTreeOf(
  capture: Capture,
  { root }: SessionHead,
  repo: string,
  file: string,
): { readonly top: string; readonly root: string } | undefined {
  const top = root && repo !== "" && isAbsolute(file) ? topOf(dirname(file)) : undefined;
  // git is not asked where it can tell nothing, because this is called for each edit.
  if (top === undefined || top === root || !isStill(top, repo)) return undefined;
  const other = repositoryOf(capture, top);
  return other.root && other.root !== root && other.repo === repo ? { top, root: other.root } : undefined;
}

const isByCommit = (repo: string) => repo.startsWith(BY_COMMIT);

/** Whether a work tree still belongs to a repository, as far as its origin says. */
export function isStill(root: string, repo: string): boolean {
  try {
    const named = namedByOrigin(root, commonDirectory(join(root, ".git")));
    return isByCommit(repo) ? named === undefined : named === repo;
  } catch {
    return false;
  }
}

/** The key that a repository has by the address of its origin, or of its only remote, without a secret that stands there. */
function namedByOrigin(root: string, common: string): string | undefined {
  const remotes = remotesOf(root, endOfFile(join(common, "config")));
  const [name = "", address] =
    remotes.length === 1 ? (remotes[0] ?? []) : (remotes.find(([each]) => each === "origin") ?? []);
  const named = address === undefined ? undefined : keyOf(root, name, address);
  return named === undefined ? undefined : redactText(named).text;
}

function lookUp(folder: string): Repository {
  try {
    const real = realpathSync(folder);
    const root = topOf(real);
    if (root === undefined) return NONE;
    const common = commonDirectory(join(root, ".git"));
    return {
      root,
      below: relative(root, real),
      // In a shallow clone the oldest commit is the first of that clone alone (gitrepository-layout(5), shallow).
      repo: namedByOrigin(root, common) ?? (existsSync(join(common, "shallow")) ? "" : firstCommit(root)),
    };
  } catch {
    // Unreadable is as good as none: the session is kept without a repository.
    return NONE;
  }
}

/** Where agents have git make work trees within the repository's own. They are removed when their work is done. */
const MADE_WITHIN = /^(.+)[\\/](?:\.claude[\\/]worktrees|\.worktrees)[\\/][^\\/]+(?:[\\/](.*))?$/;

/** The repository of such a work tree that is gone, which has no top any more. @returns undefined for any other folder */
function lookUpGone(folder: string): Repository | undefined {
  const [, top = "", below = ""] = MADE_WITHIN.exec(folder) ?? [];
  return top !== "" && existsSync(join(top, ".git")) ? { root: null, below, repo: lookUp(top).repo } : undefined;
}

function topOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** What is left to git of its configuration: files that it includes, a work tree's own, names of remotes without quotes, broken lines. */
const FOR_GIT = /^\s*\[\s*(?:include|remote\.)|worktreeConfig|\\\r?$/im;

type Remote = readonly [name: string, address: string];

/** The remotes of a repository with their first address, as they are written down. @param config the text of its configuration */
function remotesOf(root: string, config: string): Remote[] {
  const answer = FOR_GIT.test(config) ? git(root, ["config", "-z", "--get-regexp", "^remote\\..*\\.url$"]) : undefined;
  const remotes = new Map<string, string>();
  for (const [name, address] of answer === undefined ? remotesIn(config) : remotesSaid(answer))
    if (!remotes.has(name)) remotes.set(name, address);
  return [...remotes];
}

const remotesSaid = (answer: string): Remote[] =>
  [...answer.matchAll(/remote\.([^\n\0]*)\.url\n([^\0]+)\0/g)].map(([, name = "", address = ""]) => [name, address]);

/** The addresses of remotes in the text of a git configuration (git-config(1), SYNTAX). */
function remotesIn(config: string): Remote[] {
  let remote: string | undefined;
  return config.split("\n").flatMap((line): Remote[] => {
    const [header, name = "", part] = /^\s*\[\s*([\w.-]+)(?:\s+"(.*?)")?\s*\]/.exec(line) ?? [""];
    if (header !== "") remote = name.toLowerCase() === "remote" ? part : undefined;
    // What follows an unquoted # or ; is a comment.
    const url = /^\s*url\s*=\s*((?:"(?:[^"\\]|\\.)*"|[^"#;])+)/i.exec(line.slice(header.length))?.[1]?.trim();
    return remote !== undefined && url ? [[remote, unquoted(url)]] : [];
  });
}

/** A value of a git configuration, which git quotes where it holds `#` or `;`. */
const unquoted = (value: string): string => /^"(.*)"$/.exec(value)?.[1]?.replace(/\\(["\\])/g, "$1") ?? value;

const IS_PATH = /^(?:[./~]|file:|[a-z]:[\\/])/i;

/**
 * The key of a repository by the address of a remote, which may begin with a short name (git-config(1), url.<base>.insteadOf). Where it is
 * whole, what this machine takes instead of it is not asked for: a mirror holds the same repository.
 */
function keyOf(root: string, remote: string, address: string): string | undefined {
  const key = repoKeyOf(address);
  if (key === undefined ? IS_PATH.test(address) : /^[^/]*\./.test(key)) return key;
  // By the remote's name, because the address may hold a password, and other people can see what programs are started with.
  const whole = git(root, ["remote", "get-url", "--", remote])?.trim();
  return (whole && repoKeyOf(whole)) || key;
}

/** Other names of hosts for SSH, some of them for networks where only port 443 is open. The repositories are those that HTTPS has. */
const OTHER_HOSTS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ssh\.(?=github\.com\/)|altssh\.(?=gitlab\.com\/|bitbucket\.org\/))/, ""],
  [/^ssh\.dev\.azure\.com\/v3\/([^/]+\/[^/]+)\//, "dev.azure.com/$1/_git/"],
];

/**
 * The key of a repository by an address that git takes (git-fetch(1), GIT URLS): host, then path, without scheme, credentials, port or
 * `.git`.
 * @returns undefined for a folder of the machine, and for anything that is no such address: a part of it may be a password
 */
export function repoKeyOf(address: string): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?([^/:@]+)(?::\d*)?\/(.+)$/i.exec(address);
  // An address with a scheme is not of scp's form: git would take the scheme for the host.
  const scp = /:\/\/|::/.test(address) ? undefined : /^(?:[^@/:]+@)?([^/:@]{2,}):(?!\\)(.+)$/.exec(address);
  const [, host, path] = url ?? scp ?? [];
  if (!host || !path) return undefined;
  const name = path
    .replace(/[?#].*$/, "")
    .replace(/^\/+|\/+$/g, "")
    .replace(/\.git$/i, "");
  const key = OTHER_HOSTS.reduce((key, [from, to]) => key.replace(from, to), `${host.toLowerCase()}/${name}`);
  const isNamed = name !== "" && !name.includes("@") && key.length <= MAX_KEY_CHARS;
  return isNamed && !/\p{Cc}/u.test(key) ? key : undefined;
}

function firstCommit(root: string): string {
  const answer = git(root, ["rev-list", "--max-parents=0", "HEAD"]);
  const sha = answer?.trim().split("\n").at(-1);
  return sha && /^[0-9a-f]{40,64}$/.test(sha) ? `${BY_COMMIT}${sha.slice(0, 40)}` : "";
}
