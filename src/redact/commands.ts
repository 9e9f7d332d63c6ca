/** Passwords that programs take on their command line, and in a netrc file. */

import { kindOf } from "./pattern.ts";
import { endOfKind, type Reading, type Span } from "./reading.ts";
import { isSecretValue, judgeValue } from "./values.ts";

/** How far after a program's name its password is looked for, in code units. */
const COMMAND_CAP = 1_024;

/** Programs, and the flag that holds their password in the pattern's only group. */
export interface Command {
  readonly rule: string;
  readonly anchors: readonly string[];
  readonly flag: RegExp;
}

const DASH = 45;
const NEWLINE = 10;
const PIPE = 124;
const SEMICOLON = 59;
const AMPERSAND = 38;

const VALUE = "([^\\s\"'`\\\\]{6,256})";
/** What a value longer than that goes on with. */
const IN_VALUE = kindOf("^\\s\"'`\\\\");
const LOGINS = ["docker login ", "podman login ", "buildah login ", "skopeo login ", "registry login ", "az login "];
const rule = "command-password";

export const COMMANDS: readonly Command[] = [
  {
    rule: "curl-password",
    anchors: ["curl "],
    flag: new RegExp(`-{1,2}(?:[uU]|user|proxy-user)[ =]{1,2}["']?[^\\s:"'\`$\\\\]{0,64}["']?:["']?${VALUE}`, "y"),
  },
  { rule, anchors: LOGINS, flag: new RegExp(`-p[ =]["']?${VALUE}`, "y") },
  { rule, anchors: ["sshpass "], flag: new RegExp(`-p ?["']?${VALUE}`, "y") },
  { rule, anchors: ["mysql ", "mysqldump ", "mysqladmin ", "mariadb "], flag: new RegExp(`-p["']?${VALUE}`, "y") },
  { rule, anchors: ["redis-cli "], flag: new RegExp(`-a ["']?${VALUE}`, "y") },
];

class State {
  /** What stands before this was looked at already, on behalf of a name further back. */
  until = 0;
}

/** Whether the command ends at `i`: with its line, unless a backslash joins the next, or before another. */
function endsCommand(text: string, i: number): boolean {
  const code = text.charCodeAt(i);
  if (code === PIPE || code === SEMICOLON) return true;
  if (code === AMPERSAND) return text.charCodeAt(i + 1) === AMPERSAND;
  if (code !== NEWLINE) return false;
  const last = text[i - 1] === "\r" ? i - 2 : i - 1;
  return text[last] !== "\\";
}

const isSpace = (code: number): boolean => code === 32 || code === 9 || code === NEWLINE;

function startsAny(text: string, anchors: readonly string[], at: number): boolean {
  for (const anchor of anchors) if (text.startsWith(anchor, at)) return true;
  return false;
}

/** The password that a command with the program's name at `at` is given. */
export function commandPassword(command: Command, reading: Reading, at: number, key: object): Span | undefined {
  const { text } = reading;
  if (!startsAny(text, command.anchors, at)) return undefined;
  const state = reading.memo(key, () => new State());
  const { flag } = command;
  const from = Math.max(at, state.until);
  const limit = Math.min(text.length, at + COMMAND_CAP);
  let i = from;
  for (; i < limit && !endsCommand(text, i); i++) {
    if (text.charCodeAt(i) !== DASH || !isSpace(text.charCodeAt(i - 1))) continue;
    flag.lastIndex = i;
    const value = flag.exec(text)?.[1];
    if (value === undefined) continue;
    const start = flag.lastIndex - value.length;
    const end = endOfKind(reading, flag.lastIndex, IN_VALUE);
    reading.work += end - from;
    state.until = end;
    // What was redacted before brings nothing nearer, so that a text redacted twice stays the same.
    if (reading.holdsMarker(at, i)) return undefined;
    return judgeValue(true, reading, start, end, "quoted") === "secret" ? [start, end] : undefined;
  }
  state.until = Math.max(i, state.until);
  reading.work += i - from + 1;
  return undefined;
}

const MAY_BE_FLAG = /[\s\\n]--?(?:[uUpa]|user|proxy-user)[ ="'\w]/;

/** Whether a flag that takes a password stands near enough after a program's name; errs towards yes, also on raw JSON. */
export function mayBeCommand(text: string, at: number): boolean {
  return MAY_BE_FLAG.test(text.slice(at, at + 2 * COMMAND_CAP));
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
