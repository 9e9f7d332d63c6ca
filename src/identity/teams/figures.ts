import { SECOND_MS } from "../../kit/clock.ts";
import { figure, type Metric, survey } from "../../platform/metrics/metrics.ts";
import { listTeams } from "./teams.ts";

/** Subscriptions that end with the period they are paid for. */
const RUNNING: readonly string[] = ["active", "trialing", "past_due"];

const overview = survey((core) => {
  const teams = listTeams(core).filter(({ suspendedAt }) => suspendedAt === null);
  const ends = teams.flatMap(({ subscription, periodEndAt }) =>
    periodEndAt !== null && RUNNING.includes(subscription) ? [periodEndAt] : [],
  );
  return { teams: teams.length, firstEnd: ends.length === 0 ? undefined : Math.min(...ends) };
});

export const teamMetrics: readonly Metric[] = [
  figure("gauge", "reckon_teams", "Teams that are not suspended.", async (core) => (await overview(core)).teams),
  figure(
    "gauge",
    "reckon_paid_period_end_timestamp_seconds",
    "When the first paid period of a team ends or ended, in seconds since the epoch; none where nobody pays.",
    async (core) => {
      const { firstEnd } = await overview(core);
      return core.config.billing === "off" || firstEnd === undefined ? undefined : firstEnd / SECOND_MS;
    },
  ),
];
