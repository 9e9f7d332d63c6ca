import type { Core } from "../../core.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { type CurrentPrices, currentPrices } from "./current-prices.ts";
import { usdOf } from "./price-table.ts";
import { type Grouping, type GroupRow, rows } from "./rows.ts";

/** What is asked of a team's spend. */
export interface SpendQuestion {
  /** The first and the last day (UTC), each whole: any instant of it, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly by: Grouping;
  readonly repoKey?: string | undefined;
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
  /** Model calls, or whole sessions that told no calls. */
  readonly usages: number;
}

export interface SpendGroup extends SpendFigures {
  /** The model, repository, branch, device id, session id or day (YYYY-MM-DD); `""` when nobody told. */
  readonly key: string;
  /** The device of a session. */
  readonly deviceId?: string;
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
  /** For a chart: ascending by day, then by model. Read when it is asked for: it costs as much again as all else. */
  readonly byDayAndModel: readonly SpendOfDay[];
  readonly prices: Omit<CurrentPrices, "table">;
}

/** What a team's agents used from one day to another and what that costs at the prices of those days. */
export function spendReport(core: Core, teamId: string, question: SpendQuestion): SpendReport {
  const { table, ...prices } = currentPrices(core);
  const [total, groups] = [new Sum(), new Sums()];
  // What holds for the days between two changes of prices is priced in one go.
  const ranges = stretches(question, table.changes).map(([from, to]) => ({
    teamId,
    from,
    to,
    repoKey: question.repoKey ?? null,
  }));
  const read = (by: Grouping): Priced[] =>
    ranges.flatMap((range) =>
      rows(core.store)
        .sums[by].all(range)
        .map((row) => ({ row, cost: table.cost(row.model, range.from, row.context, row) })),
    );
  const { by } = question;
  let known = question.daily || by === "day" ? read("day") : undefined;
  const own = by === "day" || (by === "model" && known) ? (known as Priced[]) : read(by);
  for (const { row, cost } of own) {
    total.add(row, cost);
    const key = by === "day" ? dayText(row.key as number) : by === "model" ? row.model : String(row.key);
    groups.of([key, row.ofDevice]).add(row, cost);
  }
  return {
    total: total.figures(),
    groups: groups
      .all(([key = "", deviceId = ""], figures) => ({
        key,
        ...(deviceId === "" ? {} : { deviceId }),
        ...figures,
      }))
      .sort(by === "day" ? (a, b) => compare(a.key, b.key) : dearestFirst),
    get byDayAndModel() {
      const days = new Sums();
      known ??= read("day");
      // Rows of one day stand together.
      let [day, text] = [Number.NaN, ""];
      for (const { row, cost } of known) {
        if (row.key !== day) [day, text] = [row.key as number, dayText(row.key as number)];
        days.of([text, row.model]).add(row, cost);
      }
      return days
        .all(([day = "", model = ""], figures) => ({ day, model, ...figures }))
        .sort((a, b) => compare(a.day, b.day) || compare(a.model, b.model));
    },
    prices,
  };
}

interface Priced {
  readonly row: GroupRow;
  /** See `PriceTable.cost`. */
  readonly cost: bigint | undefined;
}

const dayText = (day: number) => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** Cuts a range of days where prices change. */
function stretches({ from, to }: SpendQuestion, changes: readonly number[]): [from: number, to: number][] {
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
    let held = this.#sums.get(name);
    if (!held) {
      held = { key, sum: new Sum() };
      this.#sums.set(name, held);
    }
    return held.sum;
  }
  all<T>(make: (key: readonly string[], figures: SpendFigures) => T): T[] {
    return Array.from(this.#sums.values(), ({ key, sum }) => make(key, sum.figures()));
  }
}

const tokens = (one: SpendFigures) => one.inputTokens + one.outputTokens + one.cacheWriteTokens + one.cacheReadTokens;
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function dearestFirst(a: SpendGroup, b: SpendGroup): number {
  return (b.usd ?? -1) - (a.usd ?? -1) || tokens(b) - tokens(a) || compare(a.key, b.key);
}
