/** The password in a URL. */
import { Automaton } from "./automaton.ts";
import type { Reading, Span } from "./reading.ts";
import { isOneCharacter, isPlainWord, standInAt } from "./values.ts";

const URL_PASSWORD = /:\/\/[^\s:/?#@"'`<>\\]{0,80}:([^\s/@"'`<>\\]{3,256})@/y;

const MY_PASSWORD = new Automaton(/(?:my)?pass(?:word)?/i);

/** The password in a URL whose `://` stands at `at`. */
export function urlPassword(reading: Reading, at: number): Span | undefined {
  const { text } = reading;
  URL_PASSWORD.lastIndex = at;
  const match = URL_PASSWORD.exec(text);
  reading.work += 3;
  if (match === null) return undefined;
  const password = match[1] as string;
  const end = URL_PASSWORD.lastIndex - 1;
  reading.work += end - at;
  const user = text.slice(at + 3, end - password.length - 1);
  // A development default named after itself (postgres:postgres) is no secret.
  const start = end - password.length;
  if ("$%{[:*".includes(password[0] as string) || password === user || isOneCharacter(text, start, end))
    return undefined;
  if (isPlainWord(text, start, end) || MY_PASSWORD.spans(text, start, end)) return undefined;
  return standInAt(text, start, end) === -1 ? [start, end] : undefined;
}

export function mayHoldUrlPassword(text: string, at: number): boolean {
  URL_PASSWORD.lastIndex = at;
  return URL_PASSWORD.test(text);
}
