import type { Usage } from "../../formats/usage.ts";
import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { contextTier } from "./context-tier.ts";
import { measuresKey, messageKey, requestKey } from "./dedupe-key.ts";
import { type Dimensions, type Measures, NO_MEASURES, type Tokens, type UsageRecord } from "./usage-record.ts";

/** Where and when something was reported, before it is known how much it is. */
export interface Origin extends Omit<Dimensions, "day" | "context" | "otlp"> {
  readonly source: number;
  /** Whether it was exported over OTLP. */
  readonly isOtlp: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * When something was used: the first of some times that lies no more than a day after the last of it arrived. A later one is of a clock that is
 * ahead, and would hide the cost until then.
 * @param times null where none was said
 * @returns `arrivedAt` where no time is believed
 */
export const believedTime = (times: readonly (number | null)[], arrivedAt: number, lastArrivedAt = arrivedAt): number =>
  times.find((time) => time !== null && time <= lastArrivedAt + DAY_MS) ?? arrivedAt;

const nano = (usd: number) => Math.round(usd * 1e9);

/** The tokens of a usage; kinds that nobody told of are 0. */
export const tokensIn = (usage: Usage): Tokens => ({
  input: usage.input ?? 0,
  output: usage.output ?? 0,
  cacheWrite: usage.cacheWrite ?? 0,
  cacheWrite1h: usage.cacheWrite1h ?? 0,
  cacheRead: usage.cacheRead ?? 0,
});

/**
 * A usage with its reported cost, and a link of its two ids where it has both; nothing when it is of no tokens and no cost.
 * @param key of a usage that is known by something else than its ids or measures
 */
export function recordUsage(origin: Origin, usage: Usage, costUsd: number | null, key?: Buffer): UsageRecord[] {
  const tokens = tokensIn(usage);
  if (costUsd === null && Object.values(tokens).every((count) => count === 0)) return [];
  const cost = costUsd === null ? {} : { reportedNano: nano(costUsd), reported: 1 };
  const measures = { ...NO_MEASURES, usages: 1, ...tokens, ...cost };
  const { id, requestId } = usage;
  const otlp = !origin.isOtlp ? 0 : requestId === null ? 1 : 2;
  const record = (recordKey: Buffer) => recordOf(origin, otlp, recordKey, measures, contextTier(usage.context));
  if (key) return [record(key)];
  if (id !== null && requestId !== null)
    return [record(messageKey(id, requestId)), recordMark(origin, requestKey(requestId, id))];
  // Others may tell of the same message by another name. So an exported id equals only other exported ones.
  if (id !== null) return [record(messageKey(otlp ? JSON.stringify(["otlp", id]) : id))];
  return [
    record(requestId === null ? measuresKey({ ...origin, otlp }, origin.source, measures) : requestKey(requestId)),
  ];
}

/** A cost without a usage. */
export function recordCost(origin: Origin, costUsd: number, key?: Buffer): UsageRecord {
  const measures = { ...NO_MEASURES, reportedNano: nano(costUsd), reported: 1 };
  const otlp = Number(origin.isOtlp);
  return recordOf(origin, otlp, key ?? measuresKey({ ...origin, otlp }, origin.source, measures), measures, 0);
}

/** A report of nothing but its key. */
export const recordMark = ({ teamId, source }: Origin, key: Buffer): UsageRecord => ({
  teamId,
  key,
  source,
  dimensions: null,
  measures: NO_MEASURES,
  times: 1,
});

function recordOf(
  { source, at, isOtlp, ...origin }: Origin,
  otlp: number,
  key: Buffer,
  measures: Measures,
  context: number,
): UsageRecord {
  const { teamId } = origin;
  const dimensions = { ...origin, day: dayNumber(at), context, otlp };
  return { teamId, key, source, dimensions, measures, times: 1 };
}
