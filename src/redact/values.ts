/** Whether a value given to a secret's name is a secret. No part of this looks at how random a value is. */
import { Automaton } from "./automaton.ts";
import { isPasswordName } from "./names.ts";

/** As much of a value is judged, in code units: of one whose end is sure, and of one that names may stand in. */
const MAX_MEMBER_JUDGED = 4_096;
export const MAX_JUDGED = 256;

const WORDS = new Set(
  "true false null none nil undefined nan void never unknown any str string text number int integer bool boolean bytes object array list map dict optional required require default empty unset missing invalid valid password passwd passphrase secret token bearer basic digest apikey key value name user username email admin root guest test testing tester demo foo bar baz foobar abc abc123 abcd1234 123456 12345678 123456789 1234567890 hidden masked redacted removed secure private public enabled disabled yes no on off todo tbd fixme hello world inherit prompt input output postgres mysql mariadb redis mongo rabbitmq localhost minioadmin pass pwd pw pat p4ssw0rd passw0rd password1 password12 password123 password1234 self this changeit write read readonly".split(
    " ",
  ),
);
const MAX_WORD_CHARS = 12;
const DOT = 46;
const OPEN_BRACKET = 91;
/** What a value must have in common with a word: its length, and the last five bits of its first and last sign. */
const likeness = (text: string, start: number, end: number): number =>
  ((end - start) << 10) | ((text.charCodeAt(start) & 31) << 5) | (text.charCodeAt(end - 1) & 31);
const LIKE_A_WORD = new Uint8Array((MAX_WORD_CHARS + 1) << 10);
for (const word of WORDS) LIKE_A_WORD[likeness(word, 0, word.length)] = 1;

/** Whether a value is a word that stands for any: a type, a default, a name of what it should be. */
export const isPlainWord = (text: string, start: number, end: number): boolean =>
  end - start <= MAX_WORD_CHARS &&
  LIKE_A_WORD[likeness(text, start, end)] === 1 &&
  WORDS.has(text.slice(start, end).toLowerCase());

const STAND_IN =
  /example|placeholder|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|your[_-]|-your|<|>|\{\{|\$\{|\$\(|x{4}|\*{2}|\.{3}|…|•|redact|dummy|sample|insert[_-]|fill[_-]?(?:in|me)|not[_-]?(?:a[_-]?)?(?:real|secret)|process\.env|import\.meta|os\.environ|getenv|env\(|secrets?\.|vars\.|var\.|config\.|settings\.|\[REDACTED/i;
/** Sees none of the two signs beyond Latin 1; see `DOTS`. */
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

/** A stretch of one text in which no stand-in of letters and common signs stands: values that overlap are read once. */
export class Clear {
  from = 0;
  to = 0;
  /** Whether the text is known to hold nothing beyond Latin 1. */
  readonly isNarrow: boolean;

  constructor(isNarrow = false) {
    this.isNarrow = isNarrow;
  }
}

/** No stand-in is longer. */
const STAND_IN_CAP = 16;

function holdsStandIn(text: string, start: number, end: number, clear: Clear): boolean {
  const goesOn = start >= clear.from && start <= clear.to;
  if (HAS_STAND_IN.test(text, goesOn ? Math.max(start, clear.to - STAND_IN_CAP) : start, end)) return true;
  if (!goesOn) clear.from = start;
  clear.to = goesOn ? Math.max(end, clear.to) : end;
  return !clear.isNarrow && DOTS.test(text.slice(start, end));
}

/**
 * Where a stand-in (`your-…`, `xxxx`, `${…}`) stands in a value, counted from its start, or -1.
 * @param clear what is known of the text
 */
export function standInAt(text: string, start: number, end: number, clear = new Clear()): number {
  if (STAND_IN_START.test(text, start, end)) return 0;
  if (end - start <= MAX_STAND_IN_CHARS && STAND_IN_WHOLE.spans(text, start, end)) return 0;
  return holdsStandIn(text, start, end, clear) ? text.slice(start, end).search(STAND_IN) : -1;
}

const DOTS = /[…•]/;
/** A sentence in a script that writes no spaces: kana, ideographs, hangul. */
const PROSE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}/;

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isUpper = (code: number): boolean => code >= 65 && code <= 90;
const isLower = (code: number): boolean => code >= 97 && code <= 122;
/** `-`, `.`, `/`, `:` and `_`. */
const endsPart = (code: number): boolean => (code >= 45 && code <= 47) || code === 58 || code === 95;

/** Whether every part between signs is a plain word or a small number: `my-tls-secret-2`, `users.read`, `snake_case`. */
export function isWordy(text: string, start: number, end: number): boolean {
  for (let from = start; from < end; ) {
    let to = from;
    while (to < end && !endsPart(text.charCodeAt(to))) to++;
    if (!isWord(text, from, to)) return false;
    from = to + 1;
  }
  return true;
}

/** A word in small letters or camel case with up to two digits, one in capitals, a number of four digits, or a version. */
function isWord(text: string, start: number, end: number): boolean {
  let i = start;
  while (i < end && isUpper(text.charCodeAt(i))) i++;
  if (i === end) return end - start <= 20;
  let digits = end;
  while (digits > start && isDigit(text.charCodeAt(digits - 1))) digits--;
  if (digits === start) return end - start <= 4;
  if (end - digits > 2) return end - digits === 3 && digits === start + 1 && text.charCodeAt(start) === 118;
  // Each capital begins a word of at least one small letter.
  for (i = start; i < digits; i++) {
    const code = text.charCodeAt(i);
    if (isLower(code)) continue;
    if (!isUpper(code) || i + 1 === digits || !isLower(text.charCodeAt(i + 1))) return false;
  }
  return true;
}

export function isOneCharacter(text: string, start: number, end: number): boolean {
  for (let i = start + 1; i < end; i++) if (text.charCodeAt(i) !== text.charCodeAt(start)) return false;
  return true;
}

export function holdsDigit(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isDigit(text.charCodeAt(i))) return true;
  return false;
}

export function holdsLetter(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (isUpper(text.charCodeAt(i)) || isLower(text.charCodeAt(i))) return true;
  return false;
}

/** `0x` and up to sixteen digits. */
function isSmallHex(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(start) !== 48 || (text.charCodeAt(start + 1) | 32) !== 120) return false;
  return end - start <= 18 && /^[0-9a-f]+$/i.test(text.slice(start + 2, end));
}

const isNameStart = (code: number): boolean => isLower(code) || isUpper(code) || code === 95 || code === 36;
const isNamePart = (code: number): boolean => isNameStart(code) || isDigit(code);

/** The end of a name that begins at a place, or the place. */
function identifierEnd(text: string, start: number, end: number): number {
  if (start >= end || !isNameStart(text.charCodeAt(start))) return start;
  let i = start + 1;
  while (i < end && isNamePart(text.charCodeAt(i))) i++;
  return i;
}

/** Names with `.`, `?.`, `::` or `->` between them. */
function isIdentifier(text: string, start: number, end: number): boolean {
  for (let from = start; ; ) {
    const to = identifierEnd(text, from, end);
    if (to === from) return false;
    if (to === end) return true;
    if (text.charCodeAt(to) === DOT) from = to + 1;
    else if (text.startsWith("::", to) || text.startsWith("->", to) || text.startsWith("?.", to)) from = to + 2;
    else return false;
  }
}

/** "tokens[0]", "n.token-1": an element or a sum, not a value. */
function isElement(text: string, start: number, end: number): boolean {
  let i = identifierEnd(text, start, end);
  if (i === start) return false;
  let isSum = i < end && text.charCodeAt(i) === DOT;
  for (; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) isSum &&= isNamePart(text.charCodeAt(i + 1));
    else if (!isNamePart(code)) return code === OPEN_BRACKET || (isSum && "-+*/".includes(text[i] as string));
  }
  return false;
}

export type Setting = "bare" | "quoted" | "env" | "member";

/**
 * What a value was judged to be: a secret, or why not. `plain` has no digit or no letter, `wordy` is made of words, of
 * `standIn` the place is told; `other` says nothing about what stands further on in it.
 */
export type Verdict = "secret" | "plain" | "wordy" | "other" | { readonly standIn: number };

/**
 * Whether a value given to a secret's name is a secret rather than a placeholder, a type, a reference or an expression.
 * `setting` says how it stood: `bare` unquoted, `quoted`, `env` as in `NAME=value` with no spaces, `member` the string
 * value of a JSON member, where the syntax leaves no doubt about where the value ends.
 */
export function judgeValue(
  password: boolean,
  text: string,
  start: number,
  whole: number,
  setting: Setting,
  clear = new Clear(),
): Verdict {
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  const length = end - start;
  if (length < (password ? 6 : 8)) return "other";
  if (REFERENCE.test(text, start, end) || isPlainWord(text, start, end) || isOneCharacter(text, start, end))
    return "other";
  if (setting === "member" && holdsSentence(password, text.slice(start, end))) return "other";
  const isPassword = password && setting !== "bare";
  if (!clear.isNarrow && PROSE.test(text.slice(start, end))) return "other";
  const hasDigit = holdsDigit(text, start, end);
  if (!isPassword && (!hasDigit || !holdsLetter(text, start, end))) return "plain";
  if (setting === "quoted" && !hasDigit && isWordy(text, start, end)) return "wordy";
  const standIn = standInAt(text, start, end, clear);
  if (standIn !== -1) return { standIn };
  if (isPassword && setting === "member") return "secret";
  if (isSmallHex(text, start, end)) return "other";
  if (isPassword)
    return hasDigit || !isWordy(text, start, end) || (setting === "env" && !isIdentifier(text, start, end))
      ? "secret"
      : "wordy";
  if (isElement(text, start, end)) return "other";
  if (setting === "bare" && !password && length < 16 && isIdentifier(text, start, end)) return "other";
  return isWordy(text, start, end) ? "wordy" : "secret";
}

/** Words with spaces between, which a password may have two of. */
const holdsSentence = (password: boolean, value: string): boolean =>
  password ? value.length > 40 && /\s\S{1,20}\s/.test(value) : /\s/.test(value);

/** See `judgeValue`. */
export const isSecretValue = (name: string, value: string, setting: Setting): boolean =>
  judgeValue(isPasswordName(name, 0, name.length), value, 0, value.length, setting) === "secret";
