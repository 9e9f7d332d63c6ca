import { isObject } from "../kit/json.ts";
import { type Edit, readEdit } from "./edits.ts";
import { readAttributes, readAttributeUsage, readCost, readRequestId, readUsage, type Usage } from "./usage.ts";
import { each, type Fields, readId, readInstant, readText } from "./values.ts";

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

export interface Understood {
  readonly prompts: readonly Prompt[];
  readonly files: readonly string[];
  readonly commits: readonly Commit[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}

function readPrompt(value: unknown): Prompt | undefined {
  const text = readText(isObject(value) ? value.text : undefined);
  return text === undefined ? undefined : { at: readInstant((value as { at?: unknown }).at), text };
}

function readCommit(value: unknown): Commit | undefined {
  const sha = readText(isObject(value) ? value.sha : value);
  return sha === undefined ? undefined : { sha, at: isObject(value) ? readInstant(value.at) : null };
}

export function understandSession(document: Fields): Understood {
  const { prompts, files, commits, usage, costUsd } = document;
  return {
    prompts: each(prompts, readPrompt),
    files: each(files, readText),
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
  readonly attributes: Fields;
  readonly operation: string | null;
}

export function understandSpan(document: Fields): UnderstoodSpan {
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
export function countMembers(document: Fields) {
  const { prompts, files, commits } = understandSession(document);
  return {
    prompts: prompts.length,
    files: files.length,
    commits: commits.length,
    firstPrompt: promptTitle(prompts[0]),
  };
}
