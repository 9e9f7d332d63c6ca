import type { SessionEvent } from "../formats/agents/transcript.ts";
import { readInstant } from "../formats/values.ts";
import { SECOND_MS } from "../kit/clock.ts";

/** A prompt as it is sent: its text, or in mode `metadata` how long it was. */
export interface SentPrompt {
  readonly at?: string | undefined;
  readonly text?: string;
  readonly chars?: number;
}

export interface SentCommit {
  readonly sha: string;
  readonly at?: string | undefined;
}

/** What is known of a session beside its spans: the members that are sent, and what is needed to go on. */
export interface SessionHead {
  agentVersion?: string | undefined;
  model?: string | undefined;
  branch?: string | undefined;
  title?: string | undefined;
  parentId?: string | undefined;
  startedAt?: string | undefined;
  endedAt?: string | undefined;
  /** Number of prompts, also beyond MAX_PROMPTS. */
  prompts: number;
  files: string[];
  commits: SentCommit[];
  hasReply: boolean;
  /** The session's folder and the top of its work tree; they stay on the machine. */
  cwd?: string | undefined;
  root?: string | null;
  /** The session's folder within that work tree; absent where it lies elsewhere. */
  below?: string;
  /** The tops of the repository's other work trees in which it edited files, with those files; they stay on the machine, too. */
  trees?: Record<string, string[]>;
  /** The span of the prompt that is being worked on. */
  turn?: string | undefined;
  /** Characters of the prompts that are sent, in UTF-16 units. */
  promptChars: number;
  /** The time of the newest commit that was looked at, see commits.ts; milliseconds since the epoch. */
  reflogAt?: number;
}

/** What a session's document may hold, so that one that goes on for weeks can still be sent. */
const MAX_PROMPTS = 2_000;
const MAX_PROMPT_CHARS = 2 * 1024 * 1024;
const MAX_FILES = 5_000;
const MAX_COMMITS = 1_000;
const LATE_PROMPT_CHARS = 200;

export const newHead = (): SessionHead => ({ prompts: 0, files: [], commits: [], hasReply: false, promptChars: 0 });

/** Adds the facts of an event to a head. */
export function learn(head: SessionHead, { cwd, branch, model, agentVersion, parentId, title }: SessionEvent): void {
  head.cwd ??= cwd;
  // A session may change branches: the last one counts.
  head.branch = branch ?? head.branch;
  head.model ??= model;
  head.agentVersion = agentVersion ?? head.agentVersion;
  // A fork of a fork names both. The one that it was made from comes last.
  head.parentId = parentId ?? head.parentId;
  head.title = title ?? head.title;
}

/** Widens the session's window to an instant. */
export function widen(head: SessionHead, at: string | undefined): void {
  if (at === undefined) return;
  const instant = readInstant(at) ?? 0;
  if (head.startedAt === undefined || instant < (readInstant(head.startedAt) ?? 0)) head.startedAt = at;
  if (head.endedAt === undefined || instant > (readInstant(head.endedAt) ?? 0)) head.endedAt = at;
}

/** Counts a prompt. @returns it as it is sent; undefined where a session's document has no more room */
export function addPrompt(head: SessionHead, prompt: SentPrompt): SentPrompt | undefined {
  head.prompts++;
  if (head.prompts > MAX_PROMPTS) return undefined;
  const { text } = prompt;
  const isLate = text !== undefined && head.promptChars + text.length > MAX_PROMPT_CHARS;
  head.promptChars += isLate ? LATE_PROMPT_CHARS : (text?.length ?? 0);
  return isLate ? { ...prompt, text: `${text.slice(0, LATE_PROMPT_CHARS).toWellFormed()}…` } : prompt;
}

export function addFile(head: SessionHead, path: string): void {
  if (head.files.length < MAX_FILES && !head.files.includes(path)) head.files.push(path);
}

/** Notes in which other work tree of the repository a file was edited. */
export function addToTree(head: SessionHead, root: string, path: string): void {
  const paths = head.trees?.[root] ?? [];
  if (paths.length < MAX_FILES && !paths.includes(path)) paths.push(path);
  head.trees = { ...head.trees, [root]: paths };
}

/** @returns false for a commit that was known; of two spellings the longer one is kept, and of a second's instants the later one */
export function addCommit(head: SessionHead, commit: SentCommit): boolean {
  const known = head.commits.findIndex(({ sha }) => sha.startsWith(commit.sha) || commit.sha.startsWith(sha));
  const before = head.commits[known];
  if (before) {
    const later = Date.parse(commit.at ?? "") - Date.parse(before.at ?? "");
    const { sha } = before.sha.length < commit.sha.length ? commit : before;
    head.commits[known] = { sha, at: (later > 0 && later < SECOND_MS ? commit : before).at };
    return false;
  }
  if (head.commits.length < MAX_COMMITS) head.commits.push(commit);
  return true;
}

/** Has commits made since an edit looked at again, see commits.ts. */
export function lookAgainFrom(head: SessionHead, editAt: string | undefined): void {
  const at = readInstant(editAt) ?? 0;
  // The reflog counts in seconds.
  if (head.reflogAt !== undefined) head.reflogAt = Math.min(head.reflogAt, at - SECOND_MS);
}

/** The session as the service takes it, without its prompts and spans. */
export function documentOf(id: string, agent: string, head: SessionHead): Record<string, unknown> {
  const { agentVersion, model, branch, title, parentId, startedAt, endedAt, files, commits, hasReply } = head;
  return {
    id,
    agent,
    agentVersion,
    model,
    branch,
    title,
    parentId,
    startedAt,
    endedAt,
    outcome: commits.length > 0 ? "committed" : hasReply ? "completed" : "abandoned",
    files,
    commits,
  };
}
