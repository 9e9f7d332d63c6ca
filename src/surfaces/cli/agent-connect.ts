import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import {
  type Capture,
  type ConnectPlan,
  connectMachine,
  disconnectMachine,
  planConnect,
} from "../../capture/capture.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { agentNames, noteTrouble, partsOf, withCapture } from "./agent-context.ts";
import { passLine, planLines } from "./agent-texts.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { createOutput, dollars, type Output, withJson } from "./output.ts";
import { duration } from "./values.ts";

interface ConnectOptions extends CommonOptions {
  readonly agents?: string[];
  readonly since?: number;
  readonly label?: string;
  readonly insecure?: boolean;
  readonly pin?: boolean;
  readonly timer?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function connectCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("connect").description("connect this machine to a server with a connect code"))
    .argument("[url]", "address of the server, as people open it")
    .argument("[code]", "connect code, from the page Devices or `reckon code create`")
    .option("--agents <names>", "only these, with commas between, e.g. claude-code,codex", agentNames)
    .option("--since <span>", "how far back to read, e.g. 7d (default: 30d)", duration)
    .option("--label <name>", "what people call this machine (default: its host name)")
    .option("--timer", "also look every 15 minutes, for sessions that no hook reported", false)
    .option("--dry-run", "show what would be read and changed, and change nothing", false)
    .option("--insecure", "send unencrypted to another machine", false)
    .option("--pin", "stay with this server, also when it says that the team moved to another", false)
    .option("--yes", "do not ask", false)
    .addHelpText("after", "\nOn a machine that is connected, without URL and CODE, it puts the hooks in place again.")
    .action((url: string | undefined, code: string | undefined, options: ConnectOptions, command: Command) => {
      const { agents, since: sinceMs, label, timer, insecure, pin } = options;
      const plan = planConnect(partsOf(cli), url, code, { agents, sinceMs, label, timer, insecure, pin });
      // A code is a secret: the other way round its name would be asked for in the DNS.
      if (!plan || code?.includes("://"))
        command.error("error: a URL and a code are needed, in this order: the page Devices shows both");
      // Opening makes the client's folder, so a dry run ends here.
      if (options.dryRun) return showPlan(createOutput(options.json ?? false), plan);
      return withCapture(cli, options, (capture, output) => connect(capture, output, plan, options));
    });
}

function showPlan(output: Output, plan: ConnectPlan): void {
  const { url, found, timer, brain } = plan;
  if (!output.json) output.note(planLines(plan, true));
  output.result({ url, agents: found, timer, brain }, () => "");
}

async function connect(capture: Capture, output: Output, plan: ConnectPlan, { yes }: ConnectOptions): Promise<void> {
  const { found } = plan;
  if (!output.json) output.note(planLines(plan, false));
  if (!yes) await confirm();
  const { credentials, changed, problems, pass, usd } = await connectMachine(
    capture,
    plan,
    output.steps("reading and sending"),
  );
  for (const problem of problems) output.note(problem);
  const { url, teamId, teamName, deviceId } = credentials;
  noteTrouble(output, pass);
  const agents = found.map((one) => one.agent);
  const sessions = `${url}/sessions`;
  output.result(
    { url, teamId, teamName, deviceId, agents, changed: namesOf(changed), problems, ...pass, usd, sessions },
    () =>
      [
        `Connected to ${teamName}. ${passLine(pass)}`,
        usd === null ? `See ${sessions}` : `$${dollars(usd, "")}, see ${sessions}`,
        '"reckon agent status" says how it stands, "reckon agent disconnect" undoes it all.',
      ].join("\n"),
  );
}

const namesOf = (changed: readonly { readonly file: string; readonly kind: string }[]) =>
  changed.map(({ file, kind }) => ({ file, kind }));

/** @throws Problem when nobody can be asked, or the answer is no */
async function confirm(): Promise<void> {
  if (!process.stdin.isTTY) fail(invalid, "nobody is here to agree: add --yes");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question("Connect this machine? [y/N] ");
    if (!/^y(?:es)?$/i.test(answer.trim())) fail(invalid, "nothing was changed");
  } finally {
    terminal.close();
  }
}

export function disconnectCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("disconnect").description("undo it all: hooks, binding, and what is kept on this machine"))
    .option("--force", "even when the server cannot be told, or not everything was sent", false)
    .action((options: CommonOptions & { force: boolean }) =>
      withCapture(cli, options, async (capture, output) => {
        output.steps("sending what waits");
        const { changed, problems, wasConnected } = await disconnectMachine(capture, options.force);
        for (const problem of problems) output.note(problem);
        output.result({ disconnected: wasConnected, changed: namesOf(changed), problems }, () =>
          wasConnected
            ? "Disconnected. What was sent stays on the server."
            : `This machine was not connected. ${changed.length > 0 ? "What was left of it is taken away." : "There was nothing to undo."}`,
        );
      }),
    );
}
