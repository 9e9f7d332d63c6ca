import { SECOND_MS } from "../../kit/clock.ts";
import { figure, type Metric, survey } from "../../platform/metrics/metrics.ts";
import { retentionRows } from "./retention-rows.ts";
import { rows } from "./rows.ts";

/** When retention ran last, for whichever team; undefined where everything is kept, or before the first run. */
const lastRun = survey(({ store, clock }) => {
  const teamIds = new Set(
    retentionRows(store)
      .all.all()
      .map(({ teamId }) => teamId),
  );
  const last = [...teamIds].map((teamId) => rows(store).lastRetentionRun.get({ teamId, now: clock.now() }) ?? 0);
  return Math.max(0, ...last) || undefined;
});

export const erasureMetrics: readonly Metric[] = [
  figure(
    "gauge",
    "reckon_erasures_unfinished",
    "Erasures that were asked for and are not done, nightly runs included.",
    ({ store }) => rows(store).unfinishedCount.get(),
  ),
  figure(
    "gauge",
    "reckon_retention_last_run_timestamp_seconds",
    "When a nightly run of retention ended last, in seconds since the epoch; none where everything is kept for ever.",
    async (core) => {
      const at = await lastRun(core);
      return at === undefined ? undefined : at / SECOND_MS;
    },
  ),
];
