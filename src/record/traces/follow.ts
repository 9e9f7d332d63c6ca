import type { Core } from "../../core.ts";
import { SESSION_MEMBERS } from "../../formats/session.ts";
import { failureOf } from "../../formats/step.ts";
import { readAttributes } from "../../formats/usage.ts";
import { asObject } from "../../formats/values.ts";
import { cooperative } from "../../kit/yield.ts";
import { newestDelivery } from "../../log/log.ts";
import type { Projection, RowChange } from "../../platform/projections/projections.ts";
import { withDocument } from "./documents.ts";
import { followRows, type RangeRow, type SessionSourceRow } from "./follow-rows.ts";
import { parsedMembers } from "./rules.ts";
import { SIGNS, signsOf } from "./signs.ts";

/** Sessions as derived tables read them: by the delivery that last changed a session or its spans. */

/**
 * The sessions that deliveries changed last, oldest delivery after the given one first.
 * @param enough deliveries are added up to so many sessions; without it there is one
 * @returns undefined when none follows; `deliveryId` is that of the last
 */
function sessionsAfter(
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

/** Sessions of several deliveries share transactions: what most of them change is a row. */
const ENOUGH_SESSIONS = 50;

/**
 * A projection that follows sessions, some deliveries at a time.
 * @param name see `Projection`
 * @param changesOf the row changes after which its tables say what some sessions say now
 * @param after finds the sessions, as `sessionsAfter` does
 */
const projection = (
  name: string,
  changesOf: (core: Core, sessionIds: readonly number[]) => AsyncIterable<RowChange>,
  after: typeof sessionsAfter = sessionsAfter,
): Projection => ({
  name,
  newest: newestDelivery,
  next(core, checkpoint, alone) {
    const found = after(core, checkpoint, alone ? 1 : ENOUGH_SESSIONS);
    return found && { to: found.deliveryId, changes: changesOf(core, found.sessionIds) };
  },
  skip: (core, checkpoint) => after(core, checkpoint)?.deliveryId,
});

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
function sessionsBetween(core: Core, after: number, upTo: number): SessionPlace[] {
  return followRows(core.store).between.all(after, upTo);
}

/** Sessions in the order in which deliveries changed them last. */
export const sessionSequence = { after: sessionsAfter, between: sessionsBetween, projection };

export interface SessionSource extends Omit<SessionSourceRow, "document"> {
  /** The members that were asked for, without its spans; what `understandSession` reads. */
  readonly document: Record<string, unknown>;
}

/** @param names the members of its document that are read: what else an agent put there may be megabytes */
export function readSessionSource(
  core: Core,
  id: number,
  names: readonly string[] = SESSION_MEMBERS,
): SessionSource | undefined {
  const row = followRows(core.store).session.get(id);
  return row && { ...row, document: parsedMembers(row.document, names) };
}

interface SpanSource {
  readonly spanId: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly document: Record<string, unknown>;
}

/** Spans of which only what the index holds is read at a time. */
const RANGE_SPANS = 5_000;
/** Spans whose documents are read at a time. */
const BATCH_SPANS = 50;

/** A session's spans in the order of their first arrival, in ranges that take a millisecond or two each. */
async function* ranges(core: Core, sessionId: number) {
  const yieldNow = cooperative(core.clock);
  for (let after = 0; ; ) {
    const range = followRows(core.store).range.get(sessionId, after, RANGE_SPANS) as RangeRow;
    const { upTo, spans } = range;
    if (upTo === null) return;
    yield { ...range, after, upTo };
    if (spans < RANGE_SPANS) return;
    after = upTo;
    await yieldNow();
  }
}

/** When a session's spans began and ended, milliseconds since the epoch. */
async function spanTimes(core: Core, id: number): Promise<Pick<RangeRow, "first" | "last">> {
  const times: { first: number | null; last: number | null } = { first: null, last: null };
  for await (const { first, last } of ranges(core, id)) {
    if (first !== null) times.first = Math.min(first, times.first ?? first);
    if (last !== null) times.last = Math.max(last, times.last ?? last);
  }
  return times;
}

/** Those spans of a session that bear a sign, some at a time in the order of their first arrival, letting other requests in between. */
async function* signedSpans(core: Core, sessionId: number, sign: number) {
  const sql = followRows(core.store);
  const yieldNow = cooperative(core.clock);
  for await (const { after: start, upTo } of ranges(core, sessionId))
    for (let after = start; ; await yieldNow()) {
      const spans = sql.signedSpans.all({ sessionId, after, upTo, sign, limit: BATCH_SPANS });
      if (spans.length > 0) yield spans.map((span) => withDocument(core, span));
      if (spans.length < BATCH_SPANS) break;
      after = spans.at(-1)?.id ?? after;
    }
}

/** Those spans of a session that tell of edits, some at a time. */
async function* spansWithEdits(core: Core, sessionId: number): AsyncGenerator<readonly SpanSource[]> {
  for await (const spans of signedSpans(core, sessionId, SIGNS.edits))
    yield spans.flatMap(({ externalId, startedAt, endedAt, document: text }) => {
      const document = text.includes('"edits"') ? asObject(JSON.parse(text)) : {};
      return Object.hasOwn(document, "edits") ? [{ spanId: externalId, startedAt, endedAt, document }] : [];
    });
}

/** The spans of a session, as those read them who derive something from it. */
export const sourceSpans = { times: spanTimes, withEdits: spansWithEdits };

/** Documents read to judge a session's failures, its first. */
const MAX_JUDGED_SPANS = 10_000;

/** How many of a session's spans say that their step failed, letting other requests in between. */
export async function countFailedSpans(core: Core, sessionId: number): Promise<number> {
  let [failed, seen] = [0, 0];
  for await (const spans of signedSpans(core, sessionId, SIGNS.failure)) {
    for (const { document } of spans) if (signsOf(document) & SIGNS.failure && saysFailed(document)) failed++;
    seen += spans.length;
    if (seen >= MAX_JUDGED_SPANS) break;
  }
  return failed;
}

function saysFailed(document: string): boolean {
  const span = asObject(JSON.parse(document));
  return failureOf(span, readAttributes(span.attributes)) !== null;
}
