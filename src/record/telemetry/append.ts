import type { Core } from "../../core.ts";
import { sha256 } from "../../kit/hash.ts";
import type { Intake } from "../intake/intake.ts";

import { rows } from "./rows.ts";
import { type Entry, entryText, type Gap, gapsAbove, isSameEntry, splitGap } from "./rules.ts";

export interface Batch {
  readonly mode: string | null;
  /** Ascending by seq; a seq may stand twice. */
  readonly entries: readonly Entry[];
  /** SHA-256 over all entries' texts, for the common case that all are new. */
  readonly digest: Buffer;
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
  const { added, conflicts, contradicted } = sort(core, streamId, stream?.maxSeq, batch.entries);
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
    contentSha256:
      added.length === batch.entries.length ? batch.digest : sha256([...added, ...conflicts].map(entryText).join("")),
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

const gapFlag = (gaps: readonly Gap[]) => (gaps.length > 0 ? "gap" : null);

interface Sorted {
  /** Not stored yet, ascending, no seq twice. */
  readonly added: readonly Entry[];
  /** Their seq is taken by other content; not yet kept as evidence. */
  readonly conflicts: readonly Entry[];
  /** Whether any entry contradicts what is stored, evidence kept earlier included. */
  readonly contradicted: boolean;
}

function sort(core: Core, streamId: number, maxSeq: number | undefined, entries: readonly Entry[]): Sorted {
  // Usually everything lies above what the stream holds, and no look-up is needed.
  const ascending = entries.every((entry, i) => i === 0 || entry.seq > (entries[i - 1] as Entry).seq);
  if (ascending && (maxSeq === undefined || (entries[0] as Entry).seq > maxSeq))
    return { added: entries, conflicts: [], contradicted: false };
  const sql = rows(core.store);
  const added: Entry[] = [];
  const conflicts = new Map<string, Entry>();
  let contradicted = false;
  for (const entry of entries) {
    const twin = added.at(-1)?.seq === entry.seq ? added.at(-1) : undefined;
    const stored =
      twin ?? (maxSeq !== undefined && entry.seq <= maxSeq ? sql.entry.get(streamId, entry.seq) : undefined);
    if (!stored) {
      added.push(entry);
    } else if (!isSameEntry(stored, entry)) {
      contradicted = true;
      const digest = sha256(entryText(entry));
      if (!sql.hasConflict.get(streamId, entry.seq, digest)) conflicts.set(digest.toString("hex"), entry);
    }
  }
  return { added, conflicts: [...conflicts.values()], contradicted };
}

function fillGap(core: Core, streamId: number, seq: number): void {
  const sql = rows(core.store);
  const gap = sql.gapAround.get(streamId, seq, seq);
  if (!gap) return;
  sql.deleteGap.run(streamId, gap.from);
  for (const { from, to } of splitGap(gap, seq)) sql.insertGap.run(streamId, from, to);
}
