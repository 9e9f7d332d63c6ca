import { compareText } from "../../kit/strings.ts";
import { usdOf } from "./price-table.ts";
import type { GroupRow } from "./rows.ts";

/** Sums of spend, by what they are asked for by. */

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

/** Tokens in all, or of the kinds that are told apart. */
type TokenSums = Pick<SpendFigures, "inputTokens" | "outputTokens" | "cacheWriteTokens" | "cacheReadTokens">;

const tokensOf = (sums: TokenSums): number =>
  sums.inputTokens + sums.outputTokens + sums.cacheWriteTokens + sums.cacheReadTokens;

export class Sum {
  #picoUsd: bigint | undefined;
  #reportedNano = 0n;
  #reported = 0;
  #unpriced = 0;
  #tokens = { inputTokens: 0, outputTokens: 0, cacheWriteTokens: 0, cacheReadTokens: 0 };
  #usages = 0;
  /** Computed when first asked for, until something is added: sorting thousands of sums asks again and again. */
  #usd: number | undefined;

  /** @param cost see `PriceTable.cost` */
  add(row: GroupRow, cost: bigint | undefined): void {
    this.#usd = undefined;
    const { input, output, cacheWrite, cacheWrite1h, cacheRead } = row;
    const all = input + output + cacheWrite + cacheWrite1h + cacheRead;
    this.#tokens.inputTokens += input;
    this.#tokens.outputTokens += output;
    this.#tokens.cacheWriteTokens += cacheWrite + cacheWrite1h;
    this.#tokens.cacheReadTokens += cacheRead;
    // A cost without tokens, or a reply that no model made, belongs to no model.
    if (cost === undefined) this.#unpriced += all;
    else if (all > 0) this.#picoUsd = (this.#picoUsd ?? 0n) + cost;
    if (row.reportedNano > 0) this.#reportedNano += BigInt(row.reportedNano);
    this.#reported += row.reported;
    this.#usages += row.usages;
  }

  /** Adds what another sums up. */
  merge(other: Sum): void {
    this.#usd = undefined;
    const tokens = other.#tokens;
    this.#tokens.inputTokens += tokens.inputTokens;
    this.#tokens.outputTokens += tokens.outputTokens;
    this.#tokens.cacheWriteTokens += tokens.cacheWriteTokens;
    this.#tokens.cacheReadTokens += tokens.cacheReadTokens;
    this.#unpriced += other.#unpriced;
    if (other.#picoUsd !== undefined) this.#picoUsd = (this.#picoUsd ?? 0n) + other.#picoUsd;
    this.#reportedNano += other.#reportedNano;
    this.#reported += other.#reported;
    this.#usages += other.#usages;
  }

  get usd(): number | null {
    if (this.#picoUsd === undefined) return null;
    this.#usd ??= usdOf(this.#picoUsd);
    return this.#usd;
  }

  get tokens(): number {
    return tokensOf(this.#tokens);
  }

  figures(): SpendFigures {
    return {
      usd: this.usd,
      reportedUsd: this.#reported === 0 ? null : Number(this.#reportedNano) / 1e9,
      ...this.#tokens,
      unpricedTokens: this.#unpriced,
      usages: this.#usages,
    };
  }
}

/** A group of usage, which has one sum. */
export interface Group {
  /** Tells it from all others. */
  readonly name: string;
  readonly key: string;
  /** The session's device, the person's id or the day's model; `""` for anything else. */
  readonly of: string;
}

export interface Summed extends Group {
  readonly sum: Sum;
}

/** What some usage comes to, by group and in all. */
export interface Summings {
  readonly groups: readonly Summed[];
  readonly total: Sum;
}

/** Sums by group. A sum that is put in whole is copied once something is added to it. */
export class Sums {
  readonly #sums = new Map<string, Summed>();
  /** Sums that belong to this object alone. */
  readonly #own = new Set<Sum>();

  /** The sum of a group, to be added to. */
  of({ name, key, of }: Group): Sum {
    const found = this.#sums.get(name);
    if (found && this.#own.has(found.sum)) return found.sum;
    const sum = new Sum();
    if (found) sum.merge(found.sum);
    this.#own.add(sum);
    this.#sums.set(name, { name, key, of, sum });
    return sum;
  }

  merge(summed: Summed): void {
    if (this.#sums.has(summed.name)) this.of(summed).merge(summed.sum);
    else this.#sums.set(summed.name, summed);
  }

  all(): Summed[] {
    return [...this.#sums.values()];
  }
}

/** The order of `dearest`. */
export const byCost = (a: Summed, b: Summed): number =>
  (b.sum.usd ?? -1) - (a.sum.usd ?? -1) ||
  b.sum.tokens - a.sum.tokens ||
  compareText(a.key, b.key) ||
  compareText(a.of, b.of);

/** The dearest, then those of most tokens, then by name; those without a price behind those with one. */
export function dearest(sums: readonly Summed[], most: number): Summed[] {
  // A few of very many: most of them are passed over at a glance.
  let first: Summed[] = [];
  let bound: Summed | undefined;
  for (const one of sums) {
    if (bound && byCost(one, bound) >= 0) continue;
    first.push(one);
    if (first.length < 2 * most) continue;
    first = first.sort(byCost).slice(0, most);
    bound = first.at(-1);
  }
  return first.sort(byCost).slice(0, most);
}
