import type { Command } from "commander";
import { type Config, readConfig, type Settings } from "../../config.ts";
import type { Core } from "../../core.ts";
import { systemClock } from "../../kit/clock.ts";
import { processLog } from "../../kit/log.ts";
import { systemRandom } from "../../kit/random.ts";
import { announcedBaseUrl, type OpenOptions, openStore } from "../../platform/store/store.ts";
import { createOutput, type Output } from "./output.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** What `run` hands to every command. */
export interface Cli {
  readonly env: Env;
  /** Ends the process with this code once the command is done; 0 unless set. */
  exitCode: number;
}

/** Options that every command takes. */
export function common(command: Command): Command {
  return command
    .option(
      "--data <dir>",
      "directory that holds the database, the signing key and backups (env RECKON_DATA)",
      undefined,
    )
    .option("--json", "print the result as one JSON document", false);
}

export interface CommonOptions {
  readonly data?: string;
  readonly json?: boolean;
}

export const outputOf = (options: CommonOptions): Output => createOutput(options.json ?? false);

export function configOf(cli: Cli, options: CommonOptions, more: Settings = {}): Config {
  return readConfig({ ...(options.data === undefined ? {} : { data: options.data }), ...more }, cli.env);
}

type Work<T> = (core: Core, output: Output) => T | Promise<T>;

/**
 * Opens the data directory for one command, beside a running server or without one. A database of an older schema is refused.
 * @param create whether a directory without a database gets one
 */
export function withCore<T>(cli: Cli, options: CommonOptions, work: Work<T>, create = false): Promise<T> {
  return open(cli, options, work, { create });
}

/** As `withCore`, for commands that only look: they work on a database of an older schema, too, and do not change it. */
export function withCoreToLook<T>(cli: Cli, options: CommonOptions, work: Work<T>): Promise<T> {
  return open(cli, options, work, { create: false, older: "look" });
}

async function open<T>(
  cli: Cli,
  options: CommonOptions,
  work: Work<T>,
  how: Pick<OpenOptions, "create" | "older">,
): Promise<T> {
  const config = configOf(cli, options);
  const clock = systemClock;
  const store = openStore(config.data, { ...how, now: clock.now });
  const core: Core = {
    // Links are for the people of the server that runs, which may have been told its address by options of its own.
    config: { ...config, baseUrl: config.baseUrl ?? announcedBaseUrl(config.data) ?? null },
    clock,
    random: systemRandom,
    log: processLog(config.log === "info" ? "warn" : config.log, clock.now),
    store,
    state: new Map(),
  };
  try {
    return await work(core, outputOf(options));
  } finally {
    store.close();
  }
}

/** Says that the addresses in a result are a guess: no server runs here, and none was named. */
export function noteGuessedAddress(core: Core, output: Output): void {
  if (core.config.baseUrl === null)
    output.note(
      `No server runs on ${core.config.data}, so the address is a guess: set RECKON_BASE_URL as the server has it.`,
    );
}
