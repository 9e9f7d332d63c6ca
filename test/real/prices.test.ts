import { beforeAll, expect, it } from "vitest";
import { asObject, parseJson } from "../../src/formats/values.ts";
import { shippedPrices } from "../../src/insight/spend/current-prices.ts";
import { PriceTable, usdOf } from "../../src/insight/spend/price-table.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { describeReal, readData } from "./data.ts";

/** Models of a public collection of prices that have none here, and why. */
const OMITTED: readonly (readonly [name: RegExp, why: string])[] = [
  [
    /audio|realtime|live|tts|omni/,
    "what is heard and said costs otherwise, and usage does not say how much of it there was",
  ],
  [/^gemini-(?:flash|flash-lite|pro)-latest$/, "the name moves from model to model"],
  [/^gemini-exp-|robotics/, "an experiment, or for robots"],
];
/** Prices that two sellers of one model ask for; here stands its maker's own. */
const ELSEWHERE = ["gemini-2.0-flash-001"];

describeReal("the prices that ship", () => {
  let listed: ({ name: string } & Record<string, unknown>)[] = [];
  // A suite's own body is run where it is skipped too, without the data.
  beforeAll(() => {
    const { models } = asObject(parseJson(readData("prices/model_prices.json")));
    listed = Object.entries(asObject(models))
      .map(([name, price]) => ({ name, ...asObject(price) }) as { name: string } & Record<string, unknown>)
      .filter(({ mode }) => mode === "chat" || mode === "responses");
  });
  const table = new PriceTable(shippedPrices());
  const none = { input: 0, output: 0, cacheWrite: 0, cacheWrite1h: 0, cacheRead: 0 };
  /** When the collection was read: prices that changed since differ by right. */
  const day = Date.parse("2026-07-24") / DAY_MS;
  const dollars = (name: string, kind: keyof typeof none) => {
    const cost = table.cost(name, day, 0, { ...none, [kind]: 1_000_000 });
    return cost === undefined ? undefined : usdOf(cost);
  };

  it("know every chat model of the three providers in a public collection, except those listed", () => {
    const unpriced = listed.map(({ name }) => name).filter((name) => dollars(name, "input") === undefined);
    expect(unpriced.filter((name) => !OMITTED.some(([pattern]) => pattern.test(name)))).toEqual([]);
    // Every listed omission must still be missing.
    for (const [pattern] of OMITTED)
      expect(
        unpriced.some((name) => pattern.test(name)),
        String(pattern),
      ).toBe(true);
    expect(listed.length - unpriced.length).toBeGreaterThan(90);
  });

  it("are those of the collection for input, output and reading from a cache", () => {
    const kinds = [
      ["input", "input_cost_per_token"],
      ["output", "output_cost_per_token"],
      ["cacheRead", "cache_read_input_token_cost"],
    ] as const;
    const different = listed.flatMap((model) =>
      kinds
        .map(([kind, member]) => [model.name, kind, dollars(model.name, kind), model[member]] as const)
        .filter(
          ([, , ours, theirs]) =>
            ours !== undefined && typeof theirs === "number" && Math.abs(ours - theirs * 1e6) > 1e-6,
        ),
    );
    expect(different.filter(([name]) => !ELSEWHERE.includes(name))).toEqual([]);
  });
});
