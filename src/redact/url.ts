/** The password in a URL. */
import { Automaton } from "./automaton.ts";
import { kindOf, mayStand } from "./pattern.ts";
import { endOfKind, type Reading, type Span } from "./reading.ts";
import { isOneCharacter, isPlainWord, MAX_MEMBER_JUDGED, standInAt } from "./values.ts";

const BEFORE_PASSWORD = /:\/\/([^\s:/?#@"'`<>\\]{0,80}):(?=[^\s/@"'`<>\\]{3})/y;
const IN_PASSWORD = kindOf("^\\s/@\"'`<>\\\\");
const AT_SIGN = 64;

const MY_PASSWORD = new Automaton(/(?:my)?pass(?:word)?/i);

/** The password in a URL whose `://` stands at `at`. */
export function urlPassword(reading: Reading, at: number): Span | undefined {
  const { text, units } = reading;
  reading.work += 3;
  BEFORE_PASSWORD.lastIndex = at;
  const user = BEFORE_PASSWORD.exec(text)?.[1];
  if (user === undefined) return undefined;
  const start = BEFORE_PASSWORD.lastIndex;
  const whole = endOfKind(reading, start, IN_PASSWORD);
  reading.work += whole - at;
  if (units[whole] !== AT_SIGN) return undefined;
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  // A development default named after itself (postgres:postgres) is no secret.
  if ("$%{[:*".includes(text[start] as string) || isOneCharacter(units, start, end)) return undefined;
  if (end - start === user.length && text.startsWith(user, start)) return undefined;
  if (isPlainWord(units, start, end) || MY_PASSWORD.spans(units, start, end)) return undefined;
  return standInAt(reading, start, end) === -1 ? [start, whole] : undefined;
}

export function mayHoldUrlPassword(text: string, at: number): boolean {
  BEFORE_PASSWORD.lastIndex = at;
  if (!BEFORE_PASSWORD.test(text)) return false;
  let end = BEFORE_PASSWORD.lastIndex;
  while (end < text.length && mayStand(IN_PASSWORD, text.charCodeAt(end))) end++;
  return text.charCodeAt(end) === AT_SIGN;
}
