import { cooperative } from "../../kit/yield.ts";
import { figure, type Metric, survey } from "../../platform/metrics/metrics.ts";
import { rows } from "./rows.ts";

/** Entries that are counted in one go. */
const SLICE_ROWS = 2_000;

const entries = survey(async (core) => {
  const yieldNow = cooperative(core.clock);
  const sum = { entries: 0, open: 0 };
  for (let after = 0; ; await yieldNow()) {
    const slice = rows(core.store).openAfter.get(after, SLICE_ROWS);
    if (!slice || slice.last === null) return sum;
    sum.entries += slice.entries;
    sum.open += slice.open;
    after = slice.last;
  }
});

export const defectMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_error_entries",
    "Entries of errors files in current brains.",
    async (core) => (await entries(core)).entries,
  ),
  figure(
    "gauge",
    "reckon_error_entries_open",
    "Those of them that say they are open.",
    async (core) => (await entries(core)).open,
  ),
];
