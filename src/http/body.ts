import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { gunzip as gunzipCallback, gunzipSync } from "node:zlib";
import type { H3Event } from "h3";
import * as v from "valibot";
import { holdsMoreCommas, nestsDeeperThan, repeatsMember } from "../kit/json.ts";
import type { BodySpec, Schema } from "./endpoint.ts";
import { type Fault, malformed, Refusal, refuse, storeUnavailable, tooLarge } from "./faults.ts";
import { misfit } from "./misfit.ts";

const gunzip = promisify(gunzipCallback);

/** Arrays and objects may nest this deep; deeper is an attack or a bug, and costs stack in every later reader. */
const MAX_DEPTH = 64;
/** Values in one body: "0," is two bytes on the wire and many times that once parsed. */
const MOST_VALUES = 1_000_000;
/** Bytes of unfinished bodies held at once, of all clients together. */
const MOST_UNFINISHED_BYTES = 256 * 1024 * 1024;
let unfinishedBytes = 0;

/**
 * Reads a body as JSON text: content type, coding, cap, UTF-8, syntax and depth, in that order.
 * @returns the text and its parsed value; `""` and undefined when there is none
 * @throws Refusal malformed (400), also for another media type or coding, or tooLarge (413)
 */
export async function readBody(
  event: H3Event,
  spec: BodySpec<Schema>,
  maxBytes: number,
): Promise<{ text: string; value: unknown }> {
  const headers = event.req.headers;
  const type = headers.get("content-type");
  if (spec.form && type !== null && FORM_TYPE.test(type)) return { text: "", value: await readForm(event, maxBytes) };
  if (type !== null && !/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type))
    refuse(malformed, { error: spec.form ? JSON_OR_FORM : "The body must be application/json." });
  const coding = headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  const gzipped = coding === "gzip" && spec.gzip === true;
  if (!gzipped && coding !== "identity" && coding !== "")
    refuse(malformed, {
      error: spec.gzip
        ? "The only content coding accepted here is gzip, once."
        : "No content coding is accepted here; send plain JSON.",
    });
  const declared = headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) refuse(tooLarge, { error: tooLargeText(maxBytes) });
  let bytes = await readBytes(event, maxBytes);
  if (gzipped && bytes.length > 0) bytes = await inflate(bytes, maxBytes);
  if (bytes.length === 0) {
    if (spec.optional) return { text: "", value: {} };
    refuse(malformed, { error: "A JSON body is required." });
  }
  if (!isUtf8(bytes)) refuse(malformed, { error: "The body is not valid UTF-8." });
  if (bytes[0] === 0xef && bytes[1] === 0xbb)
    refuse(malformed, { error: "The body begins with a byte order mark; send JSON without one." });
  const text = bytes.toString("utf8");
  if (holdsMoreCommas(text, MOST_VALUES))
    refuse(tooLarge, { error: `The body holds more than ${MOST_VALUES} values. Send it in smaller parts.` });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuse(malformed, { error: "The body is not valid JSON." });
  }
  if (nestsDeeperThan(text, MAX_DEPTH)) refuse(malformed, { error: `The body nests deeper than ${MAX_DEPTH} levels.` });
  if (!spec.freeForm && repeatsMember(text)) refuse(malformed, { error: "The body names a member twice." });
  return { text, value };
}

const JSON_OR_FORM = "The body must be application/json or application/x-www-form-urlencoded.";

const tooLargeText = (maxBytes: number) => `The body exceeds ${maxBytes} bytes. Send it in smaller parts.`;

function readBytes(event: H3Event, maxBytes: number): Promise<Buffer> {
  const incoming = event.runtime?.node?.req as IncomingMessage | undefined;
  return incoming ? readStream(incoming, maxBytes) : readRequest(event, maxBytes);
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/**
 * Reads the fields of a form.
 * @returns by name; of a field sent twice the last counts
 * @throws Refusal malformed (400) or tooLarge (413)
 */
export async function readForm(event: H3Event, maxBytes: number): Promise<Record<string, string>> {
  return Object.fromEntries(await readFormFields(event, maxBytes));
}

/** Reads a form whose fields may come several times. @throws Refusal malformed (400) or tooLarge (413) */
export async function readFormFields(event: H3Event, maxBytes: number): Promise<URLSearchParams> {
  const type = event.req.headers.get("content-type");
  if (type === null || !FORM_TYPE.test(type)) refuse(malformed, { error: "The body must be a form." });
  const coding = event.req.headers.get("content-encoding")?.trim().toLowerCase() ?? "identity";
  if (coding !== "identity" && coding !== "")
    refuse(malformed, { error: "No content coding is accepted here; send a plain form." });
  const declared = event.req.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) refuse(tooLarge, { error: tooLargeText(maxBytes) });
  const bytes = await readBytes(event, maxBytes);
  if (!isUtf8(bytes)) refuse(malformed, { error: "The body is not valid UTF-8." });
  return new URLSearchParams(bytes.toString("utf8"));
}

/** Reading the Node stream itself is a fifth faster than going through a web stream, and keeps the bytes. */
function readStream(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const done = (settle: () => void) => {
      unfinishedBytes -= size;
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      settle();
    };
    const refuseWith = (fault: Fault, error: string) => done(() => reject(new Refusal(fault, { error })));
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      unfinishedBytes += chunk.length;
      if (size > maxBytes) refuseWith(tooLarge, tooLargeText(maxBytes));
      else if (unfinishedBytes > MOST_UNFINISHED_BYTES)
        refuseWith(
          storeUnavailable,
          "The server is taking in as much as it can. Nothing of this request was kept; send it again later.",
        );
      else chunks.push(chunk);
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
  if (bytes.length > maxBytes) refuse(tooLarge, { error: tooLargeText(maxBytes) });
  return bytes;
}

/** Up to this many compressed bytes inflating here is cheaper than handing it to another thread. */
const SMALL_GZIP_BYTES = 4_096;

/** Inflated in pieces of this size; zlib's default is a quarter of it and slower. */
const INFLATE_CHUNK_BYTES = 64 * 1024;

/** Inflates gzip (RFC 1952) up to a cap; memory never exceeds the cap, whatever the body claims to hold. */
async function inflate(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const options = { maxOutputLength: maxBytes, chunkSize: INFLATE_CHUNK_BYTES };
  try {
    return bytes.length <= SMALL_GZIP_BYTES ? gunzipSync(bytes, options) : await gunzip(bytes, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE")
      return refuse(tooLarge, { error: tooLargeText(maxBytes) });
    return refuse(malformed, { error: "The body is not a complete gzip stream." });
  }
}

/**
 * Checks a value against a schema.
 * @throws Refusal malformed, naming the first member that does not fit and why, never its value
 */
export function validate<S extends Schema>(schema: S, value: unknown, what: "body" | "query"): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue);
  const where = path ? `"${path.slice(0, 200).replace(/[^\x20-\x7e]/g, "?")}"` : `the ${what}`;
  return refuse(malformed, {
    error: `${what === "body" ? "In the body" : "In the query"}, ${where} ${misfit(issue)}.`,
  });
}
