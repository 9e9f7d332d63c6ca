import { DAY_MS } from "../kit/clock.ts";
import { crc32, sha256 } from "../kit/hash.ts";
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
const BY_SESSION = 2;
const BY_LIKENESS = 3;
const KEY_BYTES = 16;
/** Those of a key that usages of equal figures in one session share. Sessions come first: what is told together lies together. */
const LIKENESS_BYTES = 11;
const SESSION_BYTES = 4;
/** The first and the last key of a likeness end so. */
export const LIKENESS_ENDS = [0x00, 0xff].map((byte) => Buffer.alloc(KEY_BYTES - LIKENESS_BYTES, byte));

const digest = (...parts: readonly (string | number)[]): Buffer => sha256(JSON.stringify(parts));
const keyOf = (kind: number, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.of(kind), ...parts], KEY_BYTES);

/** Whether a usage is known by its provider's id. */
export const isMessage = (key: Buffer): boolean => key[0] === BY_MESSAGE;
/** Whether a usage is known by its session and figures alone. */
export const isLike = (key: Buffer): boolean => key[0] === BY_LIKENESS;
export const likenessOf = (key: Buffer): Buffer => key.subarray(0, LIKENESS_BYTES);

export const ownUsageKey = (deviceId: string, session: string) =>
  keyOf(BY_SESSION, digest("own-usage", deviceId, session));
export const ownCostKey = (deviceId: string, session: string) =>
  keyOf(BY_SESSION, digest("own-cost", deviceId, session));

interface OfSession {
  readonly deviceId: string;
  readonly session: string;
}

export const sameSession = (a: OfSession, b: OfSession): boolean =>
  a.session === b.session && a.deviceId === b.deviceId;

/**
 * The key of a usage without an id. How much of what was written to a cache stays for an hour and what it cost is told on one
 * side and not on the other, as is the model's name in full: usages are alike without them.
 */
function likeKey({ deviceId, session }: OfSession, figures: Figures, variant: Buffer): Buffer {
  const { usages, input, output, cacheWrite, cacheWrite1h, cacheRead, reportedNano } = figures;
  const alike = usages === 0 ? ["cost", reportedNano] : [input, output, cacheWrite + cacheWrite1h, cacheRead];
  const key = Buffer.alloc(KEY_BYTES);
  key[0] = BY_LIKENESS;
  key.writeUInt32BE(crc32(`${deviceId} ${session}`), 1);
  digest(deviceId, session, ...alike).copy(key, 1 + SESSION_BYTES, 0, LIKENESS_BYTES - 1 - SESSION_BYTES);
  variant.copy(key, LIKENESS_BYTES);
  return key;
}

/** The key of what usages without an id have to know of a message that was told in a session with these figures. */
export const witnessKey = (message: Buffer, of: OfSession, figures: Figures): Buffer =>
  likeKey(of, figures, message.subarray(1));

const tellingKey = (of: OfSession, figures: Figures): Buffer =>
  likeKey(of, figures, digest(figures.cacheWrite1h, figures.reported, figures.reportedNano));

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
  const reported = costUsd === null ? {} : { reportedNano: nano(costUsd), reported: 1 };
  const figures = { ...NOTHING, usages: 1, ...tokens, ...reported };
  const key = id === null ? tellingKey(origin, figures) : keyOf(BY_MESSAGE, digest("message", id));
  return { teamId: origin.teamId, key, place: placeOf(origin, contextClass(context)), figures };
}

/** A cost without a usage. */
export function tellCost(origin: Origin, costUsd: number, key?: Buffer): Told {
  const figures = { ...NOTHING, reportedNano: nano(costUsd), reported: 1 };
  return { teamId: origin.teamId, key: key ?? tellingKey(origin, figures), place: placeOf(origin, 0), figures };
}

function placeOf({ at, ...origin }: Origin, context: number): Place {
  const { teamId, repoKey, branch, model, deviceId, session } = origin;
  return { teamId, day: Math.floor(at / DAY_MS), repoKey, branch, model, deviceId, session, context };
}
