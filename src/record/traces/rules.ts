import { metadataOf } from "../../formats/metadata.ts";
import { asObject, type Fields, firstOf, readId, readInstant } from "../../formats/values.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { elements, type Member, members } from "../../kit/json.ts";
import { emailKey } from "../../kit/strings.ts";

/** The members of a session that we understand; every other is kept unread. A wrong type leaves its column empty. */
export interface SessionFacts {
  readonly externalId: string | undefined;
  readonly outcome: string;
  readonly agent: string | null;
  readonly model: string | null;
  readonly branch: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Whom the agent names as signed in, as addresses are compared. */
  readonly userEmail: string | null;
}

export interface SpanFacts {
  readonly externalId: string | undefined;
  readonly parentId: string | null;
  readonly name: string | null;
  readonly kind: string | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}

export interface LabelFacts {
  readonly sessionId: string | null;
  readonly spanId: string | null;
  readonly name: string | null;
}

function readText(value: unknown): string | null {
  return typeof value === "string" && value.isWellFormed() ? value.slice(0, 1_000).toWellFormed() : null;
}

/** Bytes of an address (RFC 3696, erratum 1690). */
const MAX_EMAIL_BYTES = 320;

function readEmail(value: unknown): string | null {
  if (typeof value !== "string" || !value.includes("@") || !value.isWellFormed()) return null;
  const email = emailKey(value);
  return Buffer.byteLength(email) > MAX_EMAIL_BYTES ? null : email;
}

/** Whether SQLite lower-cases the address as we do: an upgrade filled the column with SQLite. */
export const isEmailPlain = ({ userEmail }: Fields): boolean =>
  typeof userEmail !== "string" || /^[\x20-\x7e]*$/.test(userEmail);

/**
 * OpenTelemetry's names beside ours: OTLP/JSON writes `startTimeUnixNano`, `spanId` and `parentSpanId`, the SDKs `startTime` and
 * `start_time`, `parent_id`, `context.span_id` and `parentSpanContext.spanId`, others OTLP's protobuf names.
 */
const STARTS = ["startedAt", "startTime", "start_time", "startTimeUnixNano", "start_time_unix_nano"];
const ENDS = ["endedAt", "endTime", "end_time", "endTimeUnixNano", "end_time_unix_nano"];
const IDS = ["id", "spanId", "span_id"];
/** Entries, labels and the read API call it so. */
const SESSION_IDS = ["id", "sessionId", "session_id"];
const PARENT_IDS = ["parentId", "parentSpanId", "parent_id", "parent_span_id"];

const OFFSET_TEXT = /^\d{4}-\d\d-\d\d(?:[Tt ].*(?:[Zz]|[+-]\d\d:?\d\d))?$/;

/**
 * Whether every version of this program read the times of a session or span as this one does: earlier ones took a time without an offset
 * for the server's own, made times of other text, and knew no end of the calendar.
 */
export const areTimesPlain = (fields: Fields): boolean =>
  [...STARTS, ...ENDS].every((name) => {
    const value = fields[name];
    if (value === undefined || value === null) return true;
    const isText = typeof value === "string" && !/^\d+$/.test(value);
    return readInstant(value) !== null && (!isText || OFFSET_TEXT.test(value));
  });

/** The members that `readSession` and `readSpan` read. */
export const SESSION_FACTS: readonly string[] = [
  ...["outcome", "agent", "model", "branch", "userEmail"],
  ...[SESSION_IDS, STARTS, ENDS].flat(),
];
export const SPAN_FACTS: readonly string[] = [
  ...["name", "kind", "context", "parentSpanContext"],
  ...[IDS, PARENT_IDS, STARTS, ENDS].flat(),
];

/** What is understood of a session as it was sent; what cannot be read counts as not said. */
export function readSession(session: Fields): SessionFacts {
  return {
    externalId: firstOf(session, SESSION_IDS, readId) ?? undefined,
    outcome: readText(session.outcome) ?? "",
    agent: readText(session.agent),
    model: readText(session.model),
    branch: readText(session.branch),
    startedAt: firstOf(session, STARTS, readInstant),
    endedAt: firstOf(session, ENDS, readInstant),
    userEmail: readEmail(session.userEmail),
  };
}

export const LABEL_FACTS: readonly string[] = ["sessionId", "spanId", "name"];

/** The same of a label. */
export const readLabel = ({ sessionId, spanId, name }: Fields): LabelFacts => ({
  sessionId: readId(sessionId) ?? null,
  spanId: readId(spanId) ?? null,
  name: readId(name) ?? null,
});

/** The same of a span. */
export function readSpan(span: Fields): SpanFacts {
  const { context, parentSpanContext } = span;
  return {
    externalId: firstOf(span, IDS, readId) ?? readId(asObject(context).span_id),
    parentId: firstOf(span, PARENT_IDS, readId) ?? readId(asObject(parentSpanContext).spanId) ?? null,
    name: readText(span.name),
    kind: readText(span.kind),
    startedAt: firstOf(span, STARTS, readInstant),
    endedAt: firstOf(span, ENDS, readInstant),
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
export function spelledMembers(text: string, list: readonly Member[] = members(text)): Map<string, string> {
  return new Map(list.map(({ key, start, end }) => [key, text.slice(start, end)]));
}

/** Some members of a JSON object, parsed; the others, which may be large, are not. Of duplicates the last counts. */
export function parsedMembers(text: string, names: readonly string[]): Record<string, unknown> {
  const parsed: Record<string, unknown> = {};
  for (const { key, start, end } of members(text, 0, names)) parsed[key] = JSON.parse(text.slice(start, end));
  return parsed;
}

/** Lays new members over stored ones: new values win, absent ones stay. */
export function mergeMembers(stored: Map<string, string>, sent: Map<string, string>): Map<string, string> {
  return new Map([...stored, ...sent]);
}

/**
 * Members of a session that were stripped to their metadata, with what is stored of the same laid back into them: what was recorded
 * while text was allowed stays when the session comes again without it. Of lists that grew, element by element.
 * @param stored the session's document
 */
export function refilled(stored: string, stripped: ReadonlyMap<string, string>): Map<string, string> {
  const old = spelledMembers(stored, members(stored, 0, [...stripped.keys()]));
  return new Map([...stripped].map(([key, raw]) => [key, refill(key, old.get(key), raw)]));
}

function refill(key: string, old: string | undefined, stripped: string): string {
  const isOf = (value: string, less: string) => metadataOf(spell([[key, value]]), "session") === spell([[key, less]]);
  if (old === undefined || old === stripped || isOf(old, stripped)) return old ?? stripped;
  const had = elements(old).map(({ start, end }) => old.slice(start, end));
  const has = elements(stripped).map(({ start, end }) => stripped.slice(start, end));
  if (had.length === 0 || has.length === 0) return stripped;
  const each = has.map((less, i) => {
    const value = had[i];
    return value !== undefined && isOf(`[${value}]`, `[${less}]`) ? value : less;
  });
  return `[${each.join(",")}]`;
}
