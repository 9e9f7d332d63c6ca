import { readAttributes } from "../../formats/usage.ts";
import { asObject, asText, type Fields, readInstant } from "../../formats/values.ts";
import { isoInstant } from "../../kit/clock.ts";
import { isObject } from "../../kit/json.ts";
import { ofOpenAiAgents } from "./observed.ts";
import type { Signal } from "./protobuf.ts";
import { DETAILS, readEvents } from "./span-events.ts";
import { structuredOf } from "./structured.ts";

/** What all records of one scope share. */
export interface Origin {
  /** Attributes of the resource: of the program that sends. */
  readonly resource: Fields;
  /** The instrumentation scope's name. */
  readonly scope: string;
}

/** A log record, its attributes by name; an attribute that is a list or a map is left out. */
export interface LogRecord extends Origin {
  /** By `event.name`, the record's own `eventName`, or a body that is one word. */
  readonly event: string;
  readonly attributes: Fields;
  /** When it happened, in RFC 3339. */
  readonly at: string | undefined;
  /** The same with all its digits, as it was sent: what tells it from others of its kind. */
  readonly nanos: string;
}

/** A span. Ids are in hexadecimal digits. */
export interface SpanRecord extends Origin {
  readonly traceId: string;
  readonly id: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly attributes: Fields;
  /** Those that are lists or maps, see `structuredOf`. */
  readonly structured: Fields;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  /** The message of its failed status, which may be empty; undefined unless its status says that it failed. */
  readonly failure: string | undefined;
  /** Whether it is a log record of the span's call: then the span tells itself what it is. */
  readonly isDetails?: boolean;
}

/** A record as it was sent. */
export interface Found {
  readonly origin: Origin;
  readonly record: Fields;
}

/** More than any agent sends: OpenInference's writes messages attribute by attribute, and keeps 10,000. Records with more are refused. */
export const MAX_ATTRIBUTES = 16_384;

const LISTS = {
  logs: ["resourceLogs", "scopeLogs", "logRecords"],
  traces: ["resourceSpans", "scopeSpans", "spans"],
  metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
} as const satisfies Readonly<Record<Signal, readonly string[]>>;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isTooWide = ({ attributes }: Fields) => listOf(attributes).length > MAX_ATTRIBUTES;

/**
 * The records of a request, one by one, with where they come from; undefined for one that is none, or has too many attributes.
 * @param request as OTLP/JSON writes it; members of another form are taken as absent
 */
export function* recordsOf(signal: Signal, request: Fields): Generator<Found | undefined> {
  const [resources, scopes, records] = LISTS[signal];
  for (const each of listOf(request[resources]).map(asObject)) {
    const described = asObject(each.resource);
    const resource = isTooWide(described) ? {} : readAttributes(described.attributes);
    for (const within of listOf(each[scopes]).map(asObject)) {
      const origin = { resource, scope: asText(asObject(within.scope).name) ?? "" };
      for (const record of listOf(within[records]))
        yield isObject(record) && !isTooWide(record) ? { origin, record } : undefined;
    }
  }
}

/** The latest time at which anything can have happened. */
const LATEST = Date.UTC(2200, 0);

const instant = (value: unknown): string | undefined => {
  const at = readInstant(value);
  return at === null || at > LATEST ? undefined : isoInstant(at);
};

/** Nanoseconds since the epoch; 0 is what OTLP writes where it is not known. */
function nanosInstant(value: unknown): string | undefined {
  if (!/^[1-9]\d{17,18}$/.test(spelled(value))) return undefined;
  const at = Math.round(Number(value) / 1e6);
  return at > LATEST ? undefined : isoInstant(at);
}

const spelled = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value).slice(0, 40) : "";

export function readLog(origin: Origin, record: Fields): LogRecord {
  const attributes = readAttributes(record.attributes);
  const body = asText(asObject(record.body).stringValue);
  return {
    ...origin,
    attributes,
    event:
      asText(attributes["event.name"]) ?? asText(record.eventName) ?? (body && /^\S{1,100}$/.test(body) ? body : ""),
    // Codex leaves its own time at 0 and says it as an attribute.
    at:
      nanosInstant(record.timeUnixNano) ??
      instant(asText(attributes["event.timestamp"])) ??
      nanosInstant(record.observedTimeUnixNano),
    nanos: `${spelled(record.timeUnixNano)} ${spelled(record.observedTimeUnixNano)} ${spelled(attributes["event.timestamp"])}`,
  };
}

/** @returns undefined for one without the two ids that every span has */
export function readSpan(origin: Origin, record: Fields): SpanRecord | undefined {
  const [traceId, id] = [hexId(record.traceId, 32), hexId(record.spanId, 16)];
  if (traceId === undefined || id === undefined) return undefined;
  const { attributes, structured, thrown } = readEvents(record.events);
  const failure = failureIn(asObject(record.status));
  const own = readAttributes(record.attributes);
  return {
    ...origin,
    traceId,
    id,
    parentId: hexId(record.parentSpanId, 16),
    name: (asText(record.name) ?? "").slice(0, 1_000).toWellFormed(),
    attributes: {
      ...attributes,
      ...(failure === undefined ? {} : { "error.type": thrown.type }),
      ...own,
      ...ofOpenAiAgents(origin.scope, own),
    },
    structured: { ...structured, ...structuredOf(record.attributes) },
    startedAt: nanosInstant(record.startTimeUnixNano),
    endedAt: nanosInstant(record.endTimeUnixNano),
    failure: failure === "" ? (thrown.message ?? "") : failure,
  };
}

/**
 * The details that a log record gives of a call, beside the call's span: its input and output. The span tells all else, and its tokens
 * count.
 * @returns undefined for another record, and for one that names no span
 */
export const readDetails = (log: LogRecord, record: Fields): SpanRecord | undefined =>
  log.event === DETAILS ? detailsOf(log, record) : undefined;

/** A log record as one of the call's span, whatever it tells; undefined where it names none. */
export function detailsOf(log: LogRecord, record: Fields): SpanRecord | undefined {
  const [traceId, id] = [hexId(record.traceId, 32), hexId(record.spanId, 16)];
  if (traceId === undefined || id === undefined) return undefined;
  const beside = Object.entries(log.attributes).filter(([name]) => !/^gen_ai\.(?:usage|operation)\./.test(name));
  return {
    resource: log.resource,
    scope: log.scope,
    isDetails: true,
    traceId,
    id,
    parentId: undefined,
    name: "",
    attributes: Object.fromEntries(beside),
    structured: structuredOf(record.attributes),
    startedAt: undefined,
    endedAt: log.at,
    failure: undefined,
  };
}

/** `STATUS_CODE_ERROR`, by number or by name. */
const failureIn = ({ code, message }: Fields): string | undefined =>
  spelled(code) === "2" || code === "STATUS_CODE_ERROR" ? (asText(message) ?? "") : undefined;

const hexId = (value: unknown, digits: number): string | undefined =>
  typeof value === "string" && value.length === digits && /^[0-9a-f]+$/i.test(value) && !/^0+$/.test(value)
    ? value.toLowerCase()
    : undefined;

/** How many data points a metric has. */
export const pointsOf = (metric: Fields): number =>
  ["gauge", "sum", "histogram", "exponentialHistogram", "summary"].reduce(
    (sum, kind) => sum + listOf(asObject(metric[kind]).dataPoints).length,
    0,
  );
