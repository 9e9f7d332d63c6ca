import { homedir } from "node:os";
import type { Command } from "commander";
import {
  bind,
  type Capture,
  openCapture,
  readServerUrl,
  readStatus,
  runPass,
  STORES,
  watch,
} from "../../capture/capture.ts";
import { DAY_MS, systemClock } from "../../kit/clock.ts";
import { processLog } from "../../kit/log.ts";
import { agentBrainCommands } from "./agent-brain.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { createOutput, type Output } from "./output.ts";
import { duration } from "./values.ts";

const json = (command: Command): Command => command.option("--json", "print the result as one JSON document", false);

async function withCapture(cli: Cli, options: CommonOptions, work: (capture: Capture, output: Output) => Promise<void> | void): Promise<void> {
  const capture = openCapture({
    machine: { home: cli.env.HOME || homedir(), env: cli.env, platform: process.platform },
    clock: systemClock,
    log: processLog("warn", systemClock.now),
  });
  try {
    await work(capture, createOutput(options.json ?? false));
  } finally {
    capture.close();
  }
}

interface ConnectOptions extends CommonOptions {
  readonly since?: number;
  readonly label?: string;
  readonly insecure?: boolean;
  readonly yes?: boolean;
}

/** Commands of the capture client, which runs where the agents run. */
export function agentCommands(program: Command, cli: Cli): void {
  const agent = program.command("agent").description("the capture client: sends what this machine's agents do to a server");
  json(agent.command("connect").description("connect this machine").argument("<url>").argument("<code>"))
    .option("--since <span>", "how far back to read (default: 30d)", duration)
    .option("--label <name>", "what people call this machine (default: its host name)")
    .option("--insecure", "send over http to another machine", false)
    .option("--yes", "do not ask", false)
    .action((url: string, code: string, options: ConnectOptions) =>
      withCapture(cli, options, async (capture, output) => {
        const credentials = await bind(capture, { url: readServerUrl(url, options.insecure), code, label: options.label });
        watch(capture, capture.clock.now() - (options.since ?? 30 * DAY_MS), STORES.map((store) => store.agent));
        const result = await runPass(capture, { force: true, onProgress: output.progress("reading") });
        output.result({ team: credentials.teamName, ...result }, () => `Connected to ${credentials.teamName}. ${JSON.stringify(result)}`);
      }),
    );
  json(agent.command("run").description("read what is new and send what waits"))
    .option("--background", "as hooks call it")
    .action((options: CommonOptions) =>
      withCapture(cli, options, async (capture, output) => {
        const result = await runPass(capture, { force: true });
        output.result(result ?? null, () => JSON.stringify(result));
      }),
    );
  json(agent.command("status").description("what is watched, queued and refused")).action((options: CommonOptions) =>
    withCapture(cli, options, (capture, output) => {
      const status = readStatus(capture);
      output.result(status, () => JSON.stringify(status, null, 2));
    }),
  );
  agentBrainCommands(agent, cli, withCapture);
}
