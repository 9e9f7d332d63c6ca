import { DAY_MS } from "../kit/clock.ts";
import { sha256 } from "../kit/hash.ts";
import type { Usage } from "../traces/traces.ts";
import { contextClass } from "./context.ts";

/** Where a usage is counted; `''` is what nobody told. */
export interface Place {
  readonly teamId: string;
  /** Days since the epoch, UTC. */
  readonly day: number;
  readonly repoKey: string;
  readonly branch: string;
  readonly model: string;
  readonly deviceId: string;
  readonly session: string;
  /** See `contextClass`. */
  readonly context: number;
}

/** What is added up. All are whole numbers, so that sums are exact in whatever order they are made. */
export interface Figures {
  readonly usages: number;
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly cacheRead: number;
  /** Billionths of a dollar. */
  readonly reportedNano: number;
  /** Of how many usages the cost was reported. */
  readonly reported: number;
}

export const FIGURES = [
  "usages",
  "input",
  "output",
  "cacheWrite",
  "cacheWrite1h",
  "cacheRead",
  "reportedNano",
  "reported",
] as const satisfies readonly (keyof Figures)[];

export const NOTHING: Figures = Object.freeze({
  usages: 0,
  input: 0,
  output: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  cacheRead: 0,
  reportedNano: 0,
  reported: 0,
});

/** One telling of a usage: what tells apart, where it would be counted and how much it is. */
export interface Told {
  readonly teamId: string;
  readonly key: Buffer;
  /** Null: nothing to count; it only says that a session's entries tell of usage or cost. */
  readonly place: Place | null;
  readonly figures: Figures;
}

/** Where something was told, and when, before it is known how much it is. */
export interface Origin {
  readonly teamId: string;
  readonly deviceId: string;
  readonly repoKey: string;
  readonly session: string;
  readonly branch: string;
  readonly model: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const BY_MESSAGE = 1;
const BY_TIMES = 2;
const KEY_BYTES = 16;

function keyOf(kind: number, ...parts: readonly (string | number)[]): Buffer {
  const key = sha256(JSON.stringify(parts)).subarray(0, KEY_BYTES);
  key[0] = kind;
  return key;
}

/** Whether a usage is known by its provider's id. */
export const isMessage = (key: Buffer): boolean => key[0] === BY_MESSAGE;

export const ownUsageKey = (deviceId: string, session: string) => keyOf(BY_TIMES, "own-usage", deviceId, session);
export const ownCostKey = (deviceId: string, session: string) => keyOf(BY_TIMES, "own-cost", deviceId, session);

const nano = (usd: number) => Math.round(usd * 1e9);

/** A usage with what it was said to cost; undefined when it tells of no tokens and no cost. */
export function tellUsage(origin: Origin, usage: Usage, costUsd: number | null): Told | undefined {
  const { id, context, ...told } = usage;
  const [input = 0, output = 0, cacheWrite = 0, cacheWrite1h = 0, cacheRead = 0] = [
    told.input ?? 0,
    told.output ?? 0,
    told.cacheWrite ?? 0,
    told.cacheWrite1h ?? 0,
    told.cacheRead ?? 0,
  ];
  const tokens = { input, output, cacheWrite, cacheWrite1h, cacheRead };
  if (costUsd === null && Object.values(tokens).every((one) => one === 0)) return undefined;
  const { teamId, deviceId, session } = origin;
  const key =
    id === null
      ? keyOf(BY_TIMES, "figures", deviceId, session, ...Object.values(tokens))
      : keyOf(BY_MESSAGE, "message", id);
  const reported = costUsd === null ? {} : { reportedNano: nano(costUsd), reported: 1 };
  const figures = { ...NOTHING, usages: 1, ...tokens, ...reported };
  return { teamId, key, place: placeOf(origin, contextClass(context)), figures };
}

/** A cost without a usage. */
export function tellCost(origin: Origin, costUsd: number, key?: Buffer): Told {
  const reportedNano = nano(costUsd);
  return {
    teamId: origin.teamId,
    key: key ?? keyOf(BY_TIMES, "cost", origin.deviceId, origin.session, reportedNano),
    place: placeOf(origin, 0),
    figures: { ...NOTHING, reportedNano, reported: 1 },
  };
}

function placeOf({ at, ...origin }: Origin, context: number): Place {
  const { teamId, repoKey, branch, model, deviceId, session } = origin;
  return { teamId, day: Math.floor(at / DAY_MS), repoKey, branch, model, deviceId, session, context };
}
