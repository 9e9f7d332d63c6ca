/**
 * The ledger: one row for each delivery that changed anything, hash-chained in the order of commit.
 * It knows what a delivery was and its content's digest; how that digest is computed is the delivering room's business.
 */

import type { Core } from "../core.ts";
import type { DevicePrincipal } from "../identity/devices/devices.ts";
import { DAY_MS } from "../kit/clock.ts";
import { sameDigest, sha256 } from "../kit/hash.ts";
import { type DayFacts, type DeliveryRow, rows } from "./rows.ts";

export interface Delivery {
  readonly kind: "telemetry" | "brain" | "traces";
  readonly repoKey: string;
  readonly mode: string | null;
  /** Entries, files or sessions newly stored. */
  readonly items: number;
  /** Items that redaction touched. */
  readonly redacted: number;
  readonly flagged: "gap" | "rollback" | null;
  readonly contentSha256: Buffer;
}

const GENESIS = Buffer.alloc(32);

/** The digest of a row and everything before it. */
function chain(previous: Buffer, row: Omit<DeliveryRow, "chainSha256">): Buffer {
  const facts = [
    row.id,
    row.teamId,
    row.deviceId,
    row.kind,
    row.repoKey,
    row.mode,
    row.receivedAt,
    row.items,
    row.redacted,
    row.flagged,
  ];
  return sha256(Buffer.concat([previous, row.contentSha256, Buffer.from(JSON.stringify(facts))]));
}

/** Appends a delivery; call inside the transaction that stores its content. @returns its id */
export function recordDelivery(core: Core, device: DevicePrincipal, delivery: Delivery): number {
  const last = rows(core.store).last.get();
  const row = {
    id: (last?.id ?? 0) + 1,
    teamId: device.teamId,
    deviceId: device.deviceId,
    receivedAt: core.clock.now(),
    ...delivery,
  };
  rows(core.store).insert.run(
    row.id,
    row.teamId,
    row.deviceId,
    row.kind,
    row.repoKey,
    row.mode,
    row.receivedAt,
    row.items,
    row.redacted,
    row.flagged,
    row.contentSha256,
    chain(last?.chainSha256 ?? GENESIS, row),
  );
  rows(core.store).countDay.run(row.teamId, row.kind, dayOf(row), row.items, gaps(row), rollbacks(row));
  return row.id;
}

const dayOf = ({ receivedAt }: DayFacts) => Math.floor(receivedAt / DAY_MS);
const gaps = ({ flagged }: DayFacts) => Number(flagged === "gap");
const rollbacks = ({ flagged }: DayFacts) => Number(flagged === "rollback");

/** Takes back the newest row, for a delivery that turned out to change nothing; only inside the transaction that recorded it. */
export function withdrawDelivery(core: Core, deliveryId: number): void {
  const sql = rows(core.store);
  const gone = sql.withdraw.get(deliveryId);
  if (!gone) return;
  const day = dayOf(gone);
  sql.uncountDay.run(gone.items, gaps(gone), rollbacks(gone), gone.teamId, gone.kind, day);
  sql.dropEmptyDay.run(gone.teamId, gone.kind, day);
}

/** The newest row: an auditor who notes it can prove later that nothing before it changed or went. */
export function ledgerHead(core: Core): { readonly id: number; readonly chainSha256: string } | undefined {
  const last = rows(core.store).last.get();
  return last && { id: last.id, chainSha256: last.chainSha256.toString("hex") };
}

/** Walks the ledger oldest first, saying of each row whether the chain holds up to it. */
export function* walkLedger(core: Core): Generator<{ readonly row: DeliveryRow; readonly chained: boolean }> {
  let previous: Buffer = GENESIS;
  let expected = 1;
  for (const row of rows(core.store).all.iterate()) {
    yield { row, chained: row.id === expected && sameDigest(chain(previous, row), row.chainSha256) };
    previous = row.chainSha256;
    expected = row.id + 1;
  }
}

/** When a delivery was received, milliseconds since the epoch; undefined where there is no such delivery. */
export function deliveryReceivedAt(core: Core, id: number): number | undefined {
  return rows(core.store).receivedAt.get(id);
}

/** Deliveries of devices that are another team's. */
export function foreignDeliveries(core: Core): IterableIterator<Pick<DeliveryRow, "id" | "kind">> {
  return rows(core.store).foreign.iterate();
}

export { type ActivityDay, activity, type FlagRow, recentFlags } from "./activity.ts";
export { deliveriesAfter } from "./follow.ts";
export { type HeldCheck, HeldRows, type Misfit, type Tell } from "./held.ts";
export type { DeliveryRow };
