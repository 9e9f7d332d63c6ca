import type { Core } from "../../core.ts";
import type { Change } from "./dedupe.ts";
import { endOf, equalMeasures, equalMeasuresOf, measuresKey, otherSide, sideOf } from "./dedupe-key.ts";
import { countEach, type OneSided, reconcile, type Share } from "./reconcile.ts";
import { type Rollup, rowName, type StoredReport } from "./rollup.ts";
import { rows } from "./rows.ts";

/**
 * Up to so many different rows of equal measures in one session are reconciled. Sessions hold a handful; what made up more would
 * be read anew with each that follows, so beyond it every report counts for itself.
 */
const MAX_RECONCILED = 64;

/** How much more often, or less often, a row is reported than is stored. */
interface Repeated {
  readonly row: StoredReport;
  times: number;
}

/** What changes among the reports of equal measures in one session. */
interface Group {
  readonly teamId: string;
  readonly key: Buffer;
  readonly changes: Map<string, Repeated>;
}

/**
 * Calls without an id, in one transaction: feeds what is stored of them to `reconcile`. Changes are gathered first, so that each
 * group is reconciled once. A group that one side alone reports needs no reconciling: there each report costs one look for the
 * other side and one row written, however often it was made before.
 */
export class CallsByMeasures {
  readonly #core: Core;
  readonly #rollup: Rollup;
  readonly #groups = new Map<string, Group>();
  constructor(core: Core, rollup: Rollup) {
    this.#core = core;
    this.#rollup = rollup;
  }

  change(teamId: string, key: Buffer, changes: readonly Change[]): void {
    for (const { replaces, reports } of changes) {
      if (replaces !== undefined)
        for (const row of rows(this.#core.store).reportsFrom.all(teamId, key, replaces))
          this.#repeat(teamId, this.#rollup.read(row), -row.times);
      for (const report of reports) this.#repeat(teamId, this.#rollup.toStore(key, report), report.times);
    }
  }

  /** A call with an id that one side alone reported. @param times 1, or -1 when it no longer did */
  callWithId(teamId: string, { session, equalTo, ...call }: OneSided, times: 1 | -1): void {
    const key = measuresKey(session, call.source, equalTo, call.measures);
    this.#repeat(teamId, this.#rollup.toStore(key, call), times);
  }

  #repeat(teamId: string, row: StoredReport, times: number): void {
    const name = `${teamId}${equalMeasures(row.key).toString("latin1")}`;
    const group = this.#groups.getOrInsertComputed(name, () => ({ teamId, key: row.key, changes: new Map() }));
    group.changes.getOrInsertComputed(rowName(row), () => ({ row, times: 0 })).times += times;
  }

  /** Makes the changes. */
  apply(): void {
    for (const { teamId, key, changes } of this.#groups.values()) {
      const changed = [...changes.values()].filter(({ times }) => times !== 0);
      if (changed.length === 0) continue;
      const stored = this.#toReconcile(teamId, key, changed);
      if (stored) {
        this.#count(sharesOf(stored), -1);
        this.#count(sharesOf(repeatedRows(stored, changed)), 1);
      } else this.#count(countEach(changed.map(({ row, times }) => ({ ...row, times }))), 1);
      for (const { row, times } of changed) this.#rollup.repeat(teamId, row, times);
    }
    this.#groups.clear();
  }

  /**
   * The stored reports of a group of equal measures; undefined when none of them is paired with another, neither before nor after the
   * changes: each then counts.
   */
  #toReconcile(teamId: string, key: Buffer, changed: readonly Repeated[]): StoredReport[] | undefined {
    const sql = rows(this.#core.store);
    const [side, ...more] = new Set(changed.map(({ row }) => sideOf(row.source)));
    if (side && more.length === 0) {
      const ofOthers = equalMeasuresOf(key, otherSide(side));
      if (!sql.isAnyWithin.get(teamId, ofOthers, endOf(ofOthers))) return undefined;
    }
    const ofGroup = equalMeasures(key);
    const enough = MAX_RECONCILED + changed.length + 1;
    const stored = sql.firstWithin.all(teamId, ofGroup, endOf(ofGroup), enough);
    // There are too many now, and there still are if all that change go.
    return stored.length === enough ? undefined : stored.map((row) => this.#rollup.read(row));
  }

  #count(shares: readonly Share[], sign: 1 | -1): void {
    for (const share of shares) this.#rollup.add({ ...share, times: sign * share.times });
  }
}

function repeatedRows(stored: readonly StoredReport[], changed: readonly Repeated[]): StoredReport[] {
  const all = new Map(stored.map((row) => [rowName(row), row]));
  for (const { row, times } of changed) {
    const before = all.get(rowName(row))?.times ?? 0;
    all.set(rowName(row), { ...row, times: before + times });
  }
  return [...all.values()].filter(({ times }) => times > 0);
}

const sharesOf = (reports: readonly StoredReport[]): Share[] =>
  reports.length > MAX_RECONCILED ? countEach(reports) : reconcile(reports);
