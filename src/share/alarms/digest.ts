import type { Core } from "../../core.ts";
import { outcomeKind } from "../../formats/outcomes.ts";
import { listDevices } from "../../identity/devices/devices.ts";
import { entriesProjection, listDefects, recurredWithin } from "../../insight/defects/defects.ts";
import { catchUpSpend, spendReport } from "../../insight/spend/spend.ts";
import { countClasses } from "../../insight/triage/triage.ts";
import { DAY_MS, HOUR_MS, isoDate, MINUTE_MS } from "../../kit/clock.ts";
import { isQuiet } from "../../kit/quiet.ts";
import { activity } from "../../log/log.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { isNoted, type NoticeData, notify } from "../../platform/notices/notices.ts";
import { catchUp } from "../../platform/projections/projections.ts";
import { sessionCounts } from "../../record/traces/traces.ts";
import { listChannels } from "../notifications/notifications.ts";
import { rows } from "./rows.ts";
import { servedTeams } from "./watch.ts";

const WEEK_MS = 7 * DAY_MS;
/** The epoch was a Thursday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
/** On Mondays at 7, UTC. */
const HOUR_OF_DIGEST_MS = 7 * HOUR_MS;
const MAX_TITLES = 3;

/** Sums a week up for each team somebody wants to hear of, once, however often the server was started since. */
export const digestJob: Job = {
  name: "digest",
  everyMs: MINUTE_MS,
  needsClock: true,
  async run(core) {
    if (core.config.outbound.hosts.length === 0) return;
    const now = core.clock.now();
    const dueAt = lastDigestAt(now);
    // Nobody who asks on a Wednesday is sent last Monday's; what is of the future was made by a clock that was ahead.
    const wasThere = (createdAt: number) => createdAt <= dueAt || createdAt > now;
    const readers = listChannels(core).filter(
      ({ events, disabledAt, createdAt }) =>
        events.includes("digest.weekly") && disabledAt === null && wasThere(createdAt),
    );
    for (const { id: teamId, createdAt } of servedTeams(core)) {
      const key = keyOf(teamId, dueAt);
      if (isTold(core, key)) continue;
      const isAsked =
        wasThere(createdAt) && readers.some((reader) => reader.teamId === null || reader.teamId === teamId);
      const data = isAsked && (await sumUp(core, teamId, dueAt - HOUR_OF_DIGEST_MS));
      await core.store.write(() => {
        const sql = rows(core.store);
        // A week that nobody asked for is over, too: whoever asks for the next is not sent it.
        if (sql.begin.run(key, core.clock.now()).changes === 0) return;
        // The one before stays: by a clock that is set back it is that of now once more.
        for (const before of sql.of.all(`digest:${teamId}:`, key).slice(0, -1)) sql.end.run(before);
        if (data) notify(core, { type: "digest.weekly", teamId, path: `/overview?to=${data.to}`, data, key });
      });
    }
  },
};

const keyOf = (teamId: string, dueAt: number) => `digest:${teamId}:${dueAt}`;

/** Row change: leaves the week that is over to the instance that a team came from. */
export const leaveLastDigest = (core: Core, teamId: string): void => {
  const now = core.clock.now();
  rows(core.store).begin.run(keyOf(teamId, lastDigestAt(now)), now);
};

/** An erasure takes along what was noted of a week, and must not have it told again. */
const isTold = (core: Core, key: string): boolean =>
  isNoted(core, key) || rows(core.store).of.all(key, `${key};`).length > 0;

/** The last Monday at 7 that is not to come. */
function lastDigestAt(now: number): number {
  const since = FIRST_MONDAY_MS + HOUR_OF_DIGEST_MS;
  return since + Math.floor((now - since) / WEEK_MS) * WEEK_MS;
}

/** What the seven days before an instant brought, beside the seven before them. */
async function sumUp(core: Core, teamId: string, until: number): Promise<NoticeData> {
  // It is told once: what is still being read, as after an upgrade, is waited for.
  await Promise.all([catchUp(core, entriesProjection), catchUpSpend(core)]);
  const from = until - WEEK_MS;
  const now = sessions(core, teamId, from, until);
  const before = sessions(core, teamId, from - WEEK_MS, from);
  const [firstDay, lastDay] = [isoDate(from), isoDate(until - 1)];
  const errors = listDefects(core, teamId, { fromDate: firstDay, kinds: ["error"] }).filter(
    ({ date }) => date <= lastDay,
  );
  const recurring = await recurredWithin(core, teamId, { from: firstDay, to: lastDay }, MAX_TITLES);
  const { classes } = await countClasses(core, teamId, { kind: "error" });
  const days = activity(core, teamId, from / DAY_MS, until / DAY_MS - 1);
  const quiet = listDevices(core, teamId).filter(({ silentSince }) => isQuiet(silentSince, until));
  return {
    from: firstDay,
    to: lastDay,
    sessions: now.all,
    sessions_before: before.all,
    success_rate: now.rate,
    success_rate_before: before.rate,
    spend_usd: spend(core, teamId, from, until),
    spend_usd_before: spend(core, teamId, from - WEEK_MS, from),
    new_errors: errors.length,
    newest_errors: errors.slice(0, MAX_TITLES).map(({ id, title }) => ({ entry: id, title })),
    recurring_errors: recurring.count,
    most_recurring: recurring.classes.map(({ fingerprint, titles, occurrences }) => ({
      fingerprint,
      title: titles[0] ?? "",
      occurrences,
    })),
    open_errors: classes.open + classes.again,
    gaps: days.reduce((sum, { gaps }) => sum + gaps, 0),
    rollbacks: days.reduce((sum, { rollbacks }) => sum + rollbacks, 0),
    quiet_devices: quiet.length,
  };
}

/** Null where tokens were used and none has a price. */
function spend(core: Core, teamId: string, from: number, until: number): number | null {
  const { usd, unpricedTokens } = spendReport(core, teamId, { from, to: until - 1, by: "model" }).total;
  return usd ?? (unpricedTokens > 0 ? null : 0);
}

/** How many sessions began, and what share of those whose outcome is known went well; null where none is. */
function sessions(core: Core, teamId: string, from: number, until: number): { all: number; rate: number | null } {
  let [all, good, known] = [0, 0, 0];
  for (const { outcome, sessions } of sessionCounts.byDay(core, teamId, from / DAY_MS, until / DAY_MS - 1)) {
    all += sessions;
    const went = outcomeKind(outcome);
    if (went !== "unknown") known += sessions;
    if (went === "succeeded") good += sessions;
  }
  return { all, rate: known === 0 ? null : good / known };
}
