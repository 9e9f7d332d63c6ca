import { OUTCOME_KINDS, type OutcomeKind, outcomeKind } from "../../../../formats/outcomes.ts";
import { getTeam, tierHas } from "../../../../identity/teams/teams.ts";
import { errorDays, freshenEntries } from "../../../../insight/defects/defects.ts";
import { freshenSessions, sumSessions } from "../../../../insight/sessions/sessions.ts";
import { freshenSpend, type SpendReport, spendReport } from "../../../../insight/spend/spend.ts";
import { DAY_MS, dateOfDay } from "../../../../kit/clock.ts";
import { activity } from "../../../../log/log.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { sessionCounts } from "../../../../record/traces/traces.ts";
import type { Member } from "../shared/call.ts";
import { type Course, courseOf, type Period } from "./period.ts";

/** What the figures and charts of the overview are made of; all of it is summed by day already. */

export interface Seen {
  /** Sessions by how they ended. */
  readonly sessions: Readonly<Record<OutcomeKind, Course>>;
  /**
   * Dollars at list prices. `priced` by day of the period, null where nothing has a price; `perSession` what one that began in it cost on
   * average, null where none has a price; `reported` what agents say, null where none does.
   */
  readonly spend: {
    readonly course: Course;
    readonly priced: readonly (number | null)[];
    readonly perSession: number | null;
    readonly reported: number | null;
    readonly prices: SpendReport["prices"];
  };
  /** Entries of errors files, and those that came again; null where the team's tier or its brains hold none. */
  readonly errors: { readonly all: Course; readonly again: Course } | null;
  /** Deliveries that were flagged: numbers that are missing, or that came again with other content. */
  readonly flagged: Course;
}

export async function look({ core, session }: Member, period: Period): Promise<Seen> {
  await freshenEntries(core);
  await freshenSpend(core);
  await freshenSessions(core);
  const team = session.team.id;
  // Only sessions of the period: usage without a session, or in one that began earlier, is no part of what a session costs.
  const began = await sumSessions(core, team, { from: period.first * DAY_MS, to: (period.last + 1) * DAY_MS });
  const ended = sessionCounts.byDay(core, team, period.before, period.last);
  const ofKind = (kind: OutcomeKind) =>
    courseOf(
      period,
      summed(ended.filter(({ outcome }) => outcomeKind(outcome) === kind).map((one) => [one.day, one.sessions])),
    );
  const report = spendReport(core, team, {
    from: period.before * DAY_MS,
    to: (period.last + 1) * DAY_MS - 1,
    by: "day",
  });
  const cost = new Map(report.groups.map(({ key, usd }) => [dayOf(key), usd]));
  const said = report.groups.flatMap(({ key, reportedUsd }) =>
    reportedUsd === null || dayOf(key) < period.first ? [] : reportedUsd,
  );
  return {
    sessions: Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, ofKind(kind)])) as Seen["sessions"],
    spend: {
      course: courseOf(period, new Map([...cost].map(([day, usd]) => [day, usd ?? 0]))),
      priced: Array.from({ length: period.days }, (_, i) => cost.get(period.first + i) ?? null),
      perSession: began.usd === null ? null : began.usd / began.sessions,
      reported: said.length === 0 ? null : said.reduce((sum, usd) => sum + usd, 0),
      prices: report.prices,
    },
    errors: await errorsOf({ core, session }, period),
    flagged: courseOf(
      period,
      new Map(
        activity(core, team, period.before, period.last).map(({ day, gaps, rollbacks }) => [day, gaps + rollbacks]),
      ),
    ),
  };
}

async function errorsOf({ core, session }: Pick<Member, "core" | "session">, period: Period): Promise<Seen["errors"]> {
  const { id } = session.team;
  if (!tierHas(getTeam(core, id).tier, "brain") || listRepositories(core, id).length === 0) return null;
  // Includes tomorrow, which has begun somewhere, as the page of errors does.
  const until = period.isPast ? period.last : period.last + 1;
  const days = await errorDays(core, id, dateOfDay(period.before), dateOfDay(until));
  const shownOn = (date: string) => Math.min(dayOf(date), period.last);
  return {
    all: courseOf(period, summed(days.map(({ date, entries }) => [shownOn(date), entries]))),
    again: courseOf(period, summed(days.map(({ date, again }) => [shownOn(date), again]))),
  };
}

const dayOf = (iso: string) => Date.parse(iso) / DAY_MS;

function summed(list: readonly (readonly [day: number, count: number])[]): Map<number, number> {
  const sums = new Map<number, number>();
  for (const [day, count] of list) sums.set(day, (sums.get(day) ?? 0) + count);
  return sums;
}
