/** The password in a URL. */
import { Automaton } from "./automaton.ts";
import { endOfKind, type Reading, type Span } from "./reading.ts";
import { kindOf } from "./shape.ts";
import { isOneCharacter, isPlainWord, standInAt } from "./values.ts";

const BEFORE_PASSWORD = /:\/\/([^\s:/?#@"'`<>\\]{0,80}):(?=[^\s/@"'`<>\\]{3})/y;
const IN_PASSWORD = kindOf("^\\s/@\"'`<>\\\\");
const AT_SIGN = 64;

const MY_PASSWORD = new Automaton(/(?:my)?pass(?:word)?/i);

/** The password in a URL whose `://` stands at `at`. */
export function urlPassword(reading: Reading, at: number): Span | undefined {
  const { text } = reading;
  reading.work += 3;
  BEFORE_PASSWORD.lastIndex = at;
  const user = BEFORE_PASSWORD.exec(text)?.[1];
  if (user === undefined) return undefined;
  const start = BEFORE_PASSWORD.lastIndex;
  const end = endOfKind(text, start, IN_PASSWORD);
  reading.work += end - at;
  if (text.charCodeAt(end) !== AT_SIGN) return undefined;
  // A development default named after itself (postgres:postgres) is no secret.
  if ("$%{[:*".includes(text[start] as string) || isOneCharacter(text, start, end)) return undefined;
  if (end - start === user.length && text.startsWith(user, start)) return undefined;
  if (isPlainWord(text, start, end) || MY_PASSWORD.spans(text, start, end)) return undefined;
  return standInAt(text, start, end) === -1 ? [start, end] : undefined;
}

export function mayHoldUrlPassword(text: string, at: number): boolean {
  BEFORE_PASSWORD.lastIndex = at;
  return (
    BEFORE_PASSWORD.test(text) && text.charCodeAt(endOfKind(text, BEFORE_PASSWORD.lastIndex, IN_PASSWORD)) === AT_SIGN
  );
}
