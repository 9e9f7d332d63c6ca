/** A dated level-2 heading and what stands under it. */
export interface Entry {
  /** As written, on one line, without the `##`; cut after 1,000 UTF-16 units. */
  readonly heading: string;
  /** Number among equal headings of one file, counted from its end, where the oldest mostly stands; 0 for the only one. */
  readonly ordinal: number;
  /** YYYY-MM-DD, a day of the calendar. */
  readonly date: string;
  /** The heading's text behind the date, without markup; may be empty. */
  readonly title: string;
  /** 1-based line of the heading. */
  readonly line: number;
  readonly open: boolean;
  /** 32 bytes; see `fingerprintOf`. */
  readonly fingerprint: Buffer;
  /** The first Prevention-rule paragraph behind those words, markdown, on one line; null when there is none. */
  readonly rule: string | null;
  /** Lower-case hexadecimal, 7 to 40 digits, as the text names them. */
  readonly commits: readonly string[];
  /** Path-like words as the text names them, without line numbers. */
  readonly files: readonly string[];
}

/** Characters that decorate a label or a heading: symbols, joiners, selectors. */
export const DECORATION = String.raw`[\s\p{S}\p{M}\p{Cf}]`;

/** What may stand between a label and its text. */
export const SEPARATORS = /^[\s:：=|\p{Pd}]+/u;
