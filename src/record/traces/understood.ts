import { isObject } from "../../kit/json.ts";
import { asObject, readId, readInstant } from "./rules.ts";
import { readAttributes, readAttributeUsage, readRequestId, readUsage, type Usage } from "./usage.ts";

/**
 * What the free-form parts of sessions and spans say, as far as we understand it. A wrong type is not understood: the
 * member is then absent here, and still stands in the document as sent.
 */

export interface Prompt {
  readonly at: number | null;
  readonly text: string;
}

export interface Commit {
  readonly sha: string;
  readonly at: number | null;
}

export interface Edit {
  readonly path: string;
  readonly startLine: number | null;
  readonly endLine: number | null;
  readonly commit: string | null;
}

export interface Understood {
  readonly prompts: readonly Prompt[];
  readonly files: readonly string[];
  readonly commits: readonly Commit[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}

/** Elements of a list that could be read; anything but a list has none. */
function each<T>(value: unknown, read: (one: unknown) => T | undefined): T[] {
  return Array.isArray(value) ? value.map(read).filter((one): one is T => one !== undefined) : [];
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value.toWellFormed() : undefined;
const count = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;

function readPrompt(value: unknown): Prompt | undefined {
  const said = text(isObject(value) ? value.text : undefined);
  return said === undefined ? undefined : { at: readInstant((value as { at?: unknown }).at), text: said };
}

function readCommit(value: unknown): Commit | undefined {
  const sha = text(isObject(value) ? value.sha : value);
  return sha === undefined ? undefined : { sha, at: isObject(value) ? readInstant(value.at) : null };
}

function readEdit(value: unknown): Edit | undefined {
  const edit = asObject(value);
  const path = text(edit.path);
  if (path === undefined) return undefined;
  return { path, startLine: count(edit.startLine), endLine: count(edit.endLine), commit: text(edit.commit) ?? null };
}

/** What agents say that something cost, in dollars. Above a million for one call or session it is not believed. */
export function readCost(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= 1_000_000 ? value : null;
}

export function understandSession(document: Record<string, unknown>): Understood {
  const { prompts, files, commits, usage, costUsd } = document;
  return {
    prompts: each(prompts, readPrompt),
    files: each(files, text),
    commits: each(commits, readCommit),
    usage: readUsage(usage),
    costUsd: readCost(costUsd),
  };
}

export interface UnderstoodSpan {
  /** Its `usage`, or else what `gen_ai.usage.*` says. */
  readonly usage: Usage | null;
  readonly edits: readonly Edit[];
  /** OpenTelemetry's `gen_ai.*` names among them; values of any JSON type. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly operation: string | null;
}

export function understandSpan(document: Record<string, unknown>): UnderstoodSpan {
  const attributes = readAttributes(document.attributes);
  const usage = readUsage(document.usage) ?? readAttributeUsage(attributes);
  const requestId = usage?.requestId ?? readRequestId(document) ?? readRequestId(attributes);
  return {
    usage: usage && { ...usage, requestId },
    edits: each(document.edits, readEdit),
    attributes,
    operation: readId(attributes["gen_ai.operation.name"]) ?? null,
  };
}

const TITLE_CHARS = 160;

/** A prompt in one line, cut to 160 characters; what agents wrap in tags of their own stays. */
export function promptTitle(prompt: Prompt | undefined): string | null {
  if (!prompt) return null;
  const line = prompt.text
    .slice(0, 4 * TITLE_CHARS)
    .replace(/\s+/g, " ")
    .trim();
  if (line === "") return null;
  return line.length <= TITLE_CHARS
    ? line
    : `${line
        .slice(0, TITLE_CHARS - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

/** What a list shows of a session's document: how many of each it holds, and what it was asked first. */
export function countMembers(document: Record<string, unknown>) {
  const { prompts, files, commits } = understandSession(document);
  return {
    prompts: prompts.length,
    files: files.length,
    commits: commits.length,
    firstPrompt: promptTitle(prompts[0]),
  };
}
