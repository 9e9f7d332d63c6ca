import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import { deliveryItems, type Items } from "../../kit/items.ts";
import { findDelivery } from "../../log/log.ts";
import type { Intake } from "../intake/intake.ts";
import { isWithheld, rangesOf, rangeText, withhold } from "../withheld/withheld.ts";
import { entryAt, type PackedEntries, pick, textAt, textsIn } from "./packed.ts";
import { rows } from "./rows.ts";
import { type Entry, type Gap, gapsAbove, isErasedEntry, isSameEntry, isSameMetadata, splitGap } from "./rules.ts";
import { type StoredAt, streamReader } from "./segments.ts";
import { storeEntries } from "./store-entries.ts";

export interface Batch {
  readonly mode: string | null;
  readonly packed: PackedEntries;
  /** The items of a delivery of all these entries, made ahead for the usual case that all are new; undefined to have them made. */
  readonly content: Items | undefined;
  /** Entries that redaction touched. */
  readonly redacted: number;
}

export interface Appended {
  readonly accepted: number;
  readonly maxSeq: number;
  readonly flagged: "gap" | "rollback" | null;
}

/** Appends a batch to its stream. Call inside a transaction. */
export function appendBatch(intake: Intake, { mode, packed, content, redacted }: Batch, now: number): Appended {
  const { core, device, repoKey } = intake;
  const sql = rows(core.store);
  const stream = sql.stream.get(device.deviceId, repoKey);
  if (packed.seqs.length === 0) return { accepted: 0, maxSeq: stream?.maxSeq ?? 0, flagged: null };
  const streamId = stream?.id ?? beginStream(intake, now);
  const { added, conflicts, contradicted } = sort(intake, streamId, stream?.maxSeq, packed);
  const accepted = added.seqs.length;
  const gaps = gapsAbove(stream?.maxSeq, added.seqs);
  const maxSeq = Math.max(stream?.maxSeq ?? 0, added.seqs[accepted - 1] ?? 0);
  const flagged = contradicted ? "rollback" : gapFlag(gaps);
  if (accepted + conflicts.length === 0) return { accepted, maxSeq, flagged };

  const deliveryId = intake.record({
    mode,
    items: accepted + conflicts.length,
    redacted,
    flagged,
    withheld: intake.withheld,
    content:
      (accepted === packed.seqs.length ? content : undefined) ??
      deliveryItems(repoKey, mode, [...textsIn(added), ...conflicts.map((i) => textAt(packed, i))]),
  });
  if (accepted > 0) storeEntries(core, streamId, deliveryId, added, stream?.maxSeq);
  for (const [k, i] of conflicts.entries()) {
    const { seq, clientTimestamp, payload } = entryAt(packed, i);
    const item = accepted + k + 1;
    sql.insertConflict.run(streamId, seq, deliveryId, clientTimestamp, payload, sha256(textAt(packed, i)), item);
  }
  changeGaps(core, streamId, added.seqs, gaps, stream?.maxSeq);
  sql.updateStream.run(maxSeq, accepted, conflicts.length, now, streamId);
  return { accepted, maxSeq, flagged };
}

/**
 * Takes the numbers of a batch of which nothing may be kept, so that its stream goes on without a gap. Call inside a transaction.
 * @param seqs as they were sent
 */
export function withholdBatch(intake: Intake, seqs: Iterable<number>, now: number): Appended {
  const { core, device, repoKey } = intake;
  const sql = rows(core.store);
  const stream = sql.stream.get(device.deviceId, repoKey);
  const storedAt = stream && streamReader(core, stream.id);
  const isTaken = (seq: number) =>
    stream !== undefined &&
    seq <= stream.maxSeq &&
    (storedAt?.(seq) !== undefined || isWithheld(core, "telemetry", stream.id, seq));
  const taken = [...new Set(seqs)].sort((a, b) => a - b).filter((seq) => !isTaken(seq));
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
  const streamId = stream?.id ?? beginStream(intake, now);
  withhold(core, "telemetry", streamId, deliveryId, ranges);
  changeGaps(core, streamId, taken, gaps, stream?.maxSeq);
  sql.updateStream.run(maxSeq, 0, 0, now, streamId);
  return { accepted: 0, maxSeq, flagged };
}

/** @returns the number of the stream */
const beginStream = ({ core, device: { teamId, deviceId }, repoKey }: Intake, now: number): number =>
  Number(rows(core.store).insertStream.run({ teamId, deviceId, repoKey, now }).lastInsertRowid);

const gapFlag = (gaps: readonly Gap[]) => (gaps.length > 0 ? "gap" : null);

interface Sorted {
  /** Not stored yet, ascending, no seq twice. */
  readonly added: PackedEntries;
  /** Indexes of entries whose seq is taken by other content that is not yet kept as evidence. */
  readonly conflicts: readonly number[];
  /** Whether any entry contradicts what is stored, evidence kept earlier included. */
  readonly contradicted: boolean;
}

function sort(intake: Intake, streamId: number, maxSeq: number | undefined, packed: PackedEntries): Sorted {
  if (isAbove(packed.seqs, maxSeq)) return { added: packed, conflicts: [], contradicted: false };
  const { seqs } = packed;
  const { core } = intake;
  const isBelow = (seq: number) => maxSeq !== undefined && seq <= maxSeq;
  const sql = rows(core.store);
  const storedAt = streamReader(core, streamId);
  const added: number[] = [];
  const conflicts = new Map<string, number>();
  let contradicted = false;
  for (let i = 0; i < seqs.length; i++) {
    const seq = seqs[i] as number;
    const last = added.at(-1);
    const twin = last !== undefined && seqs[last] === seq ? { packed, index: last } : undefined;
    const stored = twin ?? (isBelow(seq) ? storedAt(seq) : undefined);
    if (!stored) {
      // An entry that came while nothing was to be recorded is not recorded when it comes again.
      if (!isBelow(seq) || !isWithheld(core, "telemetry", streamId, seq)) added.push(i);
    } else if (!cameAgain(intake, stored, packed, i)) {
      contradicted = true;
      const digest = sha256(textAt(packed, i));
      if (!sql.hasConflict.get(streamId, seq, digest)) conflicts.set(digest.toString("hex"), i);
    }
  }
  return {
    added: added.length === seqs.length ? packed : pick(packed, added),
    conflicts: [...conflicts.values()],
    contradicted,
  };
}

/** Whether no number occurs twice or can be taken already, so that no look-up is needed: nearly always. */
function isAbove(seqs: PackedEntries["seqs"], maxSeq: number | undefined): boolean {
  if (maxSeq !== undefined && (seqs[0] as number) <= maxSeq) return false;
  for (let i = 1; i < seqs.length; i++) if ((seqs[i] as number) <= (seqs[i - 1] as number)) return false;
  return true;
}

/** Whether an entry is the stored one sent again. Where one of the two was stripped to its metadata, only that is compared. */
function cameAgain(
  { core, captureMode }: Intake,
  at: Pick<StoredAt, "packed" | "index"> & Partial<Pick<StoredAt, "segment">>,
  packed: PackedEntries,
  i: number,
): boolean {
  if (textAt(at.packed, at.index).equals(textAt(packed, i))) return true;
  const stored: Entry = entryAt(at.packed, at.index);
  const entry = entryAt(packed, i);
  // An erased entry is not recorded when it comes again.
  if (isErasedEntry(stored)) return true;
  if (isSameEntry(stored, entry)) return true;
  if (!at.segment) return false;
  const isStripped =
    captureMode === "metadata" || findDelivery(core, at.segment.deliveryId)?.captureMode === "metadata";
  return isStripped && isSameMetadata(stored, entry);
}

/** Fills the gaps that new numbers lie in, and stores those that the new numbers leave. @param maxSeq the highest number before */
function changeGaps(core: Core, streamId: number, seqs: Iterable<number>, gaps: readonly Gap[], maxSeq = 0): void {
  const sql = rows(core.store);
  const insert = ({ from, to }: Gap) => sql.insertGap.run(streamId, from, to);
  for (const seq of seqs) {
    const gap = seq < maxSeq ? sql.gapAround.get(streamId, seq, seq) : undefined;
    if (!gap) continue;
    sql.deleteGap.run(streamId, gap.from);
    splitGap(gap, seq).forEach(insert);
  }
  gaps.forEach(insert);
}
