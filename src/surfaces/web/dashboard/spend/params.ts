import { GROUPINGS, type Grouping, isSince, isUntil, readPeriod } from "../../../../insight/spend/spend.ts";
import { DAY_MS, isoInstant } from "../../../../kit/clock.ts";
import { link, type Member, NO_REPO } from "../shared/links.ts";

/** What the pages of spend are asked for, as it stands in the address. */

export const PERIODS = [7, 30, 90, 365] as const;
const DEFAULT_DAYS = 30;
const DATE = /^\d{4}-\d\d-\d\d$/;

export interface Asked {
  /** One of `PERIODS`; undefined for days that somebody chose. */
  readonly days: number | undefined;
  /** The days shown, both whole and included, as instants and as dates. */
  readonly from: number;
  readonly to: number;
  readonly first: string;
  readonly last: string;
  /** As in the address; `""` for all. */
  readonly repo: string;
  readonly repoKey: string | undefined;
  readonly by: Grouping;
}

/** Reads what is asked; what makes no sense asks for nothing. */
export function readAsked({ query, core }: Member): Asked {
  const now = core.clock.now();
  const date = (name: string, isDate: (text: string) => boolean) => {
    const text = query.get(name) ?? "";
    return DATE.test(text) && isDate(text) ? text : undefined;
  };
  const since = date("from", isSince);
  const until = date("to", isUntil);
  const chosen = since !== undefined || until !== undefined ? readPeriod({ since, until }, now) : undefined;
  const days = PERIODS.find((one) => String(one) === query.get("days")) ?? DEFAULT_DAYS;
  const { from, to } = chosen ?? { from: now - (days - 1) * DAY_MS, to: now };
  const repo = (query.get("repo") ?? "").slice(0, 1_024);
  return {
    ...{ days: chosen ? undefined : days, from, to, repo },
    ...{ first: isoInstant(from).slice(0, 10), last: isoInstant(to).slice(0, 10) },
    repoKey: repo === "" ? undefined : repo === NO_REPO ? "" : repo,
    by: GROUPINGS.find((one) => one === query.get("by")) ?? "model",
  };
}

/** The address of the same question with some of it changed. */
export function address(
  call: Member,
  asked: Asked,
  change: Partial<Asked> = {},
  path: `/${string}` = "/spend",
): string {
  const { days, first, last, repo, by } = { ...asked, ...change };
  const period = days === undefined ? { from: first, to: last } : { days: days === DEFAULT_DAYS ? undefined : days };
  return link(call, path, { ...period, repo: repo || undefined, by: by === "model" ? undefined : by });
}
