import type { H3Event } from "h3";
import type { Core } from "../../core.ts";
import { Problem } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { NoThreads, type Payer, workers } from "../workers/workers.ts";
import { HEAVY_BODY_BYTES } from "./admission.ts";
import { type Arrival, claimedBytes, readArrived, readJsonBytes } from "./body.ts";
import type { BodySpec, Prepare, Schema } from "./endpoint.ts";
import { ownMemory, type Prepared, type SentBytes } from "./preparation.ts";
import { validate } from "./read-json.ts";

/** A body smaller than this is read where it is: another thread would take longer to be asked than to do it. */
const THREAD_BYTES = 16 * 1024;

/** Whose body it is, and how it comes in. */
export interface Delivery extends Arrival {
  readonly event: H3Event;
  readonly core: Core;
  readonly principal: unknown;
  readonly sender: Payer;
}

type PreparedSpec = BodySpec<Schema> & { readonly prepare: Prepare<unknown, unknown> };

/** Whether an endpoint's bodies are prepared. */
export const isPrepared = (spec: BodySpec<Schema>): spec is PreparedSpec => spec.prepare !== undefined;

/**
 * Reads a body, judges it and prepares it, in a thread of its own if it is large: the outcome is the same.
 * @throws Problem as `readBody` and `validate` do, then what `given` throws, then what the preparation throws
 */
export async function prepareBody(spec: PreparedSpec, delivery: Delivery): Promise<unknown> {
  const { core, event, intake, principal } = delivery;
  const maxBytes = spec.maxBytes(core.config);
  const { bytes, isGzip } = await readJsonBytes(event, spec, maxBytes, intake);
  const given = attempt(() => spec.prepare.given(core, principal));
  const size = isGzip ? Math.max(bytes.length, claimedBytes(bytes)) : bytes.length;
  const done =
    size >= THREAD_BYTES && workers(core).isOpen
      ? await prepareInThread(spec, delivery, { bytes, isGzip, maxBytes, size, given })
      : undefined;
  if (done && given instanceof Problem) throw given;
  return done ? done.result : prepareHere(spec, delivery, bytes, isGzip, maxBytes, given);
}

/** @returns undefined when it is to be done here: there are no threads, or the body inflates to more than is taken unseen */
async function prepareInThread(
  { prepare, freeForm = false }: PreparedSpec,
  { core, intake, principal, sender }: Delivery,
  body: Omit<SentBytes, "freeForm" | "given" | "bytes"> & { bytes: Buffer; size: number; given: Given | Problem },
): Promise<{ readonly result: unknown } | undefined> {
  const { bytes, isGzip, maxBytes, size, given } = body;
  if (size > HEAVY_BODY_BYTES) await intake.turn();
  // Compressed bytes are few, and needed here if they turn out to hold too much.
  const input: SentBytes = { bytes, isGzip, maxBytes, freeForm, given: given instanceof Problem ? undefined : given };
  let done: Prepared;
  try {
    done = (await workers(core).run({
      name: prepare.by.name,
      payer: sender,
      input,
      transfer: isGzip ? [] : ownMemory(bytes),
      answer: (question) => prepare.answer?.(core, principal, question),
    })) as Prepared;
  } catch (error) {
    if (error instanceof NoThreads) return undefined;
    throw error;
  }
  if (done === "extraordinary") return undefined;
  const { unpack = (made) => made } = prepare.by;
  return { result: input.given ? unpack(done.result as never) : undefined };
}

async function prepareHere(
  spec: PreparedSpec,
  delivery: Delivery,
  bytes: Buffer,
  isGzip: boolean,
  maxBytes: number,
  given: Given | Problem,
): Promise<unknown> {
  const { core, principal } = delivery;
  const { by, answer } = spec.prepare;
  const { text, value } = await readArrived(bytes, isGzip, spec, maxBytes, delivery);
  const body = validate(spec.schema, value, "body");
  if (given instanceof Problem) throw given;
  return by.run(body, text, given.value, {
    yieldNow: cooperative(core.clock),
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
