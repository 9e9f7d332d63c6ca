import type { Core } from "../../core.ts";
import type { DevicePrincipal } from "../../identity/devices/devices.ts";
import { touchDevice } from "../../identity/devices/devices.ts";
import { sha256 } from "../../kit/hash.ts";
import { recordDelivery } from "../../log/log.ts";
import { rows } from "./rows.ts";
import { type Entry, entryText, holesAbove, isSameEntry, splitGap } from "./rules.ts";

export interface Batch {
  readonly repoKey: string;
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
export function appendBatch(core: Core, device: DevicePrincipal, batch: Batch): Appended {
  const sql = rows(core.store);
  const now = core.clock.now();
  touchDevice(core, device, now);
  const stream = sql.stream.get(device.deviceId, batch.repoKey);
  if (batch.entries.length === 0) return { accepted: 0, maxSeq: stream?.maxSeq ?? 0, flagged: null };
  const streamId =
    stream?.id ??
    Number(sql.insertStream.run(device.teamId, device.deviceId, batch.repoKey, 0, now, now).lastInsertRowid);
  const { fresh, conflicts, contradicted } = sort(core, streamId, stream?.maxSeq, batch.entries);
  const holes = holesAbove(
    stream?.maxSeq,
    fresh.map((entry) => entry.seq),
  );
  const maxSeq = Math.max(stream?.maxSeq ?? 0, fresh.at(-1)?.seq ?? 0);
  const flagged = contradicted ? "rollback" : holes.length > 0 ? "gap" : null;
  if (fresh.length + conflicts.length === 0) return { accepted: 0, maxSeq, flagged };

  const deliveryId = recordDelivery(core, device, {
    kind: "telemetry",
    repoKey: batch.repoKey,
    mode: batch.mode,
    items: fresh.length + conflicts.length,
    redacted: batch.redacted,
    flagged,
    contentSha256:
      fresh.length === batch.entries.length ? batch.digest : sha256([...fresh, ...conflicts].map(entryText).join("")),
  });
  sql.insertEntries(streamId, deliveryId, fresh);
  for (const entry of conflicts)
    sql.insertConflict.run(
      streamId,
      entry.seq,
      deliveryId,
      entry.clientTimestamp,
      entry.payload,
      sha256(entryText(entry)),
    );
  if (stream) for (const { seq } of fresh) if (seq < stream.maxSeq) fillGap(core, streamId, seq);
  for (const { from, to } of holes) sql.insertGap.run(streamId, from, to);
  sql.updateStream.run(maxSeq, fresh.length, conflicts.length, now, streamId);
  return { accepted: fresh.length, maxSeq, flagged };
}

interface Sorted {
  /** Not held yet, ascending, no seq twice. */
  readonly fresh: readonly Entry[];
  /** Their seq is held with other content; not yet kept as evidence. */
  readonly conflicts: readonly Entry[];
  /** Whether any entry contradicts what is held, evidence kept earlier included. */
  readonly contradicted: boolean;
}

function sort(core: Core, streamId: number, maxSeq: number | undefined, entries: readonly Entry[]): Sorted {
  // Usually everything lies above what the stream holds, and no look-up is needed.
  const ascending = entries.every((entry, i) => i === 0 || entry.seq > (entries[i - 1] as Entry).seq);
  if (ascending && (maxSeq === undefined || (entries[0] as Entry).seq > maxSeq))
    return { fresh: entries, conflicts: [], contradicted: false };
  const sql = rows(core.store);
  const fresh: Entry[] = [];
  const conflicts = new Map<string, Entry>();
  let contradicted = false;
  for (const entry of entries) {
    const twin = fresh.at(-1)?.seq === entry.seq ? fresh.at(-1) : undefined;
    const held = twin ?? (maxSeq !== undefined && entry.seq <= maxSeq ? sql.entry.get(streamId, entry.seq) : undefined);
    if (!held) {
      fresh.push(entry);
    } else if (!isSameEntry(held, entry)) {
      contradicted = true;
      const digest = sha256(entryText(entry));
      if (!sql.hasConflict.get(streamId, entry.seq, digest)) conflicts.set(digest.toString("hex"), entry);
    }
  }
  return { fresh, conflicts: [...conflicts.values()], contradicted };
}

function fillGap(core: Core, streamId: number, seq: number): void {
  const sql = rows(core.store);
  const gap = sql.gapAround.get(streamId, seq, seq);
  if (!gap) return;
  sql.deleteGap.run(streamId, gap.from);
  for (const { from, to } of splitGap(gap, seq)) sql.insertGap.run(streamId, from, to);
}
