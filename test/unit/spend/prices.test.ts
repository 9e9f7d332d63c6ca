import { mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { comparePrices } from "../../../build/prices.ts";
import { contextTier } from "../../../src/insight/spend/context-tier.ts";
import { shippedPrices } from "../../../src/insight/spend/current-prices.ts";
import { namesOf } from "../../../src/insight/spend/model-names.ts";
import { readPriceFile } from "../../../src/insight/spend/price-file.ts";
import { PriceTable, usdOf } from "../../../src/insight/spend/price-table.ts";
import { currentPrices } from "../../../src/insight/spend/spend.ts";
import { isWindows } from "../../../src/kit/files.ts";
import { startInstance } from "../../support/instance.ts";

const none = { input: 0, output: 0, cacheWrite: 0, cacheWrite1h: 0, cacheRead: 0 };
const day = (text: string) => Date.parse(text) / 86_400_000;
const TODAY = day("2026-11-21");
const million = { input: 1_000_000, output: 0, cacheWrite: 0, cacheWrite1h: 0, cacheRead: 0 };

/** Dollars for a million tokens of each kind. */
function perMillion(table: PriceTable, model: string, context = 0, at = TODAY) {
  return Object.keys(none).map((kind) => {
    const cost = table.cost(model, at, context, { ...none, [kind]: 1_000_000 });
    return cost === undefined ? null : usdOf(cost);
  });
}

describe("the prices that ship", () => {
  const table = new PriceTable(shippedPrices());

  it("pass the check for a data directory's own prices", () => {
    expect(readPriceFile(JSON.stringify(shippedPrices())).date).toBe(shippedPrices().date);
  });

  it("match the providers' lists: input, output, cache writes for five minutes and an hour, and cache reads", () => {
    expect(perMillion(table, "claude-opus-4-6")).toEqual([5, 25, 6.25, 10, 0.5]);
    expect(perMillion(table, "claude-sonnet-4-5", 200_000)).toEqual([6, 22.5, 7.5, 12, 0.6]);
    expect(perMillion(table, "claude-haiku-4-5")).toEqual([1, 5, 1.25, 2, 0.1]);
    expect(perMillion(table, "gpt-5.4")).toEqual([2.5, 15, 2.5, 2.5, 0.25]);
    expect(perMillion(table, "gpt-5.4", 272_000)).toEqual([5, 22.5, 5, 5, 0.5]);
    expect(perMillion(table, "gemini-2.5-pro", 256_000)).toEqual([2.5, 15, 2.5, 2.5, 0.25]);
    expect(perMillion(table, "gemini-2.0-flash-lite")).toEqual([0.075, 0.3, 0.075, 0.075, 0.01875]);
  });

  it("change on the day they changed", () => {
    expect(perMillion(table, "o3", 0, day("2025-06-09"))[0]).toBe(10);
    expect(perMillion(table, "o3", 0, day("2025-06-10"))[0]).toBe(2);
    expect(table.changes).toContain(day("2025-06-10"));
    expect(perMillion(table, "claude-sonnet-5-5", 0, day("2026-10-06"))).toEqual([2, 10, 2.5, 4, 0.2]);
    expect(perMillion(table, "claude-sonnet-5-5", 0, day("2026-10-07"))).toEqual([2, 10, 2.5, 4, 0.1]);
    expect(perMillion(table, "gpt-5.6-sol", 0, day("2026-08-20"))).toEqual([5, 30, 6.25, 6.25, 0.5]);
    expect(perMillion(table, "gpt-5.6", 272_000, day("2026-08-21"))).toEqual([8, 30, 10, 10, 0.8]);
    expect(perMillion(table, "gemini-4-argon", 0, day("2026-12-01"))).toEqual([4, 20, 4, 4, 0.2]);
  });

  it("know the models of autumn 2026, and price a long request to the small one as its provider does", () => {
    expect(perMillion(table, "claude-opus-5-5")).toEqual([4, 20, 5, 8, 0.2]);
    expect(perMillion(table, "claude-opus-5-5[1m]", 272_000)).toEqual([4, 20, 5, 8, 0.2]);
    expect(perMillion(table, "claude-fable-5-1")).toEqual([10, 50, 12.5, 20, 0.25]);
    expect(perMillion(table, "claude-haiku-5-5", contextTier(100_000))).toEqual([0.1, 0.5, 0.125, 0.2, 0.01]);
    expect(perMillion(table, "claude-haiku-5-5", contextTier(100_001))).toEqual([0.5, 2.5, 0.625, 1, 0.05]);
    expect(perMillion(table, "gpt-6.1-terra", 272_000)).toEqual([2, 7.5, 2.5, 2.5, 0.1]);
    expect(perMillion(table, "gpt-6-luna")).toEqual([0.1, 0.5, 0.125, 0.125, 0.01]);
  });

  it("are compared with a public collection: missing models, and differences of that day", () => {
    const listed = (more: object) => ({ mode: "chat", litellm_provider: "openai", ...more });
    const collection = {
      "gpt-9-omega": listed({ input_cost_per_token: 3e-6, output_cost_per_token: 9e-6 }),
      "gpt-6-sol": listed({ input_cost_per_token: 2e-6, output_cost_per_token: 1.1e-5 }),
      "gpt-5.6": listed({ input_cost_per_token: 4e-6 }),
      "text-embedding": { ...listed({ input_cost_per_token: 1e-6 }), mode: "embedding" },
      "grok-9": { ...listed({ input_cost_per_token: 1e-6 }), litellm_provider: "xai" },
    };
    expect(comparePrices(collection, TODAY)).toEqual({
      compared: 3,
      differences: [
        { model: "gpt-9-omega", kind: "input", ours: undefined, theirs: 3 },
        { model: "gpt-6-sol", kind: "output", ours: 10, theirs: 11 },
      ],
    });
    expect(comparePrices(collection, day("2026-08-20")).differences).toContainEqual({
      ...{ model: "gpt-5.6", kind: "input", ours: 5, theirs: 4 },
    });
  });

  it.each([
    ["anthropic/claude-sonnet-4.5", 3],
    ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", 3],
    ["openrouter/anthropic/claude-opus-4.6", 5],
    ["claude-opus-4-6[1m]", 5],
    ["claude-opus-4-5@20251101", 5],
    ["Claude-Haiku-4-5-20251001", 1],
    ["claude-3-5-haiku-latest", 0.8],
    ["claude-4.5-sonnet", 3],
    ["models/gemini-2.5-pro", 1.25],
    ["publishers/google/models/gemini-2.0-flash-001", 0.1],
    ["gpt-5-2025-08-07", 1.25],
    ["gpt-5.1-codex-max", 1.25],
    ["openai/gpt-4o", 2.5],
    // A release with its own price uses that.
    ["gpt-4o-2024-05-13", 5],
    ["gpt-3.5-turbo-0125", 0.5],
    ["gpt-3.5-turbo-1106", 1],
    ["gpt-4-0613", 30],
    ["gpt-4-1106-preview", 10],
    ["o3-deep-research-2025-06-26", 10],
    ["o4-mini-deep-research", 2],
    ["gemini-2.5-flash-lite-preview-09-2025", 0.1],
  ])("are found for %s", (model, input) => {
    expect(perMillion(table, model)[0]).toBe(input);
  });

  it.each([
    "",
    "claude",
    "claude-opus",
    "gpt-5.4-turbo",
    "my/claude-opus-4-6",
    "claude-opus-4-6-mini",
    "gpt-5-2025",
    "<synthetic>",
  ])("are not guessed for '%s'", (model) => {
    expect(table.cost(model, TODAY, 0, million)).toBeUndefined();
  });

  it("are looked up by names in a fixed order", () => {
    expect(namesOf("us.anthropic.claude-opus-4.5-20251101-v1:0")).toEqual([
      "us.anthropic.claude-opus-4.5-20251101-v1:0",
      "claude-opus-4.5-20251101-v1:0",
      "claude-opus-4.5-20251101",
      "claude-opus-4-5-20251101",
      "claude-opus-4-5",
    ]);
  });
});

describe("a data directory's own prices", () => {
  const good = {
    date: "2026-11-01",
    models: {
      "own-model": { input: 1, output: 2, aliases: ["own"], above: { "128000": { input: 3, output: 4 } } },
      "claude-opus-4-6": { input: 4, output: 20 },
    },
  };

  it("replace what ships model by model, and are read anew when the file changes", async () => {
    const t = await startInstance();
    const path = join(t.directory, "prices.json");
    const { core } = t.instance;
    expect(currentPrices(core)).toMatchObject({ overridden: false, problem: null, date: shippedPrices().date });
    expect(currentPrices(core)).toBe(currentPrices(core));
    writeFileSync(path, JSON.stringify(good));
    const { table, ...facts } = currentPrices(core);
    expect(facts).toEqual({ date: "2026-11-01", overridden: true, problem: null });
    expect(perMillion(table, "own")).toEqual([1, 2, 1, 1, 1]);
    expect(perMillion(table, "own-model", 128_000)).toEqual([3, 4, 3, 3, 3]);
    expect(perMillion(table, "claude-opus-4-6-20260205")).toEqual([4, 20, 4, 4, 4]);
    expect(perMillion(table, "gpt-5")[0]).toBe(1.25);
    writeFileSync(path, JSON.stringify({ date: "2026-11-02", models: {} }));
    utimesSync(path, 1, 1);
    expect(currentPrices(core).date).toBe("2026-11-02");
    rmSync(path);
    expect(currentPrices(core).overridden).toBe(false);
  });

  it("reach a model by all its names, and take over names of other models", () => {
    const own = (models: object) =>
      new PriceTable(shippedPrices(), readPriceFile(JSON.stringify({ date: "2026-11-01", models })));
    const price = { input: 7, output: 8, cacheRead: 9 };
    const sonnet = own({ "claude-sonnet-4-5": price });
    for (const name of ["claude-sonnet-4-5", "claude-4.5-sonnet", "anthropic/claude-sonnet-4.5"])
      expect(perMillion(sonnet, name), name).toEqual([7, 8, 7, 7, 9]);
    expect(perMillion(own({ "Claude-Sonnet-4-5": price }), "claude-4.5-sonnet")[0]).toBe(7);
    const named = own({ "claude-4.5-sonnet": price });
    expect([perMillion(named, "claude-4.5-sonnet")[0], perMillion(named, "claude-sonnet-4-5")[0]]).toEqual([7, 3]);
    const gateway = own({ ours: { ...price, aliases: ["gpt-5"] } });
    expect([perMillion(gateway, "gpt-5-2025-08-07")[0], perMillion(gateway, "gpt-5-codex")[0]]).toEqual([7, 1.25]);
  });

  it.skipIf(isWindows)("are not read from a device, or a pipe that nobody may ever write to", async () => {
    const t = await startInstance();
    symlinkSync("/dev/null", join(t.directory, "prices.json"));
    expect(currentPrices(t.instance.core)).toMatchObject({
      ...{ overridden: false, problem: "prices.json is a device or a pipe, not a file" },
    });
  });

  it("are not used while they are wrong, which is reported and logged once", async () => {
    const t = await startInstance();
    const path = join(t.directory, "prices.json");
    const { core } = t.instance;
    writeFileSync(path, JSON.stringify(good));
    expect(currentPrices(core).overridden).toBe(true);
    writeFileSync(path, '{"date":"2026-11-03","models":{"own-model":{"input":1}}}');
    const { table, ...facts } = currentPrices(core);
    expect(facts).toEqual({
      date: "2026-11-01",
      overridden: true,
      problem: 'prices.json["models"]["own-model"]["output"] is missing',
    });
    expect(perMillion(table, "own")[0]).toBe(1);
    currentPrices(core);
    expect(t.log.filter((line) => line.includes("prices_refused"))).toHaveLength(1);
    rmSync(path);
    mkdirSync(path);
    expect(currentPrices(core).problem).toMatch(/^prices\.json /);
  });

  const model = (one: unknown) => ({ date: "2026-11-01", models: { m: one } });
  const price = { input: 1, output: 1 };
  it.each([
    [model({ ...price, input: "1" }), '["models"]["m"]["input"] must be a number of US dollars per million tokens'],
    [model({ ...price, output: -1 }), '["models"]["m"]["output"] must not be negative'],
    [model({ ...price, input: 0.0000001 }), '["models"]["m"]["input"] must have at most six decimals'],
    [model([{ ...price, from: "2026-02-30" }]), '["models"]["m"][0]["from"] must be a date such as 2026-11-21'],
    [model([{ ...price, from: "2026-13-01" }]), '["models"]["m"][0]["from"] must be a date such as 2026-11-21'],
    [
      model({ ...price, above: { "150000": price } }),
      '["models"]["m"]["above"]["150000"] must be one of the sizes that usage is kept by: 100000, 128000, 200000, 256000, 272000',
    ],
    [model({ ...price, cache_read: 1 }), '["models"]["m"]["cache_read"] is not a member that is known'],
    [model([]), '["models"]["m"] must not be empty'],
    [{ models: {} }, '["date"] is missing'],
    [7, 'must be an object with "date" and "models"'],
  ])("are refused, naming the wrong place: %j", (file, says) => {
    expect(() => readPriceFile(JSON.stringify(file))).toThrow(says);
  });

  it("that are invalid JSON are refused as such", () => {
    expect(() => readPriceFile("{")).toThrow(/^is not JSON: /);
  });
});

it("give exact sums: the order of adding makes no difference", () => {
  const table = new PriceTable(shippedPrices());
  const parts = [1, 3, 7, 11, 333_333, 1_000_003].map((input) => ({ ...none, input, cacheRead: input * 3 }));
  const sum = (of: typeof parts) =>
    of.reduce((total, one) => total + (table.cost("gemini-2.0-flash-lite", TODAY, 0, one) ?? 0n), 0n);
  expect(sum(parts)).toBe(sum(parts.toReversed()));
  expect(sum(parts)).toBe(
    table.cost("gemini-2.0-flash-lite", TODAY, 0, { ...none, input: 1_333_358, cacheRead: 4_000_074 }),
  );
});
