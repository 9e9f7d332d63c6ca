import type { Core } from "../../core.ts";
import { placeOfSession } from "../../record/traces/traces.ts";
import { currentPrices } from "./current-prices.ts";
import { DayChanges } from "./day-changes.ts";
import { keptDays } from "./kept-days.ts";
import { SessionCosts } from "./price-sessions.ts";
import type { Share } from "./reconcile.ts";
import { type OfTeam, rows, type StoredRow } from "./rows.ts";
import {
  addMeasures,
  DIMENSIONS,
  type Dimensions,
  MEASURES,
  type Measures,
  NO_MEASURES,
  type Report,
  sameMeasures,
} from "./usage-record.ts";

/** A report as it is stored, beside the cell of its dimensions. */
export interface StoredReport extends Report {
  readonly key: Buffer;
  readonly cellId: number;
}

/** Changes with any sum of spend or price, whichever process changed it. */
export const spendVersion = (core: Core): string =>
  `${keptDays(core).changes} ${core.store.outsideVersion()} ${currentPrices(core).table.version}`;

/** What tells the reports of a team apart. */
export const rowName = ({ key, source, cellId }: Pick<StoredReport, "key" | "source" | "cellId">): string =>
  `${key.toString("latin1")} ${source} ${cellId}`;

/**
 * The roll-up, in one transaction: a cell for each combination of dimensions, with the sum of what counts there, and the
 * reports that it is made of. Sums are gathered, and each cell is written once.
 *
 * An agent that exports its calls over OTLP may run where the capture client reads its transcript. Claude Code names each request, so that
 * a call is known either way. Others name nothing that both have: their exported calls lie in cells of their own, which count
 * only while nobody else tells of calls of that session, whichever device it is told from.
 */
export class Rollup {
  readonly #core: Core;
  readonly #cellIds = new Map<string, number>();
  /** The same by the dimensions object: a report's is looked up several times, and spelling its name takes longer than that. */
  readonly #cellIdsOf = new Map<Dimensions, number>();
  readonly #dimensions = new Map<number, Dimensions>();
  readonly #sums = new Map<number, Measures>();
  /** Of the cells that something was added to. */
  readonly #added = new Map<number, Dimensions>();
  constructor(core: Core) {
    this.#core = core;
  }

  /** The cell of some dimensions, made where there is none; 0 for no dimensions. */
  cellOf(dimensions: Dimensions | null): number {
    const known = this.findCell(dimensions);
    if (!dimensions || known !== undefined) return known ?? 0;
    // The session may be known before its entries. If it comes after them, it names its cells itself.
    const { deviceId, session } = dimensions;
    const said = session === "" ? undefined : placeOfSession(this.#core, deviceId, session);
    const ofSession = {
      sessionBranch: said?.branch ?? "",
      sessionModel: said?.model ?? "",
      sessionAgent: said?.agent ?? "",
      sessionUser: said?.userEmail ?? "",
    };
    const id = Number(rows(this.#core.store).insertCell.run({ ...dimensions, ...ofSession }).lastInsertRowid);
    this.#cellIds.set(nameOfDimensions(dimensions), id);
    return id;
  }

  /** The same; undefined where there is none. */
  findCell(dimensions: Dimensions | null): number | undefined {
    if (!dimensions) return 0;
    const found = this.#cellIdsOf.get(dimensions);
    if (found !== undefined) return found;
    const name = nameOfDimensions(dimensions);
    const id = this.#cellIds.get(name) ?? rows(this.#core.store).cell.get(dimensions);
    if (id === undefined) return undefined;
    this.#cellIds.set(name, id);
    this.#cellIdsOf.set(dimensions, id);
    return id;
  }

  /** A row that was read, with its dimensions: cells are looked up apart, each once, as joining them takes longer than all else. */
  read({ key, source, cellId, times, ...measures }: StoredRow): StoredReport {
    return { key, source, cellId, times, measures, dimensions: this.#dimensionsOf(cellId) };
  }

  #dimensionsOf(cellId: number): Dimensions | null {
    if (cellId === 0) return null;
    let dimensions = this.#dimensions.get(cellId);
    if (!dimensions) {
      dimensions = rows(this.#core.store).dimensions.get(cellId) as Dimensions;
      this.#dimensions.set(cellId, dimensions);
      this.#cellIds.set(nameOfDimensions(dimensions), cellId);
    }
    return dimensions;
  }

  /** All that is stored under a key. */
  reportsOf(teamId: string, key: Buffer): StoredReport[] {
    return rows(this.#core.store)
      .reports.all(teamId, key)
      .map((row) => this.read(row));
  }

  toStore = (key: Buffer, report: Report): StoredReport => ({ ...report, key, cellId: this.cellOf(report.dimensions) });

  /** Stores reports in place of others. @returns whether anything changed */
  replace(teamId: string, before: readonly StoredReport[], after: readonly StoredReport[]): boolean {
    const sql = rows(this.#core.store);
    const gone = new Map(before.map((report) => [rowName(report), report]));
    let changes = 0;
    for (const report of after) {
      const name = rowName(report);
      const stored = gone.get(name);
      gone.delete(name);
      if (stored && stored.times === report.times && sameMeasures(stored.measures, report.measures)) continue;
      changes += sql.putReport.run(...valuesOf(teamId, report, report.times)).changes;
    }
    for (const { key, source, cellId } of gone.values())
      changes += sql.dropReport.run(teamId, key, source, cellId).changes;
    return changes > 0;
  }

  /** Stores that a report is made more often, or less often, by so many times. */
  repeat(teamId: string, report: StoredReport, times: number): void {
    const { key, source, cellId } = report;
    const sql = rows(this.#core.store);
    sql.repeatReport.run(...valuesOf(teamId, report, times));
    if (times < 0) sql.dropUnreported.run(teamId, key, source, cellId);
  }

  /** Adds to the cell of dimensions; a negative number of times takes away. */
  add({ dimensions, measures, times }: Share): void {
    const id = this.cellOf(dimensions);
    this.#added.set(id, dimensions);
    this.#sums.set(id, addMeasures(this.#sums.get(id) ?? NO_MEASURES, measures, times));
  }

  /** Writes what was added, to cells and to their days, and what sessions cost with it. */
  flush(): void {
    const sql = rows(this.#core.store);
    const costs = new SessionCosts(this.#core);
    const days = new DayChanges();
    const touched = new Map<string, OfTeam>();
    for (const [id, sum] of this.#sums) {
      if (MEASURES.every((name) => sum[name] === 0)) continue;
      const cell = sql.cellById.get(id) as NonNullable<ReturnType<typeof sql.cellById.get>>;
      const { sessionModel, counts, ...before } = cell;
      const after = atLeastNothing(addMeasures(before, sum, 1));
      sql.setCell.run({ id, ...after });
      const dimensions = this.#added.get(id) as Dimensions;
      const { teamId, day, session } = dimensions;
      const named = { ...dimensions, model: dimensions.model || sessionModel };
      if (counts) {
        days.add(named, before, -1);
        days.add(named, after, 1);
        costs.add(named, sum, 1);
      }
      keptDays(this.#core).change(teamId, day);
      if (session !== "") touched.set(`${teamId} ${session}`, { teamId, session });
    }
    for (const { teamId, session } of touched.values())
      for (const { id, deviceId, counts, ...cell } of sql.toSettle.all({ teamId, session })) {
        sql.setCounts.run(1 - counts, id);
        days.add({ ...cell, teamId }, cell, counts ? -1 : 1);
        costs.add({ ...cell, teamId, deviceId, session }, cell, counts ? -1 : 1);
        keptDays(this.#core).change(teamId, cell.day);
      }
    costs.flush();
    days.flush(this.#core);
  }
}

const valuesOf = (teamId: string, { key, source, cellId, measures }: StoredReport, times: number) =>
  [teamId, key, source, cellId, times, ...MEASURES.map((name) => measures[name])] as const;

/** No sum falls below 0, whatever figures agents make up. */
function atLeastNothing(sum: Measures): Measures {
  const raised = { ...sum };
  for (const name of MEASURES) raised[name] = Math.max(0, sum[name]);
  return raised;
}

export const nameOfDimensions = (dimensions: Dimensions | null): string =>
  dimensions ? JSON.stringify(DIMENSIONS.map((name) => dimensions[name])) : "";
