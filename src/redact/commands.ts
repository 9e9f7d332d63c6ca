/** Passwords that programs take on their command line, in a netrc file, and in an SQL statement. */

import { Automaton } from "./automaton.ts";
import { CROWD_RULE } from "./crowd.ts";
import { kindOf, mayStand } from "./pattern.ts";
import { endOfKind, MARKER_START, type Reading, type Span } from "./reading.ts";
import { isSecretValue, judgeValue, MAX_JUDGED } from "./values.ts";

/** How far after a program's name its password is looked for, in code units. */
const COMMAND_CAP = 1_024;

/** Programs, and what stands before the password that they are given. */
export interface Command {
  readonly rule: string;
  readonly anchors: readonly string[];
  /** Matches any of `anchors`. */
  readonly name: Automaton;
  readonly flag: Automaton;
}

const command = (rule: string, anchors: readonly string[], flag: RegExp): Command => ({
  rule,
  anchors,
  name: new Automaton(new RegExp(anchors.join("|"))),
  flag: new Automaton(flag),
});

const DASH = 45;
const NEWLINE = 10;
const RETURN = 13;
const BACKSLASH = 92;
const PIPE = 124;
const SEMICOLON = 59;
const AMPERSAND = 38;

const IN_VALUE = kindOf("^\\s\"'`\\\\");
const MIN_CHARS = 6;
const LOGINS = ["docker login ", "podman login ", "buildah login ", "skopeo login ", "registry login ", "az login "];
const rule = "command-password";

export const COMMANDS: readonly Command[] = [
  command(
    "curl-password",
    ["curl "],
    /(?:-{1,2}(?:[uU]|user|proxy-user)[ =]{1,2}|-[A-Za-z#]{1,12}[uU] {1,2}|-[uU])["']?[^\s:"'`$\\]{0,64}["']?:["']?/,
  ),
  command(rule, ["http ", "https "], /-(?:a|-auth)[ =]["']?[^\s:"'`$\\]{1,64}:["']?/),
  command(rule, LOGINS, /-p[ =]["']?/),
  command(rule, ["sshpass "], /-p ?["']?/),
  command(rule, ["mysql ", "mysqldump ", "mysqladmin ", "mariadb "], /-p["']?/),
  command(rule, ["redis-cli "], /-a ["']?/),
];

class State {
  /** The text before this place was searched already, for a name further back. */
  until = 0;
}

/** Whether the command ends at `i`: with its line, unless a backslash joins the next, or before another. */
function endsCommand(units: Uint16Array, i: number): boolean {
  const code = units[i];
  if (code === PIPE || code === SEMICOLON) return true;
  if (code === AMPERSAND) return units[i + 1] === AMPERSAND;
  if (code !== NEWLINE) return false;
  return units[units[i - 1] === RETURN ? i - 2 : i - 1] !== BACKSLASH;
}

const isSpace = (code: number): boolean => code === 32 || code === 9 || code === NEWLINE;

/** The password that a command with the program's name at `at` is given. */
export function commandPassword(command: Command, reading: Reading, at: number, key: object): Span | undefined {
  const { text, units } = reading;
  if (!command.name.test(units, at, text.length)) return undefined;
  const state = reading.memo(key, () => new State());
  const from = Math.max(at, state.until);
  const limit = Math.min(text.length, at + COMMAND_CAP);
  let i = from;
  for (; i < limit && !endsCommand(units, i); i++) {
    if (units[i] !== DASH || !isSpace(units[i - 1] as number)) continue;
    const start = command.flag.endOf(units, i, text.length);
    if (start === -1) continue;
    const end = endOfKind(reading, start, IN_VALUE);
    if (end - start < MIN_CHARS) continue;
    reading.work += end - from;
    state.until = end;
    // A marker is shorter than the secret was. A flag that comes near enough only by that does not count, so that a text redacted twice
    // stays the same.
    if (reading.holdsMarker(at, i)) return undefined;
    return judgeValue(true, reading, start, end, "quoted") === "secret" ? [start, end] : undefined;
  }
  state.until = Math.max(i, state.until);
  reading.work += i - from + 1;
  return undefined;
}

const MAY_BE_FLAG = /[\s\\n]--?(?:[puU]|a(?:uth)?[ =]|(?:proxy-|)user[ =]|[A-Za-z#]{1,12}[uU] )/;

/** Whether a flag that takes a password stands near enough after a program's name; errs towards yes, also on raw JSON. */
export function mayBeCommand(text: string, at: number): boolean {
  return MAY_BE_FLAG.test(text.slice(at, at + 2 * COMMAND_CAP));
}

const SECURE = /convertto-securestring((?:[ \t]{1,4}-(?:string|asplaintext|force)){0,3})[ \t]{1,4}(?:\\{0,3}["'])?/iy;
const PLAIN = /-asplaintext/i;
/** How far after a value the flag `-AsPlainText` is looked for, in code units. */
const PLAIN_CAP = 48;
const PIPED = /["'] {0,2}\| {0,2}$/;
const MAX_PIPED = 8;

/**
 * The password in PowerShell's `ConvertTo-SecureString 'password' -AsPlainText` and `'password' | ConvertTo-SecureString
 * -AsPlainText`, whose command stands at `at`; without the flag the value is an encrypted one. See
 * https://learn.microsoft.com/en-us/powershell/module/microsoft.powershell.security/convertto-securestring
 */
export function securePassword(reading: Reading, at: number): Span | undefined {
  const { text } = reading;
  SECURE.lastIndex = at;
  const match = SECURE.exec(text);
  reading.work += 8;
  if (match === null) return undefined;
  const start = SECURE.lastIndex;
  const end = endOfKind(reading, start, IN_VALUE);
  reading.work += end - at + PLAIN_CAP;
  const isPlain = PLAIN.test(match[1] as string) || PLAIN.test(text.slice(end, end + PLAIN_CAP));
  if (isPlain && judgeValue(true, reading, start, end, "quoted") === "secret") return [start, end];
  return PLAIN.test(text.slice(at, at + PLAIN_CAP)) ? pipedPassword(reading, at) : undefined;
}

const MAY_BE_SECURE = /convertto-securestring/iy;

/** Whether the command of `securePassword` stands at a place. */
export function mayBeSecurePassword(text: string, at: number): boolean {
  MAY_BE_SECURE.lastIndex = at;
  return MAY_BE_SECURE.test(text);
}

/** The value in quotes that a pipe hands to what stands at `at`. */
function pipedPassword(reading: Reading, at: number): Span | undefined {
  const { text, units } = reading;
  const piped = PIPED.exec(text.slice(Math.max(0, at - MAX_PIPED), at));
  if (piped === null) return undefined;
  const end = at - piped[0].length;
  let start = end;
  while (start > 0 && end - start < MAX_JUDGED && mayStand(IN_VALUE, units[start - 1] as number)) start--;
  reading.work += end - start;
  if (start === 0 || end - start === MAX_JUDGED || units[start - 1] !== units[end]) return undefined;
  return judgeValue(true, reading, start, end, "quoted") === "secret" ? [start, end] : undefined;
}

const NETRC =
  /machine(?:\s|\\[nt]){1,8}[^\s\\]{1,256}(?:\s|\\[nt]){1,8}login(?:\s|\\[nt]){1,8}[^\s\\]{1,256}(?:\s|\\[nt]){1,8}password(?:\s|\\[nt]){1,8}([^\s\\"'`]{6,256})/y;

/** The password in a netrc file's entry whose `machine` stands at `at`. */
export function netrcPassword(reading: Reading, at: number): Span | undefined {
  const { text } = reading;
  NETRC.lastIndex = at;
  const value = NETRC.exec(text)?.[1];
  reading.work += 8;
  if (value === undefined) return undefined;
  const end = endOfKind(reading, NETRC.lastIndex, IN_VALUE);
  reading.work += end - at;
  return isSecretValue("password", value, "env") ? [NETRC.lastIndex - value.length, end] : undefined;
}

const IDENTIFIED = /identified {1,4}(?:with\s{1,4}["'`]?\w{1,40}["'`]?\s{1,4})?by\s{1,4}(\\{0,3}["'])?/iy;
const STATEMENT = /(?:create|alter)\s{1,8}(?:user|role)|grant\s/gi;
/** How far after the beginning of its statement a password is looked for, in code units. */
const STATEMENT_CAP = 320;
const MAX_STATEMENT_START = 16;
const CROWD_MARKER = `${MARKER_START}${CROWD_RULE}]`;
const IN_WORD = kindOf("\\w$#!-");

class Statements {
  /** Up to here the text was searched for statements. */
  until = 0;
  lastAt = Number.NEGATIVE_INFINITY;

  /** Whether a statement that makes or changes users begins near enough before a place; asked from ascending places. */
  beginBefore(reading: Reading, at: number): boolean {
    const from = Math.max(0, at - STATEMENT_CAP, this.until - MAX_STATEMENT_START);
    for (const { index } of reading.text.slice(from, at).matchAll(STATEMENT)) this.lastAt = from + index;
    reading.work += Math.max(0, at - from);
    this.until = Math.max(at, this.until);
    if (at - this.lastAt > STATEMENT_CAP) return false;
    // The marker of a crowd is shorter than the crowd was, and must not bring a statement nearer.
    return !reading.holdsMarker(this.lastAt, at) || !reading.text.slice(this.lastAt, at).includes(CROWD_MARKER);
  }
}

/** The password in `CREATE USER … IDENTIFIED BY 'password'`, of MySQL and Oracle, whose `IDENTIFIED` stands at `at`. */
export function sqlPassword(reading: Reading, at: number, key: object): Span | undefined {
  const { text } = reading;
  IDENTIFIED.lastIndex = at;
  const match = IDENTIFIED.exec(text);
  reading.work += 8;
  if (match === null) return undefined;
  const start = IDENTIFIED.lastIndex;
  const end = endOfKind(reading, start, match[1] === undefined ? IN_WORD : IN_VALUE);
  reading.work += end - at;
  if (end - start < MIN_CHARS || reading.holdsMarker(at, start)) return undefined;
  if (judgeValue(true, reading, start, end, match[1] === undefined ? "bare" : "quoted") !== "secret") return undefined;
  return reading.memo(key, () => new Statements()).beginBefore(reading, at) ? [start, end] : undefined;
}

/** Whether a password could follow an `IDENTIFIED`; errs towards yes, also on raw JSON. */
export const mayBeIdentified = (text: string, at: number): boolean => /^.{10,80}by/is.test(text.slice(at, at + 90));
