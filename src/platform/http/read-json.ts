/**
 * Reading a body once its bytes are there: inflating, bounds, syntax, schema. It depends on nothing but the bytes, so that any thread can
 * do it.
 */
import { isUtf8 } from "node:buffer";
import { gunzipSync } from "node:zlib";
import * as v from "valibot";
import { repeatsMember } from "../../kit/json.ts";
import { exceededBound, type JsonLimits } from "../../kit/json-bounds.ts";
import { fail, malformed, tooLarge } from "../../kit/problem.ts";
import { describeIssue } from "./validation-message.ts";

export type Schema = v.GenericSchema<unknown, unknown>;

/** Text of any ordinary kind inflates to less than this many times its compressed size. */
export const ORDINARY_RATIO = 20;

/** Inflated in pieces of this size; zlib's default is a quarter of it and slower. */
export const INFLATE_CHUNK_BYTES = 64 * 1024;

/**
 * Bounds on one body. Parsing holds up everybody else, and a body at its cap in bytes takes ten times as long as it should when all of it
 * is brackets, or objects of which no two are alike. The largest honest bodies (20,000 spans with edits and usage) have 400,000 values, and
 * a thousand entries of a transcript have 200 beginnings.
 */
const LIMITS: JsonLimits = { depth: 64, values: 500_000, containers: 300_000, beginnings: 25_000 };

export const MAX_DEPTH = LIMITS.depth;

/** A text of so many UTF-16 units exceeds no bound but that on depth: an object's shortest member takes five of them. */
export const UNBOUNDED_UNITS = 5 * LIMITS.beginnings;

const EXCESS: Readonly<Record<keyof JsonLimits, string>> = {
  depth: `The body nests deeper than ${LIMITS.depth} levels.`,
  values: `The body holds more than ${LIMITS.values} values. Send it in smaller parts.`,
  containers: `The body holds more than ${LIMITS.containers} arrays and objects. Send it in smaller parts.`,
  beginnings: `The body's objects name their members in more than ${LIMITS.beginnings} ways. Send it in smaller parts.`,
};

/** Inflates a body. @returns undefined when more than the cap comes out @throws Problem malformed (400) when it is no gzip */
export async function inflateWith(gunzip: () => Buffer | Promise<Buffer>): Promise<Buffer | undefined> {
  try {
    return await gunzip();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") return undefined;
    return fail(malformed, "The body is not a complete gzip stream.");
  }
}

/** Inflates gzip (RFC 1952) here and now. @returns undefined when more than `maxBytes` come out */
export const inflateNow = (bytes: Uint8Array, maxBytes: number): Promise<Buffer | undefined> =>
  inflateWith(() => gunzipSync(bytes, { maxOutputLength: maxBytes, chunkSize: INFLATE_CHUNK_BYTES }));

/**
 * Reads JSON text, which may not be empty. Checks UTF-8, depth and number of values, syntax, and names that stand twice, in that order.
 * @param freeForm leaves names that stand twice to the caller
 * @param pause awaited between steps; what cannot be cut into slices is a step of its own
 * @throws Problem malformed (400) or tooLarge (413)
 */
export async function parseJson(
  bytes: Buffer,
  freeForm: boolean,
  pause: () => Promise<void> | undefined,
): Promise<{ text: string; value: unknown }> {
  if (bytes.length === 0) fail(malformed, "A JSON body is required.");
  if (!isUtf8(bytes)) fail(malformed, "The body is not valid UTF-8.");
  if (bytes[0] === 0xef && bytes[1] === 0xbb)
    fail(malformed, "The body begins with a byte order mark; send JSON without one.");
  const text = bytes.toString("utf8");
  await pause();
  const excess = await exceededBound(text, LIMITS, pause);
  if (excess) fail(excess === "depth" ? malformed : tooLarge, EXCESS[excess]);
  await pause();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    fail(malformed, "The body is not valid JSON.");
  }
  await pause();
  if (!freeForm && (await repeatsMember(text, pause))) fail(malformed, "The body names a member twice.");
  await pause();
  return { text, value };
}

/**
 * Checks a value against a schema.
 * @throws Problem malformed, naming the first member that does not fit and why, never its value
 */
export function validate<S extends Schema>(schema: S, value: unknown, what: "body" | "query"): v.InferOutput<S> {
  const result = v.safeParse(schema, value, { abortEarly: true, abortPipeEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const path = v.getDotPath(issue);
  const says = what === "query" && Array.isArray(issue.input) ? "stands more than once" : describeIssue(issue);
  if (!path) fail(malformed, `The ${what} ${says}.`);
  return fail(malformed, `In the ${what}, "${path.slice(0, 200).replace(/[^\x20-\x7e]/g, "?")}" ${says}.`);
}
