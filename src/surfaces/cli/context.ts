import type { Command } from "commander";
import { type Config, readConfig, type Settings } from "../../config.ts";
import type { Core } from "../../core.ts";
import { roleIn } from "../../identity/members/members.ts";
import { findUser, getUser, type User } from "../../identity/people/people.ts";
import { getTeam, listTeams, type Team } from "../../identity/teams/teams.ts";
import { systemClock } from "../../kit/clock.ts";
import { DataDirectoryError, StoreUnavailable } from "../../kit/errors.ts";
import { withPath } from "../../kit/files.ts";
import { processLog } from "../../kit/log.ts";
import { fail, forbidden, invalid, notFound } from "../../kit/problem.ts";
import { systemRandom } from "../../kit/random.ts";
import { shellWord } from "../../kit/strings.ts";
import { type Actor, COMMAND_LINE } from "../../platform/audit/audit.ts";
import { announcedBaseUrl, damageAdvice, type OpenOptions, openStore } from "../../platform/store/store.ts";
import { createOutput, type Io, type Output, revokedText, withJson } from "./output.ts";
import { readInput, readText, requireNewFile, writeArchive, writeText } from "./texts.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** What `run` hands to every command. */
export interface Cli {
  readonly env: Env;
  readonly io: Io;
  /** Where the command does its work; set before it begins. */
  place: Place;
  /** Ends the process with this code once the command is done; 0 unless set. */
  exitCode: number;
}

/** Who runs a command. */
export interface Caller {
  readonly by: Actor;
  /** The only team that the command may concern; null for any team, and for commands that concern none. */
  readonly teamId: string | null;
  /** Where a token is used: whose it is, and when it ends. A token that is made with it may be no more. */
  readonly token?: { readonly userId: string | null; readonly expiresAt: number };
}

type Work<T> = (core: Core, output: Output, caller: Caller) => T | Promise<T>;
type How = Pick<OpenOptions, "create" | "older">;

/**
 * Where a command does its work: on a data directory of this machine, or within a server, for somebody elsewhere. The command is the same;
 * only its files and its standard input are other ones.
 */
export interface Place {
  /** Judges whether a command may run here, before it does anything. @param path its name, e.g. `team create` @throws Problem */
  admit(path: string, options: Readonly<Record<string, unknown>>): void;
  carryOut<T>(cli: Cli, options: CommonOptions, how: How, work: Work<T>): Promise<T>;
  /** The command line of another command in the same place. @param words from the command on */
  reckon(options: CommonOptions, words: string): string;
  /** Whether a person sits here who can be asked. */
  readonly isInteractive: boolean;
  readInput(mostBytes: number): Promise<string>;
  /** What stands in a file that an option names; `-` is standard input. */
  readText(file: string): Promise<string>;
  /** @param advice what helps when the file exists @throws Problem where the file cannot be made, or exists already */
  requireNewFile(file: string, advice: string): void;
  writeText(file: string, text: string): Promise<void>;
  /** @returns how many bytes it has */
  writeArchive(file: string, content: AsyncIterable<Uint8Array>): Promise<number>;
}

/** Options that every command takes. */
export function common(command: Command): Command {
  return withJson(
    command.option("--data <dir>", "directory that holds the database, the signing key and backups (env RECKON_DATA)"),
  );
}

/** A command about one team, which `teamNamed` finds. */
export const ofTeam = (command: Command): Command =>
  common(command).option("--team <team>", "id or exact name; needed where there are several teams");

/** A command about one person. @param group `reckon user` */
export const ofPerson = (group: Command, name: string, description: string): Command =>
  common(group.command(name).argument("<email>", "e-mail address or id")).description(description);

export interface CommonOptions {
  readonly data?: string;
  readonly json?: boolean;
}

export interface OfTeam extends CommonOptions {
  readonly team?: string;
}

/** The output of a command, whose hints name the place where it works. */
export const outputAt = ({ io, place }: Cli, options: CommonOptions): Output =>
  createOutput(options.json ?? false, io, (words) => place.reckon(options, words));

export function configOf(cli: Cli, options: CommonOptions, more: Settings = {}): Config {
  return readConfig({ ...(options.data === undefined ? {} : { data: options.data }), ...more }, cli.env);
}

/**
 * Opens the data directory for one command, beside a running server or without one. A database of an older schema is refused.
 * @param create whether a directory without a database gets one
 */
export function withCore<T>(cli: Cli, options: CommonOptions, work: Work<T>, create = false): Promise<T> {
  return cli.place.carryOut(cli, options, { create }, work);
}

/** As `withCore`, for commands that only look: they work on a database of an older schema, too, and do not change it. */
export function withCoreToLook<T>(cli: Cli, options: CommonOptions, work: Work<T>): Promise<T> {
  return cli.place.carryOut(cli, options, { create: false, older: "look" }, work);
}

/** An error of the store with its place; where the file is damaged, what to do about it. */
function explain(error: Error & { code?: string }, directory: string): Error {
  if (error.code?.startsWith("SQLITE_CORRUPT")) return new DataDirectoryError(damageAdvice(directory, error.message));
  return error instanceof StoreUnavailable ? withPath(directory, error) : error;
}

/** This machine. Whoever has the data directory may do everything. */
export const HERE: Place = {
  admit() {},
  async carryOut(cli, options, how, work) {
    const config = configOf(cli, options);
    const clock = systemClock;
    const store = openStore(config.data, { ...how, now: clock.now });
    const core: Core = {
      // Addresses in results are those of the running server, which may have been told its own by an option.
      config: { ...config, baseUrl: config.baseUrl ?? announcedBaseUrl(config.data) ?? null },
      clock,
      random: systemRandom,
      log: processLog(config.log === "info" ? "warn" : config.log, clock.now),
      store,
      state: new Map(),
    };
    try {
      return await work(core, outputAt(cli, options), { by: COMMAND_LINE, teamId: null });
    } catch (error) {
      throw explain(error as Error, config.data);
    } finally {
      store.close();
    }
  },
  reckon: ({ data }, words) => `reckon ${words}${data === undefined ? "" : ` --data ${shellWord(data)}`}`,
  get isInteractive() {
    return process.stdin.isTTY;
  },
  readInput,
  readText,
  requireNewFile,
  writeText,
  writeArchive,
};

/**
 * Adds the command that ends something by its id.
 * @param named what the id is
 * @param revoke returns whether it had not ended before; is given the only team that the command may concern
 * @param member what `--json` calls the id
 */
export function addRevoke(
  group: Command,
  cli: Cli,
  named: string,
  description: string,
  revoke: (core: Core, id: string, by: Actor, teamId?: string) => Promise<boolean>,
  member = "id",
): void {
  common(group.command("revoke").argument("<id>", named).description(description)).action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by, teamId }) => {
        const changed = await revoke(core, id, by, teamId ?? undefined);
        output.result({ [member]: id, status: "revoked", changed }, () => revokedText(id, changed));
      }),
  );
}

/**
 * The team that a command names; without a name the caller's own, or the only one.
 * @throws Problem where there is no such team, or the caller is confined to another
 */
export function teamNamed(core: Core, { teamId }: Caller, named?: string): Team {
  if (teamId === null) return named === undefined ? onlyTeam(core) : getTeam(core, named);
  const own = getTeam(core, teamId);
  return named === undefined || named === own.id || named === own.name
    ? own
    : fail(forbidden, `The token works for the team "${own.name}" only.`);
}

function onlyTeam(core: Core): Team {
  const teams = listTeams(core);
  const [only] = teams;
  if (only === undefined) fail(notFound, "There is no team yet (see: reckon team create --help)");
  return teams.length === 1 ? only : fail(invalid, `There are ${teams.length} teams: name one with --team.`);
}

/** As `withCore`, for a command of one team. */
export function withTeam<T>(
  cli: Cli,
  options: OfTeam,
  work: (core: Core, output: Output, team: Team, caller: Caller) => T | Promise<T>,
): Promise<T> {
  return withCore(cli, options, (core, output, caller) =>
    work(core, output, teamNamed(core, caller, options.team), caller),
  );
}

/** The team that a command may name. Without a name it is the caller's own team, or undefined where the caller is confined to none. */
export const teamIdNamed = (core: Core, caller: Caller, named: string | undefined): string | undefined =>
  named === undefined ? (caller.teamId ?? undefined) : teamNamed(core, caller, named).id;

/** A person that a command names. @throws Problem where there is none, or none in the caller's team */
export function personNamed(core: Core, { teamId }: Caller, named: string): User {
  if (teamId === null) return getUser(core, named);
  const user = findUser(core, named);
  // Whether somebody has an account elsewhere is not told.
  return user && roleIn(core, teamId, user.id) !== undefined
    ? user
    : fail(notFound, `"${named}" is nobody of the team.`);
}

/**
 * Notes that the addresses in a result are a guess, because no server runs here and no address was set. @param what what the note calls
 * them
 */
export function noteGuessedAddress(core: Core, output: Output, what = "the address"): void {
  if (core.config.baseUrl === null)
    output.note(
      `No server runs on ${core.config.data}, so ${what} is a guess: set RECKON_BASE_URL as the server has it.`,
    );
}

const MAX_SECRET_BYTES = 16 * 1024;

/**
 * Reads a secret from standard input: all of it, except the line break that `echo` and editors put at its end.
 * @param what what the secret is called
 * @param command the command line that takes it so
 */
export async function readSecret({ place }: Cli, what: string, command: string): Promise<string> {
  if (place.isInteractive)
    fail(
      invalid,
      `the ${what} is read from standard input, not typed here: printf %s "$${what.toUpperCase()}" | reckon ${command}`,
    );
  const secret = (await place.readInput(MAX_SECRET_BYTES)).replace(/\r?\n$/, "");
  if (secret === "") fail(invalid, `there is no ${what} on standard input`);
  return secret;
}
