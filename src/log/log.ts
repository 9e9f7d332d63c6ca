/**
 * The log: one row for each delivery that changed anything, each a leaf of the tree, in the order of commit. It knows the facts of a
 * delivery and the root over its items; what the items are is the delivering room's business.
 * Not here: the tree itself, its checkpoints and proofs (platform/transparency).
 */

import type { Core } from "../core.ts";
import { type DevicePrincipal, deviceFinder } from "../identity/devices/devices.ts";
import { teamMoves } from "../identity/teams/teams.ts";
import { dayNumber } from "../kit/clock.ts";
import type { Items } from "../kit/items.ts";
import type { Towards } from "../kit/page.ts";
import { notify } from "../platform/notices/notices.ts";
import { appendLeaf, isLeaf, nextLeaf } from "../platform/transparency/transparency.ts";
import { itemDigests } from "./items.ts";
import { GENESIS, isChained, leafText, leafTextOf } from "./leaf.ts";
import { type DayFacts, type DeliveryFacts, type DeliveryRow, rows } from "./rows.ts";

/** What a delivery adds to the log; `items` are entries newly stored, files of the version, or sessions. */
export interface Delivery
  extends Pick<
    DeliveryRow,
    "kind" | "repoKey" | "mode" | "items" | "redacted" | "flagged" | "captureMode" | "withheld"
  > {
  /** What its leaf commits to, see `deliveryItems`. */
  readonly content: Items;
  readonly sentSha256: Buffer;
}

/**
 * Appends a delivery; call inside the transaction that stores its content.
 * @returns its id, which is its leaf's number
 * @throws Problem teamMoved (401) once another instance serves the team
 */
export function recordDelivery(core: Core, device: DevicePrincipal, delivery: Delivery): number {
  const { teamId, deviceId } = device;
  const { content, ...told } = delivery;
  const sql = rows(core.store);
  // Another process may have moved the team since the token was judged: what is acknowledged after that would stay behind.
  teamMoves.requireHere(core, teamId);
  const id = nextLeaf(core);
  const stream = sql.stream.get(deviceId, told.kind, told.repoKey);
  const streamId = stream?.id ?? (sql.insertStream.get(deviceId, told.kind, told.repoKey, id) as number);
  if (stream) sql.advanceStream.run(id, streamId);
  const facts = {
    ...told,
    teamId,
    deviceId,
    receivedAt: core.clock.now(),
    contentSha256: content.root,
    streamId,
    previous: stream?.last ?? null,
    itemCount: content.count,
  };
  appendLeaf(core, leafText(facts), id);
  sql.insert.run(
    id,
    teamId,
    deviceId,
    facts.kind,
    facts.repoKey,
    facts.mode,
    facts.receivedAt,
    facts.items,
    facts.redacted,
    facts.flagged,
    facts.captureMode,
    facts.withheld,
    content.root,
    streamId,
    facts.previous,
    facts.itemCount,
    content.key,
    facts.sentSha256,
  );
  sql.countDay.run(teamId, facts.kind, dayNumber(facts.receivedAt), facts.items, gaps(facts), rollbacks(facts));
  if (facts.flagged !== null) notifyFlagged(core, { ...facts, flagged: facts.flagged, id });
  return id;
}

/** Row change: gives notice that a delivery was flagged. */
function notifyFlagged(
  core: Core,
  facts: Pick<DeliveryRow, "id" | "teamId" | "deviceId" | "repoKey" | "kind"> & { flagged: "gap" | "rollback" },
): void {
  const { id, teamId, deviceId, repoKey, kind, flagged } = facts;
  const path = kind === "brain" ? "/brain" : "/telemetry";
  const data = { delivery: id, kind, device: deviceId, repo: repoKey };
  notify(core, { type: flagged, teamId, path, data, deviceId, repoKey });
}

const gaps = ({ flagged }: DayFacts) => Number(flagged === "gap");
const rollbacks = ({ flagged }: DayFacts) => Number(flagged === "rollback");

export interface LedgerStep {
  readonly row: DeliveryRow;
  /** Whether it is unaltered: its leaf is the one in the tree, and for a chained delivery the chain holds up to it. */
  readonly chained: boolean;
  /** The chain's hash up to it; null for a delivery that was never chained. */
  readonly chainSha256: Buffer | null;
  /** Whether its device is gone, or another team's. */
  readonly foreign: boolean;
  /** Whether it is the newest of its device, kind and repository, and no stream says so: the next would not follow it. */
  readonly astray: boolean;
}

/** Walks the deliveries oldest first. @param hasTree false for a database from before there was a tree */
export function* walkLedger(core: Core, hasTree: boolean): Generator<LedgerStep> {
  const deviceOf = deviceFinder(core);
  const sql = rows(core.store);
  const astray = streamsAstray(core);
  let previous: Buffer = GENESIS;
  let expected = 1;
  for (const row of sql.all.iterate()) {
    const { chainSha256 } = row;
    const isUnaltered = !hasTree || isLeaf(core, row.id, leafTextOf(row));
    const holds = !chainSha256 || isChained(row, previous, expected);
    const foreign = deviceOf(row.deviceId)?.teamId !== row.teamId;
    yield { row, chained: isUnaltered && holds, chainSha256, foreign, astray: astray.has(row.id) };
    if (row.movedFrom === null) previous = chainSha256 ?? previous;
    expected = row.id + 1;
  }
}

/** The newest deliveries of a device, kind and repository, where no stream says that they are. */
function streamsAstray(core: Core): Set<number> {
  const { streamOf, streamEnds } = rows(core.store);
  if (!streamEnds) return new Set();
  const newest = new Map<string, number>();
  for (const [id, stream] of streamOf.iterate()) newest.set(stream, id);
  for (const [last, stream] of streamEnds.iterate()) if (newest.get(stream) === last) newest.delete(stream);
  return new Set(newest.values());
}

/** The number of the newest delivery; 0 before the first. */
export const newestDelivery = (core: Core): number => rows(core.store).last.get() ?? 0;

/** A delivery by its number; undefined where there is none. */
export function findDelivery(core: Core, id: number): DeliveryFacts | undefined {
  return rows(core.store).delivery.get(id);
}

/** As `findDelivery`, for rows in the order of their deliveries: it remembers the last one. */
export function deliveryFinder(core: Core): (id: number) => DeliveryFacts | undefined {
  let last: DeliveryFacts | undefined;
  return (id) => {
    if (last?.id !== id) last = findDelivery(core, id);
    return last;
  };
}

/** Rows with the device and time of the delivery that each names; a row that names none is left out. */
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

/**
 * A team's deliveries with what their leaves are made of, bytes in hexadecimal digits, oldest first; `noted` has the hashes of items that
 * are no longer stored, by their places. Reads in short queries.
 */
function* exportDeliveries(core: Core, teamId: string) {
  const sql = rows(core.store);
  for (let after = 0; ; ) {
    const some = sql.export.all(teamId, after, EXPORT_ROWS);
    for (const { contentSha256, chainSha256, itemKey, itemSalts, sentSha256, movedFrom, ...facts } of some) {
      const leaf = leafTextOf({ ...facts, contentSha256, chainSha256, itemKey, itemSalts, sentSha256, movedFrom });
      const bytes = { contentSha256, chainSha256, itemKey, itemSalts, sentSha256 };
      const hex = Object.entries(bytes).map(([name, value]) => [name, value?.toString("hex") ?? null]);
      const noted = sql.items.all(facts.id).map(({ item, sha256 }) => [item, sha256.toString("hex")]);
      const delivery = { ...facts, ...(Object.fromEntries(hex) as Record<keyof typeof bytes, string | null>), leaf };
      yield {
        ...delivery,
        ...(noted.length > 0 ? { noted: Object.fromEntries(noted) as Record<string, string> } : {}),
      };
    }
    if (some.length < EXPORT_ROWS) return;
    after = some.at(-1)?.id ?? after;
  }
}

const EXPORT_ROWS = 500;

/** Whether a device ever delivered anything of a repository, erased or not; its sessions may stand in others. */
const hasDelivered = (core: Core, deviceId: string, repoKey: string): boolean =>
  rows(core.store).delivered.get(deviceId, repoKey) === 1;

/** What archives read of the log. */
export const deliveryExport = { deliveries: exportDeliveries, hasDelivered, itemDigests };

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

export { activity, type FlagRow, recentFlags } from "./activity.ts";
export { type DeliveryKind, type Mismatch, type Report, RowsByDelivery } from "./checks.ts";
export { deliveryErasure, type Portion } from "./erased.ts";
export { isAsDelivered, keepItems, proveDelivery } from "./items.ts";
export { countDeliveries } from "./rows.ts";
export { timedWalk } from "./timed-walk.ts";
export type { DeliveryFacts };
