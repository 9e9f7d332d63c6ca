import { GROUPINGS, type Grouping, isSince, isUntil, readPeriod } from "../../../../insight/spend/spend.ts";
import { DAY_MS, dayNumber, isoDate } from "../../../../kit/clock.ts";
import { FIRST_DAY } from "../../../../kit/date.ts";
import type { Member } from "../shared/call.ts";
import { link, repoKeyIn } from "../shared/links.ts";
import { choice, readParams, text } from "../shared/params.ts";
import { deviceIdsSeen, sourcesFor } from "../shared/sight.ts";

/** What the pages of spend are asked for, as it stands in the address. */

export const PERIODS = [7, 30, 90, 365] as const;
const DEFAULT_DAYS = 30;
const DATE = /^\d{4}-\d\d-\d\d$/;

export interface Params {
  /** One of `PERIODS`; undefined for days that somebody chose. */
  readonly days: number | undefined;
  /** Whether the last of the days asked for lies before the first. */
  readonly backwards: boolean;
  /** The days shown, both whole and included, as instants and as dates. */
  readonly from: number;
  readonly to: number;
  readonly first: string;
  readonly last: string;
  /** As in the address; `""` for all. */
  readonly repo: string;
  readonly repoKey: string | undefined;
  readonly by: Grouping;
  /** As in the address; `""` for all. */
  readonly person: string;
  readonly deviceIds: readonly string[] | undefined;
  readonly sources: readonly string[] | undefined;
}

/** Reads the query; what makes no sense asks for nothing. */
export function spendParams(call: Member): Params {
  const { query, core } = call;
  const now = core.clock.now();
  const date = (name: string, isDate: (text: string) => boolean) => {
    const text = query.get(name) ?? "";
    return DATE.test(text) && isDate(text) ? text : undefined;
  };
  const since = date("from", isSince);
  const until = date("to", isUntil);
  const asksDays = since !== undefined || until !== undefined;
  const chosen = asksDays ? readPeriod({ since, until }, now) : undefined;
  const days = PERIODS.find((period) => String(period) === query.get("days")) ?? DEFAULT_DAYS;
  const { from, to } = chosen ?? { from: now - (days - 1) * DAY_MS, to: now };
  const {
    repo,
    person,
    by = "model",
  } = readParams({ repo: text(1_024), person: text(320), by: choice(GROUPINGS) }, query);
  return {
    days: chosen ? undefined : days,
    backwards: asksDays && !chosen,
    from,
    to,
    first: isoDate(from),
    last: isoDate(to),
    repo,
    repoKey: repoKeyIn(repo),
    by,
    person,
    deviceIds: deviceIdsSeen(call),
    sources: sourcesFor(call, person),
  };
}

/** The address of the same question with some of it changed. */
export function spendAddress(
  call: Member,
  params: Params,
  change: Partial<Params>,
  path: `/${string}` = "/spend",
): string {
  const { days, first, last, repo, person, by } = { ...params, ...change };
  const period = days === undefined ? { from: first, to: last } : { days: days === DEFAULT_DAYS ? undefined : days };
  const narrowed = { repo: repo || undefined, person: person || undefined };
  return link(call, path, { ...period, ...narrowed, by: by === "model" ? undefined : by });
}

/** As many days before the days shown. */
export function periodBefore({ from, to }: Pick<Params, "from" | "to">): Pick<Params, "from" | "to"> {
  const [first, last] = [dayNumber(from), dayNumber(to)];
  return { from: Math.max(FIRST_DAY, (2 * first - last - 1) * DAY_MS), to: Math.max(FIRST_DAY, (first - 1) * DAY_MS) };
}
