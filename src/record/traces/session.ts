import type { Core } from "../../core.ts";
import {
  SESSION_MEMBERS,
  type Understood,
  type UnderstoodSpan,
  understandSession,
  understandSpan,
} from "../../formats/session.ts";
import { asObject } from "../../formats/values.ts";
import { withDeviceLabels } from "../../identity/devices/devices.ts";
import { pageSize } from "../../kit/page.ts";
import { cooperative } from "../../kit/yield.ts";
import { type DeliveryFacts, findDelivery } from "../../log/log.ts";
import { browseRows, type SessionListRow, type SpanListRow, type StoredSpan } from "./browse-rows.ts";
import { documentOf, withDocument } from "./documents.ts";
import { parsedMembers } from "./rules.ts";

export interface Span extends SpanListRow, UnderstoodSpan {
  /** As sent, but for redactions; null when the session's spans are too large to be read together, see `wholeSpan`. */
  readonly document: string | null;
}

interface Label {
  readonly spanId: string | null;
  readonly name: string | null;
  /** As sent: text, number or truth value; null for anything else. */
  readonly value: string | number | boolean | null;
  readonly comment: string | null;
  readonly document: string;
}

export interface Session extends SessionListRow, Understood {
  readonly deviceLabel: string | null;
  /** The session as sent, without its spans, but for redactions. */
  readonly document: string;
  /** By start, those without one at the end; the first 10,000. */
  readonly spans: readonly Span[];
  readonly spanCount: number;
  /** The first 500. */
  readonly labels: readonly Label[];
  readonly labelCount: number;
  /** The deliveries that hold its latest state, newest first; 50 at most. */
  readonly deliveries: readonly Pick<DeliveryFacts, "id" | "receivedAt" | "items" | "redacted" | "flagged">[];
}

const MAX_SPANS = 10_000;
/** Spans among which the first by start are looked for: those that came later are not among them. */
const MAX_SORTED_SPANS = 100_000;
const MAX_LABELS = 500;
const MAX_DELIVERIES = 50;
/** Documents of spans read for one session, all together. */
const MAX_SPAN_BYTES = 16 * 1024 * 1024;

/**
 * A session of a team with all that belongs to it, read in slices that let other requests in between.
 * @param spans whether they are wanted; there are none otherwise
 * @returns undefined when the team has no such session
 */
export async function getSession(core: Core, teamId: string, id: number, spans = true): Promise<Session | undefined> {
  const sql = browseRows(core.store);
  const stored = Number.isSafeInteger(id) ? sql.session.get(id, teamId) : undefined;
  const [row] = withDeviceLabels(core, stored ? [stored] : []);
  if (!row) return undefined;
  const document = sql.document.get(id) as string;
  return {
    ...row,
    ...understandSession(parsedMembers(document, SESSION_MEMBERS)),
    document,
    spans: spans ? await readSpans(core, id) : [],
    spanCount: sql.spanCount.get(id) as number,
    labels: sql.labels.all(row.deviceId, row.externalId, MAX_LABELS).map(readLabel),
    labelCount: sql.labelCount.get(row.deviceId, row.externalId) as number,
    deliveries: sql.deliveries
      .all(id, id, MAX_DELIVERIES)
      .flatMap((deliveryId) => findDelivery(core, deliveryId) ?? []),
  };
}

/** What documents of one page of spans come to, about. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/**
 * A page of a session's spans in the order in which they came, as they are stored.
 * @param after the number that the page before gave; 0 for the first page
 * @param limit 1 to 200, 50 by default; fewer where their documents are large
 * @returns the spans, and the number to go on after where there are more; undefined when the team has no such session
 */
function pageOfSpans(core: Core, teamId: string, id: number, after: number, limit: number | undefined) {
  const sql = browseRows(core.store);
  if (!Number.isSafeInteger(id) || sql.session.get(id, teamId) === undefined) return undefined;
  const size = pageSize(limit);
  const ids = sql.spanIds.all(id, after, size + 1);
  const rows: StoredSpan[] = [];
  let room = MAX_PAGE_BYTES;
  for (const spanId of ids.slice(0, size)) {
    const row = sql.span.get(spanId);
    if (!row) continue;
    const span = withDocument(core, row);
    room -= span.document.length;
    if (room < 0 && rows.length > 0) break;
    rows.push(span);
  }
  const last = rows.at(-1)?.id;
  return { rows, after: last !== undefined && last !== ids.at(-1) ? last : undefined };
}

/** The number under which a session is shown, by the id its device gave it. */
export function findSessionId(core: Core, teamId: string, deviceId: string, externalId: string): number | undefined {
  return browseRows(core.store).sessionByExternalId.get(deviceId, externalId, teamId);
}

/**
 * Identifies a session's latest state: it changes whenever something of the session, its spans or its labels comes.
 * @returns undefined when the team has no such session
 */
export function sessionState(core: Core, teamId: string, id: number): string | undefined {
  const sql = browseRows(core.store);
  const row = Number.isSafeInteger(id) ? sql.session.get(id, teamId) : undefined;
  return row && `${row.deliveryId}.${sql.labelCount.get(row.deviceId, row.externalId)}`;
}

async function readSpans(core: Core, sessionId: number): Promise<Span[]> {
  const sql = browseRows(core.store);
  const yieldNow = cooperative(core.clock);
  const spans: Span[] = [];
  let room = MAX_SPAN_BYTES;
  for (const id of sql.spanIdsByStart.all(sessionId, MAX_SORTED_SPANS, MAX_SPANS)) {
    const row = sql.spanRow.get(id);
    if (!row) continue;
    room -= row.bytes;
    spans.push(readSpan(row, room >= 0 ? spanDocument(core, row.id) : undefined));
    await yieldNow();
  }
  return spans;
}

const readSpan = (row: SpanListRow, document: string | undefined): Span => ({
  ...row,
  ...understandSpan(document === undefined ? {} : asObject(JSON.parse(document))),
  document: document ?? null,
});

/** A span with its document, even where that was too much to be read together with its session. */
const wholeSpan = (core: Core, span: Span): Span =>
  span.document === null ? readSpan(span, spanDocument(core, span.id)) : span;

function spanDocument(core: Core, id: number): string | undefined {
  const place = browseRows(core.store).spanDocument.get(id);
  return place && documentOf(core, place);
}

/** Spans of a session beside the session: a page of them, or one that was too large. */
export const sessionSpans = { page: pageOfSpans, whole: wholeSpan };

function readLabel(row: { spanId: string | null; name: string | null; document: string }): Label {
  const { value, comment } = asObject(JSON.parse(row.document));
  return {
    ...row,
    value: typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null,
    comment: typeof comment === "string" ? comment : null,
  };
}
