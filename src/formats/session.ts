import { isObject } from "../kit/json.ts";
import { type Edit, readEdit } from "./edits.ts";
import { type Failure, failureOf, inputOf, outputOf } from "./step.ts";
import {
  readAttributeModel,
  readAttributes,
  readAttributeUsage,
  readCost,
  readRequestId,
  readUsage,
  type Usage,
} from "./usage.ts";
import { each, type Fields, readCount, readId, readInstant, readText } from "./values.ts";

/**
 * The meaning of the free-form parts of sessions and spans, as far as we understand it. A wrong type is not understood: the member is then
 * absent here, and still stands in the document as sent.
 */

export interface Prompt {
  readonly at: number | null;
  /** Null where only metadata was recorded. */
  readonly text: string | null;
  /** How long its text was, in UTF-16 units, where that is told instead. */
  readonly chars: number | null;
  /** The agent's id of the call that answers it, when that places the prompt better than `at`. */
  readonly spanId: string | null;
}

interface Commit {
  readonly sha: string;
  readonly at: number | null;
}

export interface Understood {
  readonly prompts: readonly Prompt[];
  readonly files: readonly string[];
  readonly commits: readonly Commit[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly title: string | null;
  readonly agentVersion: string | null;
  /** The agent's id of the session that it was forked from or began in. */
  readonly parentId: string | null;
}

function readPrompt(value: unknown): Prompt | undefined {
  if (!isObject(value)) return undefined;
  const prompt = {
    at: readInstant(value.at),
    text: readText(value.text) ?? null,
    chars: readCount(value.chars),
    spanId: readId(value.spanId) ?? null,
  };
  const { at, text, chars } = prompt;
  return at === null && text === null && chars === null ? undefined : prompt;
}

function readCommit(value: unknown): Commit | undefined {
  const sha = readText(isObject(value) ? value.sha : value);
  return sha === undefined ? undefined : { sha, at: isObject(value) ? readInstant(value.at) : null };
}

/** The members of a session's document that are understood. */
export const SESSION_MEMBERS: readonly string[] = [
  "prompts",
  "files",
  "commits",
  "usage",
  "costUsd",
  "title",
  "agentVersion",
  "parentId",
];

/** What the free-form parts of a session say; a part that cannot be read counts as not said. */
export function understandSession(document: Fields): Understood {
  const { prompts, files, commits, usage, costUsd, title, agentVersion, parentId } = document;
  return {
    prompts: each(prompts, readPrompt),
    files: each(files, readText),
    commits: each(commits, readCommit),
    usage: readUsage(usage),
    costUsd: readCost(costUsd),
    title: readText(title) ?? null,
    agentVersion: readId(agentVersion) ?? null,
    parentId: readId(parentId) ?? null,
  };
}

/** An edit with what it changed, where that was sent as a patch. */
interface ShownEdit extends Edit {
  readonly patch: string | null;
}

function readShownEdit(value: unknown): ShownEdit | undefined {
  const edit = readEdit(value);
  if (!edit) return undefined;
  const { diff, patch, hunk } = value as Fields;
  return { ...edit, patch: [diff, patch, hunk].map(readText).find((text) => text?.includes("@@")) ?? null };
}

export interface UnderstoodSpan {
  /** Its `usage`, or else what `gen_ai.usage.*` says. */
  readonly usage: Usage | null;
  /** A cost without usage could be the sum of others: it says nothing of a call of its own. */
  readonly costUsd: number | null;
  /** The model that answered, or else the one that was asked for. */
  readonly model: string | null;
  readonly edits: readonly ShownEdit[];
  /** Its input and its output, text or any JSON; undefined when not sent. */
  readonly input: unknown;
  readonly output: unknown;
  /** Null where it did not say that it failed. */
  readonly failure: Failure | null;
  /** OpenTelemetry's `gen_ai.*` names among them; values of any JSON type. */
  readonly attributes: Fields;
  readonly operation: string | null;
}

/** As `understandSession`, for a span. */
export function understandSpan(document: Fields): UnderstoodSpan {
  const attributes = readAttributes(document.attributes);
  const usage = readUsage(document.usage) ?? readAttributeUsage(attributes);
  const requestId = usage?.requestId ?? readRequestId(document) ?? readRequestId(attributes);
  return {
    usage: usage && { ...usage, requestId },
    costUsd: readCost(document.costUsd),
    model: readAttributeModel(attributes) ?? (typeof document.model === "string" ? document.model : null),
    edits: each(document.edits, readShownEdit),
    input: inputOf(document, attributes),
    output: outputOf(document, attributes),
    failure: failureOf(document, attributes),
    attributes,
    operation: readId(attributes["gen_ai.operation.name"]) ?? null,
  };
}

const TITLE_CHARS = 160;

/** A prompt in one line, cut to 160 characters; what agents wrap in tags of their own stays. */
export function promptTitle(prompt: Pick<Prompt, "text"> | undefined): string | null {
  if (!prompt?.text) return null;
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

/** The facts of a session's document for lists: how many of each kind it holds, and its first prompt. */
export function countMembers(document: Fields) {
  const { prompts, files, commits, title } = understandSession(document);
  return {
    prompts: prompts.length,
    files: files.length,
    commits: commits.length,
    firstPrompt: promptTitle(prompts[0]) ?? promptTitle({ text: title }),
  };
}
