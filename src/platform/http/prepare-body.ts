import type { H3Event } from "h3";
import type { Core } from "../../core.ts";
import type { Payer } from "../../kit/fair-queue.ts";
import { fail, Problem } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { JobLost, NoThreads, takingIn, workers } from "../workers/workers.ts";
import { HEAVY_BODY_BYTES } from "./admission.ts";
import { type Arrival, claimedBytes, pauseOver, plainOf, readJsonBytes } from "./body.ts";
import type { BodySpec, Prepare, Schema } from "./endpoint.ts";
import { unread } from "./faults.ts";
import { ownMemory, type Prepared, readSent, type SentBytes } from "./preparation.ts";
import { validate } from "./read-json.ts";

/** A body smaller than this is read on the main thread: asking another one would take longer. */
const THREAD_BYTES = 16 * 1024;

/** Whose body it is, and how it comes in. */
export interface Delivery extends Arrival {
  readonly event: H3Event;
  readonly core: Core;
  /** Checks the sender again, once the body is there. */
  readonly whoNow: () => unknown;
  readonly sender: Payer;
}

/** A body that is there, with its sender. */
type Arrived = Omit<Delivery, "whoNow"> & { readonly principal: unknown };

type PreparedSpec = BodySpec<Schema> & { readonly prepare: Prepare<unknown, unknown> };

/** Whether an endpoint's bodies are prepared. */
export const isPrepared = (spec: BodySpec<Schema>): spec is PreparedSpec => spec.prepare !== undefined;

/**
 * Reads a body, judges it and prepares it, with the same outcome in a thread (for a large one) or here.
 * @throws Problem as `readBody`, `whoNow` and `validate` do, then what `given` throws, then what the preparation throws; storeUnavailable
 * (503) when a thread could not finish it
 */
export async function prepareBody(spec: PreparedSpec, delivery: Delivery): Promise<unknown> {
  const { core, event, intake } = delivery;
  const maxBytes = spec.maxBytes(core.config);
  const { bytes, isGzip, isBinary } = await readJsonBytes(event, spec, maxBytes, intake);
  const principal = await delivery.whoNow();
  const arrived = { ...delivery, principal };
  const given = attempt(() => spec.prepare.given(core, principal));
  const size = isGzip ? Math.max(bytes.length, claimedBytes(bytes)) : bytes.length;
  return takingIn(core, async () => {
    const done =
      size >= THREAD_BYTES && workers(core).isOpen
        ? await prepareInThread(spec, arrived, { bytes, isGzip, isBinary, maxBytes, size, given })
        : undefined;
    if (done && given instanceof Problem) throw given;
    return done ? done.result : prepareHere(spec, arrived, { bytes, isGzip, isBinary }, maxBytes, given);
  });
}

/**
 * Prepares a body in a thread.
 * @returns undefined when it has to be done here: there are no threads, or the body inflates to more than is accepted unseen
 */
async function prepareInThread(
  { prepare, freeForm = false }: PreparedSpec,
  { core, intake, principal, sender }: Arrived,
  body: Omit<SentBytes, "freeForm" | "given" | "bytes"> & { bytes: Buffer; size: number; given: Given | Problem },
): Promise<{ readonly result: unknown } | undefined> {
  const { bytes, isGzip, isBinary, maxBytes, size, given } = body;
  if (size > HEAVY_BODY_BYTES) await intake.turn();
  const isHeavy = size > HEAVY_BODY_BYTES;
  // Compressed bytes do not move: they are few, and needed here when they turn out to hold too much.
  const moved = isHeavy && !isGzip ? ownMemory(bytes) : [];
  // A view is copied with all the memory that it looks at.
  const sent = bytes.buffer.byteLength === bytes.length ? bytes : Uint8Array.from(bytes);
  const input: SentBytes = {
    bytes: sent,
    isGzip,
    isBinary,
    maxBytes,
    freeForm,
    given: given instanceof Problem ? undefined : given,
  };
  let done: Prepared;
  try {
    done = (await workers(core).run({
      name: prepare.by.name,
      payer: sender,
      input,
      ...(isHeavy ? { transfer: moved } : {}),
      answer: (question) => prepare.answer?.(core, principal, question),
    })) as Prepared;
  } catch (error) {
    if (error instanceof NoThreads) return undefined;
    if (error instanceof JobLost) fail(unread);
    throw error;
  }
  if (done === "extraordinary") return undefined;
  const { unpack = (made) => made } = prepare.by;
  return { result: input.given ? unpack(done.result as never) : undefined };
}

async function prepareHere(
  spec: PreparedSpec,
  delivery: Arrived,
  { bytes, isGzip, isBinary }: { readonly bytes: Buffer; readonly isGzip: boolean; readonly isBinary: boolean },
  maxBytes: number,
  given: Given | Problem,
): Promise<unknown> {
  const { core, principal } = delivery;
  const { by, answer } = spec.prepare;
  const yieldNow = cooperative(core.clock);
  const plain = await plainOf(bytes, isGzip, maxBytes, delivery);
  const how = { isBinary, freeForm: spec.freeForm === true };
  const { text, body } =
    plain.length === 0 && spec.optional
      ? { text: "", body: validate(spec.schema, {}, "body") }
      : await readSent(by, plain, how, isBinary ? yieldNow : pauseOver(plain));
  if (given instanceof Problem) throw given;
  return by.run(body, text, given.value, {
    yieldNow,
    sent: plain,
    ask: async (question) => answer?.(core, principal, question),
  });
}

interface Given {
  readonly value: unknown;
}

function attempt(give: () => unknown): Given | Problem {
  try {
    return { value: give() };
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
