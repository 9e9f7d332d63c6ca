/** The value of an authorization header, after its name or after a scheme's, and session cookies. */
import { Automaton } from "./automaton.ts";
import { kindOf, mayStand } from "./pattern.ts";
import { endOfKind, type Reading, type Span } from "./reading.ts";
import { isLetter } from "./units.ts";
import { holdsDigit, holdsLetter, isOneCharacter, isWordy, MAX_MEMBER_JUDGED, standInAt } from "./values.ts";

const BEFORE_VALUE = new Automaton(/authorization\\{0,7}["'`]?\]?\)? {0,4}[:=,] {0,4}\\{0,7}["'`]? {0,2}/i);
/** RFC 9110 section 11.4: a scheme, and then a token or parameters; no scheme at all is common, too. */
const SCHEME = kindOf("\\w-");
const MAX_SCHEME_CHARS = 32;
const MIN_CHARS = 8;
const ENDS_HEADER = kindOf("\"'`\r\n\\\\");
const SPACE = 32;
const EQUALS = 61;
const MAX_NAME_CHARS = 40;
const PARAMETERS =
  /[A-Za-z][\w-]{1,31} {1,3}([\w-]{1,40}=\\?"?[^"'\\,\s]{1,1024}(?:\\?"?, {0,2}[\w-]{1,40}=\\?"?[^"'\\,\s]{0,1024}){1,16})/y;
const BEARER = /bearer {1,3}([\w.~+/=-]{12,2048})/iy;
/** Characters with which a value goes on that is longer than the patterns' bounds. */
const IN_TOKEN = kindOf("\\w.~+/=:-");
const IN_BEARER = kindOf("\\w.~+/=-");
const KNOWN_SCHEME =
  /^(?:bearer|basic|token|apikey|api-key|digest|negotiate|bot|key|ssws|geniekey|splunk|discogs|oauth|jwt|hmac|sso-key)$/i;
const MIN_ALONE_CHARS = 12;

class State {
  /** The text before this place was judged already. */
  until = 0;
}

/** The value after `Authorization:` or after `Bearer`, whichever stands at `at`. */
export function headerValue(reading: Reading, at: number, key: object): Span | undefined {
  const state = reading.memo(key, () => new State());
  if (at < state.until) return undefined;
  const { text, units } = reading;
  const from = BEFORE_VALUE.endOf(units, at, text.length);
  if (from === -1) {
    BEARER.lastIndex = at;
    const value = BEARER.exec(text)?.[1];
    reading.work++;
    if (value === undefined) return undefined;
    const end = endOfKind(reading, BEARER.lastIndex, IN_BEARER);
    reading.work += end - at;
    return judged(reading, state, BEARER.lastIndex - value.length, end, false);
  }
  reading.work += from - at;
  const schemeEnd = endOfScheme(units, from);
  const behind = afterSpaces(units, schemeEnd);
  if (behind > schemeEnd && namesParameter(units, behind)) {
    PARAMETERS.lastIndex = from;
    const parameters = PARAMETERS.exec(text)?.[1];
    if (parameters !== undefined) {
      reading.work += parameters.length;
      return judged(reading, state, PARAMETERS.lastIndex - parameters.length, PARAMETERS.lastIndex, false);
    }
  }
  if (behind > schemeEnd) {
    const end = endOfKind(reading, behind, IN_TOKEN);
    reading.work += end - from;
    if (end - behind >= MIN_CHARS) {
      const scheme = text.slice(from, schemeEnd);
      // A header holds one value after its scheme, and then ends. Otherwise these are words that happen to follow.
      const isAll = end === text.length || mayStand(ENDS_HEADER, units[end] as number);
      if (!isAll && !KNOWN_SCHEME.test(scheme)) return undefined;
      return judged(reading, state, behind, end, scheme.toLowerCase() === "basic");
    }
  }
  const end = endOfKind(reading, from, IN_TOKEN);
  reading.work += end - from;
  return end - from < MIN_ALONE_CHARS ? undefined : judged(reading, state, from, end, false);
}

/** Where a scheme that begins at a place ends, or the place. */
function endOfScheme(units: Uint16Array, at: number): number {
  if (!isLetter(units[at] as number)) return at;
  let end = at + 1;
  while (end <= at + MAX_SCHEME_CHARS && mayStand(SCHEME, units[end] as number)) end++;
  return end - at < 2 || end - at > MAX_SCHEME_CHARS ? at : end;
}

/** The place after up to three spaces. */
function afterSpaces(units: Uint16Array, at: number): number {
  let i = at;
  while (i < at + 3 && units[i] === SPACE) i++;
  return i;
}

/** Whether a name and an equals sign begin at a place, as a scheme's first parameter does. */
function namesParameter(units: Uint16Array, at: number): boolean {
  let end = at;
  while (end < at + MAX_NAME_CHARS && mayStand(SCHEME, units[end] as number)) end++;
  return end > at && units[end] === EQUALS;
}

const URL_START = new Automaton(/[a-z][a-z0-9+.-]{1,12}:\/\//i);

/** @param isBasic whether the value is base64, which may hold no digit */
function judged(reading: Reading, state: State, start: number, whole: number, isBasic: boolean): Span | undefined {
  const { units } = reading;
  state.until = whole;
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  if (!isBasic && !holdsDigit(units, start, end)) return undefined;
  if (URL_START.test(units, start, end) || isWordy(units, start, end) || isOneCharacter(units, start, end))
    return undefined;
  return standInAt(reading, start, end) === -1 ? [start, whole] : undefined;
}

const MAY_BE_HEADER = /bearer {1,3}[\w.~+/=-]{12}|authorization\\{0,64}["'`\])]{0,3}\\{0,64}["']? {0,4}[:=,]/iy;

export function mayBeHeader(text: string, at: number): boolean {
  MAY_BE_HEADER.lastIndex = at;
  return MAY_BE_HEADER.test(text);
}

/** A member's or an attribute's value without its scheme, where the name is of an authorization header. */
export function withoutScheme(name: string, value: string): string {
  return /authorization$/i.test(name)
    ? value.replace(/^[A-Za-z][\w-]{1,31} {1,3}(?=\S{6,}$)/, "")
    : value.replace(/^(?:bearer|basic|token|apikey|digest) {1,3}/i, "");
}

/** Of a header, or of `curl -b` (https://curl.se/docs/manpage.html#-b). */
const COOKIE = /(?: -b |-cookie |(?:set-)?cookie\\{0,7}["'`]?\]? {0,4}[:=,]) {0,4}\\{0,7}["'`]? {0,2}/iy;
const PAIR = /(?:; {0,2})?([\w.$!#%&*+^|~-]{1,64})=/y;
const IN_COOKIE = kindOf("^\\s;,\"'`\\\\<>");
const SESSION_NAME = /sess|sid$|auth|token|jwt|csrf|xsrf|login|remember|identity|\.sig$|ticket/i;
const MIN_SESSION_CHARS = 16;
/** Pairs looked at in one header. */
const MAX_PAIRS = 64;

/** The values of cookies with a session's name in the header that stands at `at`. */
export function cookieValues(reading: Reading, at: number, key: object): Span[] {
  const state = reading.memo(key, () => new State());
  if (at < state.until) return [];
  const { text } = reading;
  COOKIE.lastIndex = at;
  if (!COOKIE.test(text)) return [];
  const found: Span[] = [];
  let from = COOKIE.lastIndex;
  for (let pairs = 0; pairs < MAX_PAIRS; pairs++) {
    PAIR.lastIndex = from;
    const match = PAIR.exec(text);
    if (match === null) break;
    const start = PAIR.lastIndex;
    from = endOfKind(reading, start, IN_COOKIE);
    if (SESSION_NAME.test(match[1] as string) && isSessionValue(reading, start, from)) found.push([start, from]);
  }
  reading.work += from - at;
  state.until = from;
  return found;
}

function isSessionValue(reading: Reading, start: number, whole: number): boolean {
  const { units } = reading;
  const end = Math.min(whole, start + MAX_MEMBER_JUDGED);
  if (end - start < MIN_SESSION_CHARS || !holdsDigit(units, start, end) || !holdsLetter(units, start, end))
    return false;
  return !isWordy(units, start, end) && standInAt(reading, start, end) === -1;
}

export function mayBeCookies(text: string, at: number): boolean {
  COOKIE.lastIndex = at;
  return COOKIE.test(text);
}
