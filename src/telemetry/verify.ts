import { createHash } from "node:crypto";
import type { Core } from "../core.ts";
import { rows } from "./rows.ts";
import { type Entry, entryText } from "./rules.ts";

type Held = Entry & { readonly deliveryId: number };

/**
 * Recomputes the content digests of telemetry deliveries from the entries as they are stored now.
 * @returns a function to be called with delivery ids in ascending order
 */
export function telemetryDigest(core: Core): (deliveryId: number) => Buffer {
  const takeEntries = grouped(rows(core.store).entriesByDelivery.iterate());
  // Evidence is rare: it is held in memory so that only one statement iterates at a time.
  const conflicts = Map.groupBy(rows(core.store).conflictsByDelivery.all(), (entry) => entry.deliveryId);
  return (deliveryId) => {
    const hash = createHash("sha256");
    for (const entry of takeEntries(deliveryId)) hash.update(entryText(entry));
    for (const entry of conflicts.get(deliveryId) ?? []) hash.update(entryText(entry));
    return hash.digest();
  };
}

function grouped(entries: Iterator<Held>): (deliveryId: number) => Held[] {
  let next = entries.next();
  return (deliveryId) => {
    const group: Held[] = [];
    // Entries of earlier deliveries that the ledger no longer names are passed over; the chain reports their row missing.
    while (!next.done && next.value.deliveryId <= deliveryId) {
      if (next.value.deliveryId === deliveryId) group.push(next.value);
      next = entries.next();
    }
    return group;
  };
}
