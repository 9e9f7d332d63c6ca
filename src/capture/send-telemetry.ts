import type { Answer } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import type { EntryRow } from "./rows.ts";

/** What a batch may hold: less than the service takes at once. */
const MAX_ENTRIES = 500;
const MAX_BYTES = 2 * 1024 * 1024;
const PATH = "/api/telemetry/ingest";

/**
 * Sends what waits of every repository's stream. A stream is first asked how far it stands on the server: one that lost numbers (it
 * was restored from a backup) is refilled from what is kept here; one that is ahead (this machine was) goes on behind it.
 * @returns false when the server cannot take more now
 */
export async function sendTelemetry(exchange: Exchange): Promise<boolean> {
  const { rows } = exchange.capture;
  for (const { repo, nextSeq, acknowledged } of rows.streams.all()) {
    if (acknowledged >= nextSeq - 1) continue;
    if (!(await reconcile(exchange, repo, acknowledged, nextSeq))) return false;
    if (!(await drain(exchange, repo))) return false;
  }
  return true;
}

async function reconcile(exchange: Exchange, repo: string, acknowledged: number, nextSeq: number): Promise<boolean> {
  const { capture } = exchange;
  const answer = await exchange.post(PATH, bodyOf(repo, []), "telemetry");
  if (answer.kind !== "ok") return false;
  const there = Number(answer.body.maxSeq) || 0;
  if (there < acknowledged) {
    capture.log.warn("server_was_restored", { repo, acknowledged, there });
    capture.transact(() => {
      capture.rows.acknowledge.run({ repo, seq: there });
      // What else it lost is not known: whatever is kept is sent again, and recognised where it was not lost.
      capture.rows.resendSessions.run();
      capture.rows.forgetBrains.run();
    });
  } else if (there > acknowledged && there >= firstWaiting(exchange, repo, acknowledged)) {
    await skipAhead(exchange, repo, acknowledged, nextSeq, there);
  }
  return true;
}

const firstWaiting = ({ capture }: Exchange, repo: string, acknowledged: number) =>
  capture.rows.entriesAfter.get(repo, acknowledged, 1)?.seq ?? Number.POSITIVE_INFINITY;

/**
 * The server has numbers that were not acknowledged here: a reply that was lost, or an older state of this machine. Entries that it
 * has are harmless to send again; whether they are the same only their content tells, so the first of them is asked after.
 */
async function skipAhead(
  exchange: Exchange,
  repo: string,
  acknowledged: number,
  nextSeq: number,
  there: number,
): Promise<void> {
  const { capture } = exchange;
  const { rows } = capture;
  if (there < nextSeq) return; // A lost reply: sent again, and recognised.
  capture.log.warn("state_was_older", { repo, nextSeq, there });
  capture.transact(() => {
    const waiting = rows.entriesAfter.all(repo, acknowledged, 1_000_000);
    // From the last, so that no number is taken twice.
    waiting.reverse().forEach(({ seq }, i) => {
      rows.moveEntry.run({ repo, from: seq, to: there + waiting.length - i });
    });
    rows.skipTo.run({ repo, nextSeq: there + waiting.length + 1 });
    rows.acknowledge.run({ repo, seq: there });
  });
}

async function drain(exchange: Exchange, repo: string): Promise<boolean> {
  const { rows } = exchange.capture;
  for (;;) {
    const from = rows.stream.get(repo)?.acknowledged ?? 0;
    const batch = fitting(rows.entriesAfter.all(repo, from, MAX_ENTRIES));
    if (batch.length === 0) return true;
    if (!(await sendBatch(exchange, repo, batch))) return false;
    exchange.progressed();
  }
}

function fitting(entries: readonly EntryRow[]): EntryRow[] {
  let bytes = 0;
  const count = entries.findIndex(({ payload }, i) => {
    bytes += Buffer.byteLength(payload) + 64;
    return bytes > MAX_BYTES && i > 0;
  });
  return count === -1 ? [...entries] : entries.slice(0, count);
}

/** Sends a batch; one that is refused in halves, until the entry that is at fault stands alone. */
async function sendBatch(exchange: Exchange, repo: string, batch: readonly EntryRow[]): Promise<boolean> {
  const answer = await exchange.post(PATH, bodyOf(repo, batch), "telemetry");
  if (answer.kind === "ok") {
    acknowledge(exchange, repo, batch, answer);
    return true;
  }
  if (answer.kind !== "refused" || (answer.status !== 400 && answer.status !== 413)) return false;
  if (batch.length === 1) {
    reject(exchange, repo, batch[0] as EntryRow, answer.reason);
    return true;
  }
  const half = Math.ceil(batch.length / 2);
  return (
    (await sendBatch(exchange, repo, batch.slice(0, half))) && (await sendBatch(exchange, repo, batch.slice(half)))
  );
}

function acknowledge(
  { capture }: Exchange,
  repo: string,
  batch: readonly EntryRow[],
  { body }: Answer & { kind: "ok" },
): void {
  const last = batch.at(-1)?.seq ?? 0;
  if (body.flagged === "rollback" || body.flagged === "gap")
    capture.log.warn("stream_flagged", { repo, flagged: body.flagged, seq: last });
  capture.transact(() => {
    capture.rows.acknowledge.run({ repo, seq: last });
    capture.rows.entriesSent.run(capture.clock.now(), repo, last);
  });
}

/** Keeps the entry here for a person to look at, and its number in the stream with a note in its place. */
function reject({ capture }: Exchange, repo: string, { seq, payload }: EntryRow, reason: string): void {
  const { rows, clock } = capture;
  capture.transact(() => {
    const stored = payload.startsWith('{"type":"rejected"');
    rows.addRejected.run(clock.now(), "telemetry", reason, payload);
    if (stored) rows.acknowledge.run({ repo, seq });
    else rows.replaceEntry.run(JSON.stringify({ type: "rejected", reason: reason.slice(0, 200) }), repo, seq);
  });
}

function bodyOf(repo: string, batch: readonly EntryRow[]): string {
  const entries = batch.map(
    ({ seq, at, payload }) =>
      `{"seq":${seq},${at === null ? "" : `"clientTimestamp":${JSON.stringify(at)},`}"payload":${payload}}`,
  );
  return `{${repo === "" ? "" : `"repoKey":${JSON.stringify(repo)},`}"entries":[${entries.join(",")}]}`;
}
