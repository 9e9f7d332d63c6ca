/** The password in a URL. */
import { Automaton } from "./automaton.ts";
import { kindOf, mayStand } from "./pattern.ts";
import { endOfKind, type Reading, type Span } from "./reading.ts";
import { isOneCharacter, isPlainWord, MAX_MEMBER_JUDGED, standInAt } from "./values.ts";

const BEFORE_PASSWORD = /:\/\/([^\s:/?#@"'`<>\\]{0,80}):(?=[^\s/"'`<>\\]{3})/y;
const IN_PASSWORD = kindOf("^\\s/@\"'`<>\\\\");
/** Characters allowed between two at-signs of a password that was not percent-encoded; no host name has more than one. */
const IN_REST = kindOf("^\\s/@\"'`<>\\\\?#,;&=()|");
const AT_SIGN = 64;
const MIN_CHARS = 3;
/** Longest rest of a password after its first at-sign, in code units. */
const REST_CAP = 256;

const MY_PASSWORD = new Automaton(/(?:my)?pass(?:word)?/i);

/** The password in a URL whose `://` stands at `at`. */
export function urlPassword(reading: Reading, at: number): Span | undefined {
  const { text, units } = reading;
  reading.work += 3;
  BEFORE_PASSWORD.lastIndex = at;
  const user = BEFORE_PASSWORD.exec(text)?.[1];
  if (user === undefined) return undefined;
  const start = BEFORE_PASSWORD.lastIndex;
  const first = endOfKind(reading, start, IN_PASSWORD);
  reading.work += first - at;
  if (units[first] !== AT_SIGN) return undefined;
  const whole = lastAtSign(reading, first);
  if (whole - start < MIN_CHARS) return undefined;
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  // A development default named after itself (postgres:postgres) is no secret.
  if ("$%{[:*".includes(text[start] as string) || isOneCharacter(units, start, end)) return undefined;
  if (end - start === user.length && text.startsWith(user, start)) return undefined;
  if (isPlainWord(units, start, end) || MY_PASSWORD.spans(units, start, end)) return undefined;
  return standInAt(reading, start, end) === -1 ? [start, whole] : undefined;
}

/** The last at-sign before the host: people write `P@ssword` as it is. @param first the place of the first */
function lastAtSign(reading: Reading, first: number): number {
  const { text, units } = reading;
  let last = first;
  let i = first + 1;
  for (const to = Math.min(text.length, first + REST_CAP); i < to; i++)
    if (units[i] === AT_SIGN) last = i;
    else if (!mayStand(IN_REST, units[i] as number)) break;
  reading.work += i - first;
  return last;
}

export function mayHoldUrlPassword(text: string, at: number): boolean {
  BEFORE_PASSWORD.lastIndex = at;
  if (!BEFORE_PASSWORD.test(text)) return false;
  let end = BEFORE_PASSWORD.lastIndex;
  while (end < text.length && mayStand(IN_PASSWORD, text.charCodeAt(end))) end++;
  return text.charCodeAt(end) === AT_SIGN;
}
