import { DAY_MS } from "../../kit/clock.ts";
import { compareText } from "../../kit/strings.ts";

/** What is known of a pack when its trust is judged. Instants are milliseconds since the epoch. */
export interface RankFacts {
  /** An operator of the installation verified who publishes it. */
  readonly verified: boolean;
  readonly createdAt: number;
  /** When the newest version was published. */
  readonly publishedAt: number;
  /** Distinct devices of other teams that installed it; the publisher's own add nothing. */
  readonly installs: number;
  /** Recurring defects that its rules ended in other teams; null while that is not known. */
  readonly recurrencesRemoved: number | null;
}

/** One reason for a rank. */
export interface Factor {
  readonly factor: "verified_publisher" | "age" | "installs" | "recurrences_removed" | "freshness";
  /** What was measured: yes or no, whole days, a count; null when it is not known. */
  readonly value: boolean | number | null;
  /** Whole points, 0 to `most`. */
  readonly points: number;
  readonly most: number;
  /** For people. */
  readonly says: string;
}

/** Points that each factor can bring; together 100. */
const MAX_POINTS = {
  verified_publisher: 30,
  age: 15,
  installs: 30,
  recurrences_removed: 15,
  freshness: 10,
} as const;
const AGED_DAYS = 90;
/** At so many the points of a count are full; each doubling on the way there brings the same. */
const MANY_INSTALLS = 1_000;
const MANY_RECURRENCES = 30;
const FRESH_DAYS = 30;
const STALE_DAYS = 365;

const daysSince = (at: number, now: number) => Math.max(0, Math.floor((now - at) / DAY_MS));
const logShare = (count: number, many: number) => Math.min(1, Math.log2(1 + Math.max(0, count)) / Math.log2(1 + many));

/**
 * Judges how far a pack can be trusted, from nothing but the facts given: the same facts give the same rank on any machine.
 * Grows, or stays, with each of: verification, age, installs, recurrences removed; falls, or stays, with the days since the
 * newest version. docs/marketplace.md has the formula.
 */
export function rankOf(facts: RankFacts, now: number): { readonly rank: number; readonly why: readonly Factor[] } {
  const age = daysSince(facts.createdAt, now);
  const stale = daysSince(facts.publishedAt, now);
  const factor = (name: Factor["factor"], value: Factor["value"], share: number, explanation: string): Factor => {
    const most = MAX_POINTS[name];
    return { factor: name, value, points: Math.round(share * most), most, says: explanation };
  };
  const removed = facts.recurrencesRemoved;
  const why = [
    factor(
      "verified_publisher",
      facts.verified,
      facts.verified ? 1 : 0,
      facts.verified ? "An operator verified the publisher." : "The publisher is not verified.",
    ),
    factor("age", age, Math.min(1, age / AGED_DAYS), `Published ${days(age)} ago; full after ${AGED_DAYS} days.`),
    factor(
      "installs",
      facts.installs,
      logShare(facts.installs, MANY_INSTALLS),
      `Installed by ${outside(facts.installs)}.`,
    ),
    factor(
      "recurrences_removed",
      removed,
      logShare(removed ?? 0, MANY_RECURRENCES),
      removed === null
        ? "Not known yet."
        : `Its rules ended ${removed} recurring ${removed === 1 ? "defect" : "defects"} of other teams.`,
    ),
    factor(
      "freshness",
      stale,
      1 - Math.min(1, Math.max(0, stale - FRESH_DAYS) / (STALE_DAYS - FRESH_DAYS)),
      `Newest version ${days(stale)} old; full up to ${FRESH_DAYS} days, nothing from ${STALE_DAYS} on.`,
    ),
  ];
  return { rank: why.reduce((sum, { points }) => sum + points, 0), why };
}

const outside = (count: number) =>
  count === 0 ? "no device of another team yet" : `${count} ${count === 1 ? "device" : "devices"} of other teams`;
const days = (count: number) => (count === 0 ? "less than a day" : `${count} ${count === 1 ? "day" : "days"}`);

/** Best first; equals by name, so that the order is the same everywhere. */
export const byRank = (a: { rank: number; name: string }, b: { rank: number; name: string }): number =>
  b.rank - a.rank || compareText(a.name, b.name);
