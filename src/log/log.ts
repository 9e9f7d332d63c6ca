/**
 * The ledger: one row for each delivery that changed anything, hash-chained in the order of commit.
 * It knows what a delivery was and its content's digest; how that digest is computed is the delivering room's business.
 */

import type { Core } from "../core.ts";
import { type DevicePrincipal, deviceFinder } from "../identity/devices/devices.ts";
import { DAY_MS } from "../kit/clock.ts";
import { sameDigest, sha256 } from "../kit/hash.ts";
import type { Towards } from "../kit/page.ts";
import { type DayFacts, type DeliveryFacts, type DeliveryRow, rows } from "./rows.ts";

/** What a delivery adds to the ledger; `items` are the entries, files or sessions newly stored. */
export type Delivery = Pick<
  DeliveryRow,
  "kind" | "repoKey" | "mode" | "items" | "redacted" | "flagged" | "captureMode" | "withheld" | "contentSha256"
>;

const GENESIS = Buffer.alloc(32);

/** The digest of a row and everything before it. */
function chain(previous: Buffer, row: Omit<DeliveryRow, "chainSha256" | "erasedBy" | "erasedItems">): Buffer {
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
    // Rows from before they were noted have none, and keep their digest.
    ...(row.captureMode === null ? [] : [row.captureMode, row.withheld]),
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
    row.captureMode,
    row.withheld,
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

export interface LedgerStep {
  readonly row: DeliveryRow;
  /** The chain holds up to it. */
  readonly chained: boolean;
  /** Its device is another team's. */
  readonly foreign: boolean;
}

/** Walks the ledger oldest first. */
export function* walkLedger(core: Core): Generator<LedgerStep> {
  const deviceOf = deviceFinder(core);
  let previous: Buffer = GENESIS;
  let expected = 1;
  for (const row of rows(core.store).all.iterate()) {
    const chained = row.id === expected && sameDigest(chain(previous, row), row.chainSha256);
    const device = deviceOf(row.deviceId);
    yield { row, chained, foreign: device !== undefined && device.teamId !== row.teamId };
    previous = row.chainSha256;
    expected = row.id + 1;
  }
}

/** The number of the newest delivery; 0 before the first. */
export const newestDelivery = (core: Core): number => rows(core.store).last.get()?.id ?? 0;

/** A delivery by its number; undefined where there is none. */
export function findDelivery(core: Core, id: number): DeliveryFacts | undefined {
  return rows(core.store).delivery.get(id);
}

/** The same for rows in the order of their deliveries: one that was looked up last is not looked up again. */
export function deliveryFinder(core: Core): (id: number) => DeliveryFacts | undefined {
  let last: DeliveryFacts | undefined;
  return (id) => {
    if (last?.id !== id) last = findDelivery(core, id);
    return last;
  };
}

/** Rows with what is known of the delivery that each names; those that name none are left out. */
export function withDeliveries<Row extends { readonly deliveryId: number }>(
  core: Core,
  list: readonly Row[],
): (Row & Pick<DeliveryFacts, "deviceId" | "receivedAt">)[] {
  const find = deliveryFinder(core);
  return list.flatMap((row) => {
    const delivery = find(row.deliveryId);
    return delivery ? [{ ...row, deviceId: delivery.deviceId, receivedAt: delivery.receivedAt }] : [];
  });
}

/** Deliveries of every team after one, oldest first, for those who follow what arrives. */
export function deliveriesAfter(core: Core, id: number, count: number): DeliveryFacts[] {
  return rows(core.store).after.all(id, count);
}

/** A team's deliveries with their digests in hex, oldest first; reads in short queries. */
export function* exportDeliveries(core: Core, teamId: string) {
  const sql = rows(core.store);
  for (let after = 0; ; ) {
    const some = sql.export.all(teamId, after, EXPORT_ROWS);
    for (const { contentSha256, chainSha256, ...facts } of some)
      yield { ...facts, contentSha256: contentSha256.toString("hex"), chainSha256: chainSha256.toString("hex") };
    if (some.length < EXPORT_ROWS) return;
    after = some.at(-1)?.id ?? after;
  }
}

const EXPORT_ROWS = 500;

/** A team's deliveries from one on, itself included, in the order of arrival or against it. */
export function teamDeliveries(
  core: Core,
  teamId: string,
  towards: Towards,
  id: number,
  count: number,
): DeliveryFacts[] {
  const { ofTeamDown, ofTeamUp } = rows(core.store);
  return (towards === "older" ? ofTeamDown : ofTeamUp).all(teamId, id, count);
}

export { type ActivityDay, activity, type FlagRow, recentFlags } from "./activity.ts";
export { type DeliveryKind, type Mismatch, type Report, RowsByDelivery } from "./checks.ts";
export { deliveryErasure, type Portion } from "./erased.ts";
export { countDeliveries } from "./rows.ts";
export type { DeliveryFacts };
