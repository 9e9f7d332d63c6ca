import { type Answer, mayTakeLess } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { expectOwn, leaveKnown } from "./known-sessions.ts";
import { knownPolicy } from "./policy.ts";
import { asksAllStreams, noteRestored, sendAgain } from "./restored-server.ts";
import type { EntryRow, StreamRow } from "./rows.ts";
import { type Capture, readSetting, writeSetting } from "./state.ts";
import { allowedNow } from "./texts.ts";

/** Entries of one request: fewer than the service takes at once. */
const MAX_ENTRIES = 500;
/** Bytes of one request. Several copies are in memory while it is sent, in a process that is a guest on its machine. */
const MAX_BYTES = 1024 * 1024;
const PATH = "/api/telemetry/ingest";

/** A setting: when the server was found to have numbers that were never sent from here, in milliseconds since the epoch. */
export const STATE_WAS_OLDER = "stateWasOlder";
/** A setting: when another machine was found to send as this one, in milliseconds since the epoch. */
export const IS_COPIED = "isCopied";
/** A setting: the streams whose numbers were found to be taken since the machine was connected. */
const TAKEN = "taken";

/**
 * Sends what waits in every repository's stream. First the server is asked for the last number that it has of the stream. Numbers that a
 * restored server lost are sent again from what is kept here. Where the server is ahead, because this machine was restored, the stream goes
 * on after the server's number.
 * @returns false when the server cannot take more now
 */
export async function sendTelemetry(exchange: Exchange): Promise<boolean> {
  const { capture } = exchange;
  if (asksAllStreams(capture) && !(await askAllStreams(exchange))) return false;
  let isWell = true;
  for (const stream of capture.rows.streams.all()) {
    if (stream.acknowledged >= stream.nextSeq - 1) continue;
    const there = await askStream(exchange, stream.repo);
    if (there === "later") return false;
    isWell &&= there !== "refused";
    if (there === "refused") continue;
    const restored = reconcile(exchange, stream, there);
    // A server that lost something of one stream has lost something of the others.
    if (restored === "server") return sendTelemetry(exchange);
    if (restored === "machine" && !(await leaveKnown(exchange))) return false;
    if (!(await drain(exchange, stream.repo))) return false;
  }
  if (isWell) exchange.wentWell("telemetry");
  return isWell;
}

/** To the server this is another device now. Call in a transaction. */
export function forgetCopies({ rows }: Capture): void {
  for (const name of [IS_COPIED, TAKEN]) rows.dropSetting.run(name);
}

/** Learns what a restored server still has. @returns false when it cannot say so now: then all are asked again */
async function askAllStreams(exchange: Exchange): Promise<boolean> {
  const { capture } = exchange;
  for (const stream of capture.rows.streams.all()) {
    const there = await askStream(exchange, stream.repo);
    if (there === "later") return false;
    if (there !== "refused") reconcile(exchange, stream, there);
  }
  sendAgain(capture);
  return leaveKnown(exchange);
}

/** @returns the last number that the server has of a stream; `refused` where it refuses this stream only */
async function askStream(exchange: Exchange, repo: string): Promise<number | "refused" | "later"> {
  const answer = await exchange.post(PATH, bodyOf(exchange, repo, []), "telemetry");
  if (answer.kind !== "ok") {
    exchange.setBack("telemetry", answer);
    return exchange.stopped !== undefined || !exchange.mayDo("telemetry") ? "later" : "refused";
  }
  const { maxSeq } = answer.body;
  if (typeof maxSeq === "number") return maxSeq;
  exchange.putOff("telemetry", "the server does not say how far it stands");
  return "later";
}

/** @param there the last number that the server has of the stream @returns which of the two was restored from an older state */
function reconcile(
  { capture }: Exchange,
  { repo, nextSeq, acknowledged, ...stream }: StreamRow,
  there: number,
): "server" | "machine" | undefined {
  const { rows, clock, log } = capture;
  const attempted = Math.max(stream.attempted, acknowledged);
  if (there < acknowledged) {
    log.warn("server_was_restored", { repo, acknowledged, there });
    capture.transact(() => {
      rows.acknowledge.run({ repo, seq: there });
      noteRestored(capture);
    });
    return "server";
  }
  if (there > attempted) {
    // The server has numbers that were never sent from here: this machine was restored from an older state, and its own entries are other
    // ones.
    log.warn("state_was_older", { repo, nextSeq, there });
    const by = there - attempted;
    capture.transact(() => {
      rows.entriesSent.run(clock.now(), repo, attempted);
      for (const shift of rows.shiftEntries) shift.run({ repo, after: attempted, by });
      rows.putStream.run({ repo, nextSeq: nextSeq + by, acknowledged: there, attempted: there });
      writeSetting(capture, STATE_WAS_OLDER, clock.now());
      expectOwn(capture);
      // A state that was put back explains it once.
      const taken = readSetting<readonly string[]>(capture, TAKEN) ?? [];
      if (taken.includes(repo)) writeSetting(capture, IS_COPIED, clock.now());
      else writeSetting(capture, TAKEN, [...taken, repo]);
    });
    return "machine";
  }
  return undefined;
}

async function drain(exchange: Exchange, repo: string): Promise<boolean> {
  const { rows } = exchange.capture;
  for (;;) {
    const from = rows.stream.get(repo)?.acknowledged ?? 0;
    const batch = fitting(rows.entriesAfter.iterate(repo, from, MAX_ENTRIES));
    if (batch.length === 0) return true;
    if (!(await sendBatch(exchange, repo, batch))) return false;
  }
}

/** As many entries as fit into a request; no more are read into memory. */
function fitting(entries: Iterable<EntryRow>): EntryRow[] {
  const batch: EntryRow[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += Buffer.byteLength(entry.payload) + 64;
    if (bytes > MAX_BYTES && batch.length > 0) break;
    batch.push(entry);
  }
  return batch;
}

/** Sends a batch. A refused one is sent in halves, until the entry that is at fault stands alone. */
async function sendBatch(exchange: Exchange, repo: string, batch: readonly EntryRow[]): Promise<boolean> {
  exchange.capture.rows.attempt.run({ repo, seq: batch.at(-1)?.seq ?? 0 });
  const answer = await exchange.post(PATH, bodyOf(exchange, repo, batch), "telemetry");
  if (answer.kind === "ok") {
    acknowledge(exchange, repo, batch, answer);
    return true;
  }
  if (!mayTakeLess(answer)) {
    exchange.setBack("telemetry", answer);
    return false;
  }
  const [first] = batch;
  if (batch.length === 1 && first) return reject(exchange, repo, first, answer.reason);
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
    // The server had told which numbers are free: another machine took them since.
    if (body.flagged === "rollback") writeSetting(capture, IS_COPIED, capture.clock.now());
  });
}

/**
 * Keeps the entry here for a person to look at, and sends a note in its place at once, because the next entry would leave a gap otherwise.
 * The note has no time: the time may be what is wrong.
 */
async function reject(exchange: Exchange, repo: string, { seq, payload }: EntryRow, reason: string): Promise<boolean> {
  const { capture } = exchange;
  const { rows, clock } = capture;
  const note = { type: "rejected", reason: reason.slice(0, 200).toWellFormed() };
  const text = JSON.stringify(note);
  if (payload.startsWith('{"type":"rejected"')) {
    exchange.putOff("telemetry", reason);
    return false;
  }
  capture.transact(() => {
    rows.addRejected.run(clock.now(), "telemetry", reason, payload);
    rows.replaceEntry.run(text, repo, seq);
  });
  return sendBatch(exchange, repo, [{ seq, at: null, payload: text }]);
}

function bodyOf({ capture }: Exchange, repo: string, batch: readonly EntryRow[]): string {
  const mode = knownPolicy(capture)?.captureMode;
  const entries = batch.map(
    ({ seq, at, payload }) =>
      `{"seq":${seq},${at === null ? "" : `"clientTimestamp":${JSON.stringify(at)},`}"payload":${allowedNow(payload, "payload", mode)}}`,
  );
  return `{${repo === "" ? "" : `"repoKey":${JSON.stringify(repo)},`}"entries":[${entries.join(",")}]}`;
}
