import { isoDate, isoInstant } from "../../../kit/clock.ts";
import { type Html, html } from "../../../kit/html.ts";
import { lazy } from "../../../kit/lazy.ts";
import { grouped } from "../../../kit/strings.ts";

const broken = lazy(() => new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 }));
const shortened = lazy(() => new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 }));
const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** A number with grouped thousands, e.g. `12,345`. */
export function number(value: number): string {
  return Number.isSafeInteger(value) ? grouped(value) : broken().format(value);
}

/** A number for where room is short: `12.3k`, `11.9M`, `2B`. SI has a small k and a capital M; the locale's own m is a metre. */
export function compact(value: number): string {
  return shortened()
    .format(value)
    .replace(/[a-z]+$/, (unit) => (unit === "k" ? unit : unit.charAt(0).toUpperCase()));
}

/** A number and its noun: `1 device`, `2 devices`, `3 entries` (with the plural handed in). */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** A size in decimal units, e.g. `1.5 MB`. */
export function bytes(value: number): string {
  let unit = 0;
  let size = Math.max(0, value);
  while (size >= 999.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  return `${size >= 100 || unit === 0 ? Math.round(size) : Number(size.toFixed(1))} ${BYTE_UNITS[unit]}`;
}

/** A span of time in at most two units: `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 5 min`, `6 d 1 h`. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < 999.5) return `${Math.round(span)} ms`;
  if (span < 59_950) return `${Number((span / 1_000).toFixed(1))} s`;
  const seconds = Math.round(span / 1_000);
  if (seconds < 3_600) return two(Math.floor(seconds / 60), "min", seconds % 60, "s");
  const minutes = Math.round(seconds / 60);
  if (minutes < 1_440) return two(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

/** The same to its first unit, for columns: `42 min`, `6 h`; minutes below ten keep their seconds. */
export const briefDuration = (ms: number): string =>
  ms >= 600_000 ? duration(ms).split(" ").slice(0, 2).join(" ") : duration(ms);

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${number(large)} ${largeUnit}` : `${number(large)} ${largeUnit} ${small} ${smallUnit}`;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
/** The last instant a Date can hold (ECMA-262, time values), milliseconds since the epoch. Agents send any number. */
const LAST_INSTANT = 8.64e15;

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [31_536_000, "year"],
  [2_592_000, "month"],
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** An instant as people read it: `21 Nov 2026, 08:00 UTC`. */
export function utcText(at: number): string {
  const [date, clock] = isoInstant(at).split("T") as [string, string];
  return `${dayText(date)}, ${clock.slice(0, 5)} UTC`;
}

/** The day of an instant as people read it: `21 Nov 2026`. */
export const dayOf = (at: number): string => dayText(isoDate(at));

/** A day as people read it, from `2026-11-21`: `21 Nov 2026`. */
export function dayText(date: string): string {
  const [year, month, day] = date.split(/(?<=.)-/) as [string, string, string];
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`;
}

/** Whether a number is an instant that can be shown. */
export function isInstant(at: number | null): at is number {
  return at !== null && Math.abs(at) <= LAST_INSTANT;
}

/** A day of the year around today: `21 Nov`. */
export const shortDay = (date: string): string => dayText(date).replace(/ \d{4}$/, "");

/** How far an instant lies from now: `just now`, `3 minutes ago`, `in 2 days`. */
export function agoText(at: number, now: number): string {
  const seconds = Math.abs(now - at) / 1_000;
  for (const [size, unit] of STEPS)
    if (seconds >= size) {
      const span = plural(Math.floor(seconds / size), unit);
      return at <= now ? `${span} ago` : `in ${span}`;
    }
  return at <= now ? "just now" : "in under a minute";
}

const missing = (none: string) => html`<span class="none">${none}</span>`;

/**
 * An instant in full, in UTC as everything that is shown; the script adds the reader's own time to the title.
 * @param at milliseconds since the epoch, or null for "not known"
 * @param none what stands for null
 */
export function time(at: number | null, now: number, none = "–"): Html {
  if (!isInstant(at)) return missing(none);
  return html`<time datetime="${isoInstant(at)}" title="${isoInstant(at)}, ${agoText(at, now)}">${utcText(at)}</time>`;
}

/** The time of day of an instant, in UTC, where its day stands nearby: `08:00:12`. Parameters as for `time`. */
export function clockTime(at: number | null, now: number): Html {
  if (!isInstant(at)) return missing("–");
  return html`<time datetime="${isoInstant(at)}" title="${isoInstant(at)}, ${agoText(at, now)}">${isoInstant(at).split("T")[1]?.slice(0, 8)}</time>`;
}

/** An instant relative to now; the exact one stands in the title, before it the reader's own time. Parameters as for `time`. */
export function ago(at: number | null, now: number, none = "–"): Html {
  if (!isInstant(at)) return missing(none);
  return html`<time datetime="${isoInstant(at)}" title="${isoInstant(at)}">${agoText(at, now)}</time>`;
}

/**
 * How long something stays valid: `expires in 14 min`, then `expired`. The script ticks it once a second.
 * @param until milliseconds since the epoch
 */
export function countdown(until: number, now: number): Html {
  const left = until - now;
  const text = left <= 0 ? "expired" : `expires in ${coarse(left)}`;
  // Seconds left rather than the instant: the reader's clock may be wrong, ours is what expires things.
  return html`<time class="countdown" datetime="${isoInstant(until)}" title="${isoInstant(until)}" data-left="${Math.max(0, Math.ceil(left / 1_000))}">${text}</time>`;
}

function coarse(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 86_400)} days`;
}
