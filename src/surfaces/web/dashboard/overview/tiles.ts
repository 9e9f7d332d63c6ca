import type { countDevices } from "../../../../identity/devices/devices.ts";
import { judgeSubscription } from "../../../../identity/license/license.ts";
import type { Team } from "../../../../identity/teams/teams.ts";
import type { EntryCounts, Trend } from "../../../../insight/defects/defects.ts";
import type { SpendReport } from "../../../../insight/spend/spend.ts";
import { isoInstant } from "../../../../kit/clock.ts";
import type { ActivityDay, FlagRow } from "../../../../log/log.ts";
import type { Stat } from "../../ui/parts.ts";
import { compact, dayText, number, plural } from "../../ui/units.ts";
import { trendShort } from "../errors/trend.ts";
import type { Member } from "../shared/call.ts";
import { dollars } from "../spend/labels.ts";
import type { Begun } from "./first-run.ts";

/** The figures of the overview. */

/** How far the overview looks back, today included. */
export const DAYS = 14;

/** What the page is drawn from. */
export interface Glance {
  readonly team: Team;
  readonly days: readonly ActivityDay[];
  readonly devices: ReturnType<typeof countDevices>;
  readonly bound: number;
  readonly errors: (EntryCounts & Trend) | null;
  /** Of all devices, by id. */
  readonly labels: ReadonlyMap<string, string | null>;
  readonly flags: readonly FlagRow[];
  readonly spend: Pick<SpendReport, "total" | "prices">;
  readonly begun: Begun;
}

/** Adds up what days brought. */
export const sum = (days: readonly ActivityDay[], of: (day: ActivityDay) => number) =>
  days.reduce((total, day) => total + of(day), 0);

/** What happens: devices, entries, sessions, and what it cost. */
export function activityTiles({ href }: Member, { days, devices, bound, spend }: Glance): Stat[] {
  const lately = days.slice(-7);
  return [
    {
      label: "Devices alive",
      value: `${number(devices.seen)} of ${number(bound)}`,
      sub: "heard of in the last 24 hours",
      href: href("/devices"),
    },
    {
      label: "Entries in 7 days",
      value: number(sum(lately, ({ entries }) => entries)),
      sub: `${number(days.at(-1)?.entries ?? 0)} today (UTC)`,
      href: href("/telemetry"),
    },
    {
      label: "Sessions in 7 days",
      value: number(sum(lately, ({ sessions }) => sessions)),
      sub: `${number(days.at(-1)?.sessions ?? 0)} today (UTC)`,
      href: href("/sessions"),
    },
    spendTile(spend, href("/spend?days=7")),
  ];
}

/** What has no price is never shown as nothing. */
function spendTile({ total, prices }: Glance["spend"], href: string): Stat {
  const { usd, reportedUsd, unpricedTokens, usages } = total;
  const cost = usd ?? reportedUsd;
  const unpriced = unpricedTokens > 0 && `${compact(unpricedTokens)} unpriced tokens`;
  const said = usd === null && reportedUsd !== null && "as agents reported it";
  return {
    label: "Spend in 7 days",
    value: cost === null ? "–" : dollars(cost),
    sub:
      prices.problem ??
      (said || unpriced || (usages === 0 ? "no usage reported" : `at list prices of ${dayText(prices.date)}`)),
    href,
    tone: prices.problem === null ? undefined : "warn",
  };
}

/** How things stand: what is open, what is missing, what is paid for. */
export function stateTiles(call: Member, { days, devices, errors, team }: Glance): Stat[] {
  const { core, href } = call;
  const flawed = sum(days, ({ gaps, rollbacks }) => gaps + rollbacks);
  const overdrawn = devices.active > team.seats;
  return [
    ...(errors === null || errors.repositories === 0
      ? []
      : [
          {
            label: "Open errors",
            value: number(errors.open),
            sub: `of ${plural(errors.entries, "entry", "entries")} in errors.md`,
            href: href("/errors"),
            tone: errors.open > 0 ? ("warn" as const) : undefined,
          },
          {
            label: "New errors in 7 days",
            value: number(errors.weeks.at(-1)?.count ?? 0),
            sub: trendShort(errors),
            href: href("/errors"),
            tone: errors.trend === "up" ? ("warn" as const) : undefined,
          },
        ]),
    {
      label: "Gaps and rollbacks",
      value: number(flawed),
      sub: flawed === 0 ? `none in ${DAYS} days` : `deliveries flagged in ${DAYS} days`,
      href: href("/telemetry/streams"),
      tone: flawed > 0 ? "warn" : undefined,
    },
    ...(core.config.billing === "off"
      ? []
      : [
          licenceTile(call, team),
          {
            label: "Seats used",
            value: `${number(devices.active)} of ${number(team.seats)}`,
            sub: overdrawn ? "more devices than seats" : "devices that can report",
            href: href("/license"),
            tone: overdrawn ? ("warn" as const) : undefined,
          },
        ]),
  ];
}

const STATUS_WORDS = { active: "Active", trialing: "Trial", past_due: "Past due" } as const;
const ENDED_WORDS = {
  suspended: "Suspended",
  canceled: "Cancelled",
  none: "None",
  grace_over: "Ended",
} as const;

function licenceTile({ core, href }: Member, team: Team): Stat {
  const now = core.clock.now();
  const entitled = judgeSubscription(team, now);
  const own = { label: "Licence", href: href("/license") };
  if (!entitled.licensed)
    return { ...own, value: ENDED_WORDS[entitled.because], sub: "no licence is signed", tone: "bad" };
  const { status, until } = entitled;
  const day = (at: number) => dayText(isoInstant(at).slice(0, 10));
  if (status === "past_due")
    return { ...own, value: STATUS_WORDS[status], sub: until !== null && `works until ${day(until)}`, tone: "warn" };
  return {
    ...own,
    value: STATUS_WORDS[status],
    sub: team.periodEndAt === null ? `tier ${team.tier}` : `paid until ${day(team.periodEndAt)}`,
  };
}
