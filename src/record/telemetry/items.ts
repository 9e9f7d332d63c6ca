import type { Core } from "../../core.ts";
import { isErasedText, textsIn } from "./packed.ts";
import { rows } from "./rows.ts";
import { entryText } from "./rules.ts";
import { type SegmentFacts, type SegmentRow, segmentRows } from "./segment-rows.ts";
import { readSegment } from "./segments.ts";

/**
 * Where an entry stands among the items of its delivery.
 * @returns its delivery; and when called which item of that it is, and the texts of all items by their places. Undefined where there is no
 *   such entry
 */
export function itemsAround(
  core: Core,
  id: number,
): { readonly deliveryId: number; items(): { own: readonly number[]; texts: Map<number, Buffer> } } | undefined {
  const own = segmentRows(core.store).factsFrom.get(id);
  if (!own || id >= own.firstId + own.entries) return undefined;
  return { deliveryId: own.deliveryId, items: () => itemsBeside(core, id, own) };
}

function itemsBeside(core: Core, id: number, own: SegmentFacts) {
  const sql = segmentRows(core.store);
  const { deliveryId } = own;
  const first = firstOfDelivery(core, own);
  const texts = new Map<number, Buffer>();
  for (let at = sql.factsFrom.get(first); at?.deliveryId === deliveryId; at = sql.factsAfter.get(at.firstId))
    for (const [i, text] of textsIn(readSegment(core, sql.segment.get(at.firstId) as SegmentRow)).entries())
      if (!isErasedText(text)) texts.set(at.firstId - first + i + 1, text);
  for (const [item, text] of conflictTexts(core, own.streamId, deliveryId)) texts.set(item, text);
  return { own: [id - first + 1], texts };
}

const conflictTexts = (core: Core, streamId: number, deliveryId: number): (readonly [number, Buffer])[] =>
  rows(core.store)
    .conflictsOf.all(streamId, deliveryId)
    .flatMap((row) => (row.item === null ? [] : [[row.item, Buffer.from(entryText(row))] as const]));

/** The texts of what came again with other content in a delivery, by their places among its items. */
export function conflictsOf(
  core: Core,
  { id, deviceId, repoKey }: { readonly id: number; readonly deviceId: string; readonly repoKey: string },
): Map<number, Buffer> {
  const stream = rows(core.store).stream.get(deviceId, repoKey);
  return new Map(stream ? conflictTexts(core, stream.id, id) : []);
}

/** The number of the first entry of the delivery that a segment is of. */
export function firstOfDelivery(
  core: Core,
  { firstId, deliveryId }: Pick<SegmentFacts, "firstId" | "deliveryId">,
): number {
  const before = segmentRows(core.store).factsFrom.get(firstId - 1);
  return before?.deliveryId === deliveryId ? firstOfDelivery(core, before) : firstId;
}
