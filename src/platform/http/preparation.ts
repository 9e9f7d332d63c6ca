import { isAscii, isUtf8 } from "node:buffer";
import type * as v from "valibot";
import type { Made, Work } from "../workers/workers.ts";
import {
  inflateNow,
  MAX_DEPTH,
  ORDINARY_RATIO,
  parseJson,
  type Schema,
  UNBOUNDED_UNITS,
  validate,
} from "./read-json.ts";

/** What a preparation may use of the thread that it runs in. */
export interface Tools {
  /** To be awaited between small pieces of work, see `kit/yield.ts`; where nobody else waits there is nothing to await. */
  readonly yieldNow: () => Promise<void> | undefined;
  /** The body without its content coding, for its digest. */
  readonly sent: Buffer;
  /** Asks the endpoint something that only the store knows. */
  readonly ask: (question: unknown) => Promise<unknown>;
}

/**
 * Turns a body into what is stored: in a thread of its own for a large body, or where the request is answered. It depends on nothing but
 * its parameters. Each has a line in `worker.ts`.
 */
export interface Preparation<S extends Schema, Given, Result, Skimmed = never> {
  readonly name: string;
  readonly schema: S;
  /**
   * Reads JSON text as nearly all clients send it, without parsing what is kept as it is. The schema accepts all that it accepts.
   * @param maxDepth arrays and objects inside one another that a body may hold
   * @returns undefined for a text that has to be parsed and validated
   */
  skim?(text: string, maxDepth: number): Skimmed | undefined;
  /** Reads a body of Protocol Buffers as the value that JSON would hold. @param pause awaited between small pieces of work */
  readBinary?(bytes: Buffer, pause: () => Promise<void> | undefined): Promise<unknown>;
  /**
   * @param body validated, or skimmed
   * @param text as it was sent; empty for a body that is not JSON
   * @param given what the endpoint knows about the sender
   * @throws Problem that the endpoint answers with
   */
  run(body: v.InferOutput<S> | Skimmed, text: string, given: Given, tools: Tools): Promise<Result>;
  /** Writes a result in a form that is cheap to send between threads, with the memory that moves along. */
  pack?(result: Result): Made;
  /** Reads such a result. A message turns Buffers into plain arrays of bytes. */
  unpack?(made: never): Result;
}

/** Declares a preparation. */
export const preparation = <S extends Schema, Given, Result, Skimmed = never>(
  declared: Preparation<S, Given, Result, Skimmed>,
): Preparation<S, Given, Result, Skimmed> => declared;

/** A body on its way to a thread. */
export interface SentBytes {
  readonly bytes: Uint8Array;
  readonly isGzip: boolean;
  readonly isBinary: boolean;
  readonly maxBytes: number;
  readonly freeForm: boolean;
  /** In an object of its own; without it the body is only judged. */
  readonly given: { readonly value: unknown } | undefined;
}

/** What a thread answers about a body: its result, or that it inflates to more than an ordinary text, which the main thread must allow first. */
export type Prepared = { readonly result: unknown } | "extraordinary";

const neverYields = () => undefined;

/** A preparation as work for a thread. */
export function workOf<S extends Schema, Given, Result, Skimmed>(
  prepared: Preparation<S, Given, Result, Skimmed>,
): Work {
  const { run, pack = (made): Made => ({ made }) } = prepared;
  return async ({ bytes, isGzip, isBinary, maxBytes, freeForm, given }: SentBytes, ask) => {
    const plain = isGzip ? await inflateNow(bytes, Math.min(maxBytes, ORDINARY_RATIO * bytes.length)) : bufferOf(bytes);
    if (!plain) return { made: "extraordinary" };
    const { text, body } = await readSent(prepared, plain, { isBinary, freeForm }, neverYields);
    if (!given) return { made: { result: undefined } };
    const tools: Tools = { yieldNow: neverYields, sent: plain, ask };
    const { made, transfer = [] } = pack(await run(body, text, given.value as Given, tools));
    return { made: { result: made }, transfer };
  };
}

/**
 * Reads a body without its content coding, and judges it.
 * @param pause awaited between steps
 * @throws Problem malformed (400) or tooLarge (413)
 */
export async function readSent<S extends Schema, Skimmed>(
  { schema, skim, readBinary }: Pick<Preparation<S, never, unknown, Skimmed>, "schema" | "skim" | "readBinary">,
  plain: Buffer,
  { isBinary, freeForm }: Pick<SentBytes, "isBinary" | "freeForm">,
  pause: () => Promise<void> | undefined,
): Promise<{ readonly text: string; readonly body: v.InferOutput<S> | Skimmed }> {
  if (isBinary) return { text: "", body: validate(schema, await readBinary?.(plain, pause), "body") };
  if (skim && plain.length <= UNBOUNDED_UNITS && isUtf8(plain)) {
    const text = plain.toString(isAscii(plain) ? "latin1" : "utf8");
    const body = skim(text, MAX_DEPTH);
    if (body !== undefined) return { text, body };
  }
  const { text, value } = await parseJson(plain, freeForm, pause);
  return { text, body: validate(schema, value, "body") };
}

/** The same memory as a Buffer. */
export const bufferOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length);

/** The memory of arrays that is theirs alone: memory shared with others, as that of small Buffers, cannot move. */
export const ownMemory = (...arrays: readonly ArrayBufferView[]): ArrayBuffer[] =>
  arrays
    .filter(({ buffer, byteLength }) => byteLength > 0 && buffer.byteLength === byteLength)
    .map(({ buffer }) => buffer as ArrayBuffer);
