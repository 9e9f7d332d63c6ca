import type { PriceFile } from "./price-file.ts";

/**
 * List prices of model providers in US dollars per million tokens, for use on demand in the standard tier: no batch, priority
 * or regional terms, no negotiated discount. Written down from the providers' public price lists
 * (https://docs.claude.com/en/docs/about-claude/pricing, https://openai.com/api/pricing, https://ai.google.dev/pricing) and
 * compared with two public collections of them; `date` is when that was. Written as `prices.json` of a data directory is.
 *
 * `above` holds what a request of more tokens than its name costs, all of it. `cacheWrite` is for five minutes, `cacheWrite1h`
 * for an hour. Where caching has no price of its own, the tokens cost what input does.
 */
const claude = (input: number, output: number) => ({
  input,
  output,
  cacheWrite: exact(input * 1.25),
  cacheWrite1h: exact(input * 2),
  cacheRead: exact(input * 0.1),
});
/** OpenAI and Google: reading from the cache costs a share of input, writing nothing more than input. */
const plain = (input: number, output: number, cacheRead?: number) => ({
  input,
  output,
  ...(cacheRead === undefined ? {} : { cacheRead }),
});
/** OpenAI since GPT-5.6: writing to the cache costs 1.25 of input; above 272,000 tokens input and cache cost twice as much, output 1.5 times. */
const gpt = (input: number, output: number, cacheRead: number) => ({
  ...plain(input, output, cacheRead),
  cacheWrite: exact(input * 1.25),
  above: {
    272000: { ...plain(2 * input, exact(1.5 * output), 2 * cacheRead), cacheWrite: exact(input * 2.5) },
  },
});
/** Prices have six decimals at most; products of them must not carry what binary fractions leave behind. */
const exact = (usd: number) => Number(usd.toFixed(6));

const sonnetOfTwoSizes = { ...claude(3, 15), above: { 200000: claude(6, 22.5) } };
const googlePro = { ...plain(2, 12, 0.2), above: { 200000: plain(4, 18, 0.4) } };

/** Offered at half its price until the end of 2026. */
const flash = plain(1.5, 7.5, 0.15);
const halfFlash = plain(0.75, 3.75, 0.075);

export const SHIPPED_PRICES: PriceFile = {
  date: "2026-11-06",
  models: {
    "claude-3-haiku": { ...claude(0.25, 1.25), cacheWrite: 0.3, cacheRead: 0.03 },
    "claude-3-opus": claude(15, 75),
    "claude-3-5-haiku": { ...claude(0.8, 4), aliases: ["claude-3.5-haiku"] },
    "claude-3-5-sonnet": { ...claude(3, 15), aliases: ["claude-3.5-sonnet"] },
    "claude-3-7-sonnet": { ...claude(3, 15), aliases: ["claude-3.7-sonnet"] },
    "claude-haiku-4-5": { ...claude(1, 5), aliases: ["claude-4.5-haiku"] },
    "claude-sonnet-4": { ...sonnetOfTwoSizes, aliases: ["claude-sonnet-4-0", "claude-4-sonnet"] },
    "claude-sonnet-4-5": { ...sonnetOfTwoSizes, aliases: ["claude-4.5-sonnet"] },
    "claude-sonnet-4-6": { ...claude(3, 15), aliases: ["claude-4.6-sonnet"] },
    "claude-opus-4": { ...claude(15, 75), aliases: ["claude-opus-4-0", "claude-4-opus"] },
    "claude-opus-4-1": { ...claude(15, 75), aliases: ["claude-4.1-opus"] },
    "claude-opus-4-5": { ...claude(5, 25), aliases: ["claude-4.5-opus"] },
    "claude-opus-4-6": { ...claude(5, 25), aliases: ["claude-4.6-opus"] },
    "claude-opus-4-6-fast": claude(30, 150),
    "claude-opus-4-7": { ...claude(5, 25), aliases: ["claude-4.7-opus"] },
    "claude-opus-4-7-fast": claude(30, 150),
    "claude-opus-4-8": claude(5, 25),
    "claude-opus-4-8-fast": claude(10, 50),
    "claude-opus-5": claude(5, 25),
    "claude-opus-5-5": { ...claude(4, 20), cacheRead: 0.2 },
    "claude-sonnet-5": claude(2, 10),
    "claude-sonnet-5-5": [claude(2, 10), { from: "2026-10-07", ...claude(2, 10), cacheRead: 0.1 }],
    "claude-haiku-5-5": { ...claude(0.1, 0.5), above: { 100000: claude(0.5, 2.5) } },
    "claude-fable-5": claude(10, 50),
    "claude-fable-5-1": { ...claude(10, 50), cacheRead: 0.25 },
    "claude-mythos-5": claude(10, 50),
    "claude-mythos-5-1": { ...claude(10, 50), cacheRead: 0.25 },

    // Releases named by month and day have prices of their own: no name is found without such a date.
    "gpt-3.5-turbo": { ...plain(0.5, 1.5), aliases: ["gpt-3.5-turbo-0125"] },
    "gpt-3.5-turbo-1106": plain(1, 2),
    "gpt-3.5-turbo-16k": plain(3, 4),
    "gpt-4": { ...plain(30, 60), aliases: ["gpt-4-0314", "gpt-4-0613"] },
    "gpt-4-turbo": {
      ...plain(10, 30),
      aliases: ["gpt-4-turbo-preview", "gpt-4-1106-preview", "gpt-4-0125-preview"],
    },
    "gpt-4o": plain(2.5, 10, 1.25),
    "gpt-4o-2024-05-13": plain(5, 15),
    "gpt-4o-mini": plain(0.15, 0.6, 0.075),
    // Beside their tokens, searches are charged by the call.
    "gpt-4o-search-preview": plain(2.5, 10, 1.25),
    "gpt-4o-mini-search-preview": plain(0.15, 0.6, 0.075),
    "gpt-4.1": plain(2, 8, 0.5),
    "gpt-4.1-mini": plain(0.4, 1.6, 0.1),
    "gpt-4.1-nano": plain(0.1, 0.4, 0.025),
    o1: plain(15, 60, 7.5),
    "o1-pro": plain(150, 600),
    o3: [plain(10, 40, 2.5), { from: "2025-06-10", ...plain(2, 8, 0.5) }],
    "o3-mini": plain(1.1, 4.4, 0.55),
    "o3-pro": plain(20, 80),
    "o3-deep-research": plain(10, 40, 2.5),
    "o4-mini": plain(1.1, 4.4, 0.275),
    "o4-mini-deep-research": plain(2, 8, 0.5),
    "gpt-5": { ...plain(1.25, 10, 0.125), aliases: ["gpt-5-chat", "gpt-5-codex"] },
    "gpt-5-mini": plain(0.25, 2, 0.025),
    "gpt-5-nano": plain(0.05, 0.4, 0.005),
    "gpt-5-pro": plain(15, 120),
    "gpt-5-search-api": plain(1.25, 10, 0.125),
    "gpt-5.1": { ...plain(1.25, 10, 0.125), aliases: ["gpt-5.1-chat", "gpt-5.1-codex", "gpt-5.1-codex-max"] },
    "gpt-5.1-codex-mini": plain(0.25, 2, 0.025),
    "gpt-5.2": { ...plain(1.75, 14, 0.175), aliases: ["gpt-5.2-chat", "gpt-5.2-codex"] },
    "gpt-5.2-pro": plain(21, 168),
    "gpt-5.3-codex": { ...plain(1.75, 14, 0.175), aliases: ["gpt-5.3-chat"] },
    "gpt-5.4": { ...plain(2.5, 15, 0.25), above: { 272000: plain(5, 22.5, 0.5) } },
    "gpt-5.4-mini": plain(0.75, 4.5, 0.075),
    "gpt-5.4-nano": plain(0.2, 1.25, 0.02),
    "gpt-5.4-pro": { ...plain(30, 180, 3), above: { 272000: plain(60, 270, 6) } },
    "gpt-5.5": { ...plain(5, 30, 0.5), above: { 272000: plain(10, 45, 1) } },
    "gpt-5.5-pro": { ...plain(30, 180, 3), above: { 272000: plain(60, 270, 6) } },
    // The lower price is said to hold until 2026-11-21 at least; what follows it is not published.
    "gpt-5.6": [
      { ...gpt(5, 30, 0.5), aliases: ["gpt-5.6-sol"] },
      { from: "2026-08-21", ...gpt(4, 20, 0.4) },
    ],
    "gpt-5.6-terra": [gpt(2.5, 15, 0.25), { from: "2026-07-30", ...gpt(2, 12, 0.2) }],
    "gpt-5.6-luna": [gpt(1, 6, 0.1), { from: "2026-07-30", ...gpt(0.2, 1.2, 0.02) }],
    "gpt-6-astra": gpt(10, 50, 1),
    "gpt-6-sol": gpt(2, 10, 0.2),
    "gpt-6-luna": gpt(0.1, 0.5, 0.01),
    "gpt-6.1-sol": gpt(2, 10, 0.1),
    "gpt-6.1-terra": gpt(1, 5, 0.05),

    "gemini-2.0-flash": plain(0.1, 0.4, 0.025),
    "gemini-2.0-flash-lite": plain(0.075, 0.3, 0.01875),
    "gemini-2.5-pro": { ...plain(1.25, 10, 0.125), above: { 200000: plain(2.5, 15, 0.25) } },
    "gemini-2.5-computer-use-preview-10-2025": { ...plain(1.25, 10), above: { 200000: plain(2.5, 15) } },
    "gemini-2.5-flash": plain(0.3, 2.5, 0.03),
    "gemini-2.5-flash-preview-09-2025": plain(0.3, 2.5, 0.075),
    "gemini-2.5-flash-lite": { ...plain(0.1, 0.4, 0.01), aliases: ["gemini-2.5-flash-lite-preview-09-2025"] },
    "gemini-2.5-flash-lite-preview-06-17": plain(0.1, 0.4, 0.025),
    "gemini-3-pro-preview": { ...googlePro, aliases: ["gemini-3-pro"] },
    "gemini-3.1-pro-preview": { ...googlePro, aliases: ["gemini-3.1-pro", "gemini-3.1-pro-preview-customtools"] },
    "gemini-3-flash-preview": { ...plain(0.5, 3, 0.05), aliases: ["gemini-3-flash"] },
    "gemini-3.1-flash-lite": { ...plain(0.25, 1.5, 0.025), aliases: ["gemini-3.1-flash-lite-preview"] },
    "gemini-3.5-flash": plain(1.5, 9, 0.15),
    "gemini-3.5-flash-lite": plain(0.3, 2.5, 0.03),
    "gemini-3.6-flash": [flash, { from: "2026-09-02", ...halfFlash }, { from: "2027-01-01", ...flash }],
    "gemini-3.7-flash": [
      { from: "2026-09-02", ...halfFlash },
      { from: "2027-01-01", ...flash },
    ],
    "gemini-3.8-flash": [halfFlash, { from: "2027-01-01", ...flash }],
    "gemini-4-argon": [plain(2, 10, 0.1), { from: "2026-12-01", ...plain(4, 20, 0.2) }],
  },
};
