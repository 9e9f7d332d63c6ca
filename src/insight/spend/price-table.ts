import { DAY_MS } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { namesOf } from "./model-names.ts";
import type { ModelPrice, PriceFile, Prices } from "./price-file.ts";
import type { Tokens } from "./usage-record.ts";

/** Trillionths of a dollar for one token: whole numbers, so that sums are exact in whatever order they are made. */
type Rates = Readonly<Record<keyof Tokens, number>>;

interface Version {
  /** The first day it holds, in days since the epoch. */
  readonly from: number;
  /** By the size a request lies above, largest first; 0 is the last. */
  readonly bySize: readonly (readonly [above: number, Rates])[];
}

const pico = (usdPerMillion: number) => Math.round(usdPerMillion * 1e6);
/** Trillionths in a dollar. */
const PICO = 1e12;

/** Dollars of trillionths. */
export const usdOf = (picoUsd: bigint): number => Number(picoUsd) / PICO;

function ratesOf({ input, output, cacheWrite = input, cacheWrite1h = cacheWrite, cacheRead = input }: Prices): Rates {
  return {
    input: pico(input),
    output: pico(output),
    cacheWrite: pico(cacheWrite),
    cacheWrite1h: pico(cacheWrite1h),
    cacheRead: pico(cacheRead),
  };
}

function versionOf({ from, above = {}, ...prices }: ModelPrice): Version {
  const sizes = Object.entries(above).map(([size, other]) => [Number(size), ratesOf(other)] as const);
  return {
    from: from === undefined ? Number.NEGATIVE_INFINITY : Date.parse(from) / DAY_MS,
    bySize: [...sizes, [0, ratesOf(prices)] as const].sort(([a], [b]) => b - a),
  };
}

/** The same for sums that numbers cannot hold: it takes several times as long. */
const exactly = (tokens: Tokens, rates: Rates): bigint =>
  (Object.keys(rates) as (keyof Tokens)[]).reduce((sum, kind) => sum + BigInt(tokens[kind]) * BigInt(rates[kind]), 0n);

/** Prices ready for use. A later file's models replace those of earlier files; other names of the earlier ones stay. */
export class PriceTable {
  readonly #models = new Map<string, readonly Version[]>();
  /** Other names of models, each with the name of its model. */
  readonly #aliases = new Map<string, string>();
  readonly #lookups = new Map<string, readonly Version[] | undefined>();

  /** Changes with any price. */
  readonly version: string;

  constructor(...files: readonly PriceFile[]) {
    this.version = sha256Hex(JSON.stringify(files)).slice(0, 32);
    for (const { models } of files) {
      const all = Object.entries(models).map(([name, given]): [string, readonly ModelPrice[]] => [
        name,
        Array.isArray(given) ? given : [given as ModelPrice],
      ]);
      for (const [name, versions] of all)
        for (const alias of versions.flatMap(({ aliases = [] }) => aliases))
          for (const spelling of [alias, alias.toLowerCase()]) this.#aliases.set(spelling, name);
      for (const [name, versions] of all) {
        const ready = versions.map(versionOf).sort((a, b) => b.from - a.from);
        for (const spelling of [name, name.toLowerCase()]) {
          this.#models.set(spelling, ready);
          this.#aliases.delete(spelling);
        }
      }
    }
  }

  /** Days since the epoch on which some price changed, ascending. */
  get changes(): number[] {
    const days = [...this.#models.values()].flatMap((versions) => versions.map(({ from }) => from));
    return [...new Set(days.filter(Number.isFinite))].sort((a, b) => a - b);
  }

  /**
   * What tokens cost.
   * @param day days since the epoch
   * @param context the tier of the requests' size, see `contextTier`
   * @returns trillionths of a dollar; undefined where no price is known
   */
  cost(model: string, day: number, context: number, tokens: Tokens): bigint | undefined {
    const version = this.#find(model)?.find(({ from }) => from <= day);
    const rates = version?.bySize.find(([above]) => above <= context)?.[1];
    if (!rates) return undefined;
    const { input, output, cacheWrite, cacheWrite1h, cacheRead } = tokens;
    const parts =
      Math.abs(input) * rates.input +
      Math.abs(output) * rates.output +
      Math.abs(cacheWrite) * rates.cacheWrite +
      Math.abs(cacheWrite1h) * rates.cacheWrite1h +
      Math.abs(cacheRead) * rates.cacheRead;
    if (parts > Number.MAX_SAFE_INTEGER) return exactly(tokens, rates);
    return BigInt(
      input * rates.input +
        output * rates.output +
        cacheWrite * rates.cacheWrite +
        cacheWrite1h * rates.cacheWrite1h +
        cacheRead * rates.cacheRead,
    );
  }

  #find(model: string): readonly Version[] | undefined {
    if (!this.#lookups.has(model)) {
      // Names of models come from agents; only so many are remembered.
      if (this.#lookups.size > 1_000) this.#lookups.clear();
      const names = namesOf(model).map((name) => this.#aliases.get(name) ?? name);
      const name = names.find((candidate) => this.#models.has(candidate));
      this.#lookups.set(model, name === undefined ? undefined : this.#models.get(name));
    }
    return this.#lookups.get(model);
  }
}
