import type { Core } from "../../core.ts";
import { failureOf } from "../../formats/step.ts";
import { readAttributes } from "../../formats/usage.ts";
import { asObject } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { cooperative } from "../../kit/yield.ts";
import { followRows, type SessionSourceRow } from "./follow-rows.ts";

/** Sessions as those read them who derive something from each: by the delivery that last changed a session or its spans. */

/**
 * The sessions that deliveries changed last, oldest delivery after the given one first.
 * @param enough deliveries are added up to so many sessions; without it there is one
 * @returns undefined when none follows; `deliveryId` is that of the last
 */
export function sessionsAfter(
  core: Core,
  deliveryId: number,
  enough = 1,
): { readonly deliveryId: number; readonly sessionIds: readonly number[] } | undefined {
  const sql = followRows(core.store);
  const sessionIds: number[] = [];
  let last = deliveryId;
  while (sessionIds.length < enough) {
    const next = sql.nextDelivery.get(last);
    if (next === undefined) break;
    sessionIds.push(...sql.ofDelivery.all(next));
    last = next;
  }
  return last === deliveryId ? undefined : { deliveryId: last, sessionIds };
}

/** How many sessions were changed after a delivery, counted as far as `limit`. */
export function countSessionsAfter(core: Core, deliveryId: number, limit: number): number {
  return followRows(core.store).countAfter.get(deliveryId, limit) as number;
}

/** Where a session belongs. */
export interface SessionPlace {
  readonly id: number;
  readonly teamId: string;
  readonly repoKey: string;
}

/** The sessions that were last changed by deliveries after one, up to and with another. */
export function sessionsBetween(core: Core, after: number, upTo: number): SessionPlace[] {
  return followRows(core.store).between.all(after, upTo);
}

export interface SessionSource extends Omit<SessionSourceRow, "document"> {
  /** Without its spans; what `understandSession` reads. */
  readonly document: Record<string, unknown>;
}

export function readSessionSource(core: Core, id: number): SessionSource | undefined {
  const row = followRows(core.store).session.get(id);
  return row && { ...row, document: asObject(JSON.parse(row.document)) };
}

/** When a session's spans began and ended, milliseconds since the epoch. */
function spanTimes(core: Core, id: number): { readonly first: number | null; readonly last: number | null } {
  return followRows(core.store).spanTimes.get(id) ?? { first: null, last: null };
}

export interface SpanSource {
  readonly spanId: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly document: Record<string, unknown>;
}

const BATCH_SPANS = 50;

/** Those spans of a session whose document has a member of this name, some at a time, in the order of their first arrival. */
function* spansWith(core: Core, sessionId: number, member: string): Generator<readonly SpanSource[]> {
  const sql = followRows(core.store);
  for (let after = 0; ; ) {
    const spans = sql.spansNaming.all(sessionId, after, JSON.stringify(member), BATCH_SPANS);
    yield spans.flatMap(({ externalId, startedAt, endedAt, document }) => {
      const parsed: unknown = JSON.parse(document);
      return isObject(parsed) && Object.hasOwn(parsed, member)
        ? [{ spanId: externalId, startedAt, endedAt, document: parsed }]
        : [];
    });
    if (spans.length < BATCH_SPANS) return;
    after = spans.at(-1)?.id ?? after;
  }
}

/** The spans of a session, as those read them who derive something from it. */
export const sourceSpans = { times: spanTimes, having: spansWith };
/** Spans looked at for failures, a session's first. */
const MAX_JUDGED_SPANS = 10_000;
/** What stands in any document of a step that failed: most need not be parsed then. */
const SIGNS = ["rror", "ERROR", "xit", "ail", "AIL", "success", '"code"'];
const SIGNED = new RegExp(SIGNS.join("|"));
/** Bytes of a document that is read to be looked through here, which takes a third of the time; longer ones stay where they are. */
const SHORT = 16 * 1024;

/** How many of a session's spans say that their step failed, letting other requests in between. */
export async function countFailedSpans(core: Core, sessionId: number): Promise<number> {
  const sql = followRows(core.store);
  const yieldNow = cooperative(core.clock);
  let failed = 0;
  for (let [after, seen] = [0, 0]; seen < MAX_JUDGED_SPANS; seen += BATCH_SPANS) {
    const signs = JSON.stringify(SIGNS);
    const spans = sql.signedSpans.all({ sessionId, after, signs, short: SHORT, limit: BATCH_SPANS });
    for (const { document } of spans) if (document !== null && SIGNED.test(document) && saysFailed(document)) failed++;
    after = spans.at(-1)?.id ?? after;
    if (spans.length < BATCH_SPANS) break;
    await yieldNow();
  }
  return failed;
}

function saysFailed(document: string): boolean {
  const span = asObject(JSON.parse(document));
  return failureOf(span, readAttributes(span.attributes)) !== null;
}
