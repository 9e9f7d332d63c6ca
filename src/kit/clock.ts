/**
 * Time, as a value that is handed in. Everything that expires reads `now`; everything that paces (buckets, polls) reads
 * `monotonic`, which never goes back when an operator or NTP moves the wall clock.
 */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since an arbitrary start; never decreases. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Numbers below a thousand in three digits. */
const DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, "0"));

/** The minute that was formatted last, as text without seconds: instants formatted one after another mostly share it. */
let last = { minute: Number.NaN, text: "" };

/**
 * An instant as RFC 3339 text in UTC with milliseconds, e.g. `2026-11-21T08:00:00.000Z`.
 * @throws RangeError where there is no such instant
 */
export function isoInstant(epochMs: number): string {
  const whole = Math.trunc(epochMs);
  const minute = Math.floor(whole / MINUTE_MS);
  if (minute !== last.minute) {
    const text = new Date(minute * MINUTE_MS).toISOString().slice(0, -"00.000Z".length);
    last = { minute, text };
  }
  const rest = whole - minute * MINUTE_MS;
  const seconds = DIGITS[Math.floor(rest / SECOND_MS)] as string;
  return `${last.text}${seconds.slice(1)}.${DIGITS[rest % SECOND_MS]}Z`;
}

/** The day of an instant in UTC as RFC 3339 text, e.g. `2026-11-21`. @throws RangeError where there is no such instant */
export const isoDate = (epochMs: number): string => isoInstant(epochMs).slice(0, 10);

/** The day of an instant in UTC, counted from the Unix epoch. */
export const dayNumber = (epochMs: number): number => Math.floor(epochMs / DAY_MS);

/** The day with a `dayNumber`, as RFC 3339 text. @throws RangeError when there is no such day */
export const dateOfDay = (day: number): string => isoDate(day * DAY_MS);

/** An instant as RFC 3339 text; null when it has not happened. */
export const instantOrNull = (epochMs: number | null): string | null => (epochMs === null ? null : isoInstant(epochMs));

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Reads a span such as `90s`, `15m`, `12h` or `90d`.
 * @returns milliseconds, or undefined when the text is not a span.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d{1,6})\s*(s|m|h|d)$/.exec(text.trim());
  if (!match) return undefined;
  const unit = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }[match[2] as "s" | "m" | "h" | "d"];
  return Number(match[1]) * unit;
}
