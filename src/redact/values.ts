/** Whether a value given to a secret's name is a secret. No part of this looks at how random a value is. */
import { isPasswordName } from "./names.ts";

/** Longest value looked at, in code units; of a JSON member, whose end is sure, as much as this is judged. */
export const VALUE_CAP = 256;
const MEMBER_CAP = 4_096;

const WORDS = new Set(
  "true false null none nil undefined nan void never unknown any str string text number int integer bool boolean bytes object array list map dict optional required require default empty unset missing invalid valid password passwd passphrase secret token bearer basic digest apikey key value name user username email admin root guest test testing tester demo foo bar baz foobar abc abc123 abcd1234 123456 12345678 123456789 1234567890 hidden masked redacted removed secure private public enabled disabled yes no on off todo tbd fixme hello world inherit prompt input output postgres mysql mariadb redis mongo rabbitmq localhost minioadmin pass pwd pw pat p4ssw0rd passw0rd password1 password12 password123 password1234 self this changeit write read readonly".split(
    " ",
  ),
);
const MAX_WORD_CHARS = 12;

/** Whether a value is a word that stands for any: a type, a default, a name of what it should be. */
export const isPlainWord = (value: string): boolean => value.length <= MAX_WORD_CHARS && WORDS.has(value.toLowerCase());

const STAND_IN =
  /example|placeholder|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|your[_-]|-your|<|>|\{\{|\$\{|\$\(|x{4,}|\*{2,}|\.{3}|…|•|redact|dummy|sample|insert[_-]|fill[_-]?(?:in|me)|not[_-]?(?:a[_-]?)?(?:real|secret)|process\.env|import\.meta|os\.environ|getenv|env\(|secrets?\.|vars\.|var\.|config\.|settings\.|\[REDACTED/i;
const STAND_IN_START =
  /^(?:your|(?:my|some|the|a|an|fake|test|mock|stub|super|new|old|any|no|bad|wrong|invalid)[_-]?(?:super[_-]?)?(?:secret|password|passwd|pass|token|api|key|auth|client)(?:[_-]?(?:secret|password|token|key|value|here|name|id|string))?$|env[.:])/i;
/** First characters of references, paths, formats and code rather than of a value. */
const REFERENCE =
  /^(?:[$%@*#&|?!=~^:\\/.()[\]{}+-]|op:|vault:|ref:|arn:|kms:|sops:|enc[:[]|file:|https?:|wss?:|[a-z][a-z0-9+.-]{1,12}:\/\/|projects\/|sha(?:256|384|512)[:-]|data:|[A-Za-z]:\\)/;
/** A sentence in a script that writes no spaces: kana, ideographs, hangul. */
const PROSE = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{4}/;
const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*$/;

/** Where a stand-in (`your-…`, `xxxx`, `${…}`) stands in a value, or -1. */
export function standInAt(value: string): number {
  return STAND_IN_START.test(value) ? 0 : value.search(STAND_IN);
}

const PART_END = /[-_./:]|$/g;
const UPPER_OR_NUMBER = /^(?:[A-Z]{1,20}|[0-9]{0,4}|v[0-9]{1,3})$/;
const CAMEL = /^(?:[A-Z]?[a-z]+)(?:[A-Z][a-z]+)*[0-9]{0,2}$/;

/** Whether every part between signs is a plain word or a small number: `my-tls-secret-2`, `users.read`, `snake_case`. */
export function isWordy(value: string): boolean {
  for (let from = 0; from <= value.length; ) {
    PART_END.lastIndex = from;
    const to = PART_END.exec(value)?.index ?? value.length;
    const part = value.slice(from, to);
    if (!CAMEL.test(part) && !UPPER_OR_NUMBER.test(part)) return false;
    from = to + 1;
  }
  return true;
}

export function isOneCharacter(value: string): boolean {
  for (let i = 1; i < value.length; i++) if (value[i] !== value[0]) return false;
  return true;
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
export function judgeValue(name: string, whole: string, setting: Setting): Verdict {
  const value = whole.length > MEMBER_CAP ? whole.slice(0, MEMBER_CAP) : whole;
  const password = isPasswordName(name);
  if (value.length < (password ? 6 : 8)) return "other";
  if (isPlainWord(value) || REFERENCE.test(value) || isOneCharacter(value)) return "other";
  if (setting === "member") {
    if (password && /\s\S{1,20}\s/.test(value) && value.length > 40) return "other";
    if (!password && /\s/.test(value)) return "other";
  }
  const isPassword = password && setting !== "bare";
  if (PROSE.test(value)) return "other";
  const hasDigit = /[0-9]/.test(value);
  if (!isPassword && (!hasDigit || !/[A-Za-z]/.test(value))) return "plain";
  if (setting === "quoted" && !hasDigit && isWordy(value)) return "wordy";
  const standIn = standInAt(value);
  if (standIn !== -1) return { standIn };
  if (isPassword && setting === "member") return "secret";
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return "other";
  if (isPassword)
    return hasDigit || !isWordy(value) || (setting === "env" && !IDENTIFIER.test(value)) ? "secret" : "wordy";
  // "tokens[0]", "n.token-1": an element or a sum, not a value.
  if (/^[A-Za-z_$][\w$.]*\[|^[A-Za-z_$][\w$]*(?:\.[\w$]+)+[-+*/]/.test(value)) return "other";
  if (setting === "bare" && !password && IDENTIFIER.test(value) && value.length < 16) return "other";
  return isWordy(value) ? "wordy" : "secret";
}

/** See `judgeValue`. */
export const isSecretValue = (name: string, value: string, setting: Setting): boolean =>
  judgeValue(name, value, setting) === "secret";
