import { isUtf8 } from "node:buffer";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { WireError, type WireField, wireFields } from "../../kit/protobuf.ts";

/**
 * Requests of OTLP in Protocol Buffers, read into what OTLP/JSON writes (opentelemetry-proto 1.x: common, resource, logs, trace, metrics):
 * ids in hexadecimal digits, integers of 64 bits as text, what nobody asks for left out.
 */

/** Reads the value of a field. `message` goes on with the fields within. */
type Kind = "text" | "hex" | "uint" | "int" | "double" | "bool" | Shape;

/** The fields of a message that are read, by number: name, kind, and whether there may be several. */
type Shape = Readonly<Record<number, readonly [name: string, kind: () => Kind, isList?: true]>>;

const text = () => "text" as const;
const hex = () => "hex" as const;
const uint = () => "uint" as const;

const ANY_VALUE: Shape = {
  1: ["stringValue", text],
  2: ["boolValue", () => "bool"],
  3: ["intValue", () => "int"],
  4: ["doubleValue", () => "double"],
  5: ["arrayValue", () => ({ 1: ["values", () => ANY_VALUE, true] })],
  6: ["kvlistValue", () => ({ 1: ["values", () => KEY_VALUE, true] })],
};
const KEY_VALUE: Shape = { 1: ["key", text], 2: ["value", () => ANY_VALUE] };
const RESOURCE: Shape = { 1: ["attributes", () => KEY_VALUE, true] };
const SCOPE: Shape = { 1: ["name", text], 2: ["version", text] };
const LOG_RECORD: Shape = {
  1: ["timeUnixNano", uint],
  5: ["body", () => ANY_VALUE],
  6: ["attributes", () => KEY_VALUE, true],
  9: ["traceId", hex],
  10: ["spanId", hex],
  11: ["observedTimeUnixNano", uint],
  12: ["eventName", text],
};
const SPAN: Shape = {
  1: ["traceId", hex],
  2: ["spanId", hex],
  4: ["parentSpanId", hex],
  5: ["name", text],
  7: ["startTimeUnixNano", uint],
  8: ["endTimeUnixNano", uint],
  9: ["attributes", () => KEY_VALUE, true],
};
/** Of metrics only how many data points there are is asked. */
const POINTS: Shape = { 1: ["dataPoints", () => ({}), true] };
const METRIC: Shape = Object.fromEntries(
  [
    [5, "gauge"],
    [7, "sum"],
    [9, "histogram"],
    [10, "exponentialHistogram"],
    [11, "summary"],
  ].map(([number, name]) => [number, [name, () => POINTS]]),
);

const ofScopes = (resources: string, scopes: string, records: string, record: Shape): Shape => ({
  1: [
    resources,
    () => ({
      1: ["resource", () => RESOURCE],
      2: [scopes, () => ({ 1: ["scope", () => SCOPE], 2: [records, () => record, true] }), true],
    }),
    true,
  ],
});

const REQUESTS = {
  logs: ofScopes("resourceLogs", "scopeLogs", "logRecords", LOG_RECORD),
  traces: ofScopes("resourceSpans", "scopeSpans", "spans", SPAN),
  metrics: ofScopes("resourceMetrics", "scopeMetrics", "metrics", METRIC),
} satisfies Readonly<Record<string, Shape>>;

export type Signal = keyof typeof REQUESTS;

/** How deep messages lie in one another, the request itself being the first: attributes lie at six, and lists in lists below. */
const MAX_DEPTH = 16;
/** As many as a body of JSON may hold arrays and objects; each costs many times its bytes. */
const MAX_MESSAGES = 300_000;
/** Fields between two turns of others: fewer than a millisecond's worth. */
const STEP = 500;

type Decoded = Record<string, unknown>;

/**
 * Reads a request.
 * @param pause awaited every few hundred fields, see `kit/yield.ts`
 * @throws Problem malformed (400) for what is no such message, tooLarge (413) for one of too many parts
 */
export async function decodeRequest(
  signal: Signal,
  bytes: Buffer,
  pause: () => Promise<void> | undefined,
): Promise<Decoded> {
  const work = decode(REQUESTS[signal], bytes, 1, { fields: 0, messages: 0 });
  try {
    for (;;) {
      const step = work.next();
      if (step.done) return step.value;
      const wait = pause();
      if (wait) await wait;
    }
  } catch (error) {
    if (error instanceof WireError)
      return fail(malformed, `The body is not an OTLP ${signal} request: ${error.message}.`);
    throw error;
  }
}

interface Tally {
  fields: number;
  messages: number;
}

function* decode(shape: Shape, bytes: Buffer, depth: number, tally: Tally): Generator<void, Decoded> {
  if (depth > MAX_DEPTH) fail(malformed, `The body nests deeper than ${MAX_DEPTH} levels.`);
  if (++tally.messages > MAX_MESSAGES)
    fail(tooLarge, `The body holds more than ${MAX_MESSAGES} messages. Send it in smaller parts.`);
  const message: Decoded = {};
  for (const field of wireFields(bytes)) {
    if (++tally.fields % STEP === 0) yield;
    const known = shape[field.number];
    if (!known) continue;
    const [name, kindOf, isList] = known;
    const kind = kindOf();
    const value =
      typeof kind === "object" ? yield* decode(kind, ofLength(field), depth + 1, tally) : scalar(kind, field);
    if (!isList) message[name] = value;
    else if (message[name]) (message[name] as unknown[]).push(value);
    else message[name] = [value];
  }
  return message;
}

function ofLength({ type, bytes }: WireField): Buffer {
  if (type !== 2) throw new WireError("a field is of another type than its message says");
  return bytes;
}

function scalar(kind: Exclude<Kind, Shape>, field: WireField): unknown {
  if (kind === "text") {
    const bytes = ofLength(field);
    if (!isUtf8(bytes)) throw new WireError("a text is not valid UTF-8");
    return bytes.toString("utf8");
  }
  if (kind === "hex") return ofLength(field).toString("hex");
  if (field.type !== (kind === "bool" || kind === "int" ? 0 : 1))
    throw new WireError("a field is of another type than its message says");
  if (kind === "bool") return field.value !== 0n;
  if (kind === "int") return String(BigInt.asIntN(64, field.value));
  if (kind === "uint") return String(field.value);
  const eight = Buffer.alloc(8);
  eight.writeBigUInt64LE(field.value);
  return eight.readDoubleLE(0);
}
