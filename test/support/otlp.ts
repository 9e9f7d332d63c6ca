import { bytesField, WireReader } from "../../src/kit/protobuf.ts";
import type { TestInstance } from "./instance.ts";

type Scalar = string | number | boolean;
type Value = Scalar | readonly Value[] | { readonly [name: string]: Value };

/** Attributes as OTLP/JSON writes them. */
export const attributes = (values: Readonly<Record<string, Value>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: wrapped(value) }));

const wrapped = (value: Value): object => {
  if (Array.isArray(value)) return { arrayValue: { values: value.map(wrapped) } };
  if (typeof value === "object")
    return { kvlistValue: { values: attributes(value as Readonly<Record<string, Value>>) } };
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** The time of the tests' clock, and so many milliseconds, in nanoseconds. */
export const nanos = (ms = 0): string => `${Date.UTC(2026, 10, 21, 8) + ms}000000`;

const CLAUDE = { name: "com.anthropic.claude_code.events", version: "2.1.330" };

/** A log record: its event, its attributes, and how many milliseconds after the clock's start it was. */
export type ClaudeRecord = readonly [event: string, values: Readonly<Record<string, Value>>, ms?: number];

/** A request with log records of Claude Code. */
export const claudeLogs = (...records: ClaudeRecord[]) => ({
  resourceLogs: [
    {
      resource: { attributes: attributes({ "service.name": "claude-code", "service.version": "2.1.330" }) },
      scopeLogs: [
        {
          scope: CLAUDE,
          logRecords: records.map(([event, values, ms = 0], i) => ({
            timeUnixNano: nanos(ms),
            body: { stringValue: `claude_code.${event}` },
            attributes: attributes({ "session.id": "s-1", "event.name": event, "event.sequence": i, ...values }),
          })),
        },
      ],
    },
  ],
});

/** A model call of Claude Code, as its log record tells of it. */
export const claudeCall = (request: string, values: Record<string, Value> = {}) =>
  [
    "api_request",
    {
      model: "claude-opus-4-6",
      input_tokens: 100,
      output_tokens: 40,
      cache_read_tokens: 3000,
      cache_creation_tokens: 200,
      cache_creation_5m_tokens: 150,
      cache_creation_1h_tokens: 50,
      cost_usd: 0.0125,
      duration_ms: 30,
      request_id: request,
      ...values,
    },
  ] as const;

/** A request with log records of others, by their `event.name`. */
export const eventLogs = (resource: Record<string, Value>, ...records: readonly Record<string, Value>[]) => ({
  resourceLogs: [
    {
      resource: { attributes: attributes(resource) },
      scopeLogs: [{ logRecords: records.map((values) => ({ timeUnixNano: "0", attributes: attributes(values) })) }],
    },
  ],
});

let spanNumber = 0;

/** A request with spans. */
export const spansOf = (
  resource: Record<string, Value>,
  scope: string,
  ...spans: readonly {
    name: string;
    values: Record<string, Value>;
    id?: string;
    parent?: string;
    trace?: string;
    status?: object;
    /** Milliseconds after the clock's start. */
    at?: readonly [from: number, to: number];
    events?: readonly { name: string; values: Record<string, Value> }[];
  }[]
) => ({
  resourceSpans: [
    {
      resource: { attributes: attributes(resource) },
      scopeSpans: [
        {
          scope: { name: scope },
          spans: spans.map(({ name, values, id, parent, trace = "a".repeat(32), status, at = [0, 500], events }) => ({
            traceId: trace,
            spanId: id ?? (++spanNumber).toString(16).padStart(16, "0"),
            ...(parent ? { parentSpanId: parent } : {}),
            name,
            startTimeUnixNano: nanos(at[0]),
            endTimeUnixNano: nanos(at[1]),
            attributes: attributes(values),
            ...(status ? { status } : {}),
            ...(events
              ? { events: events.map((one) => ({ name: one.name, attributes: attributes(one.values) })) }
              : {}),
          })),
        },
      ],
    },
  ],
});

// biome-ignore lint/suspicious/noExplicitAny: what the functions above make
type Json = any;

const fixed64 = (number: number, value: string) => {
  const bytes = Buffer.alloc(9);
  bytes[0] = number * 8 + 1;
  bytes.writeBigUInt64LE(BigInt(value), 1);
  return bytes;
};
const varint64 = (number: number, value: bigint) => {
  const bytes = [number * 8];
  let left = BigInt.asUintN(64, value);
  for (; left >= 128n; left >>= 7n) bytes.push(Number(left & 127n) | 128);
  return Buffer.from([...bytes, Number(left)]);
};

function anyValue(value: Json): Buffer {
  if (value.stringValue !== undefined) return bytesField(1, value.stringValue);
  if (value.boolValue !== undefined) return varint64(2, value.boolValue ? 1n : 0n);
  if (value.intValue !== undefined) return varint64(3, BigInt(value.intValue));
  if (value.arrayValue) return bytesField(5, each(1, value.arrayValue.values, anyValue));
  if (value.kvlistValue) return bytesField(6, keyValues(1, value.kvlistValue.values));
  const double = Buffer.alloc(9);
  double[0] = 4 * 8 + 1;
  double.writeDoubleLE(value.doubleValue, 1);
  return double;
}
const keyValues = (number: number, list: Json[] = []) =>
  Buffer.concat(
    list.map(({ key, value }) =>
      bytesField(number, Buffer.concat([bytesField(1, key), bytesField(2, anyValue(value))])),
    ),
  );
const each = (number: number, list: Json[], encode: (one: Json) => Buffer) =>
  Buffer.concat(list.map((one) => bytesField(number, encode(one))));

/** The same request as Protocol Buffers, by the field numbers of opentelemetry-proto. */
export function protobufOf(request: Json): Buffer<ArrayBuffer> {
  const scopes = (scope: Json, records: Buffer) =>
    Buffer.concat([scope ? bytesField(1, bytesField(1, scope.name)) : Buffer.alloc(0), records]);
  const log = ({ timeUnixNano, body, attributes: list, traceId, spanId }: Json) =>
    Buffer.concat([
      fixed64(1, timeUnixNano),
      body ? bytesField(5, anyValue(body)) : Buffer.alloc(0),
      keyValues(6, list),
      traceId ? bytesField(9, Buffer.from(traceId, "hex")) : Buffer.alloc(0),
      spanId ? bytesField(10, Buffer.from(spanId, "hex")) : Buffer.alloc(0),
    ]);
  const span = (one: Json) =>
    Buffer.concat([
      bytesField(1, Buffer.from(one.traceId, "hex")),
      bytesField(2, Buffer.from(one.spanId, "hex")),
      one.parentSpanId ? bytesField(4, Buffer.from(one.parentSpanId, "hex")) : Buffer.alloc(0),
      bytesField(5, one.name),
      fixed64(7, one.startTimeUnixNano),
      fixed64(8, one.endTimeUnixNano),
      keyValues(9, one.attributes),
      each(11, one.events ?? [], ({ name, attributes: list }) =>
        Buffer.concat([bytesField(2, name), keyValues(3, list)]),
      ),
      one.status
        ? bytesField(15, Buffer.concat([bytesField(2, one.status.message), varint64(3, BigInt(one.status.code))]))
        : Buffer.alloc(0),
    ]);
  const of = ({ resource, scopeLogs, scopeSpans }: Json) =>
    Buffer.concat([
      bytesField(1, keyValues(1, resource.attributes)),
      each(2, scopeLogs ?? scopeSpans, ({ scope, logRecords, spans }) =>
        scopes(scope, each(2, logRecords ?? spans, logRecords ? log : span)),
      ),
    ]);
  return Buffer.from(each(1, request.resourceLogs ?? request.resourceSpans, of));
}

/** The fields of a message: varints as numbers, what has a length as its bytes. */
export function wireFields(message: Buffer): { number: number; value: number; bytes: Buffer }[] {
  const reader = new WireReader(message);
  const fields = [];
  while (reader.at < reader.end) {
    const tag = reader.tag();
    const number = Math.floor(tag / 8);
    if (tag % 8 === 0) fields.push({ number, value: reader.varint(), bytes: Buffer.alloc(0) });
    else if (tag % 8 === 2) {
      const end = reader.endOfBytes();
      fields.push({ number, value: 0, bytes: message.subarray(reader.at, end) });
      reader.at = end;
    } else throw new Error("only these are written");
  }
  return fields;
}

/** The documents of the sessions that were stored, in the order in which they came. */
export const sessions = (t: TestInstance) =>
  t.rows("SELECT document FROM trace_sessions ORDER BY id").map(({ document }) => JSON.parse(document));

/** The same of their spans. */
export const spans = (t: TestInstance) =>
  t.rows("SELECT document FROM trace_spans ORDER BY id").map(({ document }) => JSON.parse(document));
