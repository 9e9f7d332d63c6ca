import type { Core } from "../../core.ts";
import { type DayOfModel, rows } from "./rows.ts";
import { addMeasures, MEASURES, type Measures, NO_MEASURES } from "./usage-record.ts";

/** What a cell adds to its day: nothing while it has neither usage nor cost. */
const counted = (cell: Measures): Measures => (cell.usages > 0 || cell.reported > 0 ? cell : NO_MEASURES);

/** What changes in the sums of a team's days, gathered so that a transaction writes each once, however many cells it changes. */
export class DayChanges {
  readonly #changes = new Map<string, { readonly of: DayOfModel; sum: Measures }>();

  /** A cell comes to a day, or with -1 goes from it. */
  add({ teamId, day, model, context }: DayOfModel, cell: Measures, times: 1 | -1): void {
    const name = JSON.stringify([teamId, day, model, context]);
    const known = this.#changes.getOrInsertComputed(name, () => ({
      of: { teamId, day, model, context },
      sum: NO_MEASURES,
    }));
    known.sum = addMeasures(known.sum, counted(cell), times);
  }

  /** Row change: writes them. */
  flush(core: Core): void {
    const { addToDay, dropEmptyDay } = rows(core.store);
    for (const { of, sum } of this.#changes.values()) {
      if (MEASURES.every((name) => sum[name] === 0)) continue;
      addToDay.run({ ...of, ...sum });
      if (sum.usages < 0 || sum.reported < 0) dropEmptyDay.run(of);
    }
    this.#changes.clear();
  }
}
