import { cooperative } from "../../kit/yield.ts";
import { figure, type Metric, survey } from "../../platform/metrics/metrics.ts";
import { rows } from "./rows.ts";

/** Devices that are counted in one go. */
const SLICE_ROWS = 500;
const SPANS = ["hour", "day", "week", "longer"] as const;

const heard = survey(async (core) => {
  const yieldNow = cooperative(core.clock);
  const counts = { hour: 0, day: 0, week: 0, longer: 0 };
  for (let after = ""; ; await yieldNow()) {
    const slice = rows(core.store).heardAfter.get({ after, now: core.clock.now(), limit: SLICE_ROWS });
    if (!slice || slice.last === null) return counts;
    for (const span of SPANS) counts[span] += slice[span];
    after = slice.last;
  }
});

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
