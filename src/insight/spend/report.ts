import type { Core } from "../../core.ts";
import { listDevices } from "../../identity/devices/devices.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { csvLine } from "../../kit/csv.ts";
import { type CurrentPrices, currentPrices } from "./current-prices.ts";
import { usdOf } from "./price-table.ts";
import { type Grouping, type GroupRow, type ReadBy, rows } from "./rows.ts";

/** Which sums of a team's spend. */
export interface SpendQuery {
  /** The first and the last day (UTC), each whole: any instant of it, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly by: Grouping;
  readonly repoKey?: string | undefined;
  /** Only of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  /** `byDayAndModel` will be read: what can be, is summed from the same rows. */
  readonly daily?: boolean | undefined;
}

/** Sums of usage. Dollars are sums of exact amounts, rounded once at the end. */
export interface SpendFigures {
  /** At list prices; null when nothing of it has a price. Tokens without one are not in it: see `unpricedTokens`. */
  readonly usd: number | null;
  /** What agents themselves said it cost; null when none did. */
  readonly reportedUsd: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheWriteTokens: number;
  readonly cacheReadTokens: number;
  /** Tokens, of all kinds, of models whose price is not known. */
  readonly unpricedTokens: number;
  /** Model calls, or whole sessions that reported no calls. */
  readonly usages: number;
}

export interface SpendGroup extends SpendFigures {
  /** The model, repository, branch, device id, session id, day (YYYY-MM-DD) or person's e-mail address; `""` when nobody reported it, or of machines that are nobody's. */
  readonly key: string;
  /** The device of a session. */
  readonly deviceId?: string;
  /** Of a person. */
  readonly personId?: string;
}

export interface SpendOfDay extends SpendFigures {
  /** YYYY-MM-DD. */
  readonly day: string;
  readonly model: string;
}

export interface SpendReport {
  readonly total: SpendFigures;
  /** Dearest first, then by tokens, then by name; those without a price behind those with one. Days in their order. */
  readonly groups: readonly SpendGroup[];
  /** For a chart: ascending by day, then by model. It costs as much again as all else, unless the query said `daily`. */
  byDayAndModel(): readonly SpendOfDay[];
  readonly prices: Omit<CurrentPrices, "table">;
}

/**
 * What a team's agents used from one day to another and what that costs at the prices of those days. Devices count as the person's
 * whose they are now, with all that they ever sent.
 */
export function spendReport(core: Core, teamId: string, query: SpendQuery): SpendReport {
  const { table, ...prices } = currentPrices(core);
  const { by, repoKey = null } = query;
  const deviceIds = query.deviceIds ? JSON.stringify(query.deviceIds) : null;
  const people = new Map(by === "person" ? listDevices(core, teamId).map(({ id, person }) => [id, person]) : []);
  // What holds for the days between two changes of prices is priced in one go.
  const ranges = splitAtPriceChanges(query, table.changes);
  const sql = rows(core.store);
  const ofTeam = repoKey === null && deviceIds === null;
  const read = (grouping: ReadBy): PricedRow[] =>
    ranges.flatMap(([from, to]) =>
      (grouping === "day" && ofTeam
        ? sql.daysOfTeam.all({ teamId, from, to })
        : sql.sums[grouping].all({ teamId, from, to, repoKey, deviceIds })
      ).map((row) => ({ row, cost: table.cost(row.model, from, row.context, row) })),
    );
  let byDay = query.daily || by === "day" || (by === "model" && ofTeam) ? read("day") : undefined;
  const total = new Sum();
  const groups = new Sums();
  for (const { row, cost } of (by === "day" || by === "model" ? byDay : undefined) ??
    read(by === "person" ? "device" : by)) {
    total.add(row, cost);
    const person = people.get(String(row.key));
    const key = by === "person" ? [person?.email ?? "", "", person?.id ?? ""] : [keyOf(row, by), row.ofDevice];
    groups.of(key).add(row, cost);
  }
  return {
    total: total.figures(),
    groups: groups
      .all(([key = "", deviceId = "", personId = ""], figures) => ({
        key,
        ...(deviceId === "" ? {} : { deviceId }),
        ...(personId === "" ? {} : { personId }),
        ...figures,
      }))
      .sort(by === "day" ? (a, b) => compare(a.key, b.key) : dearestFirst),
    byDayAndModel() {
      byDay ??= read("day");
      return sumDays(byDay);
    },
    prices,
  };
}

function keyOf({ key, model }: GroupRow, by: Grouping): string {
  // Rows by day stand in for those by model.
  if (by === "model") return model;
  return typeof key === "number" ? dayText(key) : key;
}

function sumDays(byDay: readonly PricedRow[]): SpendOfDay[] {
  const days = new Sums();
  // Rows of one day stand together.
  let [day, text]: [GroupRow["key"], string] = [Number.NaN, ""];
  for (const { row, cost } of byDay) {
    if (row.key !== day) [day, text] = [row.key, keyOf(row, "day")];
    days.of([text, row.model]).add(row, cost);
  }
  return days
    .all(([key = "", model = ""], figures) => ({ day: key, model, ...figures }))
    .sort((a, b) => compare(a.day, b.day) || compare(a.model, b.model));
}

interface PricedRow {
  readonly row: GroupRow;
  /** See `PriceTable.cost`. */
  readonly cost: bigint | undefined;
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

function splitAtPriceChanges({ from, to }: SpendQuery, changes: readonly number[]): [from: number, to: number][] {
  const [first, last] = [Math.floor(from / DAY_MS), Math.floor(to / DAY_MS)];
  const starts = [first, ...changes.filter((day) => day > first && day <= last)];
  return starts.map((start, i) => [start, (starts[i + 1] ?? last + 1) - 1]);
}

class Sum {
  #picoUsd: bigint | undefined;
  #reportedNano = 0n;
  #reported = 0;
  #unpriced = 0;
  #tokens = { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
  #usages = 0;

  add(row: GroupRow, cost: bigint | undefined): void {
    const { input, output, cacheWrite, cacheWrite1h, cacheRead } = row;
    const all = input + output + cacheWrite + cacheWrite1h + cacheRead;
    this.#tokens.inputTokens += input;
    this.#tokens.outputTokens += output;
    this.#tokens.cacheWriteTokens += cacheWrite + cacheWrite1h;
    this.#tokens.cacheReadTokens += cacheRead;
    // A cost without tokens, or a reply that no model made, is no model's.
    if (cost === undefined) this.#unpriced += all;
    else if (all > 0) this.#picoUsd = (this.#picoUsd ?? 0n) + cost;
    this.#reportedNano += BigInt(row.reportedNano);
    this.#reported += row.reported;
    this.#usages += row.usages;
  }

  figures(): SpendFigures {
    return {
      usd: this.#picoUsd === undefined ? null : usdOf(this.#picoUsd),
      reportedUsd: this.#reported === 0 ? null : Number(this.#reportedNano) / 1e9,
      ...this.#tokens,
      unpricedTokens: this.#unpriced,
      usages: this.#usages,
    };
  }
}

class Sums {
  readonly #sums = new Map<string, { readonly key: readonly string[]; readonly sum: Sum }>();
  of(key: readonly string[]): Sum {
    const name = JSON.stringify(key);
    let group = this.#sums.get(name);
    if (!group) {
      group = { key, sum: new Sum() };
      this.#sums.set(name, group);
    }
    return group.sum;
  }
  all<T>(make: (key: readonly string[], figures: SpendFigures) => T): T[] {
    return Array.from(this.#sums.values(), ({ key, sum }) => make(key, sum.figures()));
  }
}

const tokens = (sum: SpendFigures) => sum.inputTokens + sum.outputTokens + sum.cacheWriteTokens + sum.cacheReadTokens;
const compare = (a: string, b: string) => Number(a > b) - Number(a < b);

function dearestFirst(a: SpendGroup, b: SpendGroup): number {
  return (b.usd ?? -1) - (a.usd ?? -1) || tokens(b) - tokens(a) || compare(a.key, b.key);
}

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

/** Groups of a report as comma-separated values (RFC 4180), line by line, the names of the columns first. */
export function* spendCsv(by: Grouping, groups: readonly SpendGroup[]): Generator<string> {
  const bySession = by === "session";
  yield csvLine([by, ...(bySession ? ["deviceId"] : []), ...CSV_COLUMNS]);
  for (const group of groups)
    yield csvLine([group.key, ...(bySession ? [group.deviceId] : []), ...CSV_COLUMNS.map((name) => group[name])]);
}
