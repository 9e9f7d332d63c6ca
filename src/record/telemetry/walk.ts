import type { Core } from "../../core.ts";
import type { Key, Towards } from "../../kit/page.ts";
import { type Budget, type Chunk, isSpent } from "../../kit/scan-page.ts";
import { cooperative } from "../../kit/yield.ts";
import { type DeliveryFacts, deliveryErasure, deliveryFinder, teamDeliveries, timedWalk } from "../../log/log.ts";
import { isErasedEntry } from "./rules.ts";
import { seek } from "./seek.ts";
import { entriesDown, entriesUp, nearestDown, nearestUp, type StoredEntry, streamDown, streamUp } from "./segments.ts";

/** Which deliveries and entries are walked over. Instants are of receiving; `from` is included, `to` is not. */
export interface Scope {
  readonly deviceId?: string | undefined;
  /** Of any of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  readonly repoKey?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** What a walk looks at: `chars` are those of payloads, in UTF-16 units. */
export type Spending = "entries" | "deliveries" | "chars";

/** An entry with what the ledger says of its delivery, and where it lies on the walk. */
export interface WalkedEntry
  extends StoredEntry,
    Pick<DeliveryFacts, "deviceId" | "repoKey" | "receivedAt" | "flagged"> {
  readonly key: Key;
}

/** Some of the walk; `receivedAt` tells how far in time it came. */
export interface EntryChunk extends Chunk<WalkedEntry> {
  readonly receivedAt: number;
}

const MAX_ENTRIES = 200;
const MAX_DELIVERIES = 500;
const BEYOND = Number.MAX_SAFE_INTEGER;

/**
 * Walks a team's entries in the order of arrival. A team's deliveries are found by index and their entries by seeking, as
 * both are numbered in the order of commit. Every query is short: nothing stays open between two chunks.
 * Keys are `[delivery id, entry id]`. Ends at the end of the scope or of the budget, whichever comes first.
 */
export async function* walkArrivals(
  core: Core,
  teamId: string,
  scope: Scope,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
): AsyncGenerator<EntryChunk> {
  const yieldNow = cooperative(core.clock);
  const matches = matcher(scope);
  const down = towards === "older";
  const [sign, first, end] = down ? [-1, BEYOND, 0] : [1, 1, BEYOND];
  let delivery = (start?.[0] as number | undefined) ?? timedWalk.start(core, teamId, scope, towards);
  let entry = start ? (start[1] as number) + sign : first;
  for (;;) {
    const steps = teamDeliveries(core, teamId, towards, delivery, MAX_DELIVERIES);
    for (const step of steps) {
      if (timedWalk.isPast(core, scope, step, towards) || isSpent(budget)) return;
      budget.deliveries--;
      for (const chunk of matches(step) ? entriesOf(core, step, down, entry, budget) : []) {
        entry = (chunk.at[1] as number) + sign;
        yield chunk;
        await yieldNow();
      }
      // Going on after a budget's end must not pass over the rest of a delivery.
      if (budget.entries <= 0 || budget.chars <= 0) return;
      yield { rows: [], at: [step.id, end], receivedAt: step.receivedAt };
      delivery = step.id + sign;
      await yieldNow();
    }
    if (steps.length < MAX_DELIVERIES) return;
  }
}

/** A delivery's entries from one on, as far as the budget goes. */
function* entriesOf(
  core: Core,
  { id, items, deviceId, repoKey, receivedAt, flagged }: DeliveryFacts,
  down: boolean,
  from: number,
  budget: Budget<Spending>,
): Generator<EntryChunk> {
  const sign = down ? -1 : 1;
  const [nearest, read] = down ? [nearestDown, entriesDown] : [nearestUp, entriesUp];
  const count = Math.max(1, Math.min(items, MAX_ENTRIES));
  let next = seek(
    (at) => nearest(core, at),
    from,
    sign,
    (deliveryId) => (down ? deliveryId <= id : deliveryId >= id),
  );
  while (next !== undefined) {
    const entries = read(core, next, count).filter(({ deliveryId }) => deliveryId === id);
    const last = entries.at(-1);
    if (!last) return;
    spend(budget, entries);
    const kept = entries.filter((entry) => !isErasedEntry(entry));
    const rows = kept.map((entry) => ({ ...entry, deviceId, repoKey, receivedAt, flagged, key: [id, entry.id] }));
    yield { rows, at: [id, last.id], receivedAt };
    next = entries.length === count && budget.entries > 0 && budget.chars > 0 ? last.id + sign : undefined;
  }
}

function spend(budget: Budget<Spending>, entries: readonly StoredEntry[]): void {
  budget.entries -= entries.length;
  for (const { payload } of entries) budget.chars -= payload.length;
}

/** Judges deliveries by a scope, which may name tens of thousands of devices. */
function matcher({ deviceId, deviceIds, repoKey, from, to }: Scope): (step: DeliveryFacts) => boolean {
  const devices = deviceIds && new Set(deviceIds);
  return (step) =>
    step.kind === "telemetry" &&
    !deliveryErasure.isErased(step) &&
    (deviceId === undefined || step.deviceId === deviceId) &&
    (devices?.has(step.deviceId) ?? true) &&
    (repoKey === undefined || step.repoKey === repoKey) &&
    (from === undefined || step.receivedAt >= from) &&
    (to === undefined || step.receivedAt < to);
}

/** Walks one stream in the order of its sequence numbers, each entry once. Keys are `[seq]`. */
export async function* walkStream(
  core: Core,
  streamId: number,
  towards: Towards,
  start: Key | undefined,
  budget: Budget<Spending>,
): AsyncGenerator<EntryChunk> {
  const yieldNow = cooperative(core.clock);
  const down = towards === "older";
  // The highest seq that there is has to lie below.
  let seq = (start?.[0] as number | undefined) ?? (down ? BEYOND + 1 : -1);
  for (;;) {
    if (isSpent(budget)) return;
    const met = (down ? streamDown : streamUp)(core, streamId, seq, MAX_ENTRIES);
    const rows = walked(core, met);
    const last = rows.at(-1);
    if (!last) return;
    seq = last.seq;
    spend(budget, rows);
    yield { rows: rows.filter((row) => !isErasedEntry(row)), at: [seq], receivedAt: last.receivedAt };
    await yieldNow();
    if (met.length < MAX_ENTRIES) return;
  }
}

/** Entries of a stream, each with what is known of its delivery. */
export function walked(core: Core, entries: readonly StoredEntry[]): WalkedEntry[] {
  const deliveryOf = deliveryFinder(core);
  return entries.flatMap((entry) => {
    const delivery = deliveryOf(entry.deliveryId);
    if (!delivery) return [];
    const { deviceId, repoKey, receivedAt, flagged } = delivery;
    return [{ ...entry, deviceId, repoKey, receivedAt, flagged, key: [entry.seq] }];
  });
}
