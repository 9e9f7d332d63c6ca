import { figure, type Metric, sumOfParts } from "../../platform/metrics/metrics.ts";
import { rows } from "./rows.ts";

/** Devices counted in one query. */
const SLICE_ROWS = 500;
const SPANS = ["hour", "day", "week", "longer"] as const;

const heard = sumOfParts("", SPANS, ({ store, clock }, after) =>
  rows(store).heardAfter.get({ after, now: clock.now(), limit: SLICE_ROWS }),
);

export const deviceMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_devices",
    "Devices that can report, by how long ago they were heard of: within the hour, the day, the week, or longer ago.",
    async (core) => {
      const counts = await heard(core);
      return SPANS.map((span) => [{ heard: span }, counts[span]] as const);
    },
  ),
];
