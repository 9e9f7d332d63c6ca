import { type Fields, readId } from "../../formats/values.ts";
import { cutText } from "../../kit/strings.ts";

/** A span as a session has it; the names are those that the capture client uses, attributes OpenTelemetry's. */
export interface Span {
  readonly id: string;
  readonly parentId?: string | undefined;
  readonly name?: string | undefined;
  /** Undefined where another record of the same span tells it. */
  readonly kind?: "llm" | "tool" | "agent" | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly usage?: Fields | undefined;
  readonly costUsd?: number | undefined;
  readonly attributes: Fields;
}

/** What a record tells of a session. */
export interface Happening {
  readonly session: string;
  readonly agent: string;
  readonly agentVersion?: string | undefined;
  readonly model?: string | undefined;
  readonly branch?: string | undefined;
  /** The e-mail address of who is signed in to the agent. */
  readonly userEmail?: string | undefined;
  readonly at?: string | undefined;
  readonly prompt?: Words | undefined;
  /** The last prompt, of calls that repeat all that was said before, and when it was said; may be long to read. */
  readonly lastPrompt?: () =>
    | { readonly at: string | undefined; readonly text: string; readonly id: string; readonly spanId?: string }
    | undefined;
  /** Reads the first prompt, of calls that repeat all that was said before. One call of a session is enough, and each may be long. */
  readonly askedFirst?: () => string | undefined;
  readonly commit?: string | undefined;
  readonly span?: Span | undefined;
  /** The span's id is made of its name and time: several may have ended at once. */
  readonly hasNoId?: boolean;
  /** The payload of an entry to be counted, without the members of all entries, and what tells it from all others. */
  readonly entry?: { readonly payload: Fields; readonly key: readonly unknown[] };
}

/** What somebody wrote, or how long it was where the agent keeps that to itself. */
export type Words = { readonly text: string } | { readonly chars: number };

/** The longest text that is kept of a record, in UTF-16 units. */
export const MAX_TEXT_CHARS = 16 * 1_024;

/** A text to be kept. A cut is noted at its end. */
export function keptText(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  return cutText(value, MAX_TEXT_CHARS);
}

/** A prompt; agents that keep its text to themselves send a mark in its place, and how long it is. */
export function wordsOf(text: unknown, length: unknown): Words | undefined {
  const chars = countOf(length);
  if (typeof text === "string" && !/^[<[]REDACTED[>\]]$/.test(text)) {
    const kept = keptText(text);
    if (kept !== undefined) return { text: kept };
  }
  return chars === undefined ? undefined : { chars };
}

/** A count: integers of 64 bits come as text, and so do those of agents that send every attribute as one. */
export function countOf(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

/** What a call cost in dollars, as an agent says it; those that send every attribute as text write digits, small ones as `3e-7`. */
export function costOf(value: unknown): number | undefined {
  const isDigits = typeof value === "string" && /^\d{1,9}(?:\.\d{1,30})?(?:e-\d{1,2})?$/.test(value);
  const cost = isDigits ? Number(value) : value;
  return typeof cost === "number" ? cost : undefined;
}

/** Members of a usage, of the attributes that hold them; those that are no counts are left out. @returns undefined for no tokens at all */
export function usageOf(
  attributes: Fields,
  names: Readonly<Record<string, string>>,
): Record<string, number> | undefined {
  const counts: Record<string, number> = {};
  let some = false;
  for (const name in names) {
    const count = countOf(attributes[names[name] as string]);
    if (count === undefined) continue;
    counts[name] = count;
    some ||= count > 0;
  }
  return some ? counts : undefined;
}

/**
 * Attributes that name a session; the agents' own first. Copilot Chat has a conversation for each request, and what it asks on the side,
 * as for a title, names the session alone that it is for.
 */
const SESSION_NAMES = [
  "copilot_chat.chat_session_id",
  "copilot_chat.parent_chat_session_id",
  "session.id",
  "conversation.id",
  "gen_ai.conversation.id",
  "ai.telemetry.metadata.sessionId",
  "traceloop.association.properties.session_id",
  "langsmith.metadata.thread_id",
];

/** The session that attributes name. */
export const sessionOf = (...all: readonly Fields[]): string | undefined => named(SESSION_NAMES, all);

/** Attributes that name who is signed in; LiteLLM's proxy says whose key a call was made with. */
const EMAIL_NAMES = ["user.email", "metadata.user_api_key_user_email"];

/** An e-mail address as it stands in an attribute. */
export const emailOf = (...all: readonly Fields[]): string | undefined => named(EMAIL_NAMES, all, /@/);

function named(names: readonly string[], all: readonly Fields[], form?: RegExp): string | undefined {
  for (const name of names)
    for (const attributes of all) {
      const id = readId(attributes[name]);
      if (id !== undefined && form?.test(id) !== false) return id;
    }
  return undefined;
}

/** The instant so many milliseconds before another. @param at in RFC 3339 */
export function before(at: string | undefined, milliseconds: number | undefined): string | undefined {
  if (at === undefined || milliseconds === undefined) return at;
  const earlier = Date.parse(at) - milliseconds;
  return earlier > 0 ? new Date(earlier).toISOString() : at;
}

/** The use of a tool. @param callId what the agent calls it by, if anything */
export function toolSpan(tool: string, callId: string | undefined, span: Omit<Span, "name" | "kind">): Span {
  const about = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": callId };
  return { ...span, name: `execute_tool ${tool}`, kind: "tool", attributes: { ...about, ...span.attributes } };
}

/** What a tool that failed says of itself; agents that send every attribute as text say it in text. */
export const failureOf = ({ success }: Fields): Fields =>
  success === false || success === "false" ? { "error.type": "tool_error" } : {};
