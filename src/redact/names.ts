/** Names whose own words say that their value is a secret. */
import { Automaton } from "./automaton.ts";

/** Longest name looked at, in code units. */
export const NAME_CAP = 64;

const NAME = new Automaton(
  /(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|(?:api|access|secret|private|auth|authentication|encryption|signing|signature|account|master|service|license|licence|shared|admin|root|app|application|client|subscription|storage|ssh|webhook|preshared|pre-shared|pre_shared)[_.-]?key|token)(?:[_.-]?(?:base64|b64|base|value|val|plain|plaintext|raw|prod|production|dev|development|stag|staging|live|old|new|[0-9]{1,2}))?/i,
  "end",
);
/** Names that end like a secret's and hold none. */
const INNOCENT = new Automaton(
  /(?:public|primary|foreign|page|next|prev|previous|continuation|cursor|sync|cancell?ation|cancel|abort|stop|eos|bos|pad|unk|mask|sep|cls|start|end|max|min|num|total|input|output|cached?|prompt|completion|reasoning|thinking|per|each|count|first|last|invalid|unexpected|design|lookahead|current|special|unknown|has|is|no|show|hide|forgot|reset|change|update|confirm|missing|require[sd]?|need|get|set|use|with|without|toggle|validate|check|verify|hash|encrypt)[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?/i,
  "end",
);
/** What ends like one of those for the last part of its word alone. */
const ACCOUNT = new Automaton(
  /account[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?/i,
  "end",
);

export const isLetter = (code: number): boolean => (code | 32) >= 97 && (code | 32) <= 122;
const isSmallOrDigit = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57);

/** `pass` and `pw` as words of their own, `dbPass`, `DB_PW`. */
function endsInPass(text: string, start: number, end: number): boolean {
  const isShort = (text.charCodeAt(end - 1) | 32) === 119;
  const at = isShort ? end - 2 : end - 4;
  if (at < start) return false;
  const before = at > start ? text.charCodeAt(at - 1) : 0;
  if (isShort)
    return (
      (text.startsWith("pw", at) && !isLetter(before)) || (text.startsWith("PW", at) && (at === start || before === 95))
    );
  return (
    ((text.startsWith("pass", at) || text.startsWith("PASS", at)) && !isLetter(before)) ||
    (text.startsWith("Pass", at) && isSmallOrDigit(before))
  );
}

/** Whether the name between two places ends as a secret's does; some that do hold none, see `isInnocentName`. */
export const endsInSecret = (text: string, start: number, end: number): boolean =>
  NAME.test(text, start, end) || endsInPass(text, start, end);

export const isInnocentName = (text: string, start: number, end: number): boolean =>
  INNOCENT.test(text, start, end) && !ACCOUNT.test(text, start, end);

/** Whether a name's own words say its value is a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, `x-auth-token`. */
export const isSecretName = (name: string): boolean =>
  endsInSecret(name, 0, name.length) && !isInnocentName(name, 0, name.length);

/** Whether the name between two places holds `pass` or `pwd`, or ends in `pw`. */
export function isPasswordName(text: string, start: number, end: number): boolean {
  for (let i = start; i < end - 1; i++) {
    if ((text.charCodeAt(i) | 32) !== 112) continue;
    const next = text.charCodeAt(i + 1) | 32;
    if (next === 119 && (i + 2 === end || (text.charCodeAt(i + 2) | 32) === 100)) return true;
    if (next !== 97 || i + 4 > end) continue;
    if ((text.charCodeAt(i + 2) | 32) === 115 && (text.charCodeAt(i + 3) | 32) === 115) return true;
  }
  return false;
}

/** Whether a name could be a secret's; errs towards yes, also where raw JSON's escapes are glued to it. */
export const mayBeSecretName = (text: string, start: number, end: number): boolean =>
  NAME.test(text, start, end) || /(?:pass|pw)$/i.test(text.slice(Math.max(start, end - 4), end));
