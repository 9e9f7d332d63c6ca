import type { Exchange } from "./exchange.ts";
import type { SessionRow, SpanRow } from "./rows.ts";
import { documentOf, type SessionHead } from "./session-head.ts";
import { outgoingJson } from "./texts.ts";

const MAX_SESSIONS = 20;
const MAX_SPANS = 4_000;
const MAX_BYTES = 3 * 1024 * 1024;
const PATH = "/api/agent-traces/ingest";

/** A session with the spans that the server does not have yet, as far as they fit. */
interface Part {
  readonly row: SessionRow;
  readonly spans: readonly SpanRow[];
  /** The session is sent up to this revision once the server has taken the part. */
  readonly revision: number;
  readonly bytes: number;
}

/** Sends the sessions that grew, with the spans that are new. @returns false when the server cannot take more now */
export async function sendSessions(exchange: Exchange): Promise<boolean> {
  const { rows } = exchange.capture;
  for (;;) {
    const waiting = rows.unsentSessions.all(MAX_SESSIONS).map((row) => partOf(exchange, row));
    if (waiting.length === 0) return true;
    const repo = waiting[0]?.row.repo;
    const batch = fitting(waiting.filter(({ row }) => row.repo === repo));
    if (!(await sendBatch(exchange, batch))) return false;
    exchange.progressed();
  }
}

function partOf({ capture }: Exchange, row: SessionRow): Part {
  const all = capture.rows.spansAfter.all(row.id, row.sent, MAX_SPANS);
  const spans: SpanRow[] = [];
  let bytes = row.head.length;
  for (const span of all) {
    // A revision is sent whole: the next part begins behind it.
    if (bytes + span.body.length > MAX_BYTES && spans.length > 0 && spans.at(-1)?.revision !== span.revision) break;
    bytes += span.body.length;
    spans.push(span);
  }
  const isWhole = spans.length === all.length && all.length < MAX_SPANS;
  if (isWhole) return { row, spans, revision: row.revision, bytes };
  const last = spans.at(-1)?.revision ?? row.revision;
  const next = all[spans.length];
  // The last revision may go on behind what was looked at.
  const revision = next && next.revision !== last ? last : last - 1;
  const within = spans.filter((span) => span.revision <= revision);
  return within.length > 0 ? { row, spans: within, revision, bytes } : { row, spans, revision: last, bytes };
}

function fitting(parts: readonly Part[]): Part[] {
  let bytes = 0;
  const count = parts.findIndex((part, i) => {
    bytes += part.bytes;
    return bytes > MAX_BYTES && i > 0;
  });
  return count === -1 ? [...parts] : parts.slice(0, count);
}

async function sendBatch(exchange: Exchange, batch: readonly Part[]): Promise<boolean> {
  const { capture } = exchange;
  const repo = batch[0]?.row.repo ?? "";
  const body = `{${repo === "" ? "" : `"repoKey":${JSON.stringify(repo)},`}"sessions":[${batch.map(textOf).join(",")}]}`;
  const answer = await exchange.post(PATH, body, "traces");
  if (answer.kind === "ok") {
    const at = capture.clock.now();
    capture.transact(() => {
      for (const { row, revision } of batch) capture.rows.sentSession.run({ id: row.id, sent: revision, at });
    });
    exchange.sessionsSent += batch.filter(({ row, revision }) => revision >= row.revision).length;
    return true;
  }
  if (answer.kind !== "refused" || (answer.status !== 400 && answer.status !== 413)) return false;
  if (batch.length > 1) {
    const half = Math.ceil(batch.length / 2);
    return (await sendBatch(exchange, batch.slice(0, half))) && (await sendBatch(exchange, batch.slice(half)));
  }
  return sendAlone(exchange, batch[0] as Part, answer.reason);
}

/** A session whose part is refused: its spans in halves, until the one at fault stands alone. */
async function sendAlone(exchange: Exchange, part: Part, reason: string): Promise<boolean> {
  const { capture } = exchange;
  const { row, spans, revision } = part;
  if (spans.length > 1) {
    const half = Math.ceil(spans.length / 2);
    const early = { ...part, spans: spans.slice(0, half), revision: row.sent };
    return (await sendBatch(exchange, [early])) && (await sendBatch(exchange, [{ ...part, spans: spans.slice(half) }]));
  }
  capture.transact(() => {
    capture.rows.addRejected.run(capture.clock.now(), "traces", reason, textOf(part).slice(0, 1024 * 1024));
    capture.rows.sentSession.run({ id: row.id, sent: revision, at: capture.clock.now() });
  });
  return true;
}

function textOf({ row, spans }: Part): string {
  const document = outgoingJson(documentOf(row.id, row.agent, JSON.parse(row.head) as SessionHead));
  return `${document.slice(0, -1)},"spans":[${spans.map(({ body }) => body).join(",")}]}`;
}
