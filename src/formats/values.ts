/** Reading what others wrote: every function takes anything and answers with what it understood. */
import { DATE_TIME, FIRST_DAY, isDate } from "../kit/date.ts";
import { isObject } from "../kit/json.ts";
import { hasControls } from "../kit/strings.ts";

export { parseJson } from "../kit/json.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** An object's members; none for anything else. */
export function asObject(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

/** The objects of an array; none for anything else. */
export function asObjects(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Elements of a list that could be read; anything but a list has none. */
export function each<T>(value: unknown, read: (element: unknown) => T | undefined): T[] {
  return Array.isArray(value) ? value.map(read).filter((element): element is T => element !== undefined) : [];
}

/** A text that is not empty. */
export function asText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** As `asText`, well formed, for what is stored or shown. */
export const readText = (value: unknown): string | undefined => asText(value)?.toWellFormed();

/** A whole number from 0, as lines are counted. */
export const readCount = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;

/** A whole number above 0; 0 for anything else. */
export function asCount(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** An instant that a date-time of the service takes as well, in its own spelling. */
export function asDateTime(value: unknown): string | undefined {
  return typeof value === "string" &&
    /^\S{10}T.{8}(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(value) &&
    DATE_TIME.test(value)
    ? value
    : undefined;
}

const MAX_ID_CHARS = 256;

/** An id as clients write it: a short string without control characters, or a number. */
export function readId(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS && !hasControls(value)
    ? value
    : undefined;
}

/**
 * An instant as clients write it: ISO 8601 text; a number (or digits) of seconds, milliseconds, microseconds or nanoseconds
 * since the epoch, told apart by magnitude; or OpenTelemetry's HrTime, [seconds, nanoseconds]. Text without an offset is UTC. A day
 * that does not exist is no instant, nor is one that RFC 3339 cannot write, before the year 1 or after 9999.
 * @returns milliseconds since the epoch, or null
 */
export function readInstant(value: unknown): number | null {
  if (Array.isArray(value)) return readHrTime(value);
  if (typeof value === "string" && !/^\d{9,20}$/.test(value)) {
    // Left to itself, Date.parse makes a day of any text with a number in it, and takes an hour without a zone for this machine's.
    if (!isDate(value.slice(0, 10))) return null;
    const isSure = value.length === 10 || ENDS_IN_ZONE.test(value);
    return inCalendar(Date.parse(isSure ? value : value + (HOUR.test(value) ? "Z" : " UTC")));
  }
  const number = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  if (!Number.isFinite(number) || number <= 0) return null;
  const [, scale] = UNITS.find(([below]) => number < below) as [number, number];
  return inCalendar(Math.round(number * scale));
}

const ENDS_IN_ZONE = /(?:[Zz]|[A-Za-z]{3}|[+-]\d\d:?\d\d)\s*$/;
/** An hour as ISO 8601 writes it; Date.parse knows others, too. */
const HOUR = /^\S{10}[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** The first instant of the year 10,000: RFC 3339 has four digits for a year. */
const BEYOND = Date.UTC(10_000, 0, 1);

const inCalendar = (at: number): number | null => (at >= FIRST_DAY && at < BEYOND ? at : null);

/** Milliseconds in a second, a millisecond, a microsecond and a nanosecond. A number below the bound is taken for one of that unit. */
const UNITS = [
  [1e11, 1000],
  [1e14, 1],
  [1e17, 1e-3],
  [Number.POSITIVE_INFINITY, 1e-6],
] as const;

function readHrTime([seconds, nanos, ...more]: readonly unknown[]): number | null {
  if (more.length > 0 || !Number.isSafeInteger(seconds) || !Number.isSafeInteger(nanos)) return null;
  return readInstant((seconds as number) * 1000 + Math.floor((nanos as number) / 1e6));
}

/** The value of the first of some members that can be read. */
export function firstOf<T>(fields: Fields, names: readonly string[], read: (value: unknown) => T | null | undefined) {
  for (const name of names) {
    const value = read(fields[name]);
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** A prompt of opencode without the quotation marks that `opencode run` puts around it. */
export const unquoted = (text: string): string =>
  /^"(?:[^"\\]|\\.)*"\s*$/s.test(text) ? text.trimEnd().slice(1, -1).replaceAll('\\"', '"') : text;
