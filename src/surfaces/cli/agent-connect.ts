import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import {
  agentHome,
  bind,
  type Capture,
  findAgents,
  installHooks,
  placesIn,
  readCredentials,
  readServerUrl,
  readStatus,
  removeHome,
  removeHooks,
  removeManagedBlocks,
  runPass,
  unbind,
  watch,
} from "../../capture/capture.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { DEFAULT_SINCE_MS, names, partsOf, withCapture, withJson } from "./agent-context.ts";
import { foundLines, passLine } from "./agent-texts.ts";
import type { Cli, CommonOptions } from "./context.ts";
import type { Output } from "./output.ts";
import { duration } from "./values.ts";

interface ConnectOptions extends CommonOptions {
  readonly agents?: string[];
  readonly since?: number;
  readonly label?: string;
  readonly insecure?: boolean;
  readonly timer?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export function connectCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("connect").description("connect this machine to a server with a connect code"))
    .argument("[url]", "address of the server, as people open it")
    .argument("[code]", "connect code, from the page Devices or `reckon code create`")
    .option("--agents <names>", "only these, with commas between, e.g. claude-code,codex", names)
    .option("--since <span>", "how far back to read, e.g. 7d (default: 30d)", duration)
    .option("--label <name>", "what people call this machine (default: its host name)")
    .option("--timer", "also look every 15 minutes, for what no hook told of", false)
    .option("--dry-run", "show what would be read and changed, and change nothing", false)
    .option("--insecure", "send unencrypted to another machine", false)
    .option("--yes", "do not ask", false)
    .addHelpText("after", "\nOn a machine that is connected, without URL and CODE, it puts the hooks in place again.")
    .action((url: string | undefined, code: string | undefined, options: ConnectOptions) =>
      withCapture(cli, options, (capture, output) => connect(capture, output, targetOf(capture, url, code, options), options)),
    );
}

/** The server that is connected to; without a code the one that knows this machine. */
interface Target {
  readonly url: string;
  readonly code: string | undefined;
}

function targetOf(capture: Capture, url: string | undefined, code: string | undefined, { insecure }: ConnectOptions): Target {
  if (url !== undefined && code !== undefined) return { url: readServerUrl(url, insecure), code };
  const known = readCredentials(capture.places);
  if (url !== undefined || !known) return fail(invalid, "a URL and a code are needed: the page Devices shows both");
  return { url: known.url, code: undefined };
}

async function connect(capture: Capture, output: Output, { url, code }: Target, options: ConnectOptions): Promise<void> {
  const since = capture.clock.now() - (options.since ?? DEFAULT_SINCE_MS);
  const found = findAgents(capture, since, options.agents);
  if (!output.json || options.dryRun) output.note(foundLines(url, found, options.dryRun ?? false));
  if (options.timer) output.note(timerLines(capture));
  if (options.dryRun) return output.result({ url, agents: found }, () => "");
  if (!options.yes) await confirm();
  const credentials = code === undefined ? readCredentials(capture.places) : await bind(capture, { url, code, label: options.label });
  if (!credentials) return;
  if (code !== undefined || options.since !== undefined || options.agents) watch(capture, since, options.agents ?? null);
  const agents = found.map((one) => one.agent);
  const { changed, problems } = installHooks(capture, agents);
  if (options.timer) problems.push(...startTimer(capture));
  for (const problem of problems) output.note(problem);
  const pass = await runPass(capture, { force: true, onProgress: output.progress("reading and sending") });
  const { teamId, teamName, deviceId } = credentials;
  const sessions = `${url}/sessions`;
  const files = changed.map(({ file, kind }) => ({ file, kind }));
  output.result({ url, teamId, teamName, deviceId, agents, changed: files, problems, ...pass, sessions }, () =>
    [
      `Connected to ${teamName}. ${passLine(pass)}`,
      `See ${sessions}`,
      '"reckon agent status" says how it stands, "reckon agent disconnect" undoes it all.',
    ].join("\n"),
  );
}

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
    .action(async (options: CommonOptions & { force: boolean }) => {
      await withCapture(cli, options, async (capture, output) => {
        const credentials = readCredentials(capture.places);
        if (credentials && !options.force) await sendTheRest(capture);
        const untold = credentials && (await unbind(credentials.url, credentials.token));
        if (untold !== undefined && !options.force)
          fail(
            invalid,
            `the server could not be told (${untold}); nothing was changed. With --force the device stays listed there until it is revoked`,
          );
        const { changed, problems } = removeHooks(capture);
        problems.push(...stopTimer(capture));
        await removeManagedBlocks(capture);
        for (const problem of problems) output.note(problem);
        output.result(
          { disconnected: true, changed: changed.map(({ file, kind }) => ({ file, kind })), problems },
          () => "Disconnected. What was sent stays on the server.",
        );
      });
      removeHome(placesIn(agentHome(partsOf(cli).machine)));
    });
}

async function sendTheRest(capture: Capture): Promise<void> {
  const result = await runPass(capture, { force: true });
  const { waiting } = readStatus(capture);
  if (waiting.entries + waiting.sessions > 0)
    fail(
      invalid,
      `${waiting.sessions} sessions and ${waiting.entries} entries were not sent yet (${result?.stopped ?? "another pass is running"}): try later, or give them up with --force`,
    );
}
