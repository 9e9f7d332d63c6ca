import type { Core } from "../../core.ts";
import { textsIn } from "./packed.ts";
import { rows } from "./rows.ts";
import { entryText } from "./rules.ts";
import { type SegmentFacts, type SegmentRow, segmentRows } from "./segment-rows.ts";
import { readSegment } from "./segments.ts";

/**
 * Where an entry stands among the items of its delivery.
 * @returns its delivery, which item of that it is, and the texts of all items by their places; undefined where there is no such entry
 */
export function itemsAround(
  core: Core,
  id: number,
): { readonly deliveryId: number; readonly item: number; readonly texts: Map<number, Buffer> } | undefined {
  const sql = segmentRows(core.store);
  const own = sql.factsFrom.get(id);
  if (!own || id >= own.firstId + own.entries) return undefined;
  const { deliveryId } = own;
  const segments: SegmentFacts[] = [own];
  for (let at = sql.factsFrom.get(own.firstId - 1); at?.deliveryId === deliveryId; ) {
    segments.unshift(at);
    at = sql.factsFrom.get(at.firstId - 1);
  }
  for (let at = sql.factsAfter.get(own.firstId); at?.deliveryId === deliveryId; ) {
    segments.push(at);
    at = sql.factsAfter.get(at.firstId);
  }
  const entries = segments.flatMap(({ firstId }) => textsIn(readSegment(core, sql.segment.get(firstId) as SegmentRow)));
  const conflicts = rows(core.store)
    .conflictsOf.all(own.streamId, deliveryId)
    .map((row) => Buffer.from(entryText(row)));
  const texts = new Map([...entries, ...conflicts].map((text, i) => [i + 1, text]));
  return { deliveryId, item: id - (segments[0] as SegmentFacts).firstId + 1, texts };
}
