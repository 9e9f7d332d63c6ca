import { type Answer, mayTakeLess } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { knownPolicy } from "./policy.ts";
import type { SessionRow, SpanRow } from "./rows.ts";
import { documentOf, type SessionHead } from "./session-head.ts";
import { allowedNow, outgoingJson } from "./texts.ts";

const MAX_SESSIONS = 20;
const MAX_SPANS = 4_000;
/** Bytes of one request. Several copies are in memory while it is sent, in a process that is a guest on its machine. */
const MAX_BYTES = 1024 * 1024;
const MAX_REJECTED_CHARS = 1024 * 1024;
const PATH = "/api/agent-traces/ingest";

/** A session with the spans that the server does not have yet, as far as they fit. */
interface Part {
  readonly row: SessionRow;
  readonly spans: readonly SpanRow[];
  /** The session is sent up to this revision once the server has taken the part. */
  readonly revision: number;
  /** Without its prompts. */
  readonly bytes: number;
  /**
   * Bytes of the prompts; 0 for a part without. A session's last part has all its prompts where one is new, because a sent member replaces
   * the earlier one.
   */
  readonly promptBytes: number;
}

/** Sends the sessions that grew, with the spans that are new. @returns false when the server cannot take more now */
export async function sendSessions(exchange: Exchange): Promise<boolean> {
  const { capture, tooSlowFor } = exchange;
  for (;;) {
    const waiting = capture.rows.unsentSessions.all(MAX_SESSIONS + tooSlowFor.size);
    const batch = nextBatch(
      exchange,
      waiting.filter(({ id }) => !tooSlowFor.has(id)),
    );
    if (batch.length === 0) break;
    const { size } = tooSlowFor;
    if (!(await sendBatch(exchange, batch)) && tooSlowFor.size === size) return false;
  }
  if (tooSlowFor.size === 0) exchange.wentWell("traces");
  return true;
}

/** The first sessions of one repository, as many as fit into a request; no more are read. */
function nextBatch(exchange: Exchange, waiting: readonly SessionRow[]): Part[] {
  const batch: Part[] = [];
  let bytes = 0;
  for (const row of waiting.filter(({ repo }) => repo === waiting[0]?.repo)) {
    const part = partOf(exchange, row);
    bytes += part.bytes + part.promptBytes;
    if (bytes > MAX_BYTES && batch.length > 0) break;
    batch.push(part);
  }
  return batch;
}

/** The spans of as many revisions as fit. A revision that does not fit by itself comes with all of its spans, and is sent in pieces. */
function partOf({ capture: { rows } }: Exchange, row: SessionRow): Part {
  const first: SpanRow[] = [];
  let bytes = row.head.length;
  let beyond: number | undefined;
  // One by one, so that spans that do not fit are not read.
  for (const span of rows.spansAfter.iterate(row.id, row.sent)) {
    if (bytes + span.body.length > MAX_BYTES || first.length === MAX_SPANS) {
      beyond = span.revision;
      break;
    }
    bytes += span.body.length;
    first.push(span);
  }
  if (beyond === undefined) {
    const promptBytes = rows.unsentPromptBytes.get({ session: row.id, sent: row.sent }) ?? 0;
    return { row, spans: first, revision: row.revision, bytes, promptBytes };
  }
  const whole = first.filter(({ revision }) => revision < beyond);
  const spans = whole.length > 0 ? whole : rows.spansAt.all(row.id, beyond);
  const revision = spans.at(-1)?.revision ?? beyond;
  return { row, spans, revision, bytes: row.head.length + bytesOf(spans), promptBytes: 0 };
}

const bytesOf = (spans: readonly SpanRow[]) => spans.reduce((sum, { body }) => sum + body.length, 0);

async function sendBatch(exchange: Exchange, batch: readonly Part[]): Promise<boolean> {
  const [first] = batch;
  if (!first) return true;
  if (batch.length === 1 && first.spans.length > 1 && (first.bytes > MAX_BYTES || first.spans.length > MAX_SPANS))
    return sendHalves(exchange, first);
  const answer = await post(exchange, batch);
  if (answer.kind === "ok") {
    acknowledge(exchange, batch);
    return true;
  }
  if (!mayTakeLess(answer)) {
    exchange.setBack("traces", answer);
    return false;
  }
  if (batch.length === 1) return sendAlone(exchange, first, answer);
  const half = Math.ceil(batch.length / 2);
  return (await sendBatch(exchange, batch.slice(0, half))) && (await sendBatch(exchange, batch.slice(half)));
}

function post(exchange: Exchange, batch: readonly Part[]) {
  const repo = batch[0]?.row.repo ?? "";
  const body = `{${repo === "" ? "" : `"repoKey":${JSON.stringify(repo)},`}"sessions":[${batch.map((part) => textOf(exchange, part)).join(",")}]}`;
  return exchange.post(PATH, body, "traces");
}

function acknowledge(exchange: Exchange, batch: readonly Part[]): void {
  const { capture } = exchange;
  const at = capture.clock.now();
  capture.transact(() => {
    for (const { row, revision } of batch) capture.rows.sentSession.run({ id: row.id, sent: revision, at });
  });
  for (const { row, revision } of batch) if (revision >= row.revision) exchange.sessionsSent.add(row.id);
}

/**
 * Sends a session whose part was refused: without spans, to see whether they are at fault; then in halves, until one stands alone. Where
 * the line is too slow (408), nothing is at fault, and only less is sent at once.
 */
async function sendAlone(exchange: Exchange, part: Part, answer: Answer & { kind: "refused" }): Promise<boolean> {
  const { capture } = exchange;
  const { status, reason } = answer;
  if (status === 408) {
    if (part.spans.length > 1) return sendHalves(exchange, part);
    exchange.tooSlowFor.add(part.row.id);
    exchange.setBack("traces", answer);
    return false;
  }
  if (part.spans.length > 1) {
    const bare = await post(exchange, [{ ...part, spans: [] }]);
    if (bare.kind === "ok") return sendHalves(exchange, part);
    if (!mayTakeLess(bare) || bare.status === 408) return false;
  }
  const body = textOf(exchange, part).slice(0, MAX_REJECTED_CHARS);
  capture.transact(() => capture.rows.addRejected.run(capture.clock.now(), "traces", reason, body));
  acknowledge(exchange, [part]);
  return true;
}

/** The session counts as sent with the second half. */
async function sendHalves(exchange: Exchange, part: Part): Promise<boolean> {
  const { row, spans } = part;
  const half = Math.ceil(spans.length / 2);
  const piece = (own: readonly SpanRow[], revision: number, promptBytes: number) => ({
    ...{ row, spans: own, revision, promptBytes },
    bytes: row.head.length + bytesOf(own),
  });
  return (
    (await sendBatch(exchange, [piece(spans.slice(0, half), row.sent, 0)])) &&
    (await sendBatch(exchange, [piece(spans.slice(half), part.revision, part.promptBytes)]))
  );
}

function textOf({ capture }: Exchange, { row, spans, promptBytes }: Part): string {
  const mode = knownPolicy(capture)?.captureMode;
  const prompts = promptBytes > 0 ? `,"prompts":[${capture.rows.prompts.all(row.id).join(",")}]` : "";
  const facts = outgoingJson(documentOf(row.id, row.agent, JSON.parse(row.head) as SessionHead));
  const session = allowedNow(`${facts.slice(0, -1)}${prompts}}`, "session", mode);
  return `${session.slice(0, -1)},"spans":[${spans.map(({ body }) => allowedNow(body, "span", mode)).join(",")}]}`;
}
