import type { Command } from "commander";
import { agentCommands } from "./agent.ts";
import { type Cli, type Env, HERE } from "./context.ts";
import { mcpCommand } from "./mcp.ts";
import { type Io, PROCESS_IO } from "./output.ts";
import { commandLine, reasonOf, runCommand, USAGE } from "./program.ts";
import { remoteList, remoteNameOf } from "./remote.ts";
import { readText } from "./texts.ts";

export { reasonOf };

/** Runs one command line. @returns the exit code; never throws */
export async function run(argv: readonly string[], env: Env, io: Io = PROCESS_IO): Promise<number> {
  const cli: Cli = { env, io, place: HERE, exitCode: 0 };
  const program = commandLine(cli)
    .option("--server <url>", "run the command on the server at this address, with an API token (env RECKON_TOKEN)")
    .option("--token-file <file>", "holds the API token, with --server");
  // These commands run beside an agent, as guests on its machine: they load nothing of the server.
  const beside = argv[0] === "agent" || argv[0] === "mcp";
  const commands = beside ? [agentCommands, mcpCommand] : (await import("./commands.ts")).COMMANDS;
  for (const add of commands) add(program, cli);
  program.hook("preAction", async () => {
    const place = await placeOf(program, env);
    if (place) cli.place = place;
  });
  const code = await runCommand(program, argv, cli);
  if (code === USAGE && program.opts().server !== undefined && remoteNameOf(program.args) === undefined)
    io.err(`With --server there are:\n${remoteList()}\n`);
  // `--server` is an option of the program: behind the command's name it would be read as the command's own.
  if (code === USAGE && program.opts().server === undefined && argv.some((word) => /^--server(?:=|$)/.test(word)))
    io.err("--server stands before the command: reckon --server URL COMMAND\n");
  return code;
}

/** Where the command is to be run, if not here. */
async function placeOf(program: Command, env: Env) {
  const { server, tokenFile } = program.opts<{ server?: string; tokenFile?: string }>();
  if (server === undefined)
    return tokenFile === undefined ? undefined : program.error("error: --token-file is for --server, which is missing");
  const { sentTo } = await import("./sent.ts");
  const token = tokenFile === undefined ? env.RECKON_TOKEN : await readText(tokenFile);
  return sentTo(server, token?.trim() ?? "", program.args);
}
