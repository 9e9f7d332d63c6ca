/**
 * A day of the Gregorian calendar as ISO 8601 writes it, as the source of a regular expression without groups that capture: 31
 * days in seven months, 30 in four, 28 in February, and the 29th in leap years. From the year 1 on.
 */
const DAY_PATTERN =
  "(?:(?:[1-9]\\d{3}|0[1-9]\\d{2}|00[1-9]\\d|000[1-9])-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))" +
  "|(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)";

const HOUR = "(?:[01]\\d|2[0-3])";

/** The time that may follow a day, with an offset (RFC 3339 section 5.6); seconds and the offset's colon may be left out. */
const TIME_PATTERN = `${HOUR}:[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:[Zz]|[+-]${HOUR}:?[0-5]\\d)`;

/** A date-time as deliveries may write it. */
export const DATE_TIME = new RegExp(`^${DAY_PATTERN}[Tt ]${TIME_PATTERN}$`);

/** A day, or a date-time, and nothing else. */
export const DAY_OR_TIME = new RegExp(`^${DAY_PATTERN}(?:[Tt]${TIME_PATTERN})?$`);

/** Start of the first day that `DAY_PATTERN` allows, in milliseconds since the epoch. */
export const FIRST_DAY = Date.parse("0001-01-01T00:00:00Z");

const DAY = new RegExp(`^${DAY_PATTERN}$`);

/** Whether text is a day of the Gregorian calendar as ISO 8601 writes it, `2026-11-21`; there is no 30th of February. */
export function isDate(text: string): boolean {
  return DAY.test(text);
}
