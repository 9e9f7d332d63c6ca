import { crc32, sha256 } from "../../kit/hash.ts";
import { type Dimensions, type Measures, type OfSession, sessionOf, TELEMETRY } from "./usage-record.ts";

/**
 * Dedupe keys: what tells usages apart. A key begins with its kind:
 *
 * | Kind | Then | Of |
 * |---|---|---|
 * | 1 | message, or message and request | a call whose report has the provider's message id |
 * | 2 | device and session | what a session says of itself as a whole |
 * | 3 | session, token counts, side, variant | a call without an id |
 * | 4 | request | a call whose report has the provider's request id alone |
 * | 4 | request and message | a link: some report has both ids |
 *
 * Ids are digests, so that keys are short and of one size. Keys that begin alike lie together in the table: of one message, of
 * one request, of equal measures in one session.
 */
const MESSAGE = 1;
const SESSION = 2;
const EQUAL_MEASURES = 3;
const REQUEST = 4;

/** A key of one part; with a second one it is longer. */
const KEY_BYTES = 16;
/** Session, then the token counts. Sessions come first: what is reported together lies together. */
const MEASURES_AT = 5;
const SIDE_AT = 11;
const VARIANT_AT = 12;
const MEASURES_KEY_BYTES = 17;

const digest = (...parts: readonly (string | number)[]): Buffer => sha256(JSON.stringify(parts));
const idOf = (name: "message" | "request", id: string): Buffer => digest(name, id).subarray(0, KEY_BYTES - 1);
const ofKind = (kind: number, ...parts: readonly Buffer[]): Buffer => Buffer.concat([Buffer.of(kind), ...parts]);

/** The key of a call whose report has the id of its message, and maybe that of its request. */
export const messageKey = (id: string, requestId?: string): Buffer =>
  ofKind(MESSAGE, idOf("message", id), ...(requestId === undefined ? [] : [idOf("request", requestId)]));

/** The key of a call whose report has the id of its request alone; with a message's id it is a link of the two. */
export const requestKey = (id: string, messageId?: string): Buffer =>
  ofKind(REQUEST, idOf("request", id), ...(messageId === undefined ? [] : [idOf("message", messageId)]));

/** The key of what a session says that it used, or cost, as a whole. */
export const sessionKey = (what: "own-usage" | "own-cost", deviceId: string, session: string): Buffer =>
  ofKind(SESSION, digest(what, deviceId, session).subarray(0, KEY_BYTES - 1));

/** Whether a key leads from a request to the message that it is counted by. */
export const isLink = (key: Buffer): boolean => key[0] === REQUEST && key.length > KEY_BYTES;
/** Whether a call is known by an id of its provider's. */
export const hasId = (key: Buffer): boolean => key[0] === MESSAGE || (key[0] === REQUEST && !isLink(key));
/** Whether a call is known by its session and measures alone. */
export const isByMeasures = (key: Buffer): boolean => key[0] === EQUAL_MEASURES;

/** The key of the message that a key names; undefined for that of a request alone. */
export function messageOf(key: Buffer): Buffer | undefined {
  if (key[0] === MESSAGE) return key.subarray(0, KEY_BYTES);
  return isLink(key) ? ofKind(MESSAGE, key.subarray(KEY_BYTES)) : undefined;
}

/** The key of the request that a key names; undefined for that of a message alone. */
export function requestOf(key: Buffer): Buffer | undefined {
  if (key[0] === REQUEST) return key.subarray(0, KEY_BYTES);
  return key.length > KEY_BYTES ? ofKind(REQUEST, key.subarray(KEY_BYTES)) : undefined;
}

/** The key of the link that a report with both ids makes; undefined for one with one of them. */
export function linkOf(key: Buffer): Buffer | undefined {
  if (key[0] !== MESSAGE || key.length === KEY_BYTES) return undefined;
  return ofKind(REQUEST, key.subarray(KEY_BYTES), key.subarray(1, KEY_BYTES));
}

/** Calls with an id that telemetry alone, or spans alone, report in a session: see `reconcile.ts`. */
export const ID_IN_TELEMETRY_ONLY = -1;
export const ID_IN_SPANS_ONLY = -2;

export type Side = "telemetry" | "spans";
export const sideOf = (source: number): Side =>
  source === TELEMETRY || source === ID_IN_TELEMETRY_ONLY ? "telemetry" : "spans";
export const otherSide = (side: Side): Side => (side === "spans" ? "telemetry" : "spans");
const SIDE_BYTE: Readonly<Record<Side, number>> = { telemetry: 0, spans: 1 };

/**
 * The key of a call without an id. Only one side reports how long cache writes last and what the call cost, and each names the model in its
 * own way. So none of these tells calls apart.
 * @param variant the measures that tell its row apart from others that are equal in this sense
 */
export function measuresKey(
  session: OfSession & Pick<Dimensions, "otlp">,
  source: number,
  measures: Measures,
  variant: Measures = measures,
): Buffer {
  const { usages, input, output, cacheWrite, cacheWrite1h, cacheRead, reportedNano } = measures;
  const counts = usages === 0 ? ["cost", reportedNano] : [input, output, cacheWrite + cacheWrite1h, cacheRead];
  const equal = session.otlp ? [...counts, "otlp"] : counts;
  const key = Buffer.alloc(MEASURES_KEY_BYTES, EQUAL_MEASURES);
  key.writeUInt32BE(crc32(sessionOf(session)), 1);
  digest(session.deviceId, session.session, ...equal).copy(key, MEASURES_AT, 0, SIDE_AT - MEASURES_AT);
  key[SIDE_AT] = SIDE_BYTE[sideOf(source)];
  variantOf(variant).copy(key, VARIANT_AT);
  return key;
}

const variantOf = ({ cacheWrite1h, reported, reportedNano }: Measures): Buffer =>
  cacheWrite1h === 0 && reported === 0 ? PLAIN : digest(cacheWrite1h, reported, reportedNano);
/** The variant of nearly all calls. */
const PLAIN = digest(0, 0, 0);

/** What keys of equal measures in one session begin with. */
export const equalMeasures = (key: Buffer): Buffer => key.subarray(0, SIDE_AT);
/** The same, of one side. */
export const equalMeasuresOf = (key: Buffer, side: Side): Buffer =>
  Buffer.concat([equalMeasures(key), Buffer.of(SIDE_BYTE[side])]);

/** Keys with a beginning lie between it and this. */
export const endOf = (beginning: Buffer): Buffer => Buffer.concat([beginning, HIGHEST]);
const HIGHEST = Buffer.alloc(KEY_BYTES, 0xff);
