import * as v from "valibot";
import type { Core } from "../../core.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { fail, problem } from "../../kit/problem.ts";
import { within } from "../../kit/within.ts";
import type { Projection } from "./projection.ts";
import { catchUpWithin } from "./run.ts";

/** How long a client is kept waiting: below what clients and proxies wait for a reply. */
const CLIENT_WAITS_MS = 8_000;
/** How long a person, or an agent that begins its session, is kept waiting. */
const PAGE_WAITS_MS = 4_000;
const RETRY_SECONDS = 10;

export const stillReading = problem({
  name: "stillReading",
  status: 503,
  code: "still_reading",
  message:
    "What was delivered is still being read, as after an upgrade or a start. Ask again after the Retry-After seconds.",
});

/** A member for replies that are made of old figures while nothing can be stored. */
export const Behind = v.optional(
  v.pipe(
    v.boolean(),
    v.description("Only while nothing can be stored: what was delivered last may be missing from this reply."),
  ),
);

/**
 * For replies whose figures should be complete: brings a projection up to date.
 * @returns nothing; or, while nothing can be stored, that the reply is behind, to be spread into it: reading goes on then
 * @throws Problem stillReading (503) when there is so much to read that a client should rather ask again
 */
export async function requireCaughtUp(core: Core, projection: Projection): Promise<{ readonly behind?: true }> {
  try {
    if (await catchUpWithin(core, projection, CLIENT_WAITS_MS)) return {};
  } catch (error) {
    tellBehind(core, projection, error);
    return { behind: true };
  }
  return fail(stillReading, { retryAfterSeconds: RETRY_SECONDS });
}

/**
 * An answer for which an index is built first, as a brain's is when somebody first asks.
 * @throws Problem stillReading (503) when that takes so long that a client should rather ask again; the building goes on
 */
export const requireSoon = async <T extends object>(answer: Promise<T>): Promise<T> =>
  (await within(answer, CLIENT_WAITS_MS)) ?? fail(stillReading, { retryAfterSeconds: RETRY_SECONDS });

/** Brings a projection up to date, for what is worth showing all the same when that cannot be done, or not soon. */
export async function refreshWithin(core: Core, projection: Projection): Promise<void> {
  await catchUpWithin(core, projection, PAGE_WAITS_MS).catch((error: unknown) => tellBehind(core, projection, error));
}

function tellBehind(core: Core, { name }: Projection, error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
  core.log.warn("projection_behind", { projection: name, cause: String(error.cause ?? error) });
}
