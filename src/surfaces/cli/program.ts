import { Command, CommanderError } from "commander";
import { ConfigError } from "../../config.ts";
import { programVersion } from "../../kit/assets.ts";
import { DataDirectoryInUse, StoreUnavailable } from "../../kit/errors.ts";
import { systemErrorText } from "../../kit/system-error.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { printableLines } from "./output.ts";
import { nameOf } from "./remote.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 75 (EX_TEMPFAIL of sysexits.h) the data directory is in use. */
export const FAILED = 1;
export const USAGE = 2;
const IN_USE = 75;

export type AddCommands = (program: Command, cli: Cli) => void;

/** The program's command line, without a command yet. */
export const commandLine = ({ io }: Cli): Command =>
  new Command("reckon")
    .description("Accountability for AI coding agents: one executable, one database file, one signing key.")
    .version(programVersion(), "-V, --version", "print the version")
    // Options of a command come after its name: `--version` there belongs to the command.
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for the options)")
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) })
    .exitOverride();

/**
 * Runs one command line. Before the command does anything, its place judges whether it may.
 * @param explain why it failed, in words for the caller; it may keep the cause to itself
 * @returns the exit code; never throws
 */
export async function runCommand(
  program: Command,
  argv: readonly string[],
  cli: Cli,
  explain: (error: unknown) => string = reasonOf,
): Promise<number> {
  // Sub-commands made before exitOverride was called on the program do not inherit it.
  for (const command of walk(program)) command.exitOverride();
  let options: CommonOptions = {};
  program.hook("preAction", (_, command) => {
    options = command.opts();
    cli.place.admit(nameOf(command), command.opts());
  });
  try {
    await program.parseAsync(argv as string[], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    // Rooms name a command that tells more without knowing the place of this one: its options are added here.
    const reason = explain(error).replace(
      /\(see: reckon ([a-z -]+)\)/,
      (_, words: string) => `(see: ${cli.place.reckon(options, words)})`,
    );
    cli.io.err(`reckon: ${printableLines(reason)}\n`);
    if (cli.env.RECKON_LOG === "debug" && error instanceof Error) cli.io.err(`${error.stack}\n`);
    if (error instanceof ConfigError) return USAGE;
    return error instanceof DataDirectoryInUse ? IN_USE : FAILED;
  }
}

/** Why a command failed, in one line that says what to look at. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { path } = error as NodeJS.ErrnoException;
  const system = systemErrorText(error);
  if (system !== undefined) return path === undefined ? system : `${path}: ${system}`;
  // The store's error says what could not be done; its cause says why.
  const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return (path === undefined ? "" : `${path}: `) + error.message + cause;
}

function* walk(command: Command): Generator<Command> {
  yield command;
  for (const child of command.commands) yield* walk(child);
}
