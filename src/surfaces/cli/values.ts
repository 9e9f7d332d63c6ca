import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../kit/clock.ts";
import { DAY_OR_TIME } from "../../kit/date.ts";

/** Readers of option values. What they throw becomes a usage error (exit 2) that names the option. */

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number.");
  return Number(text);
}

/** Reads a whole number from one up to a ceiling. */
export const upTo = (max: number) => (text: string) => {
  const value = wholeNumber(text);
  if (value < 1 || value > max) throw new InvalidArgumentError(`It must be from 1 to ${max}.`);
  return value;
};

export function oneOf<const T extends readonly string[]>(choices: T): (text: string) => T[number] {
  return (text) => {
    if (!choices.includes(text)) throw new InvalidArgumentError(`It must be one of ${choices.join(", ")}.`);
    return text as T[number];
  };
}

/** For an option that may be given again: all of its values, in order. */
export const several = (text: string, before: string[] = []): string[] => [...before, text];

/** @returns milliseconds */
export function duration(text: string): number {
  const span = parseDuration(text);
  if (span === undefined || span === 0)
    throw new InvalidArgumentError("It must be a span such as 90s, 15m, 12h or 30d.");
  return span;
}

/** Reads a span of time with a ceiling. @param mostMs the ceiling in milliseconds @param most the ceiling in words @returns milliseconds */
export const atMost = (mostMs: number, most: string) => (text: string) => {
  const span = duration(text);
  if (span > mostMs) throw new InvalidArgumentError(`It must be ${most} at most.`);
  return span;
};

/** @returns milliseconds since the epoch; of a day, where it begins (UTC) */
export function instant(text: string): number {
  // Date.parse alone would make a date of any text with a number in it, and a day in March of the 30th of February.
  if (!DAY_OR_TIME.test(text))
    throw new InvalidArgumentError("It must be a date such as 2026-12-31 or 2026-12-31T12:00:00Z.");
  return Date.parse(text);
}
