import { join } from "node:path";
import { SECOND_MS } from "../kit/clock.ts";
import { branchInHead, endOfFile, git, gitDirectory, IN_TABLES } from "./repository.ts";

const MAX_LOG_BYTES = 256 * 1024;
/** About as many as there are in so many bytes. */
const MAX_LOG_LINES = 1_000;
/** So many commits are looked at together, at most. */
export const MAX_COMMITS = 50;

export interface LoggedCommit {
  readonly sha: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The commits that it was put in place of one after the other, or is a copy of, as far as git writes that down where we read it. */
  readonly amends: readonly string[];
}

/** What git writes down of a commit, and of the copy of one that it makes while it rebases, picks or applies it (git-rebase(1), git-cherry-pick(1), git-am(1)). */
const MADE =
  /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]* (\d{9,11}) [+-]\d{4}\t(?:commit\b(?: \((?:(amend)|[\w-]+)\))?|((?:rebase|pull)\b[^(]*\((?:pick|squash|fixup|reword|edit|continue)\)|cherry-pick|am)): ?(.*)$/;
/** What of it puts the copy in place of the commit before, under a title that may be new. */
const MELTS = /\((?:squash|fixup|reword)\)$/;
/** What somebody gave other content before it went on, as where there was a conflict: it is of that work, too. */
const SOLVED = /\(continue\)$/;

/** The title of a commit that `git merge --squash` left to be made, unless somebody wrote another; below it stands of which ones. */
const SQUASHED = "Squashed commit of the following:";
const SQUASHED_ONE = /^commit ([0-9a-f]{40,64})$/gm;

/** How git writes down that it begins to rebase what HEAD was, on what it is now, and that it is done. */
const BEGUN = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\t]*\t(?:rebase|pull)\b[^(]*\(start\)/;
const DONE = /^\S+ \S+ [^\t]* (\d{9,11}) [+-]\d{4}\t(?:rebase|pull)\b[^(]*\(finish\)/;

/** What is being rebased. */
interface Rebase {
  readonly from: string;
  readonly onto: string;
  /** Commits of which it made copies. */
  readonly copied: Set<string>;
  /** Commits that it put others' changes into. */
  readonly melted: Set<string>;
}

/**
 * The commits that were made in a work tree, oldest first. A copy counts as made when what it is a copy of was: it is of the same work.
 * One that several were melted or squashed into is there for each of them.
 * @param since milliseconds since the epoch: of what came before, git is not asked which ones those were
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

  /** @param melts whether it took the place of the commit before */
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

  /** Which commits others were melted into, once for each of those: git writes down of them only that they are there no more. */
  #meltedBy(doneAt: number): LoggedCommit[] {
    const rebase = this.#rebase;
    if (!rebase || rebase.melted.size === 0 || doneAt < this.#since) return [];
    const { from, onto, copied, melted } = rebase;
    const range = ["rev-list", `--max-count=${MAX_COMMITS}`, from, `^${onto}`, "--"];
    const rebased = git(this.#root, range)?.split("\n") ?? [];
    const gone = rebased.filter((sha) => !copied.has(sha));
    return [...melted].flatMap((sha) => this.#inPlaceOf(gone, sha));
  }

  /** A commit that others' changes went into, once for each of those that were made in this work tree. */
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

/** The same lines where only git can read them, which tells of each what HEAD was then. */
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
