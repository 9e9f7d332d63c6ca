import type { Usage } from "../../formats/usage.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { crc32, sha256 } from "../../kit/hash.ts";
import { contextClass } from "./context-tier.ts";

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
  /** Null: nothing to count; it says that a session's entries tell of usage or cost, or that two ids are of one message. */
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
const BY_REQUEST = 4;
const KEY_BYTES = 16;
/** Those of a key that usages of equal figures in one session share. Sessions come first: what is told together lies together. */
const LIKENESS_BYTES = 11;
const SESSION_BYTES = 4;
/** The first and the last key of a likeness end so. */
export const LIKENESS_ENDS = [0x00, 0xff].map((byte) => Buffer.alloc(KEY_BYTES - LIKENESS_BYTES, byte));

const digest = (...parts: readonly (string | number)[]): Buffer => sha256(JSON.stringify(parts));
const keyOf = (kind: number, ...parts: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.of(kind), ...parts], KEY_BYTES);

const named = (kind: number, id: Buffer): Buffer => Buffer.concat([Buffer.of(kind), id]);
/** Keys that begin so lie between it and this. */
export const endOf = (beginning: Buffer): Buffer => Buffer.concat([beginning, HIGHEST]);
const HIGHEST = Buffer.alloc(KEY_BYTES, 0xff);

/**
 * A message is told by its own id, by that of its request, or by both. A usage told with both has the key of the message with the
 * request's behind it, and beside it there is a link: the key of the request with the message's behind it.
 */
export const isLink = (key: Buffer): boolean => key[0] === BY_REQUEST && key.length > KEY_BYTES;
/** Whether a usage is known by an id of its provider's. */
export const isMessage = (key: Buffer): boolean => key[0] === BY_MESSAGE || (key[0] === BY_REQUEST && !isLink(key));
/** Whether a usage is known by its session and figures alone. */
export const isLike = (key: Buffer): boolean => key[0] === BY_LIKENESS;
export const likenessOf = (key: Buffer): Buffer => key.subarray(0, LIKENESS_BYTES);

/** The key of the message that a key names; undefined for that of a request alone. */
export function messageOf(key: Buffer): Buffer | undefined {
  if (key[0] === BY_MESSAGE) return key.subarray(0, KEY_BYTES);
  return isLink(key) ? named(BY_MESSAGE, key.subarray(KEY_BYTES)) : undefined;
}

/** The key of the request that a key names; undefined for that of a message alone. */
export function requestOf(key: Buffer): Buffer | undefined {
  if (key[0] === BY_REQUEST) return key.subarray(0, KEY_BYTES);
  return key.length > KEY_BYTES ? named(BY_REQUEST, key.subarray(KEY_BYTES)) : undefined;
}

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

const variantOf = ({ cacheWrite1h, reported, reportedNano }: Figures): Buffer =>
  cacheWrite1h === 0 && reported === 0 ? PLAIN : digest(cacheWrite1h, reported, reportedNano);
/** The variant of nearly all. */
const PLAIN = digest(0, 0, 0);

const tellingKey = (of: OfSession, figures: Figures): Buffer => likeKey(of, figures, variantOf(figures));

/**
 * The key of what usages without an id have to know of messages that were told in a session with these figures.
 * @param counted the figures by which it is counted there, if it is
 */
export const witnessKey = (of: OfSession, figures: Figures, counted: Figures): Buffer =>
  likeKey(of, figures, variantOf(counted));

const nano = (usd: number) => Math.round(usd * 1e9);

/** A usage with what it was said to cost, and the link of its two ids where it has both; nothing when it tells of no tokens and no cost. */
export function tellUsage(origin: Origin, usage: Usage, costUsd: number | null): Told[] {
  const { id, requestId, context, ...told } = usage;
  const [input = 0, output = 0, cacheWrite = 0, cacheWrite1h = 0, cacheRead = 0] = [
    told.input ?? 0,
    told.output ?? 0,
    told.cacheWrite ?? 0,
    told.cacheWrite1h ?? 0,
    told.cacheRead ?? 0,
  ];
  const tokens = { input, output, cacheWrite, cacheWrite1h, cacheRead };
  if (costUsd === null && Object.values(tokens).every((one) => one === 0)) return [];
  const reported = costUsd === null ? {} : { reportedNano: nano(costUsd), reported: 1 };
  const figures = { ...NOTHING, usages: 1, ...tokens, ...reported };
  const { teamId } = origin;
  const place = placeOf(origin, contextClass(context));
  const message = id === null ? undefined : keyOf(BY_MESSAGE, digest("message", id));
  const request = requestId === null ? undefined : keyOf(BY_REQUEST, digest("request", requestId));
  if (message && request)
    return [
      { teamId, key: Buffer.concat([message, request.subarray(1)]), place, figures },
      { teamId, key: Buffer.concat([request, message.subarray(1)]), place: null, figures: NOTHING },
    ];
  return [{ teamId, key: message ?? request ?? tellingKey(origin, figures), place, figures }];
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
