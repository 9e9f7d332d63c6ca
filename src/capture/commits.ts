import { DAY_MS, isoInstant, MINUTE_MS, SECOND_MS } from "../kit/clock.ts";
import { git } from "./git.ts";
import { quietWindows } from "./policy.ts";
import { type LoggedCommit, MAX_COMMITS, reflog } from "./reflog.ts";
import { repositoryFor } from "./repository.ts";
import type { SessionRow, SpanRow } from "./rows.ts";
import { addCommit, type SessionHead } from "./session-head.ts";
import type { Capture } from "./state.ts";
import { outgoingJson } from "./texts.ts";

/** How long after a session's last event a commit of its files is still put down to it. */
const AFTER_MS = 30 * MINUTE_MS;
const BEFORE_MS = 5 * SECOND_MS;
/** How long an agent may take to write down the edit that went into a commit. */
const SETTLES_MS = MINUTE_MS;

interface FoundCommit extends LoggedCommit {
  /** The work tree that the commit was made in. */
  readonly root: string;
  readonly files: readonly string[];
  /** Those of the files that the session edited in that work tree. */
  readonly edited: readonly string[];
  /** Milliseconds since the epoch: later edits did not go into it. */
  readonly until: number;
}

/**
 * Finds the commits that sessions' edits went into, in the reflog of their work trees' HEAD (git-reflog(1)): commits made while the session
 * ran or soon after, of a file that it edited. So a commit that a person made of an agent's work is found, too. A commit with edits of
 * another session only belongs to that session.
 */
export function findCommits(capture: Capture): void {
  const { rows, clock } = capture;
  const logs = new Map<string, LoggedCommit[]>();
  // Each reflog is read once for all sessions.
  const logOf = (root: string) => logs.getOrInsertComputed(root, () => reflog(root, clock.now() - DAY_MS));
  const files = new Map<string, string[]>();
  const edits = new Map<string, EditSpan[]>();
  // Edits are parsed once for all commits. The rest of the spans is not kept.
  const editsOf = (id: string) =>
    edits.getOrInsertComputed(id, () => Array.from(rows.spansWithEdits.iterate(id), editSpan));
  const recent = rows.recentSessions
    .all(clock.now() - DAY_MS)
    .map((row) => ({ row, head: JSON.parse(row.head) as SessionHead }));
  const quiet = quietWindows(capture);
  for (const { row, head } of recent) {
    const made = newCommits(head, logOf, files);
    const commits = made.filter(({ at }) => !quiet.some(({ since, until }) => at >= since && at < until));
    if (commits.length === 0) continue;
    const isOthers = (commit: FoundCommit) =>
      recent.some(
        (other) =>
          other.row.id !== row.id &&
          (other.head.root === commit.root || other.head.trees?.[commit.root] !== undefined) &&
          editsOf(other.row.id).some((span) => hasPartIn(span, commit)),
      );
    capture.transact(() => note(capture, row, head, commits, editsOf(row.id), isOthers));
  }
}

/** @param files the files of the commits that were asked for so far; missing ones are added */
function newCommits(
  head: SessionHead,
  logOf: (root: string) => readonly LoggedCommit[],
  files: Map<string, string[]>,
): FoundCommit[] {
  const { root, trees = {}, startedAt, endedAt } = head;
  if (!root || startedAt === undefined || endedAt === undefined || head.files.length === 0) return [];
  const [from, to] = [Date.parse(startedAt) - BEFORE_MS, Date.parse(endedAt) + AFTER_MS];
  const known = new Set(head.commits.filter(({ sha }) => sha.length >= 40).map(({ sha }) => sha));
  const elsewhere = new Set(Object.values(trees).flat());
  const here = head.files.filter((file) => !elsewhere.has(file));
  return Object.entries({ ...trees, [root]: here }).flatMap(([root, paths]): FoundCommit[] => {
    const commits = logOf(root)
      .filter(({ sha, at }) => at >= from && at <= to && !(known.has(sha) && (head.reflogAt ?? 0) >= at))
      .slice(-MAX_COMMITS);
    learnFiles(
      root,
      commits.map(({ sha }) => sha),
      files,
    );
    const edited = new Set(paths);
    return commits
      .map((commit) => ({ ...commit, root, files: files.get(commit.sha) ?? [], until: untilOf(commit, head) }))
      .map((commit) => ({ ...commit, edited: commit.files.filter((file) => edited.has(file)) }))
      .filter((commit) => commit.edited.length > 0);
  });
}

/**
 * The last instant of an edit that may have gone into a commit. The reflog counts in seconds. The session's transcript says to the
 * millisecond when the agent heard of its own commit; so edits are told apart where it commits more than once a second.
 */
function untilOf({ sha, at }: LoggedCommit, { commits }: SessionHead): number {
  const heard = Date.parse(commits.find((known) => sha.startsWith(known.sha))?.at ?? "");
  const end = at + SECOND_MS - 1;
  return heard > at ? Math.min(heard, end) : end;
}

/** Asks git which files commits changed: for all at once or, where git fails for one of them, one by one. */
function learnFiles(root: string, shas: readonly string[], files: Map<string, string[]>): void {
  const missing = shas.filter((sha) => !files.has(sha));
  if (missing.length === 0) return;
  const text = git(
    root,
    ["diff-tree", "--root", "-r", "-m", "--name-only", "-z", "--stdin"],
    `${missing.join("\n")}\n`,
  );
  if (text === undefined && missing.length > 1) {
    for (const sha of missing) learnFiles(root, [sha], files);
    return;
  }
  for (const sha of missing) files.set(sha, []);
  // git prints each commit followed by its files; a merge once for each parent.
  let own: string[] | undefined;
  for (const part of text?.split("\0") ?? []) {
    if (missing.includes(part)) own = files.get(part);
    else if (part !== "") own?.push(part);
  }
}

function note(
  capture: Capture,
  row: SessionRow,
  head: SessionHead,
  commits: readonly FoundCommit[],
  spans: readonly EditSpan[],
  isOthers: (commit: FoundCommit) => boolean,
): void {
  const { rows, clock } = capture;
  const revision = row.revision + 1;
  const repo = repositoryFor(capture, head, row.repo);
  let changed = repo !== row.repo;
  for (const commit of commits) {
    const { sha, at } = commit;
    const short = head.commits.find((known) => sha.startsWith(known.sha));
    const wasShort = short !== undefined && short.sha !== sha;
    const own = { ...commit, files: commit.edited };
    const isOwn = short !== undefined || spans.some((span) => hasPartIn(span, own));
    // Whose a commit is that was just made is not known yet: it is looked at again.
    if (!isOwn && (clock.now() - at < SETTLES_MS || isOthers(commit))) continue;
    if (addCommit(head, { sha, at: isoInstant(at) })) {
      const payload = outgoingJson({
        type: "commit",
        sha,
        sessionId: row.id,
        agent: row.agent,
        branch: head.branch,
        model: head.model,
      });
      rows.addEntry.run(repo, rows.takeSeq.get(repo) as number, isoInstant(at), payload);
      changed = true;
    }
    changed ||= wasShort;
    head.reflogAt = Math.max(head.reflogAt ?? 0, at);
    for (const span of spans) {
      if (!nameCommit(span, own)) continue;
      const body = outgoingJson({ ...JSON.parse(rows.span.get(row.id, span.id) ?? "{}"), edits: span.edits });
      rows.putSpan.run({ session: row.id, id: span.id, revision, body });
      changed = true;
    }
  }
  if (!changed && JSON.stringify(head) === row.head) return;
  rows.putSession.run({
    id: row.id,
    agent: row.agent,
    repo,
    head: JSON.stringify(head),
    revision: changed ? revision : row.revision,
    changedAt: changed ? clock.now() : row.changedAt,
  });
}

interface SentEdit {
  readonly path: string;
  readonly at?: string;
  readonly commit?: string;
}

/** The edits of a span, as they stand in it. */
interface EditSpan {
  readonly id: string;
  edits: readonly SentEdit[];
}

const editSpan = ({ id, body }: SpanRow): EditSpan => ({
  id,
  edits: (JSON.parse(body) as { edits?: readonly SentEdit[] }).edits ?? [],
});

const hasPartIn = ({ edits }: EditSpan, commit: FoundCommit) => edits.some((edit) => isIn(edit, commit));

/** Whether an edit went into a commit: it was made before that, and went into no other commit that this one does not amend. */
function isIn({ path, at, commit }: SentEdit, { sha, amends, files, until }: FoundCommit): boolean {
  if (!files.includes(path)) return false;
  if (commit !== undefined) return commit === sha || amends.includes(commit);
  return at === undefined || Date.parse(at) <= until;
}

/** Notes the commit in the edits that went into it. @returns whether there were any without a commit */
function nameCommit(span: EditSpan, found: FoundCommit): boolean {
  const isNew = (edit: SentEdit) => edit.commit === undefined && isIn(edit, found);
  if (!span.edits.some(isNew)) return false;
  span.edits = span.edits.map((edit) => (isNew(edit) ? { ...edit, commit: found.sha } : edit));
  return true;
}
