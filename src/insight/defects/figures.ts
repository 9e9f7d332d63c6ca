import { figure, type Metric, sumOfParts } from "../../platform/metrics/metrics.ts";
import { rows } from "./rows.ts";

/** Entries that are counted in one go. */
const SLICE_ROWS = 2_000;

const entries = sumOfParts(0, ["entries", "open"], ({ store }, after) => rows(store).openAfter.get(after, SLICE_ROWS));

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
