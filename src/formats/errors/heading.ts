import { isDate } from "../../kit/date.ts";
import { plainText } from "../../kit/markdown-blocks.ts";
import { fold } from "./fingerprint.ts";

/** What the heading of an entry says. */
export interface DatedHeading {
  readonly date: string;
  readonly title: string;
  /** Begins with an hourglass, construction, warning or exclamation mark. */
  readonly marked: boolean;
}

const MARKED =
  /^\s*(?:\[!\]|[⌛⏳🚧⚠❗❕‼⁉!！]|:(?:hourglass(?:_flowing_sand)?|construction|warning|exclamation|grey_exclamation|heavy_exclamation_mark|bangbang|interrobang):)/u;

/** A date, perhaps in brackets, perhaps after marks; its hyphens may be the typographic ones. */
const DATED = /^(?:\[[xX]\]|:[a-z][a-z_]*:|[^\p{L}\p{N}])*?(\d{4})[-‐‑](\d{2})[-‐‑](\d{2})(?!\d)/u;
/** What belongs to the date: brackets, the end of a span of days, a time of day. */
const REST_OF_DATE =
  /^[\])}*~]*(?:\s*\p{Pd}\s*\d{4}[-‐‑]\d{2}[-‐‑]\d{2}(?!\d))?(?:(?:[T,]\s*|\s+)\(?\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?!\d)\s?(?:[AaPp][Mm]\b)?\s?(?:(?:Z|UTC|GMT)(?!\p{L}))?(?:[+-]\d{2}:?\d{2})?)?[\])}*~]*/u;
const SEPARATOR = /^[\s\p{Pd}|│¦:：·•,.)\]}*~]+/u;

/** Reads the text of a level-2 heading. @returns undefined when no day of the calendar stands at its beginning */
export function readHeading(text: string): DatedHeading | undefined {
  const plain = plainText(text)
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  const [whole = "", year = "", month = "", day = ""] = DATED.exec(plain) ?? [];
  const date = `${year}-${month}-${day}`;
  if (!isDate(date)) return undefined;
  return {
    date,
    title: plain
      .slice(whole.length)
      .replace(REST_OF_DATE, "")
      .replace(SEPARATOR, "")
      .replace(/[\s*~]+$/, ""),
    // What is struck through is over.
    marked: MARKED.test(plain) && !text.startsWith("~~"),
  };
}

/** The text by which an entry's heading is recognised: its title, folded; "" when it has none. */
export function titleOfHeading(heading: string): string {
  return fold(readHeading(heading)?.title ?? "");
}
