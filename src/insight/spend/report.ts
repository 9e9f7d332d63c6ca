import type { Core } from "../../core.ts";
import { csvLine } from "../../kit/csv.ts";
import { each, finish, inSlices, type Slices, sorted } from "../../kit/slices.ts";
import { compareText } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
import { type CurrentPrices, currentPrices } from "./current-prices.ts";
import { personOf, readDays, type SpendQuery } from "./read-days.ts";
import type { Grouping } from "./rows.ts";
import { byCost, dearest, type SpendFigures, Sum, type Summed, type Summings, Sums } from "./sums.ts";

export interface SpendGroup extends SpendFigures {
  /** The model, repository, branch, agent, device id, session id, day (YYYY-MM-DD) or person's e-mail address; `""` when nobody reported it, or where it is nobody's. */
  readonly key: string;
  /** The device of a session. */
  readonly deviceId?: string;
  /** Of a person with an account in the team. */
  readonly personId?: string;
}

export interface SpendOfDay extends SpendFigures {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly model: string;
}

export interface SpendReport {
  readonly total: SpendFigures;
  readonly groupCount: number;
  /** Dearest first, then by tokens, then by name; those without a price behind those with one. Days in their order. */
  readonly groups: readonly SpendGroup[];
  /** The same of hundreds of thousands, for a file. */
  groupsInSlices(): Slices<SpendGroup[]>;
  /** The first of them, without the rest being put in order. */
  firstGroups(most: number): SpendGroup[];
  /** For a chart: ascending by day, then by model. It costs as much again as all else, unless the query said `daily`. */
  byDayAndModel(): readonly SpendOfDay[];
  readonly prices: Omit<CurrentPrices, "table">;
}

/**
 * What a team's agents used from one day to another, and what that costs at the prices of those days. Usage counts for the person whom the
 * agent names as signed in, or else for the present owner of the device.
 */
export const spendReport = (core: Core, teamId: string, query: SpendQuery): SpendReport =>
  finish(makeReport(core, teamId, query));

/** The same in slices that let others in between: sums of many days may have to be made anew. */
export const spendReportInSlices = (core: Core, teamId: string, query: SpendQuery): Promise<SpendReport> =>
  inSlices(makeReport(core, teamId, query), cooperative(core.clock));

function* makeReport(core: Core, teamId: string, query: SpendQuery): Slices<SpendReport> {
  const { table: _, ...prices } = currentPrices(core);
  const { by } = query;
  const ofTeam = query.repoKey === undefined && query.deviceIds === undefined && query.sources === undefined;
  // Days are summed by model: where they are read anyway, models need no reading of their own.
  const daily = query.daily || by === "day" || (by === "model" && ofTeam);
  const days = daily ? yield* gather(readDays(core, teamId, query, "day")) : undefined;
  const { total, groups } =
    days && (by === "day" || by === "model")
      ? sumsOfDays(days, by)
      : yield* sumsOf(readDays(core, teamId, query, by === "person" ? "source" : by), personOf(core, teamId, by));
  const all = groups.all();
  const first = (most = all.length) =>
    (by === "day" ? all.slice(0, most) : dearest(all, most)).map((one) => groupOf(one, by));
  let every: readonly SpendGroup[] | undefined;
  return {
    total: total.figures(),
    groupCount: all.length,
    get groups() {
      every ??= first();
      return every;
    },
    *groupsInSlices() {
      const groups: SpendGroup[] = [];
      yield* each(by === "day" ? all : yield* sorted(all, byCost), (one) => void groups.push(groupOf(one, by)));
      return groups;
    },
    firstGroups: first,
    byDayAndModel: () => sumDays(days ?? [...readDays(core, teamId, query, "day")].flatMap(({ groups: some }) => some)),
    prices,
  };
}

function* gather(stretches: Iterable<Summings>): Slices<Summed[]> {
  const all: Summed[] = [];
  for (const { groups } of stretches) {
    for (const one of groups) all.push(one);
    yield;
  }
  return all;
}

/** Groups whose names are looked up at once. */
const LOOKED_UP = 200;

interface Made {
  readonly total: Sum;
  readonly groups: Sums;
}

function* sumsOf(stretches: Iterable<Summings>, named: (one: Summed) => Summed): Slices<Made> {
  const [total, groups] = [new Sum(), new Sums()];
  for (const some of stretches) {
    total.merge(some.total);
    for (const [i, one] of some.groups.entries()) {
      groups.merge(named(one));
      // A source's owner may have to be looked up.
      if (i % LOOKED_UP === 0) yield;
    }
    yield;
  }
  return { total, groups };
}

function sumsOfDays(days: readonly Summed[], by: "day" | "model"): Made {
  const [total, groups] = [new Sum(), new Sums()];
  for (const { key, of, sum } of days) {
    total.merge(sum);
    const name = by === "day" ? key : of;
    groups.merge({ name, key: name, of: "", sum });
  }
  return { total, groups };
}

const groupOf = ({ key, of, sum }: Summed, by: Grouping): SpendGroup => ({
  key,
  ...(by === "session" && { deviceId: of }),
  ...(by === "person" && of !== "" && { personId: of }),
  ...sum.figures(),
});

const sumDays = (days: readonly Summed[]): SpendOfDay[] =>
  days
    .map(({ key, of, sum }) => ({ day: key, model: of, ...sum.figures() }))
    .sort((a, b) => compareText(a.day, b.day) || compareText(a.model, b.model));

const CSV_COLUMNS = [
  "usd",
  "reportedUsd",
  "inputTokens",
  "outputTokens",
  "cacheWriteTokens",
  "cacheReadTokens",
  "unpricedTokens",
  "usages",
] as const;

/** Characters that are handed out at once, because each piece costs as much as a line. */
const PIECE_CHARS = 16_384;

/** Groups of a report as comma-separated values (RFC 4180), piece by piece, the names of the columns first. */
export function* spendCsv(by: Grouping, groups: readonly SpendGroup[]): Generator<string> {
  const bySession = by === "session";
  let piece = csvLine([by, ...(bySession ? ["deviceId"] : []), ...CSV_COLUMNS]);
  for (const group of groups) {
    piece += csvLine([group.key, ...(bySession ? [group.deviceId] : []), ...CSV_COLUMNS.map((name) => group[name])]);
    if (piece.length < PIECE_CHARS) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}
