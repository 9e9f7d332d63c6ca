import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { deliveryItems, findDelivery } from "../../log/log.ts";
import type { Items } from "../../platform/transparency/transparency.ts";
import type { Intake } from "../intake/intake.ts";
import { isWithheld, rangesOf, rangeText, withhold } from "../withheld/withheld.ts";
import { rows, type StoredEntry, type StreamRow } from "./rows.ts";
import { type Entry, entryText, type Gap, gapsAbove, isSameEntry, isSameMetadata, splitGap } from "./rules.ts";

export interface Batch {
  readonly mode: string | null;
  /** Ascending by seq; a seq may stand twice. */
  readonly entries: readonly Entry[];
  /** What a delivery of all of them commits to, for the common case that all are new. */
  readonly content: Items;
  /** Entries that redaction touched. */
  readonly redacted: number;
}

export interface Appended {
  readonly accepted: number;
  readonly maxSeq: number;
  readonly flagged: "gap" | "rollback" | null;
}

/** Appends a batch to its stream. Call inside a transaction. */
export function appendBatch(intake: Intake, batch: Batch, now: number): Appended {
  const { core, device, repoKey } = intake;
  const sql = rows(core.store);
  const stream = sql.stream.get(device.deviceId, repoKey);
  if (batch.entries.length === 0) return { accepted: 0, maxSeq: stream?.maxSeq ?? 0, flagged: null };
  const streamId =
    stream?.id ?? Number(sql.insertStream.run(device.teamId, device.deviceId, repoKey, 0, now, now).lastInsertRowid);
  const { added, conflicts, contradicted } = sort(intake, streamId, stream?.maxSeq, batch.entries);
  const gaps = gapsAbove(
    stream?.maxSeq,
    added.map((entry) => entry.seq),
  );
  const maxSeq = Math.max(stream?.maxSeq ?? 0, added.at(-1)?.seq ?? 0);
  const flagged = contradicted ? "rollback" : gapFlag(gaps);
  if (added.length + conflicts.length === 0) return { accepted: 0, maxSeq, flagged };

  const deliveryId = intake.record({
    mode: batch.mode,
    items: added.length + conflicts.length,
    redacted: batch.redacted,
    flagged,
    withheld: intake.withheld,
    content:
      added.length === batch.entries.length
        ? batch.content
        : deliveryItems(repoKey, batch.mode, [...added, ...conflicts].map(entryText)),
  });
  sql.insertEntries(streamId, deliveryId, added);
  for (const entry of conflicts)
    sql.insertConflict.run(
      streamId,
      entry.seq,
      deliveryId,
      entry.clientTimestamp,
      entry.payload,
      sha256(entryText(entry)),
    );
  if (stream) for (const { seq } of added) if (seq < stream.maxSeq) fillGap(core, streamId, seq);
  for (const { from, to } of gaps) sql.insertGap.run(streamId, from, to);
  sql.updateStream.run(maxSeq, added.length, conflicts.length, now, streamId);
  return { accepted: added.length, maxSeq, flagged };
}

/**
 * Takes the numbers of a batch of which nothing may be kept, so that its stream goes on without a gap. Call inside a transaction.
 * @param seqs as they were sent
 */
export function withholdBatch(intake: Intake, seqs: readonly number[], now: number): Appended {
  const { core, device, repoKey } = intake;
  const sql = rows(core.store);
  const stream = sql.stream.get(device.deviceId, repoKey);
  const taken = [...new Set(seqs)]
    .sort((a, b) => a - b)
    .filter((seq) => stream === undefined || !isTaken(core, stream, seq));
  const maxSeq = Math.max(stream?.maxSeq ?? 0, taken.at(-1) ?? 0);
  if (taken.length === 0) return { accepted: 0, maxSeq, flagged: null };
  const gaps = gapsAbove(stream?.maxSeq, taken);
  const ranges = rangesOf(taken);
  const flagged = gapFlag(gaps);
  const deliveryId = intake.record({
    mode: null,
    items: 0,
    redacted: 0,
    flagged,
    withheld: taken.length,
    content: deliveryItems(repoKey, null, ranges.map(rangeText)),
  });
  const streamId =
    stream?.id ?? Number(sql.insertStream.run(device.teamId, device.deviceId, repoKey, 0, now, now).lastInsertRowid);
  withhold(core, "telemetry", streamId, deliveryId, ranges);
  if (stream) for (const seq of taken) if (seq < stream.maxSeq) fillGap(core, streamId, seq);
  for (const { from, to } of gaps) sql.insertGap.run(streamId, from, to);
  sql.updateStream.run(maxSeq, 0, 0, now, streamId);
  return { accepted: 0, maxSeq, flagged };
}

const isTaken = (core: Core, { id, maxSeq }: StreamRow, seq: number) =>
  seq <= maxSeq && (rows(core.store).entry.get(id, seq) !== undefined || isWithheld(core, "telemetry", id, seq));

const gapFlag = (gaps: readonly Gap[]) => (gaps.length > 0 ? "gap" : null);

interface Sorted {
  /** Not stored yet, ascending, no seq twice. */
  readonly added: readonly Entry[];
  /** Their seq is taken by other content; not yet kept as evidence. */
  readonly conflicts: readonly Entry[];
  /** Whether any entry contradicts what is stored, evidence kept earlier included. */
  readonly contradicted: boolean;
}

function sort(intake: Intake, streamId: number, maxSeq: number | undefined, entries: readonly Entry[]): Sorted {
  // Usually everything lies above what the stream holds, and no look-up is needed.
  const ascending = entries.every((entry, i) => i === 0 || entry.seq > (entries[i - 1] as Entry).seq);
  if (ascending && (maxSeq === undefined || (entries[0] as Entry).seq > maxSeq))
    return { added: entries, conflicts: [], contradicted: false };
  const { core } = intake;
  const isBelow = (seq: number) => maxSeq !== undefined && seq <= maxSeq;
  const sql = rows(core.store);
  const added: Entry[] = [];
  const conflicts = new Map<string, Entry>();
  let contradicted = false;
  for (const entry of entries) {
    const twin = added.at(-1)?.seq === entry.seq ? added.at(-1) : undefined;
    const stored = twin ?? (isBelow(entry.seq) ? sql.entry.get(streamId, entry.seq) : undefined);
    if (!stored) {
      // What came while nothing was to be recorded is not recorded when it comes again.
      if (!isBelow(entry.seq) || !isWithheld(core, "telemetry", streamId, entry.seq)) added.push(entry);
    } else if (!cameAgain(intake, stored, entry)) {
      contradicted = true;
      const digest = sha256(entryText(entry));
      if (!sql.hasConflict.get(streamId, entry.seq, digest)) conflicts.set(digest.toString("hex"), entry);
    }
  }
  return { added, conflicts: [...conflicts.values()], contradicted };
}

/** Whether an entry is the stored one sent again; where one of them was stripped to its metadata, by that alone. */
function cameAgain({ core, captureMode }: Intake, stored: Entry | StoredEntry, entry: Entry): boolean {
  if (isSameEntry(stored, entry)) return true;
  if (!("deliveryId" in stored)) return false;
  const isStripped = captureMode === "metadata" || findDelivery(core, stored.deliveryId)?.captureMode === "metadata";
  return isStripped && isSameMetadata(stored, entry);
}

function fillGap(core: Core, streamId: number, seq: number): void {
  const sql = rows(core.store);
  const gap = sql.gapAround.get(streamId, seq, seq);
  if (!gap) return;
  sql.deleteGap.run(streamId, gap.from);
  for (const { from, to } of splitGap(gap, seq)) sql.insertGap.run(streamId, from, to);
}
