import type { Core } from "../../core.ts";
import { forgetProjections, restartProjections } from "../../platform/projections/projections.ts";
import { forgetSpent } from "../sessions/sessions.ts";
import { CallsById, storedAfter } from "./calls-by-id.ts";
import { CallsByMeasures } from "./calls-by-measures.ts";
import { type Change, countedOfSession } from "./dedupe.ts";
import { hasId, isByMeasures, isLink, linkOf } from "./dedupe-key.ts";
import { keptDays } from "./kept-days.ts";
import { Rollup } from "./rollup.ts";
import { rows } from "./rows.ts";
import { type Report, TELEMETRY, type UsageRecord } from "./usage-record.ts";

/** What sources reported anew, by dedupe key, gathered before it is counted. */
export type Changes = Map<string, { readonly teamId: string; readonly key: Buffer; readonly changes: Change[] }>;

export const nameOf = ({ teamId, key }: { readonly teamId: string; readonly key: Buffer }): string =>
  `${teamId}${key.toString("latin1")}`;

/** @param name by which the key is known among the changes */
export function add(all: Changes, teamId: string, key: Buffer, change: Change, name = nameOf({ teamId, key })): void {
  all.getOrInsertComputed(name, () => ({ teamId, key, changes: [] })).changes.push(change);
}

/** Telemetry made these reports. */
export function addRecords(all: Changes, records: readonly UsageRecord[]): void {
  for (const reports of Map.groupBy(records, nameOf).values()) {
    const { teamId, key } = reports[0] as UsageRecord;
    add(all, teamId, key, { replaces: undefined, reports });
  }
}

/**
 * Withdraws telemetry's reports of some cells under a key, and the link of its two ids where no other report of telemetry is left.
 * @param left the reports of entries that stay under the key
 */
export function withdrawReports(
  core: Core,
  all: Changes,
  teamId: string,
  key: Buffer,
  cellIds: ReadonlySet<number>,
  left: readonly Report[],
): void {
  const rollup = new Rollup(core);
  const ofTelemetry = rollup.reportsOf(teamId, key).filter(({ source }) => source === TELEMETRY);
  const reports = [
    ...ofTelemetry.filter(({ cellId }) => !cellIds.has(cellId)),
    // Reports of a call with an id may come to light now that a better one is gone. Those without an id are still in their cell, or went with it.
    ...left.filter(({ dimensions }) => !isByMeasures(key) || cellIds.has(rollup.findCell(dimensions) ?? 0)),
  ];
  add(all, teamId, key, { replaces: TELEMETRY, reports });
  // The link from request to message goes with the last report: otherwise reports under the request would wait for that message and never count.
  const link = reports.length === 0 ? linkOf(key) : undefined;
  if (link) add(all, teamId, link, { replaces: TELEMETRY, reports: [] });
}

/**
 * Stores what was reported, and brings the roll-up to what counts of it. Call inside a transaction. What was applied is taken out.
 * @param isEnough asked after each key whether the rest is left for another transaction
 */
export function applyChanges(core: Core, all: Changes, isEnough = () => false): void {
  emptyOlder(core);
  const rollup = new Rollup(core);
  const withoutId = new CallsByMeasures(core, rollup);
  const withId = new CallsById(core, rollup, withoutId);
  for (const [name, { teamId, key, changes }] of all) {
    if (isByMeasures(key)) withoutId.change(teamId, key, changes);
    else if (isLink(key)) withId.link(teamId, key, changes);
    else if (hasId(key)) withId.change(teamId, key, changes);
    else applyToSession(rollup, teamId, key, changes);
    all.delete(name);
    if (isEnough()) break;
  }
  // Last, because calls with an id tell whether reports without one are of them.
  withoutId.apply();
  rollup.flush();
}

/** Dedupe keys that are applied in one transaction, at most, and how long one goes on with further ones: others wait for it. */
const MAX_KEYS = 500;
const TRANSACTION_MS = 15;

/**
 * The same, of as much as one transaction may hold. A call that many sessions tell of takes longer than others.
 * @param since when the transaction began, monotonic milliseconds
 * @returns whether more is left
 */
export function applySome(core: Core, all: Changes, since = performance.now()): "more" | undefined {
  let keys = 0;
  applyChanges(core, all, () => ++keys >= MAX_KEYS || performance.now() - since >= TRANSACTION_MS);
  return all.size > 0 ? "more" : undefined;
}

/** Projections that filled the same tables by older rules. */
const OLDER = ["", ".2", ".3", ".4", ".5"].flatMap((version) => [
  `spend.entries${version}`,
  `spend.sessions${version}`,
]);

/** Those that fill them now. */
export const PROJECTIONS = { entries: "spend.entries.6", sessions: "spend.sessions.6" } as const;

/**
 * After an upgrade, the projection that begins first empties the tables that both fill; also after an older program ran meanwhile.
 * @returns whether a projection had begun before, and begins anew
 */
export function emptyOlder(core: Core): boolean {
  if (!forgetProjections(core, OLDER)) return false;
  rows(core.store).dropReports.run();
  // Days first, so that nothing has to be taken from them with each cell.
  rows(core.store).dropDays.run();
  rows(core.store).dropCells.run();
  forgetSpent(core);
  keptDays(core).changeAll();
  return restartProjections(core, Object.values(PROJECTIONS));
}

/** What a session says of itself as a whole. */
function applyToSession(rollup: Rollup, teamId: string, key: Buffer, changes: readonly Change[]): void {
  const before = rollup.reportsOf(teamId, key);
  const after = storedAfter(rollup, before, key, changes);
  if (!rollup.replace(teamId, before, after)) return;
  for (const [reports, times] of [
    [before, -1],
    [after, 1],
  ] as const) {
    const { dimensions, measures } = countedOfSession(reports) ?? {};
    if (dimensions && measures) rollup.add({ dimensions, measures, times });
  }
}
