import type { Core } from "../../core.ts";
import type { Key, Towards } from "../../kit/page.ts";
import { cooperative } from "../../kit/yield.ts";
import { browseRows, type DeliveryFacts, type DeliveryStep, type StoredEntry } from "./browse-rows.ts";
import { firstWhere, seek } from "./seek.ts";

/** Which deliveries and entries are walked over. Instants are of receiving; `from` is included, `to` is not. */
export interface Scope {
  readonly deviceId?: string | undefined;
  readonly repoKey?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** How much one walk may look at; what is left of it is counted down. */
export interface Budget {
  entries: number;
  deliveries: number;
  /** Of payloads, in UTF-16 units. */
  chars: number;
}

/** An entry with what the ledger says of its delivery, and where it lies on the walk. */
export interface WalkedEntry extends StoredEntry, DeliveryFacts {
  readonly key: Key;
}

/** Some of the walk. `at` is where a later walk goes on; `receivedAt` tells how far in time this one came. */
export interface Stretch {
  readonly entries: readonly WalkedEntry[];
  readonly at: Key;
  readonly receivedAt: number;
}

const CHUNK = 200;
const DELIVERY_CHUNK = 500;
const BEYOND = Number.MAX_SAFE_INTEGER;
/** The wall clock may have been set back by this much without an entry being missed where times bound a walk. */
const CLOCK_SLACK_MS = 2 * 60 * 60 * 1_000;

/**
 * Walks a team's entries in the order of arrival. A team's deliveries are found by index and their entries by seeking, as
 * both are numbered in the order of commit. Every query is short: nothing stays open between two stretches.
 * Keys are `[delivery id, entry id]`. Ends at the end of the scope or of the budget, whichever comes first.
 */
export async function* walkArrivals(
  core: Core,
  teamId: string,
  scope: Scope,
  towards: Towards,
  start: Key | undefined,
  budget: Budget,
): AsyncGenerator<Stretch> {
  const sql = browseRows(core.store);
  const yieldNow = cooperative(core.clock);
  const down = towards === "older";
  const sign = down ? -1 : 1;
  let delivery = (start?.[0] as number | undefined) ?? firstDelivery(core, scope, down);
  let entry = start ? (start[1] as number) + sign : down ? BEYOND : 1;
  for (;;) {
    const chunk = (down ? sql.deliveriesDown : sql.deliveriesUp).all(teamId, delivery, DELIVERY_CHUNK);
    for (const step of chunk) {
      if (isPast(scope, step, down)) return;
      if (budget.entries <= 0 || budget.chars <= 0 || budget.deliveries <= 0) return;
      budget.deliveries--;
      let read = matches(scope, step)
        ? seek(
            (at) => (down ? sql.entryDown : sql.entryUp).get(at),
            entry,
            sign,
            (id) => (down ? id <= step.id : id >= step.id),
          )
        : undefined;
      while (read !== undefined) {
        const count = Math.max(1, Math.min(step.items, CHUNK));
        const met = (down ? sql.entriesDown : sql.entriesUp).all(read, count);
        const own = met.filter((one) => one.deliveryId === step.id);
        const last = own.at(-1);
        if (!last) break;
        entry = last.id + sign;
        spend(budget, own);
        yield { ...stretch(own, step), at: [step.id, last.id], receivedAt: step.receivedAt };
        await yieldNow();
        read = own.length === count && budget.entries > 0 && budget.chars > 0 ? entry : undefined;
      }
      // Going on after a budget's end must not pass over the rest of a delivery.
      if (budget.entries <= 0 || budget.chars <= 0) return;
      yield { entries: [], at: [step.id, down ? 0 : BEYOND], receivedAt: step.receivedAt };
      delivery = step.id + sign;
      await yieldNow();
    }
    if (chunk.length < DELIVERY_CHUNK) return;
  }
}

function stretch(own: readonly StoredEntry[], step: DeliveryStep): { entries: WalkedEntry[] } {
  const { deviceId, repoKey, receivedAt, flagged } = step;
  return { entries: own.map((one) => ({ ...one, deviceId, repoKey, receivedAt, flagged, key: [step.id, one.id] })) };
}

function spend(budget: Budget, entries: readonly StoredEntry[]): void {
  budget.entries -= entries.length;
  for (const { payload } of entries) budget.chars -= payload.length;
}

function matches(scope: Scope, step: DeliveryStep): boolean {
  return (
    step.kind === "telemetry" &&
    (scope.deviceId === undefined || step.deviceId === scope.deviceId) &&
    (scope.repoKey === undefined || step.repoKey === scope.repoKey) &&
    (scope.from === undefined || step.receivedAt >= scope.from) &&
    (scope.to === undefined || step.receivedAt < scope.to)
  );
}

function isPast(scope: Scope, step: DeliveryStep, down: boolean): boolean {
  return down
    ? scope.from !== undefined && step.receivedAt < scope.from - CLOCK_SLACK_MS
    : scope.to !== undefined && step.receivedAt >= scope.to + CLOCK_SLACK_MS;
}

/** Where a walk begins when nothing but times bound it. */
function firstDelivery(core: Core, scope: Scope, down: boolean): number {
  const sql = browseRows(core.store);
  const bound = down ? scope.to : scope.from;
  if (bound === undefined) return down ? BEYOND : 1;
  const goal = bound + (down ? CLOCK_SLACK_MS : -CLOCK_SLACK_MS);
  return firstWhere(sql.lastDelivery.get() as number, (id) => {
    const row = sql.deliveryAtOrAfter.get(id);
    return row === undefined || row.receivedAt >= goal;
  });
}

/** Walks one stream in the order of its sequence numbers, each entry once. Keys are `[seq]`. */
export async function* walkStream(
  core: Core,
  streamId: number,
  towards: Towards,
  start: Key | undefined,
  budget: Budget,
): AsyncGenerator<Stretch> {
  const sql = browseRows(core.store);
  const yieldNow = cooperative(core.clock);
  const down = towards === "older";
  let seq = (start?.[0] as number | undefined) ?? (down ? BEYOND : -1);
  for (;;) {
    if (budget.entries <= 0 || budget.chars <= 0) return;
    const met = (down ? sql.streamDown : sql.streamUp).all(streamId, seq, CHUNK);
    const last = met.at(-1);
    if (!last) return;
    seq = last.seq;
    spend(budget, met);
    yield {
      entries: met.map((one) => ({ ...one, key: [one.seq] })),
      at: [seq],
      receivedAt: last.receivedAt,
    };
    await yieldNow();
    if (met.length < CHUNK) return;
  }
}
