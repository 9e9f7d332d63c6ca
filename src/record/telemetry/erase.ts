import type { Core } from "../../core.ts";
import { readSessionId } from "../../formats/payload.ts";
import { asObject } from "../../formats/values.ts";
import { compressBlockNow, unpackBlock } from "../../kit/blocks.ts";
import { type EraseStep, MAX_ERASED_ROWS, stretches } from "../../kit/erase-steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveryErasure, findDelivery, type Portion } from "../../log/log.ts";
import { browseRows } from "./browse-rows.ts";
import { eraseRows } from "./erase-rows.ts";
import { firstOfDelivery } from "./items.ts";
import { entriesIn, pack } from "./packed.ts";
import { type Entry, entryText, erasedEntry, isErasedEntry } from "./rules.ts";
import { type SegmentRow, segmentRows } from "./segment-rows.ts";
import { entryById, readSegment } from "./segments.ts";

/** Which entries go: of a portion all, or some. */
type IsMeant = (entry: Pick<Entry, "seq" | "payload">) => boolean;

/** Where entries of one delivery lie. */
interface Place {
  readonly firstId: number;
  readonly lastId: number;
  readonly entries: number;
  readonly conflictIds: readonly number[];
}

/**
 * Erases entries of a portion, evidence of conflicts included. The number of each stays, so that an entry that comes again is recognised.
 * @param isMeant which entries; all of them without it
 */
async function* eraseEntries(core: Core, portion: Portion, isMeant?: IsMeant): AsyncGenerator<EraseStep> {
  const sql = eraseRows(core.store);
  for (const streamId of sql.streams.all({ deviceId: portion.deviceId, repoKey: portion.repoKey })) {
    const yieldNow = cooperative(core.clock);
    let some: Place[] = [];
    let count = 0;
    for (const place of placesOf(core, streamId, portion)) {
      await yieldNow();
      if (!place || (isMeant && countMeant(core, place, isMeant) === 0)) continue;
      if (count > 0 && count + place.entries > MAX_ERASED_ROWS) {
        yield eraseStep(core, streamId, some, portion, isMeant);
        [some, count] = [[], 0];
      }
      some.push(place);
      count += place.entries;
    }
    if (some.length > 0) yield eraseStep(core, streamId, some, portion, isMeant);
  }
}

/**
 * The places in a stream of a portion's deliveries of which something is left; undefined after each stretch of the stream, which may have
 * none.
 */
function* placesOf(
  core: Core,
  streamId: number,
  portion: Pick<Portion, "until" | "through">,
): Generator<Place | undefined> {
  const sql = eraseRows(core.store);
  const conflicts = Map.groupBy(sql.conflicts.all(streamId), ({ deliveryId }) => deliveryId);
  for (const stretch of stretches(-1, (from) => sql.stretchEnd.get(streamId, from))) {
    const segments = sql.segments.all({ streamId, ...stretch });
    const isLeft = deliveryErasure.leftOf(core, segments, portion);
    for (const { firstId, entries, deliveryId } of segments) {
      if (!isLeft.has(deliveryId)) continue;
      const conflictIds = (conflicts.get(deliveryId) ?? []).map(({ id }) => id);
      conflicts.delete(deliveryId);
      yield { firstId, lastId: firstId + entries - 1, entries: entries + conflictIds.length, conflictIds };
    }
    yield undefined;
  }
  const isLeft = deliveryErasure.leftOf(core, [...conflicts.values()].flat(), portion);
  for (const [deliveryId, alone] of conflicts)
    if (isLeft.has(deliveryId))
      yield { firstId: 0, lastId: -1, entries: alone.length, conflictIds: alone.map(({ id }) => id) };
}

/** Counts the entries of a place that go, evidence included. */
function countMeant(core: Core, { firstId, lastId, conflictIds }: Place, isMeant: IsMeant): number {
  const sql = eraseRows(core.store);
  const entries = sql.within.all(firstId, lastId).flatMap((segment) => entriesIn(readSegment(core, segment)));
  const evidence = conflictIds.flatMap((id) => sql.conflict.get(id) ?? []);
  return entries.filter((one) => !isErasedEntry(one) && isMeant(one)).length + evidence.filter(isMeant).length;
}

/** Erases the entries of some places that are meant. */
function eraseStep(
  core: Core,
  streamId: number,
  places: readonly Place[],
  { erasureId }: Portion,
  isMeant: IsMeant = () => true,
): EraseStep {
  return () => {
    const sql = eraseRows(core.store);
    const changed = new Map<number, { readonly segment: SegmentRow; readonly texts: Buffer }>();
    let entries = 0;
    // A segment may have been split since it was looked at; its parts lie in the same range.
    for (const { firstId, lastId } of places)
      for (const segment of sql.within.all(firstId, lastId)) {
        const before = entriesIn(readSegment(core, segment));
        const gone = before.filter((entry) => !isErasedEntry(entry) && isMeant(entry));
        if (gone.length === 0) continue;
        const seqs = new Set(gone.map(({ seq }) => seq));
        const after = before.map((entry) => (seqs.has(entry.seq) ? erasedEntry(entry.seq) : entry));
        changed.set(segment.firstId, { segment, texts: pack(after).texts });
        const first = segment.firstId - firstOfDelivery(core, segment) + 1;
        const texts = before.flatMap((entry, i): [number, string][] =>
          seqs.has(entry.seq) ? [[first + i, entryText(entry)]] : [],
        );
        forget(core, segment.deliveryId, gone.length, new Map(texts), erasureId);
        entries += gone.length;
      }
    const conflicts = places.flatMap(({ conflictIds }) =>
      conflictIds.flatMap((id) => {
        const one = sql.conflict.get(id);
        return one && isMeant(one) ? one : [];
      }),
    );
    for (const { id, deliveryId, item, ...entry } of conflicts) {
      sql.dropConflict.run(id);
      forget(core, deliveryId, 1, new Map(item === null ? [] : [[item, entryText(entry)]]), erasureId);
    }
    store(core, changed);
    sql.countErased.run({ id: streamId, entries, conflicts: conflicts.length });
    return { entries: entries + conflicts.length };
  };
}

/**
 * Row change: entries of a delivery go, evidence included. While something of the delivery is left, their hashes stay, because its root is
 * made of them.
 * @param texts by item, for those that have a place among the items
 */
function forget(
  core: Core,
  deliveryId: number,
  count: number,
  texts: ReadonlyMap<number, string>,
  erasureId: string,
): void {
  deliveryErasure.markErasedInPart(core, deliveryId, count, erasureId);
  const delivery = findDelivery(core, deliveryId);
  if (delivery && deliveryErasure.isErased(delivery)) deliveryErasure.markErased(core, deliveryId, erasureId);
  else deliveryErasure.forgetItems(core, deliveryId, texts);
}

/** Rewrites segments, and the blocks that some of them lie in, without what was erased. */
function store(
  core: Core,
  changed: ReadonlyMap<number, { readonly segment: SegmentRow; readonly texts: Buffer }>,
): void {
  const sql = eraseRows(core.store);
  const { block, insertBlock } = segmentRows(core.store);
  const blocks = new Map<number, number>();
  for (const { segment, texts } of changed.values())
    if (segment.blockId === null) sql.setTexts.run(texts, texts.length, segment.firstId);
    else blocks.set(segment.blockId, segment.streamId);
  for (const [blockId, streamId] of blocks) {
    const content = block.get(blockId);
    if (!content) continue;
    const whole = unpackBlock(content);
    const segments = sql.inBlock.all(streamId, blockId);
    const parts = segments.map(
      ({ firstId, blockAt, bytes }) =>
        changed.get(firstId)?.texts ?? whole.subarray(blockAt ?? 0, (blockAt ?? 0) + bytes),
    );
    // The block gets another number: whoever holds the old one's texts in memory must not look there for the new places.
    const id = Number(insertBlock.run(streamId, compressBlockNow(Buffer.concat(parts))).lastInsertRowid);
    let at = 0;
    for (const [i, { firstId }] of segments.entries()) {
      const { length } = parts[i] as Buffer;
      sql.place.run(id, at, length, firstId);
      at += length;
    }
    sql.dropBlock.run(blockId);
  }
}

/**
 * Counts the entries of those deliveries of a portion of which something is left, evidence included. @param isMeant which entries; all of
 * them without it
 */
async function countEntries(core: Core, portion: Omit<Portion, "erasureId">, isMeant?: IsMeant): Promise<number> {
  const yieldNow = cooperative(core.clock);
  let count = 0;
  for (const streamId of eraseRows(core.store).streams.all(portion))
    for (const place of placesOf(core, streamId, portion)) {
      if (place) count += isMeant ? countMeant(core, place, isMeant) : place.entries;
      await yieldNow();
    }
  return count;
}

/** Tells entries of a session. @param isSession by the session's id */
function ofSession(isSession: (id: string) => boolean): IsMeant {
  const known = new Map<string, boolean>();
  return ({ payload }) => {
    const id = readSessionId(asObject(JSON.parse(payload)));
    return id !== null && known.getOrInsertComputed(id, isSession);
  };
}

/** Where the entry of a number belongs; undefined where there is none. */
function findPlace(core: Core, entryId: number): { deviceId: string; repoKey: string; seq: number } | undefined {
  const entry = entryById(core, entryId);
  const stream = entry && !isErasedEntry(entry) ? browseRows(core.store).ownerOf.get(entry.streamId) : undefined;
  return entry && stream && { deviceId: stream.deviceId, repoKey: stream.repoKey, seq: entry.seq };
}

/** Erasing entries. */
export const telemetryErasure = { eraseEntries, countEntries, ofSession, findPlace };
