/** The value given to a password-like name: in an env file, YAML, JSON, code, XML, a connection string or a command line. */
import { lazy } from "../kit/lazy.ts";
import { Automaton } from "./automaton.ts";
import { endsInSecret, isInnocentName, isPasswordName, isSetBy, mayBeSecretName, NAME_CAP } from "./names.ts";
import type { AssignedState, Reading, Span } from "./reading.ts";
import { anyOf, LONG_RUN, nextOf, QUICKER, unitBefore } from "./units.ts";
import { Clear, judgeValue, MAX_JUDGED, type Setting, type Verdict } from "./values.ts";

/** What a character may be, as bits, for every code unit. */
const NAME = 1;
const BARE = 2;
const SEPARATES = 4;
const QUOTES = 8;
/** First characters of references, paths and code; `judgeValue` knows more of them. */
const REFERS = 16;
/** Characters that make a call or an element of what stands before them. */
const OPENS = 32;
/** Characters that end a sentence or an expression rather than a value. */
const ENDS = 64;
/** A quote, a space or a backslash. */
const STOPS = 128;
const BITS = new Uint8Array(1 << 16).fill(BARE);
for (const [signs, bits] of [
  ["\t \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff;,<>(){}|&", 0],
  ["$%@*#?!=~^:/.[]+-", BARE | REFERS],
  ["!?]:=", BARE | SEPARATES | REFERS],
  [" \t", SEPARATES],
  ["\"'`\\", SEPARATES | QUOTES],
  [".$-", BARE | NAME | REFERS],
  ["_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", BARE | NAME],
] as const)
  for (const sign of signs) BITS[sign.charCodeAt(0)] = bits;
for (const sign of "({[") BITS[sign.charCodeAt(0)] = (BITS[sign.charCodeAt(0)] as number) | OPENS;
for (const sign of ".:])") BITS[sign.charCodeAt(0)] = (BITS[sign.charCodeAt(0)] as number) | ENDS;
for (let control = 0; control < 0xa0; control = control === 0x1f ? 0x7f : control + 1)
  if (control !== 9) BITS[control] = 0;

for (const sign of "\"'`\\ \t\n\v\f\r\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")
  BITS[sign.charCodeAt(0)] = (BITS[sign.charCodeAt(0)] as number) | STOPS;
for (let space = 0x2000; space <= 0x200a; space++) BITS[space] = STOPS;

const holds = (units: Uint16Array, at: number, bit: number): boolean =>
  ((BITS[units[at] as number] as number) & bit) !== 0;

const notBare = lazy(() => anyOf(Array.from(BITS.keys()).filter((code) => ((BITS[code] as number) & BARE) === 0)));
/** A quote or a space, or a backslash that is no part of a value: what has the bit `STOPS`. */
const QUOTED_END = /["'`\s]|\\(?=["'`\\\snrt]|$)/g;

/** Where the name around `at` ends; beyond the cap for one that is too long. */
function nameEnd(reading: Reading, state: AssignedState, at: number): number {
  const { units } = reading;
  let end = at >= state.nameFrom && at <= state.nameTo ? state.nameTo : at;
  const from = end;
  while (end <= at + NAME_CAP && holds(units, end, NAME)) end++;
  state.nameFrom = at;
  state.nameTo = end;
  reading.work += end - from;
  return end;
}

function valueEnd(reading: Reading, state: AssignedState, at: number): number {
  const { text, units } = reading;
  if (at >= state.valueFrom && at <= state.valueTo) return state.valueTo;
  let end = at;
  while (end < at + LONG_RUN && holds(units, end, BARE)) end++;
  reading.work += end - at;
  if (end === at + LONG_RUN) {
    end = nextOf(notBare(), text, end);
    reading.work += Math.ceil((end - at) / QUICKER);
  }
  state.valueFrom = at;
  state.valueTo = end;
  return end;
}

/** `=`, `":`, `']=>`, `: string =`, ` value=` and their like; a value on the next line has to stand in quotes. */
const SEPARATOR = new Automaton(
  /(?:\\{0,7}["'`])?\]?(?:[ \t]{0,8}[?!]?:[ \t]{0,4}[A-Za-z]{1,16}[ \t]{1,4}=|[ \t]{0,16}(?::{1,3}=|=>|={1,3}|:|[?|]{1,2}=|\.=)|["']? {1,2}value[ ]?=| string =)(?:[ \t]{0,4}\r?\n[ \t]{1,32}["'`]|[ \t]{0,16})/,
);
/** Behind the first argument of a call, where a second in quotes follows. */
const COMMA = new Automaton(/["'`][ \t]{0,4},[ \t]{0,4}["'`]/);
/** The end of a tag, and what parts it from an element's text. */
const TAG = new Automaton(/>[ \t\r\n]{0,64}/);
/** Spaces that separate a name from a quoted value, with no sign between them; the quote belongs to the value. */
const SPACES = new Automaton(/[ \t]{1,16}["']/);
const OPEN_PARENTHESIS = 40;
const EQUALS = 61;
const TAG_START = 60;
const TAG_END = 62;
const BACKSLASH = 92;
const COLON = 58;
const DASH = 45;
const NEWLINE = 10;
const SPACE = 32;
const TAB = 9;
/** The letters of escapes that are spaces. */
const ESCAPED_SPACES = "nrt";
/** The letters of escapes. */
const ESCAPES = "nrtbf";
const MIN_CHARS = 6;
/** A value from this length on costs more to judge than its name. */
const LONG = 32;

/** The value given to the password-like name that stands around `at`, if there is one. */
export function assignedValue(reading: Reading, at: number): Span | undefined {
  const { text, units } = reading;
  const state = reading.assigned;
  const runEnd = nameEnd(reading, state, at);
  if (runEnd > at + NAME_CAP || runEnd === state.judged) return undefined;
  state.judged = runEnd;
  let end = runEnd;
  while (end > at && holds(units, end - 1, NAME) && holds(units, end - 1, REFERS)) end--;
  if (end <= at || !(holds(units, end, SEPARATES) || units[end] === TAG_END)) return undefined;
  let start = at;
  while (start > 0 && at - start < NAME_CAP && holds(units, start - 1, NAME)) start--;
  // After a backslash the first letter may be part of an escape ("\n") and not of the name.
  if (unitBefore(units, start) === BACKSLASH && ESCAPES.includes(text[start] as string)) start++;
  reading.work += end - start;
  if (end - start < 2) return undefined;
  // The rule's name in a marker ("[REDACTED:some-token]: …") names nothing.
  if (unitBefore(units, start) === COLON && text.startsWith("[REDACTED:", start - 10)) return undefined;
  return valueBehind(reading, state, start, end);
}

function valueBehind(reading: Reading, state: AssignedState, start: number, end: number): Span | undefined {
  const { text, units } = reading;
  const isFlag = units[start] === DASH && units[start + 1] === DASH;
  const isTag = units[end] === TAG_END && unitBefore(units, start) === TAG_START;
  let valueAt = isTag
    ? TAG.endOf(units, end, text.length)
    : afterSeparator(reading, end, isFlag, isArgument(reading, start));
  if (valueAt === -1) valueAt = afterSpace(reading, start, end);
  if (valueAt === -1 || valueAt < state.until || holds(units, valueAt, REFERS)) return undefined;
  reading.work += valueAt - end;
  if (holds(units, valueAt, QUOTES)) {
    const from = afterQuote(reading, valueAt);
    // "Password:", …: the quote before the name ends behind it.
    const isLabel = unitBefore(units, start) === units[valueAt] && !holds(units, end, QUOTES);
    if (from === -1 || isLabel || ",;)}".includes(text[from] as string)) return undefined;
    const to = quotedEnd(reading, from);
    reading.work += to - from;
    return judge(reading, state, start, end, from, to, "quoted");
  }
  let valueTo = valueEnd(reading, state, valueAt);
  // A call, an index, or a prefixed literal (f"…", b'…') whose own quotes the value does not hold.
  if (holds(units, valueTo, OPENS) || valueTo - valueAt <= 2) return undefined;
  for (let most = 4; most > 0 && valueTo > valueAt && holds(units, valueTo - 1, ENDS); most--) valueTo--;
  const isEnv = isTag || isFlag || ((units[end] === EQUALS || units[end] === SPACE) && valueAt === end + 1);
  return judge(reading, state, start, end, valueAt, valueTo, isEnv ? "env" : "bare");
}

/**
 * Where the value after a name begins, or -1.
 * @param isFlag whether a space is enough to separate them
 * @param isArgument whether a comma is: `setProperty("NAME", "value")`
 */
function afterSeparator(reading: Reading, end: number, isFlag: boolean, isArgument: boolean): number {
  const { text, units } = reading;
  // The commonest case first: an equals sign with a letter or digit right after it.
  if (units[end] === EQUALS && holds(units, end + 1, NAME)) return end + 1;
  let at = SEPARATOR.endOf(units, end, text.length);
  if (at === -1 && isArgument) at = COMMA.endOf(units, end, text.length);
  if (at === -1) return isFlag && units[end] === SPACE ? end + 1 : -1;
  // A quote that the separator ends with belongs to the value.
  return holds(units, at - 1, QUOTES) ? at - 1 : at;
}

/** Whether a name in quotes begins the arguments of a call: `define( 'NAME', 'value' )`. */
function isArgument({ units }: Reading, start: number): boolean {
  if (start === 0 || !holds(units, start - 1, QUOTES)) return false;
  let i = start - 1;
  while (i > start - 5 && unitBefore(units, i) === SPACE) i--;
  return unitBefore(units, i) === OPEN_PARENTHESIS;
}

/** What a line of the C preprocessor has before the name. */
const DEFINE = /#[ \t]{0,4}define[ \t]{1,8}$/;
const MAX_DEFINE = 20;

/** The rest of a line after a name when it holds nothing but a value in quotes; at the end of the text it needs no line end. */
const REST_OF_LINE = new Automaton(/[^"'`\\\s]{8,128}["'][ \t]{0,8}[;\r\n]/);
const REST_OF_TEXT = new Automaton(/[^"'`\\\s]{8,128}["'][ \t]{0,8}/);
const MAX_INDENT = 32;

/** Whether a name begins its line and the value in quotes at a place ends it: `secretKey "value"`. */
function isDeclaration({ text, units }: Reading, start: number, valueAt: number): boolean {
  let from = start;
  while (from > 0 && start - from < MAX_INDENT && (units[from - 1] === SPACE || units[from - 1] === TAB)) from--;
  if (from > 0 && units[from - 1] !== NEWLINE) return false;
  return REST_OF_LINE.test(units, valueAt, text.length) || REST_OF_TEXT.spans(units, valueAt, text.length);
}

/**
 * Where a value begins that only a space separates from its name, or -1: after `#define NAME`; after a password's name in SQL and Gradle
 * (`ALTER USER me PASSWORD 'value'`); after any secret's name that a command sets (`ENV NAME value`, with or without quotes); and after any
 * secret's name when the two are a line, as in Gradle's credentials:
 * https://docs.gradle.org/current/userguide/declaring_repositories_adv.html
 */
function afterSpace(reading: Reading, start: number, end: number): number {
  const { text, units } = reading;
  if (units[end] !== SPACE && units[end] !== TAB) return -1;
  const at = SPACES.endOf(units, end, text.length);
  if (at === -1) return isSetBy(text, start) && !holds(units, end + 1, STOPS) ? end + 1 : -1;
  reading.work += MAX_DEFINE;
  const isGiven =
    isPasswordName(units, start, end) ||
    isSetBy(text, start) ||
    DEFINE.test(text.slice(Math.max(0, start - MAX_DEFINE), start)) ||
    isDeclaration(reading, start, at);
  return isGiven ? at - 1 : -1;
}

/** The place after up to seven backslashes and a quote, or -1 when there is no quote. */
function afterQuote(reading: Reading, at: number): number {
  const { units } = reading;
  let i = at;
  while (i < at + 7 && units[i] === BACKSLASH) i++;
  return holds(units, i, QUOTES) && units[i] !== BACKSLASH ? i + 1 : -1;
}

/** Whether a character with the bit `STOPS` ends a quoted value: a backslash does before a quote, a space, another backslash or the end. */
const isQuotedEnd = (units: Uint16Array, at: number, end: number): boolean =>
  units[at] !== BACKSLASH ||
  at + 1 === end ||
  holds(units, at + 1, STOPS) ||
  ESCAPED_SPACES.includes(String.fromCharCode(units[at + 1] as number));

/** The end of a quoted value, or its start where there is none: before a quote, or before the last backslash. */
function quotedEnd({ text, units }: Reading, from: number): number {
  const soon = Math.min(text.length, from + LONG_RUN);
  let end = from;
  while (end < soon && !(holds(units, end, STOPS) && isQuotedEnd(units, end, text.length))) end++;
  if (end === from + LONG_RUN) end = nextOf(QUOTED_END, text, end);
  if (holds(units, end, QUOTES)) return end;
  let last = end;
  while (last > from && units[last] !== BACKSLASH) last--;
  return last;
}

function judge(
  reading: Reading,
  state: AssignedState,
  nameStart: number,
  nameEnd: number,
  start: number,
  end: number,
  setting: Setting,
): Span | undefined {
  const { units } = reading;
  if (end - start < MIN_CHARS || start < state.until || holds(units, start, REFERS)) return undefined;
  if (setting === "bare" && start < state.plainUntil) return undefined;
  let from = nameStart;
  while (from < nameStart + 4 && holds(units, from, NAME) && holds(units, from, REFERS)) from++;
  const isPassword = isPasswordName(units, from, nameEnd);
  if (start < state.plainUntil && !isPassword) return undefined;
  reading.work += nameEnd - nameStart;
  if (!endsInSecret(units, from, nameEnd) || (end - start > LONG && isInnocentName(units, from, nameEnd)))
    return undefined;
  state.clear ??= new Clear();
  const judgedTo = Math.min(end, start + MAX_JUDGED);
  const verdict = judgeValue(isPassword, reading, start, judgedTo, setting, state.clear);
  reading.work += (judgedTo - start) * (reading.isNarrow ? 1 : 2);
  if (verdict === "secret" && isInnocentName(units, from, nameEnd)) return undefined;
  if (verdict === "secret") state.until = end;
  // When only the beginning of a value was judged, half of that counts as judged.
  else remember(state, start, judgedTo === end ? end : start + MAX_JUDGED / 2, verdict);
  return verdict === "secret" ? [start, end] : undefined;
}

/** Remembers a verdict, so that names within the value do not have it judged again. */
function remember(state: AssignedState, start: number, judged: number, verdict: Verdict): void {
  if (verdict === "wordy") state.until = judged;
  else if (verdict === "plain") state.plainUntil = judged;
  else if (typeof verdict === "object") state.until = Math.min(judged, start + verdict.standIn + 1);
}

const isInName = (text: string, at: number): boolean =>
  at < text.length && ((BITS[text.charCodeAt(at)] as number) & NAME) !== 0;

/** A quote after spaces, also in raw JSON. */
const IS_SPACED = /^(?:\s|\\t){1,16}\\{0,7}["']/;
const MAX_SPACED = 40;

/** Whether something that could be a value follows the name around `at`; errs towards yes, also on raw JSON. */
export function mayBeAssigned(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && at - start < NAME_CAP && isInName(text, start - 1)) start--;
  let end = at;
  while (end - at < NAME_CAP && isInName(text, end)) end++;
  if (text[start - 1] === "\\" && /[nrtbf]/.test(text[start] ?? "")) start++;
  while (end > start && /[.$-]/.test(text[end - 1] as string)) end--;
  if (!mayBeSecretName(text.slice(start, end))) return false;
  if (text[start] === "-" || isSetBy(text, start) || IS_SPACED.test(text.slice(end, end + MAX_SPACED))) return true;
  for (let i = end; i < text.length; i++) {
    const char = text[i] as string;
    if (/[\\"'`\]?!\s]/.test(char)) continue;
    if (text[i - 1] === "\\" && /[nrtbf]/.test(char)) continue;
    return /[:=>,}v|]/.test(char) || text.startsWith(".=", i) || text.startsWith("string =", i);
  }
  return false;
}
