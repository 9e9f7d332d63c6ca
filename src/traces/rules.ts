import { isDate } from "../kit/date.ts";
import { sha256Hex } from "../kit/hash.ts";
import { isObject, type Member, members } from "../kit/json.ts";
import { hasControls } from "../kit/text.ts";

/** The members of a session that we understand; every other is kept unread. A wrong type leaves its column empty. */
export interface SessionFacts {
  readonly externalId: string | undefined;
  readonly outcome: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly branch: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface SpanFacts {
  readonly externalId: string | undefined;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

const MAX_ID_CHARS = 256;

/** An id as clients write it: a short string without control characters, or a number. */
export function readId(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS && !hasControls(value)
    ? value
    : undefined;
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value.isWellFormed() ? value.slice(0, 1_000).toWellFormed() : null;
}

/**
 * An instant as clients write it: ISO 8601 text, or a number (or digits) of seconds, milliseconds, microseconds or
 * nanoseconds since the epoch, told apart by magnitude. A day that does not exist is no instant.
 * @returns milliseconds since the epoch, or null
 */
export function readInstant(value: unknown): number | null {
  if (typeof value === "string" && !/^\d{9,20}$/.test(value)) {
    if (/^\d{4}-\d\d-\d\d/.test(value) && !isDate(value.slice(0, 10))) return null;
    const parsed = Date.parse(value);
    return Number.isNaN(parsed) ? null : parsed;
  }
  const number = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  if (!Number.isFinite(number) || number <= 0) return null;
  const scale = number < 1e11 ? 1000 : number < 1e14 ? 1 : number < 1e17 ? 1e-3 : 1e-6;
  const at = Math.round(number * scale);
  return at < 8.64e15 ? at : null;
}

/** The members that `readSession` and `readSpan` read. */
export const SESSION_FACTS: readonly string[] = ["id", "outcome", "agent", "model", "branch", "startedAt", "endedAt"];
export const SPAN_FACTS: readonly string[] = ["id", "parentId", "name", "kind", "startedAt", "endedAt"];

export function readSession(session: Record<string, unknown>): SessionFacts {
  return {
    externalId: readId(session.id),
    outcome: readText(session.outcome) ?? "",
    agent: readText(session.agent),
    model: readText(session.model),
    branch: readText(session.branch),
    startedAt: readInstant(session.startedAt),
    endedAt: readInstant(session.endedAt),
  };
}

export function readSpan(span: Record<string, unknown>): SpanFacts {
  return {
    externalId: readId(span.id),
    parentId: readId(span.parentId) ?? null,
    name: readText(span.name),
    kind: readText(span.kind),
    startedAt: readInstant(span.startedAt),
    endedAt: readInstant(span.endedAt),
  };
}

/** The id of something that came without one: from its content, so that a retry finds itself. */
export function contentId(text: string): string {
  return `sha256:${sha256Hex(text).slice(0, 40)}`;
}

/** Writes an object from members in their own spelling. */
export function spell(list: Iterable<readonly [key: string, raw: string]>): string {
  const parts: string[] = [];
  for (const [key, raw] of list) parts.push(`${JSON.stringify(key)}:${raw}`);
  return `{${parts.join(",")}}`;
}

/** The members of a JSON object text, by name, in their own spelling. */
export function spelledMembers(text: string, list: readonly Member[]): Map<string, string> {
  return new Map(list.map(({ key, start, end }) => [key, text.slice(start, end)]));
}

/** Some members of a JSON object, parsed; the others, which may be large, are not. Of duplicates the last counts. */
export function parsedMembers(text: string, names: readonly string[]): Record<string, unknown> {
  const parsed: Record<string, unknown> = {};
  for (const { key, start, end } of members(text, 0, names)) parsed[key] = JSON.parse(text.slice(start, end));
  return parsed;
}

/** Lays new members over held ones: new values win, absent ones stay. */
export function mergeMembers(held: Map<string, string>, sent: Map<string, string>): Map<string, string> {
  return new Map([...held, ...sent]);
}

export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}
