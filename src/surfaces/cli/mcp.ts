import type { Command } from "commander";
import { openBridge } from "../../capture/capture.ts";
import { readTextFile } from "../../kit/bounded-text.ts";
import { partsOf, settleIn } from "./agent-context.ts";
import type { Cli } from "./context.ts";

interface McpOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly insecure?: boolean;
}

const MAX_TOKEN_BYTES = 4096;

/** The bridge for clients of the Model Context Protocol that start a program instead of calling a server. */
export function mcpCommand(program: Command, cli: Cli): void {
  program
    .command("mcp")
    .description("speak the Model Context Protocol on standard input and output, for clients without HTTP")
    .option("--url <url>", "the server (default: the one that this machine is connected to)")
    .option("--token-file <file>", "holds a read token or a device's (env RECKON_TOKEN; default: this machine's own)")
    .option("--insecure", "allow http to another machine")
    .action(async ({ url, tokenFile, insecure }: McpOptions) => {
      settleIn(cli);
      const named = tokenFile === undefined ? cli.env.RECKON_TOKEN : readTextFile(tokenFile, MAX_TOKEN_BYTES);
      const bridge = openBridge(partsOf(cli), { url, token: named?.trim() || undefined, insecure });
      const waiting = new Set<Promise<void>>();
      for await (const line of linesOf(process.stdin.setEncoding("utf8"))) {
        if (line.trim() === "") continue;
        // A slow answer must not hold up the others.
        const passed = bridge(line).then((answer) => {
          if (answer !== undefined) process.stdout.write(`${answer}\n`);
          waiting.delete(passed);
        });
        waiting.add(passed);
      }
      await Promise.all(waiting);
    });
}

/** The lines of the stdio transport. `node:readline` would end lines at U+2028 and U+2029 as well, which JSON may hold. */
async function* linesOf(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = chunk.split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() as string;
    yield* lines;
  }
  yield rest;
}
