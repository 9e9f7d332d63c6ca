import { Command, CommanderError } from "commander";
import { ConfigError } from "../../config.ts";
import { programVersion } from "../../kit/assets.ts";
import { DataDirectoryInUse, StoreUnavailable } from "../../kit/errors.ts";
import { systemErrorText } from "../../kit/system-error.ts";
import { agentCommands } from "./agent.ts";
import type { Cli, Env } from "./context.ts";
import { mcpCommand } from "./mcp.ts";

/** Exit codes: 0 done, 1 failed, 2 wrong usage, 75 (EX_TEMPFAIL of sysexits.h) the data directory is in use. */
const FAILED = 1;
const USAGE = 2;
const IN_USE = 75;

/** Runs one command line. @returns the exit code; never throws */
export async function run(argv: readonly string[], env: Env): Promise<number> {
  const cli: Cli = { env, exitCode: 0 };
  const program = new Command("reckon")
    .description("Accountability for AI coding agents: one executable, one database file, one signing key.")
    .version(programVersion(), "-V, --version", "print the version")
    // Options of commands come after their name: there `--version` is theirs.
    .enablePositionalOptions()
    .showHelpAfterError("(add --help for the options)")
    .showSuggestionAfterError()
    .exitOverride();
  // What runs beside an agent is a guest on its machine: it loads nothing of the server.
  const beside = argv[0] === "agent" || argv[0] === "mcp";
  const commands = beside ? [agentCommands, mcpCommand] : (await import("./commands.ts")).COMMANDS;
  for (const add of commands) add(program, cli);
  // Sub-commands made before exitOverride was called on the program do not inherit it.
  for (const command of walk(program)) command.exitOverride();
  try {
    await program.parseAsync(argv as string[], { from: "user" });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    process.stderr.write(`reckon: ${reasonOf(error)}\n`);
    if (env.RECKON_LOG === "debug" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
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
  // The store says what it could not do; what stood in its way is the cause.
  const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return error.message + cause;
}

function* walk(command: Command): Generator<Command> {
  yield command;
  for (const child of command.commands) yield* walk(child);
}
