import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { gunzip as gunzipCallback } from "node:zlib";
import type { H3Event } from "h3";
import { fail, malformed, Problem, type ProblemRow, tooLarge } from "../../kit/problem.ts";
import { HEAVY_BODY_BYTES, type Intake } from "./admission.ts";
import type { BodySpec, Schema } from "./endpoint.ts";
import { noRoom, tooSlow } from "./faults.ts";
import { isProtobuf, PROTOBUF } from "./media.ts";
import { INFLATE_CHUNK_BYTES, inflateNow, inflateWith, parseJson } from "./read-json.ts";

const gunzip = promisify(gunzipCallback);

/** How a body comes in. */
export interface Arrival {
  readonly intake: Intake;
  /** Called with the size of a compressed body before any of it is read; may refuse. */
  readonly onInflated: (wireBytes: number, bytes: number) => void;
}

/**
 * Reads a body as JSON text: content type, coding, cap, UTF-8, depth and number of values, syntax, in that order.
 * @returns the text and its parsed value; `""` and undefined when there is none
 * @throws Problem malformed (400), also for another media type or coding; tooLarge (413) or storeUnavailable (503)
 */
export async function readBody(
  event: H3Event,
  spec: BodySpec<Schema>,
  maxBytes: number,
  arrival: Arrival,
): Promise<{ text: string; value: unknown }> {
  const type = event.req.headers.get("content-type");
  if (spec.form && type !== null && FORM_TYPE.test(type))
    // Of a field sent twice the last counts.
    return { text: "", value: Object.fromEntries(await readFormFields(event, maxBytes, arrival.intake)) };
  const { bytes, isGzip } = await readJsonBytes(event, spec, maxBytes, arrival.intake);
  const plain = await plainOf(bytes, isGzip, maxBytes, arrival);
  if (plain.length === 0 && spec.optional) return { text: "", value: {} };
  return parseJson(plain, spec.freeForm === true, pauseOver(plain));
}

/** The bytes of a body of JSON, or of Protocol Buffers where the endpoint takes them, as they arrived. */
export async function readJsonBytes(
  event: H3Event,
  spec: BodySpec<Schema>,
  maxBytes: number,
  intake: Intake,
): Promise<{ bytes: Buffer; isGzip: boolean; isBinary: boolean }> {
  const type = event.req.headers.get("content-type");
  const isBinary = spec.protobuf === true && isProtobuf(type);
  if (type !== null && !isBinary && !JSON_TYPE.test(type)) fail(malformed, wrongType(spec));
  const isGzip = requireCoding(event, spec.gzip ? GZIP_ALONE : PLAIN_ALONE, spec.gzip);
  requireDeclaredSize(event, maxBytes);
  return { bytes: await readBytes(event, maxBytes, intake), isGzip, isBinary };
}

function wrongType({ form, protobuf }: BodySpec<Schema>): string {
  if (protobuf) return `The body must be application/json or ${PROTOBUF}.`;
  return form ? JSON_OR_FORM : "The body must be application/json.";
}

/** The arrived bytes without their content coding; a large body waits for its turn. @throws Problem malformed (400), tooLarge (413) */
export async function plainOf(bytes: Buffer, isGzip: boolean, maxBytes: number, arrival: Arrival): Promise<Buffer> {
  if (!isGzip && bytes.length > HEAVY_BODY_BYTES) await arrival.intake.turn();
  return isGzip && bytes.length > 0 ? inflate(bytes, maxBytes, arrival) : bytes;
}

/** A pause between steps that cannot be cut into slices, so that others get their turn. */
export const pauseOver = (bytes: Buffer) => () => (bytes.length > HEAVY_BODY_BYTES ? setImmediate() : undefined);

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const GZIP_ALONE = "The only content coding accepted here is gzip, once.";
const PLAIN_ALONE = "No content coding is accepted here; send plain JSON.";

/** @returns whether the body is gzip; any other coding fails with the message */
function requireCoding(event: H3Event, message: string, allowsGzip = false): boolean {
  const coding = event.req.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding === "identity" || coding === "") return false;
  // RFC 9110 section 8.4.1.3 has x-gzip for the same.
  return (/^(?:x-)?gzip$/.test(coding) && allowsGzip) || fail(malformed, message);
}

function requireDeclaredSize(event: H3Event, maxBytes: number): void {
  const declared = event.req.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) fail(tooLarge, tooLargeText(maxBytes));
}

const JSON_OR_FORM = "The body must be application/json or application/x-www-form-urlencoded.";

const tooLargeText = (maxBytes: number) => `The body exceeds ${maxBytes} bytes. Send it in smaller parts.`;

function readBytes(event: H3Event, maxBytes: number, intake: Intake): Promise<Buffer> {
  const incoming = event.runtime?.node?.req as IncomingMessage | undefined;
  return incoming ? readStream(incoming, maxBytes, intake) : readRequest(event, maxBytes);
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** Reads a form whose fields may come several times. @throws Problem malformed (400), tooLarge (413) or storeUnavailable (503) */
export async function readFormFields(event: H3Event, maxBytes: number, intake: Intake): Promise<URLSearchParams> {
  const type = event.req.headers.get("content-type");
  if (type === null || !FORM_TYPE.test(type)) fail(malformed, "The body must be a form.");
  requireCoding(event, "No content coding is accepted here; send a plain form.");
  requireDeclaredSize(event, maxBytes);
  const bytes = await readBytes(event, maxBytes, intake);
  if (!isUtf8(bytes)) fail(malformed, "The body is not valid UTF-8.");
  return new URLSearchParams(bytes.toString("utf8"));
}

/**
 * Pieces that a body may come in; more when they have this size on average. Each piece costs time and memory of its own, however small it
 * is, and chunks of one byte would hold a hundred times what is counted for them.
 */
const MANY_PIECES = 4_096;
const LEAST_PIECE_BYTES = 32;
const TOO_MANY_PIECES = "The body comes in too many small pieces. Send it with a Content-Length, or in larger chunks.";

/** Reading the Node stream itself is a fifth faster than going through a web stream, and keeps the bytes. */
function readStream(incoming: IncomingMessage, maxBytes: number, intake: Intake): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void) => {
      intake.arrived();
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      settle();
    };
    const failWith = (row: ProblemRow, message?: string) => done(() => reject(new Problem(row, message)));
    intake.onGivenUp = (why) => failWith(why === "no room" ? noRoom : tooSlow);
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) failWith(tooLarge, tooLargeText(maxBytes));
      else if (chunks.length >= MANY_PIECES && size < chunks.length * LEAST_PIECE_BYTES)
        failWith(malformed, TOO_MANY_PIECES);
      else {
        chunks.push(chunk);
        intake.add(chunk.length);
      }
    };
    const onEnd = () => done(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onGone = () => done(() => reject(new ClientGone()));
    incoming.on("data", onData).once("end", onEnd).once("error", onGone).once("close", onGone);
  });
}

/** The client left before its body had arrived; there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = "ClientGone";
}

async function readRequest(event: H3Event, maxBytes: number): Promise<Buffer> {
  const bytes = Buffer.from(await event.req.arrayBuffer());
  if (bytes.length > maxBytes) fail(tooLarge, tooLargeText(maxBytes));
  return bytes;
}

/**
 * Compressed bytes that are inflated here, as far as they are light: at most a millisecond, and handing them to another thread takes as long
 * as inflating a hundred entries does.
 */
const LIGHT_GZIP_BYTES = 64 * 1024;

/**
 * Inflates gzip (RFC 1952) up to a cap; memory never exceeds the cap, whatever the body claims to hold. A body that proves heavy waits for
 * its turn first: a few kilobytes may hold megabytes.
 */
async function inflate(bytes: Buffer, maxBytes: number, { intake, onInflated }: Arrival): Promise<Buffer> {
  const light = Math.min(maxBytes, HEAVY_BODY_BYTES);
  const inflateLight = bytes.length <= LIGHT_GZIP_BYTES ? inflateNow : inflateAside;
  // The claimed size spares inflating heavy bodies twice.
  let inflated = claimedBytes(bytes) <= light ? await inflateLight(bytes, light) : undefined;
  if (!inflated && light < maxBytes) {
    await intake.turn();
    inflated = await inflateAside(bytes, maxBytes);
  }
  if (!inflated) return fail(tooLarge, tooLargeText(maxBytes));
  onInflated(bytes.length, inflated.length);
  return inflated;
}

/** The size that gzip claims to inflate to, in its last four bytes (RFC 1952 section 2.3.1); who sends it may lie. */
export const claimedBytes = (bytes: Buffer): number => (bytes.length >= 4 ? bytes.readUInt32LE(bytes.length - 4) : 0);

/** As `inflateNow`, in a thread of Node's own. */
const inflateAside = (bytes: Buffer, maxBytes: number): Promise<Buffer | undefined> =>
  inflateWith(() => gunzip(bytes, { maxOutputLength: maxBytes, chunkSize: INFLATE_CHUNK_BYTES }));
