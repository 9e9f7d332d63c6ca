/**
 * Compares the prices that ship with a local copy of a public collection, to bring them up to date by: `npm run prices FILE [DATE]`.
 * FILE is laid out as LiteLLM's `model_prices_and_context_window.json`; nothing is fetched. Models that have no price here, and prices
 * that differ on DATE (today by default), are printed. Which of both is right, the provider's own page says.
 */
import { readFileSync } from "node:fs";
import { shippedPrices } from "../src/insight/spend/current-prices.ts";
import { PriceTable, usdOf } from "../src/insight/spend/price-table.ts";
import { DAY_MS } from "../src/kit/clock.ts";

const KINDS = {
  input: "input_cost_per_token",
  output: "output_cost_per_token",
  cacheRead: "cache_read_input_token_cost",
  cacheWrite: "cache_creation_input_token_cost",
} as const;
const PROVIDERS = ["anthropic", "openai", "gemini"];
const NONE = { input: 0, output: 0, cacheWrite: 0, cacheWrite1h: 0, cacheRead: 0 };

type Listed = Readonly<Record<string, unknown>>;

export interface Difference {
  readonly model: string;
  readonly kind: keyof typeof KINDS;
  /** US dollars per million tokens; undefined where the model has no price here. */
  readonly ours: number | undefined;
  readonly theirs: number;
}

/** @param collection the parsed file @param day days since the epoch */
export function comparePrices(collection: Listed, day: number): { compared: number; differences: Difference[] } {
  const table = new PriceTable(shippedPrices());
  const listed = Object.entries((collection.models ?? collection) as Record<string, Listed>).filter(
    ([, { mode, litellm_provider: provider = "openai" }]) =>
      (mode === "chat" || mode === "responses") && PROVIDERS.includes(String(provider)),
  );
  const differences = listed.flatMap(([model, prices]) =>
    (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind): Difference[] => {
      const perToken = prices[KINDS[kind]];
      if (typeof perToken !== "number") return [];
      const cost = table.cost(model, day, 0, { ...NONE, [kind]: 1_000_000 });
      const [ours, theirs] = [cost === undefined ? undefined : usdOf(cost), perToken * 1e6];
      // Of a model without a price, one line says so.
      if (ours === undefined ? kind !== "input" : Math.abs(ours - theirs) < 1e-6) return [];
      return [{ model, kind, ours, theirs }];
    }),
  );
  return { compared: listed.length, differences };
}

if (import.meta.main) {
  const [file, date] = process.argv.slice(2);
  if (file === undefined) {
    console.error("usage: npm run prices FILE [YYYY-MM-DD]");
    process.exit(2);
  }
  const at = date === undefined ? Date.now() : Date.parse(date);
  const { compared, differences } = comparePrices(JSON.parse(readFileSync(file, "utf8")), Math.floor(at / DAY_MS));
  for (const { model, kind, ours, theirs } of differences)
    console.log(`${model}\t${kind}\there ${ours ?? "none"}\tthere ${Number(theirs.toFixed(6))}`);
  console.error(`${differences.length} differences in ${compared} models; prices here are of ${shippedPrices().date}`);
}
