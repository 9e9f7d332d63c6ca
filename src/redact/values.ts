/** Whether a value given to a secret's name is a secret. No part of this looks at how random a value is. */
import { Automaton, Met } from "./automaton.ts";
import { isPasswordName } from "./names.ts";
import { isDigit, isLower, isUpper, type Units, unitsOf } from "./units.ts";

/** How much of a value is judged, in code units: of one whose end is sure, and of one that may contain names. */
export const MAX_MEMBER_JUDGED = 4_096;
export const MAX_JUDGED = 256;

const WORDS =
  "true false null none nil undefined nan void never unknown any str string text number int integer bool boolean bytes object array list map dict optional required require default empty unset missing invalid valid password passwd passphrase secret token bearer basic digest apikey key value name user username email admin root guest test testing tester demo foo bar baz foobar abc abc123 abcd1234 123456 12345678 123456789 1234567890 hidden masked redacted removed secure private public enabled disabled yes no on off todo tbd fixme hello world inherit prompt input output postgres mysql mariadb redis mongo rabbitmq localhost minioadmin pass pwd pw pat p4ssw0rd passw0rd password1 password12 password123 password1234 self this changeit write read readonly".split(
    " ",
  );
const WORD = new Automaton(new RegExp(WORDS.join("|"), "i"));
const MAX_WORD_CHARS = 12;
const DASH = 45;
const DOT = 46;
const COLON = 58;
const TAG_END = 62;
const QUESTION = 63;
const OPEN_BRACKET = 91;
/** A number that a value must share with a word of the list: made of its length, and the last five bits of its first and last character. */
const likeness = (length: number, first: number, last: number): number =>
  (length << 10) | ((first & 31) << 5) | (last & 31);
const LIKE_A_WORD = new Uint8Array((MAX_WORD_CHARS + 1) << 10);
for (const word of WORDS) LIKE_A_WORD[likeness(word.length, word.charCodeAt(0), word.charCodeAt(word.length - 1))] = 1;

/** Whether a value is a word in place of a value: a type, a default, a name of what it should be. */
export const isPlainWord = (units: Uint16Array, start: number, end: number): boolean =>
  end - start <= MAX_WORD_CHARS &&
  LIKE_A_WORD[likeness(end - start, units[start] as number, units[end - 1] as number)] === 1 &&
  WORD.spans(units, start, end);

const STAND_IN =
  /example|placeholder|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|your[_-]|-your|<|>|\{\{|\$\{|\$\(|x{4}|\*{2}|\.{3}|…|•|redact|dummy|sample|insert[_-]|fill[_-]?(?:in|me)|not[_-]?(?:a[_-]?)?(?:real|secret)|process\.env|import\.meta|os\.environ|getenv|env\(|secrets?\.|vars\.|var\.|config\.|settings\.|\[REDACTED/i;
/** Does not find the two characters beyond Latin 1; see `isDots`. */
const HAS_STAND_IN = new Automaton(STAND_IN, "anywhere");
const STAND_IN_START = new Automaton(/your|env[.:]/i);
const STAND_IN_WHOLE = new Automaton(
  /(?:my|some|the|a|an|fake|test|mock|stub|super|new|old|any|no|bad|wrong|invalid)[_-]?(?:super[_-]?)?(?:secret|password|passwd|pass|token|api|key|auth|client)(?:[_-]?(?:secret|password|token|key|value|here|name|id|string))?/i,
);
const MAX_STAND_IN_CHARS = 40;
/** First characters of references, paths, formats and code rather than of a value. */
const REFERENCE = new Automaton(
  /(?:[$%@*#&|?!=~^:\\/.()[\]{}+-]|op:|vault:|ref:|arn:|kms:|sops:|enc[:[]|file:|https?:|wss?:|[a-z][a-z0-9+.-]{1,12}:\/\/|projects\/|sha(?:256|384|512)[:-]|data:|[A-Za-z]:\\)/,
);

/** The lowest code unit that `isDots` or `isProse` holds for. */
const FIRST_BEYOND = 0x2022;
/** `…` and `•`. */
const isDots = (code: number): boolean => code === 0x2026 || code === 0x2022;
/** Kana, ideographs and hangul: four of them are a sentence in a script that writes no spaces. */
const isProse = (code: number): boolean =>
  (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7af);

/**
 * Whether `count` units of a kind follow one another in stretches of one text. Asked roughly from first to last, it reads each unit once.
 */
class Following {
  readonly #isOne: (code: number) => boolean;
  readonly #count: number;
  /** Between these places none begins. */
  #from = 0;
  #to = 0;

  constructor(isOne: (code: number) => boolean, count: number) {
    this.#isOne = isOne;
    this.#count = count;
  }

  in(units: Uint16Array, start: number, end: number): boolean {
    if (start < this.#from || start > this.#to) this.#from = this.#to = start;
    for (let i = this.#to, found = 0; i < end; i++) {
      const code = units[i] as number;
      found = code >= FIRST_BEYOND && this.#isOne(code) ? found + 1 : 0;
      if (found < this.#count) continue;
      this.#to = i + 1 - this.#count;
      return true;
    }
    this.#to = Math.max(this.#to, end - this.#count + 1);
    return false;
  }
}

/** No stand-in is longer. */
const STAND_IN_CAP = 16;

/** What was found in one text, so that values that overlap are read once. */
export class Clear {
  readonly #standIns = new Met(HAS_STAND_IN, STAND_IN_CAP);
  #dots: Following | undefined;
  #prose: Following | undefined;

  /** Whether a stretch holds a stand-in. */
  holdsStandIn({ units, isNarrow }: Units, start: number, end: number): boolean {
    if (this.#standIns.in(units, start, end)) return true;
    if (isNarrow === true) return false;
    this.#dots ??= new Following(isDots, 1);
    return this.#dots.in(units, start, end);
  }

  /** Whether a stretch holds a sentence in a script that is written without spaces. */
  holdsProse({ units, isNarrow }: Units, start: number, end: number): boolean {
    if (isNarrow === true) return false;
    this.#prose ??= new Following(isProse, 4);
    return this.#prose.in(units, start, end);
  }
}

/**
 * Where a stand-in (`your-…`, `xxxx`, `${…}`) stands in a value, counted from its start, or -1.
 * @param clear what is known of the text
 */
export function standInAt(source: Units, start: number, end: number, clear = new Clear()): number {
  const { text, units } = source;
  if (STAND_IN_START.test(units, start, end)) return 0;
  if (end - start <= MAX_STAND_IN_CHARS && STAND_IN_WHOLE.spans(units, start, end)) return 0;
  return clear.holdsStandIn(source, start, end) ? text.slice(start, end).search(STAND_IN) : -1;
}

/** `-`, `.`, `/`, `:` and `_`. */
const endsPart = (code: number): boolean => (code >= 45 && code <= 47) || code === 58 || code === 95;

/** Whether every part between signs is a plain word or a small number: `my-tls-secret-2`, `users.read`, `snake_case`. */
export function isWordy(units: Uint16Array, start: number, end: number): boolean {
  for (let from = start; from < end; ) {
    let to = from;
    while (to < end && !endsPart(units[to] as number)) to++;
    if (!isWord(units, from, to)) return false;
    from = to + 1;
  }
  return true;
}

/** A word in small letters or camel case with up to two digits, one in capitals, a number of four digits, or a version. */
function isWord(units: Uint16Array, start: number, end: number): boolean {
  let i = start;
  while (i < end && isUpper(units[i] as number)) i++;
  if (i === end) return end - start <= 20;
  let digits = end;
  while (digits > start && isDigit(units[digits - 1] as number)) digits--;
  if (digits === start) return end - start <= 4;
  if (end - digits > 2) return end - digits === 3 && digits === start + 1 && units[start] === 118;
  // Each capital begins a word of at least one small letter.
  for (i = start; i < digits; i++) {
    const code = units[i] as number;
    if (isLower(code)) continue;
    if (!isUpper(code) || i + 1 === digits || !isLower(units[i + 1] as number)) return false;
  }
  return true;
}

export function isOneCharacter(units: Uint16Array, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) if (units[i] !== units[start]) return false;
  return true;
}

export function holdsDigit(units: Uint16Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isDigit(units[i] as number)) return true;
  return false;
}

export function holdsLetter(units: Uint16Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isUpper(units[i] as number) || isLower(units[i] as number)) return true;
  return false;
}

/** `0x` and up to sixteen digits. */
function isSmallHex({ text, units }: Units, start: number, end: number): boolean {
  if (units[start] !== 48 || ((units[start + 1] as number) | 32) !== 120) return false;
  return end - start <= 18 && /^[0-9a-f]+$/i.test(text.slice(start + 2, end));
}

const isNameStart = (code: number): boolean => isLower(code) || isUpper(code) || code === 95 || code === 36;
const isNamePart = (code: number): boolean => isNameStart(code) || isDigit(code);

/** The end of a name that begins at a place, or the place. */
function identifierEnd(units: Uint16Array, start: number, end: number): number {
  if (start >= end || !isNameStart(units[start] as number)) return start;
  let i = start + 1;
  while (i < end && isNamePart(units[i] as number)) i++;
  return i;
}

/** Whether `::`, `->` or `?.` stands at a place. */
const joins = (units: Uint16Array, at: number): boolean =>
  (units[at] === COLON && units[at + 1] === COLON) ||
  (units[at] === DASH && units[at + 1] === TAG_END) ||
  (units[at] === QUESTION && units[at + 1] === DOT);

/** Names with `.`, `?.`, `::` or `->` between them. */
function isIdentifier(units: Uint16Array, start: number, end: number): boolean {
  for (let from = start; ; ) {
    const to = identifierEnd(units, from, end);
    if (to === from) return false;
    if (to === end) return true;
    if (units[to] === DOT) from = to + 1;
    else if (joins(units, to)) from = to + 2;
    else return false;
  }
}

/** `*`, `+`, `-` and `/`. */
const isOperator = (code: number): boolean => code === 42 || code === 43 || code === DASH || code === 47;

/** "tokens[0]", "n.token-1": an element or a sum, not a value. */
function isElement(units: Uint16Array, start: number, end: number): boolean {
  let i = identifierEnd(units, start, end);
  if (i === start) return false;
  let isSum = i < end && units[i] === DOT;
  for (; i < end; i++) {
    const code = units[i] as number;
    if (code === DOT) isSum &&= isNamePart(units[i + 1] as number);
    else if (!isNamePart(code)) return code === OPEN_BRACKET || (isSum && isOperator(code));
  }
  return false;
}

export type Setting = "bare" | "quoted" | "env" | "member";

/**
 * What a value was judged to be: a secret, or why not. `plain` has no digit or no letter, `wordy` is made of words, `standIn` gives the
 * place of a stand-in; `other` says nothing about the rest of the value.
 */
export type Verdict = "secret" | "plain" | "wordy" | "other" | { readonly standIn: number };

/**
 * Whether a value given to a secret's name is a secret rather than a placeholder, a type, a reference or an expression.
 * `setting` says how it stood: `bare` unquoted, `quoted`, `env` as in `NAME=value` with no spaces, `member` the string
 * value of a JSON member, where the syntax leaves no doubt about where the value ends.
 */
export function judgeValue(
  password: boolean,
  source: Units,
  start: number,
  whole: number,
  setting: Setting,
  clear = new Clear(),
): Verdict {
  const { text, units } = source;
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  const length = end - start;
  if (length < (password ? 6 : 8)) return "other";
  if (REFERENCE.test(units, start, end) || isPlainWord(units, start, end) || isOneCharacter(units, start, end))
    return "other";
  if (setting === "member" && holdsSentence(password, text.slice(start, end))) return "other";
  const isPassword = password && setting !== "bare";
  if (clear.holdsProse(source, start, end)) return "other";
  const hasDigit = holdsDigit(units, start, end);
  if (!isPassword && (!hasDigit || !holdsLetter(units, start, end))) return "plain";
  if (setting === "quoted" && !hasDigit && isWordy(units, start, end)) return "wordy";
  const standIn = standInAt(source, start, end, clear);
  if (standIn !== -1) return { standIn };
  if (isPassword && setting === "member") return "secret";
  if (isSmallHex(source, start, end)) return "other";
  if (isPassword)
    return hasDigit || !isWordy(units, start, end) || (setting === "env" && !isIdentifier(units, start, end))
      ? "secret"
      : "wordy";
  if (isElement(units, start, end)) return "other";
  if (setting === "bare" && !password && length < 16 && isIdentifier(units, start, end)) return "other";
  return isWordy(units, start, end) ? "wordy" : "secret";
}

/** Words with spaces between, which a password may have two of. */
const holdsSentence = (password: boolean, value: string): boolean =>
  password ? value.length > 40 && /\s\S{1,20}\s/.test(value) : /\s/.test(value);

/** See `judgeValue`. */
export function isSecretValue(name: string, value: string, setting: Setting): boolean {
  const isPassword = isPasswordName(unitsOf(name), 0, name.length);
  return judgeValue(isPassword, { text: value, units: unitsOf(value) }, 0, value.length, setting) === "secret";
}
