/**
 * Withheld: which numbers of streams came while nothing was to be recorded. They are taken, so that a stream goes on without a gap
 * when the policy changes back, and the ledger proves that no more was kept.
 * Not here: the streams themselves (telemetry, brain), what may be recorded (policy).
 */

import type { Core } from "../../core.ts";
import { rows, type WithheldRow } from "./rows.ts";

/** Streams whose numbers go on: of telemetry by entries, of a brain by versions. */
type WithheldKind = "telemetry" | "brain";

/** Numbers, first and last included. */
interface Range {
  readonly first: number;
  readonly last: number;
}

/** Numbers as ranges. @param numbers ascending, none twice */
export function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const before = ranges.at(-1);
    if (before && number === before.last + 1) before.last = number;
    else ranges.push({ first: number, last: number });
  }
  return ranges;
}

/** Notes numbers of a stream that a delivery took; call inside a transaction. None may be taken already. */
export function withhold(
  core: Core,
  kind: WithheldKind,
  streamId: number,
  deliveryId: number,
  ranges: readonly Range[],
): void {
  for (const { first, last } of ranges) rows(core.store).insert.run(kind, streamId, first, last, deliveryId);
}

/** Whether a number of a stream came while nothing was to be recorded. */
export function isWithheld(core: Core, kind: WithheldKind, streamId: number, number: number): boolean {
  const below = rows(core.store).atOrBelow.get(kind, streamId, number);
  return below !== undefined && number <= below.last;
}

/** The highest number of a stream that came so, and with which delivery. */
export function highestWithheld(core: Core, kind: WithheldKind, streamId: number): WithheldRow | undefined {
  return rows(core.store).atOrBelow.get(kind, streamId, Number.MAX_SAFE_INTEGER);
}

/** All ranges of a kind, in the order of deliveries. */
export function withheldByDelivery(core: Core, kind: WithheldKind): Iterator<WithheldRow> {
  return rows(core.store).byDelivery[kind].iterate();
}

/** What a delivery's digest is taken over of a range. */
export const rangeText = ({ first, last }: Range): string => `withheld ${first}-${last}\0`;

export type { WithheldRow };
