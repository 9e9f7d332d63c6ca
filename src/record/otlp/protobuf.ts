import { asObject } from "../../formats/values.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { WireError, WireReader, type WireType } from "../../kit/protobuf.ts";
import { inSlices, type Slices } from "../../kit/slices.ts";

/**
 * Requests of OTLP in Protocol Buffers, read into what OTLP/JSON writes (opentelemetry-proto 1.x: common, resource, logs, trace, metrics):
 * ids in hexadecimal digits, integers of 64 bits as text, what nobody asks for left out.
 */

/** How the value of a field is read; a message goes on with the fields within. */
type Kind = "text" | "hex" | "view" | "uint" | "int" | "double" | "bool" | Message;

interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly wire: WireType;
  /** Whether there may be several. */
  readonly isList: boolean;
}

const WIRES = { text: 2, hex: 2, view: 2, uint: 1, int: 0, double: 1, bool: 0 } as const;

/** The fields of a message that are read, by number. */
class Message {
  readonly fields: (Field | undefined)[] = [];

  field(number: number, name: string, kind: Kind, isList = false): this {
    this.fields[number] = { name, kind, isList, wire: typeof kind === "object" ? 2 : WIRES[kind] };
    return this;
  }

  list(number: number, name: string, kind: Kind): this {
    return this.field(number, name, kind, true);
  }
}

/** Lists and maps stay the bytes that they are: few are asked for, and they may be large and nest deep. */
const ANY_VALUE = new Message()
  .field(1, "stringValue", "text")
  .field(2, "boolValue", "bool")
  .field(3, "intValue", "int")
  .field(4, "doubleValue", "double")
  .field(5, "arrayValue", "view")
  .field(6, "kvlistValue", "view");
const KEY_VALUE = new Message().field(1, "key", "text").field(2, "value", ANY_VALUE);
const RESOURCE = new Message().list(1, "attributes", KEY_VALUE);
const SCOPE = new Message().field(1, "name", "text").field(2, "version", "text");
const LOG_RECORD = new Message()
  .field(1, "timeUnixNano", "uint")
  .field(5, "body", ANY_VALUE)
  .list(6, "attributes", KEY_VALUE)
  .field(9, "traceId", "hex")
  .field(10, "spanId", "hex")
  .field(11, "observedTimeUnixNano", "uint")
  .field(12, "eventName", "text");
const SPAN = new Message()
  .field(1, "traceId", "hex")
  .field(2, "spanId", "hex")
  .field(4, "parentSpanId", "hex")
  .field(5, "name", "text")
  .field(7, "startTimeUnixNano", "uint")
  .field(8, "endTimeUnixNano", "uint")
  .list(9, "attributes", KEY_VALUE)
  .list(11, "events", "view")
  .field(15, "status", new Message().field(2, "message", "text").field(3, "code", "int"));
/** The message types of values that are kept as bytes. */
const WITHIN = {
  arrayValue: new Message().list(1, "values", ANY_VALUE),
  kvlistValue: new Message().list(1, "values", KEY_VALUE),
  event: new Message().field(2, "name", "text").list(3, "attributes", KEY_VALUE),
} satisfies Readonly<Record<string, Message>>;
/** Of metrics only how many data points there are is asked. */
const POINTS = new Message().list(1, "dataPoints", new Message());
const METRIC = new Message()
  .field(5, "gauge", POINTS)
  .field(7, "sum", POINTS)
  .field(9, "histogram", POINTS)
  .field(10, "exponentialHistogram", POINTS)
  .field(11, "summary", POINTS);

const ofScopes = (resources: string, scopes: string, records: string, record: Message): Message =>
  new Message().list(
    1,
    resources,
    new Message()
      .field(1, "resource", RESOURCE)
      .list(2, scopes, new Message().field(1, "scope", SCOPE).list(2, records, record)),
  );

const REQUESTS = {
  logs: ofScopes("resourceLogs", "scopeLogs", "logRecords", LOG_RECORD),
  traces: ofScopes("resourceSpans", "scopeSpans", "spans", SPAN),
  metrics: ofScopes("resourceMetrics", "scopeMetrics", "metrics", METRIC),
} satisfies Readonly<Record<string, Message>>;

export type Signal = keyof typeof REQUESTS;

/** As many as a body of JSON may hold arrays and objects; each costs many times its bytes. */
const MAX_MESSAGES = 300_000;
/** Fields between two turns of others: fewer than a millisecond's worth. */
const STEP = 500;
/** Bytes of a message that is read without a turn of others: a few times as many fields. */
const SHORT = 4 * 1024;

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
  const tally = { fields: 0, messages: 0, most: MAX_MESSAGES, pausedAt: 0 };
  try {
    return await inSlices(decode(REQUESTS[signal], new WireReader(bytes), tally), pause);
  } catch (error) {
    if (error instanceof WireError)
      return fail(malformed, `The body is not an OTLP ${signal} request: ${error.message}.`);
    throw error;
  }
}

/** A message that stays bytes. What is read of it counts towards all that is read of its request. */
class View {
  readonly bytes: Buffer;
  readonly tally: Tally;

  constructor(bytes: Buffer, tally: Tally) {
    this.bytes = bytes;
    this.tally = tally;
  }
}

/** Messages that are read within another in one go; more are nothing that a model was told. */
const MAX_WITHIN = 20_000;

/**
 * Reads what lies within a request in one go; as it is where it is read already, of OTLP/JSON. Nothing where it is no such message, or too
 * much for one, or for all of the request.
 */
export function decodeWithin(kind: keyof typeof WITHIN, value: unknown): Decoded {
  if (!(value instanceof View)) return asObject(value);
  const { bytes, tally } = value;
  const { most } = tally;
  tally.most = Math.min(most, tally.messages + MAX_WITHIN);
  try {
    return decodeShort(WITHIN[kind], new WireReader(bytes), tally);
  } catch {
    return {};
  } finally {
    tally.most = most;
  }
}

interface Tally {
  fields: number;
  messages: number;
  /** How many messages there may be. */
  most: number;
  /** How many fields there were at the last turn of others. */
  pausedAt: number;
}

function enter(tally: Tally): Decoded {
  if (++tally.messages > tally.most)
    fail(tooLarge, `The body holds more than ${MAX_MESSAGES} messages. Send it in smaller parts.`);
  return {};
}

/** Reads a message up to where it ends, and lets others have their turn. */
function* decode(shape: Message, reader: WireReader, tally: Tally): Slices<Decoded> {
  const message = enter(tally);
  const { end } = reader;
  while (reader.at < end) {
    if (tally.fields - tally.pausedAt >= STEP) {
      tally.pausedAt = tally.fields;
      yield;
    }
    const field = nextField(shape, reader, tally);
    if (!field) continue;
    if (typeof field.kind !== "object") {
      putScalar(message, field, reader, tally);
      continue;
    }
    const within = reader.endOfBytes();
    reader.end = within;
    const isShort = within - reader.at <= SHORT;
    put(message, field, isShort ? decodeShort(field.kind, reader, tally) : yield* decode(field.kind, reader, tally));
    reader.end = end;
  }
  return message;
}

/** The same for a message that is over soon. */
function decodeShort(shape: Message, reader: WireReader, tally: Tally): Decoded {
  const message = enter(tally);
  const { end } = reader;
  while (reader.at < end) {
    const field = nextField(shape, reader, tally);
    if (!field) continue;
    if (typeof field.kind !== "object") {
      putScalar(message, field, reader, tally);
      continue;
    }
    reader.end = reader.endOfBytes();
    put(message, field, decodeShort(field.kind, reader, tally));
    reader.end = end;
  }
  return message;
}

/** The next field, with its value still to be read; undefined for a field that nobody asks for, whose value is passed over. */
function nextField({ fields }: Message, reader: WireReader, tally: Tally): Field | undefined {
  tally.fields++;
  const tag = reader.tag();
  const type = (tag % 8) as WireType;
  const field = fields[Math.floor(tag / 8)];
  if (!field) reader.skip(type);
  else if (field.wire !== type) throw new WireError("a field is of another type than its message says");
  return field;
}

function put(message: Decoded, { name, isList }: Field, value: unknown): void {
  if (!isList) message[name] = value;
  else if (message[name]) (message[name] as unknown[]).push(value);
  else message[name] = [value];
}

/** As many as SDKs keep of a span's events. */
const MAX_VIEWS = 128;

/** Stores a value that is not a message. Of a list only a few are kept, and each counts like a message. */
function putScalar(message: Decoded, field: Field, reader: WireReader, tally: Tally): void {
  if (field.isList && (message[field.name] as unknown[] | undefined)?.length === MAX_VIEWS) {
    reader.skip(field.wire);
    return;
  }
  if (field.isList) enter(tally);
  put(message, field, scalar(field.kind as Exclude<Kind, Message>, reader, tally));
}

function scalar(kind: Exclude<Kind, Message>, reader: WireReader, tally: Tally): unknown {
  switch (kind) {
    case "text":
      return reader.text();
    case "hex":
      return reader.hex();
    case "view":
      return new View(reader.view(), tally);
    case "bool":
      return reader.varint() !== 0;
    case "int":
      return reader.int64();
    case "uint":
      return reader.fixed64();
    case "double":
      return reader.double();
  }
}
