/**
 * Usage records: what one source reports of one usage, as dimensions, measures, and the key by which other reports of the same
 * usage are found.
 */

/** What usage can be summed by; `''` is what nobody reported. */
export interface Dimensions {
  readonly teamId: string;
  /** Days since the epoch, UTC. */
  readonly day: number;
  readonly repoKey: string;
  readonly branch: string;
  readonly model: string;
  readonly deviceId: string;
  readonly session: string;
  /** See `contextTier`. */
  readonly context: number;
  /**
   * 1 for what an agent exported over OTLP without the request's id: it counts where nobody else tells of the session, see `rollup.ts`.
   * 2 for what it exported with that id: the call stands where somebody else tells of it.
   */
  readonly otlp: number;
}

export const DIMENSIONS = [
  "teamId",
  "day",
  "repoKey",
  "branch",
  "model",
  "deviceId",
  "session",
  "context",
  "otlp",
] as const satisfies readonly (keyof Dimensions)[];

/** What is summed. All are whole numbers, so that sums are exact in whatever order they are made. */
export const MEASURES = [
  /** Model calls, or whole sessions that report no calls. */
  "usages",
  "input",
  "output",
  "cacheWrite",
  "cacheWrite1h",
  "cacheRead",
  /** Billionths of a dollar. */
  "reportedNano",
  /** Of how many usages the cost was reported. */
  "reported",
] as const;
export type Measures = Readonly<Record<(typeof MEASURES)[number], number>>;

/** The tokens among the measures. */
export type Tokens = Pick<Measures, "input" | "output" | "cacheWrite" | "cacheWrite1h" | "cacheRead">;

export const NO_MEASURES: Measures = {
  usages: 0,
  input: 0,
  output: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  cacheRead: 0,
  reportedNano: 0,
  reported: 0,
};

/** The `source` of what telemetry reports; a trace session that reports is its own source, by its id. */
export const TELEMETRY = 0;

/** What one source says of one usage. */
export interface Report {
  readonly source: number;
  /** Null: nothing to sum; it says that a session's entries report usage or cost, or that two ids are one message's. */
  readonly dimensions: Dimensions | null;
  /** Of one time. */
  readonly measures: Measures;
  /** How often the source says so. */
  readonly times: number;
}

/** A report with the key by which other reports of the same usage are found. */
export interface UsageRecord extends Report {
  readonly teamId: string;
  /** See `dedupe-key.ts`. */
  readonly key: Buffer;
}

export type OfSession = Pick<Dimensions, "deviceId" | "session">;

/** What tells sessions of a team apart. */
export const sessionOf = ({ deviceId, session }: OfSession): string => `${deviceId} ${session}`;

export const sameMeasures = (a: Measures, b: Measures): boolean => MEASURES.every((name) => a[name] === b[name]);

/** Sums end here rather than where integers lose their precision; only made-up figures come so far. */
const MAX = Number.MAX_SAFE_INTEGER;

/** `sum` with measures added so many times. */
export function addMeasures(sum: Measures, measures: Measures, times: number): Measures {
  const added = { ...sum };
  for (const name of MEASURES) added[name] = Math.max(-MAX, Math.min(MAX, sum[name] + times * measures[name]));
  return added;
}
