/** Whether a text holds control characters (C0, DEL, C1) or lone surrogates, which no name of anything has. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text) || !text.isWellFormed();
}

/** An e-mail address in the form in which addresses are compared: people and agents write them in any case, and forms add spaces. */
export const emailKey = (email: string): string => email.trim().normalize("NFKC").toLowerCase();

/**
 * The beginning of a text. A character of two UTF-16 units is left out rather than cut in half.
 * @param most UTF-16 units at most
 */
export function beginning(text: string, most: number): string {
  const cut = text.slice(0, most);
  return cut.length < text.length && /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}

/** What replaces the end of a text that was cut. */
const footer = (kept: number, whole: number) => `\n[cut: ${kept} of ${whole} characters]`;

/** The beginning of a text, with a visible footer where the rest is missing. */
export function cutText(text: string, most: number): string {
  const whole = text.toWellFormed();
  if (whole.length <= most) return whole;
  const kept = beginning(whole, most);
  return kept + footer(kept.length, whole.length);
}

const MAX_LIKE_CHARS = 200;

/** UTF-16 units of a text that LIKE looks for; `instr` looks for all of it. */
const BEGINNING_CHARS = 8;

/**
 * Parameters for finding a text anywhere within texts that others make, in any case of ASCII's letters: `x LIKE @begins ESCAPE '\' AND
 * instr(lower(x), @text)`. LIKE alone is slow on a text that nearly matches the pattern everywhere: seconds for a few megabytes. On all
 * other texts it is the faster one, so it looks for the beginning.
 * @returns null for both when the text is blank, which filters nothing
 */
export function soughtText(text: string): { readonly text: string | null; readonly begins: string | null } {
  const sought = text.trim().slice(0, MAX_LIKE_CHARS).toWellFormed();
  return sought === "" ? { text: null, begins: null } : soughtWhole(sought);
}

/** As `soughtText`, with the text as it is, however long. */
export function soughtWhole(text: string): { readonly text: string; readonly begins: string } {
  const begins = `%${escapeLike(beginning(text, BEGINNING_CHARS))}%`;
  return { text: text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()), begins };
}

/** An SQL condition: one of some columns contains the text whose parameters `soughtText` makes. */
export const holdsSought = (...columns: readonly string[]): string =>
  columns.map((one) => `(${one} LIKE @begins ESCAPE '\\' AND instr(lower(${one}), @text))`).join(" OR ");

/** Escapes the wildcards of LIKE with `\\`. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** A message as a sentence, for pages. The command line shows the same messages without a capital. */
export function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?)]$/.test(upper) ? upper : `${upper}.`;
}

/**
 * A text without the signs of some kind at its end. `/[…]+$/` begins anew at each sign of a run that does not stand at the end, which takes
 * time with the square of the run: hours for a megabyte.
 */
export function withoutEnd(text: string, sign: RegExp): string {
  let end = text.length;
  while (end > 0 && sign.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

const UNEVEN = /[^\S ]|^ | {2}| $|\p{Cc}/u;

/** A text on one line, white space and control characters folded, cut to a number of UTF-16 units. */
export function oneLine(text: string, most: number): string {
  const line = UNEVEN.test(text) ? text.replace(/[\p{Cc}\s]+/gu, " ").trim() : text;
  return line.length <= most ? line : `${beginning(line, most - 1).toWellFormed()}…`;
}

/**
 * Characters that are invisible or change the direction of what follows: a text could say one thing to a person and another to an agent.
 */
const UNSEEN = /[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Text that others wrote, as a line of a reply to an agent may quote it; cut to a number of UTF-16 units. */
export function visibleLine(text: string, most: number): string {
  return oneLine(text.replace(UNSEEN, " "), most);
}

/** Several lines, each behind the mark of a quotation in Markdown, so that none of them can leave it. */
export function quotedLines(text: string): string {
  const lines = text
    .toWellFormed()
    .replace(UNSEEN, " ")
    .split(/\r\n|[\r\n\v\f\x85]/);
  return lines.map((line) => `> ${line.replace(/[^\P{Cc}\t]/gu, " ")}`.trimEnd()).join("\n");
}

/** A word as the search index has it: what stands between spaces, punctuation and symbols. */
const WORD = /[^\s\p{P}\p{S}]+/gu;

/**
 * The place in a text where most of some words stand close together; the first of several equal places.
 * @param words in lower case; hundreds, when a question ends in a prefix, so the text is walked through once for all of them
 * @param span how far apart words count as together, in UTF-16 units
 */
export function densestAt(text: string, words: readonly string[], span: number): number {
  const sought = new Set(words);
  const places = Array.from(text.toLowerCase().matchAll(WORD), ({ 0: word, index: at }) => ({ word, at })).filter(
    ({ word }) => sought.has(word),
  );
  let best = { count: 0, at: 0 };
  /** Of each word, how often it stands within the span. */
  const within = new Map<string, number>();
  let end = 0;
  for (const { word, at } of places) {
    for (let next = places[end]; next !== undefined && next.at < at + span; next = places[++end])
      within.set(next.word, (within.get(next.word) ?? 0) + 1);
    if (within.size > best.count) best = { count: within.size, at };
    const left = (within.get(word) ?? 0) - 1;
    if (left > 0) within.set(word, left);
    else within.delete(word);
  }
  return best.at;
}

/** How long somebody has to wait: `a minute`, `3 minutes`. */
export function minutesText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

/** A whole number with grouped thousands, `12,345`; not by `Intl`, which takes ten milliseconds to get ready, at each start. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** A count and its noun: `1 session`, `2,000 sessions`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`;

/** A text quoted for a shell's command line (POSIX Shell Command Language 2.2.2). */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** As `shellQuoted`, without quotes where a text needs none to be one word. */
export const shellWord = (text: string): string => (/^[\w./:@%+=-]+$/.test(text) ? text : shellQuoted(text));

/** Orders texts by their UTF-16 units, the same on every machine. */
export const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b);
