import { join } from "node:path";
import { SECOND_MS } from "../kit/clock.ts";
import { branchInHead, endOfFile, git, gitDirectory, IN_TABLES } from "./git.ts";

const MAX_LOG_BYTES = 256 * 1024;
/** About as many lines as MAX_LOG_BYTES hold. */
const MAX_LOG_LINES = 1_000;
/** Commits that are examined at once, at most. */
export const MAX_COMMITS = 50;

export interface LoggedCommit {
  readonly sha: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The commits that this one replaced or is a copy of, the latest first, as far as the reflog tells. */
  readonly amends: readonly string[];
}

/**
 * Lines of the reflog about a commit, and about the copy that git makes of one while it rebases, picks or applies it (git-rebase(1),
 * git-cherry-pick(1), git-am(1)).
 */
const MADE =
  /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]* (\d{9,11}) [+-]\d{4}\t(?:commit\b(?: \((?:(amend)|[\w-]+)\))?|((?:rebase|pull)\b[^(]*\((?:pick|squash|fixup|reword|edit|continue)\)|cherry-pick|am)): ?(.*)$/;
/** Steps of a rebase whose copy replaces the commit before it, maybe under a new title. */
const MELTS = /\((?:squash|fixup|reword)\)$/;
/** A rebase that went on after somebody changed the content, as after a conflict: the copy counts as work of that time, too. */
const SOLVED = /\(continue\)$/;

/**
 * The title that `git merge --squash` prepares for the commit, unless somebody writes another. The text below it names the squashed
 * commits.
 */
const SQUASHED = "Squashed commit of the following:";
const SQUASHED_ONE = /^commit ([0-9a-f]{40,64})$/gm;

/** Lines of the reflog about a rebase: its start (of what HEAD was, onto what it is now) and its end. */
const BEGUN = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*\t(?:rebase|pull)\b[^(]*\(start\)/;
const DONE = /^\S+ \S+ [^\t]* (\d{9,11}) [+-]\d{4}\t(?:rebase|pull)\b[^(]*\(finish\)/;

/** A rebase that is under way. */
interface Rebase {
  readonly from: string;
  readonly onto: string;
  /** Commits that it copied. */
  readonly copied: Set<string>;
  /** Copies that took in the changes of other commits. */
  readonly melted: Set<string>;
}

/**
 * The commits that were made in a work tree, oldest first. A copy has the time of its original, because it is the same work. A commit that
 * several were squashed into is listed once for each of them.
 * @param since milliseconds since the epoch: for earlier commits git is not asked which ones were squashed into them
 */
export function reflog(root: string, since: number): LoggedCommit[] {
  const log = new Reflog(root, since);
  return reflogLines(root).flatMap((line) => log.read(line));
}

class Reflog {
  readonly #root: string;
  readonly #since: number;
  readonly #bySha = new Map<string, LoggedCommit>();
  readonly #byTitle = new Map<string, LoggedCommit>();
  #rebase: Rebase | undefined;

  constructor(root: string, since: number) {
    this.#root = root;
    this.#since = since;
  }

  read(line: string): LoggedCommit[] {
    const [, from, onto] = BEGUN.exec(line) ?? [];
    if (from && onto) this.#rebase = { from, onto, copied: new Set(), melted: new Set() };
    const [, seconds] = DONE.exec(line) ?? [];
    return seconds === undefined ? this.#commitIn(line) : this.#meltedBy(Number(seconds) * SECOND_MS);
  }

  #commitIn(line: string): LoggedCommit[] {
    const [, before = "", sha = "", seconds, isAmend, copies, title = ""] = MADE.exec(line) ?? [];
    if (sha === "") return [];
    const at = Number(seconds) * SECOND_MS;
    if (copies !== undefined) {
      const copied = this.#copyAs(sha, title, before, MELTS.test(copies));
      return SOLVED.test(copies) ? [...copied, { sha, at, amends: copied[0]?.amends ?? [] }] : copied;
    }
    const amended = isAmend ? (this.#bySha.get(before) ?? { sha: before, at, amends: [] }) : undefined;
    const made = this.#keep({ sha, at, amends: amendsOf(amended) }, title);
    if (title !== SQUASHED || at < this.#since) return made;
    const text = git(this.#root, ["show", "--no-patch", "--format=%B", sha, "--"]) ?? "";
    const ones = Array.from(text.matchAll(SQUASHED_ONE), ([, one = ""]) => one);
    return [...made, ...this.#inPlaceOf(ones, sha)];
  }

  /** @param melts whether the copy replaced the commit before it */
  #copyAs(sha: string, title: string, before: string, melts: boolean): LoggedCommit[] {
    const of = this.#byTitle.get(title) ?? (melts ? this.#bySha.get(before) : undefined);
    if (of) this.#rebase?.copied.add(of.sha);
    if (melts) {
      this.#rebase?.melted.delete(before);
      this.#rebase?.melted.add(sha);
    }
    return of ? this.#keep({ sha, at: of.at, amends: amendsOf(of) }, title) : [];
  }

  #keep(commit: LoggedCommit, title: string): LoggedCommit[] {
    this.#bySha.set(commit.sha, commit);
    this.#byTitle.set(title, commit);
    return [commit];
  }

  /**
   * The commits that others were squashed into, once for each of those. The reflog does not name those: they are the ones that the rebase
   * did not copy.
   */
  #meltedBy(doneAt: number): LoggedCommit[] {
    const rebase = this.#rebase;
    if (!rebase || rebase.melted.size === 0 || doneAt < this.#since) return [];
    const { from, onto, copied, melted } = rebase;
    const range = ["rev-list", `--max-count=${MAX_COMMITS}`, from, `^${onto}`, "--"];
    const rebased = git(this.#root, range)?.split("\n") ?? [];
    const gone = rebased.filter((sha) => !copied.has(sha));
    return [...melted].flatMap((sha) => this.#inPlaceOf(gone, sha));
  }

  /** A commit that took in the changes of others, once for each of those that were made in this work tree. */
  #inPlaceOf(others: readonly string[], sha: string): LoggedCommit[] {
    const known = others.slice(0, MAX_COMMITS).flatMap((other) => this.#bySha.get(other) ?? []);
    return known.map((one) => ({ sha, at: one.at, amends: amendsOf(one) }));
  }
}

const amendsOf = (earlier: LoggedCommit | undefined): string[] =>
  earlier ? [earlier.sha, ...earlier.amends].slice(0, MAX_COMMITS) : [];

function reflogLines(root: string): string[] {
  if (branchInHead(root) === IN_TABLES) return reflogInTables(root);
  try {
    return endOfFile(join(gitDirectory(join(root, ".git")), "logs", "HEAD"), MAX_LOG_BYTES).split("\n");
  } catch {
    return [];
  }
}

/** The same lines where only git can read them. It prints the new HEAD of each entry; the old one is that of the entry before. */
function reflogInTables(root: string): string[] {
  const text = git(root, [
    "reflog",
    "show",
    `-${MAX_LOG_LINES}`,
    "--date=unix",
    "--format=%H %gd%x09%gs",
    "HEAD",
    "--",
  ]);
  const entries = (text ?? "").split("\n").toReversed();
  return entries.map((entry, i) => {
    const [sha = "", at = "", said = ""] = entry.split(/ HEAD@\{|\}\t/);
    return `${entries[i - 1]?.slice(0, sha.length) || "0".repeat(sha.length)} ${sha} - ${at} +0000\t${said}`;
  });
}
