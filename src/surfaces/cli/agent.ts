import { homedir } from "node:os";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import {
  agentHome,
  beginQuiet,
  bind,
  type Capture,
  type CaptureParts,
  endQuiet,
  examine,
  findAgents,
  importTranscripts,
  installHooks,
  knownPolicy,
  openCapture,
  placesIn,
  readCredentials,
  readServerUrl,
  readStatus,
  refreshPolicy,
  removeHome,
  removeHooks,
  ring,
  runInBackground,
  runPass,
  type Scanned,
  scan,
  unbind,
  watch,
  watchOn,
} from "../../capture/capture.ts";
import { DAY_MS, isoInstant, systemClock } from "../../kit/clock.ts";
import { processLog } from "../../kit/log.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { checkLines, foundLines, importLines, passLine, scanLines, statusLines } from "./agent-texts.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { createOutput, type Output } from "./output.ts";
import { duration } from "./values.ts";

/** How far back is read where nobody says. */
const DEFAULT_SINCE_MS = 30 * DAY_MS;
const WATCH_EVERY_MS = 5_000;

const json = (command: Command): Command => command.option("--json", "print the result as one JSON document", false);
const list = (text: string): string[] => text.split(",").map((name) => name.trim());

function partsOf(cli: Cli): CaptureParts {
  const machine = { home: cli.env.HOME || homedir(), env: cli.env, platform: process.platform };
  return { machine, clock: systemClock, log: processLog("error", systemClock.now) };
}

type Work = (capture: Capture, output: Output) => Promise<void> | void;

async function withCapture(cli: Cli, options: CommonOptions, work: Work): Promise<void> {
  const capture = openCapture(partsOf(cli));
  try {
    await work(capture, createOutput(options.json ?? false));
  } finally {
    capture.close();
  }
}

/** Commands of the capture client, which runs where the agents run. */
export function agentCommands(program: Command, cli: Cli): void {
  const agent = program.command("agent").description("the capture client: sends what this machine's coding agents do");
  connectCommand(agent, cli);
  runCommand(agent, cli);
  scanCommand(agent, cli);
  lookCommands(agent, cli);
  pauseCommands(agent, cli);
  importCommand(agent, cli);
  disconnectCommand(agent, cli);
  agent
    .command("hook <agent> <event>", { hidden: true })
    .description("what agents call where there is no shell")
    .action((name: string, event: string) => {
      const { machine, clock } = partsOf(cli);
      ring(placesIn(agentHome(machine)), name, event, clock.now());
    });
}

interface ConnectOptions extends CommonOptions {
  readonly agents?: string[];
  readonly since?: number;
  readonly label?: string;
  readonly insecure?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

function connectCommand(agent: Command, cli: Cli): void {
  json(agent.command("connect").description("connect this machine to a server with a connect code"))
    .argument("<url>", "address of the server, as people open it")
    .argument("<code>", "connect code, from the page Devices or `reckon code create`")
    .option("--agents <names>", "only these, with commas between, e.g. claude-code,codex", list)
    .option("--since <span>", "how far back to read, e.g. 7d (default: 30d)", duration)
    .option("--label <name>", "what people call this machine (default: its host name)")
    .option("--dry-run", "show what would be read and changed, and change nothing", false)
    .option("--insecure", "send unencrypted to another machine", false)
    .option("--yes", "do not ask", false)
    .action((url: string, code: string, options: ConnectOptions) =>
      withCapture(cli, options, (capture, output) =>
        connect(capture, output, readServerUrl(url, options.insecure), code, options),
      ),
    );
}

async function connect(
  capture: Capture,
  output: Output,
  url: string,
  code: string,
  options: ConnectOptions,
): Promise<void> {
  const since = capture.clock.now() - (options.since ?? DEFAULT_SINCE_MS);
  const found = findAgents(capture, since, options.agents);
  if (!output.json || options.dryRun) output.note(foundLines(url, found, options.dryRun ?? false));
  if (options.dryRun) return output.result({ url, agents: found }, () => "");
  if (!options.yes) await confirm();
  const credentials = await bind(capture, { url, code, label: options.label });
  const names = found.map((one) => one.agent);
  watch(capture, since, options.agents ?? null);
  const { changed, problems } = installHooks(capture, names);
  for (const problem of problems) output.note(problem);
  const result = await runPass(capture, { force: true, onProgress: output.progress("reading and sending") });
  const sessions = `${url}/sessions`;
  const { teamId, teamName, deviceId } = credentials;
  output.result(
    {
      url,
      teamId,
      teamName,
      deviceId,
      agents: names,
      changed: changed.map(({ file, kind }) => ({ file, kind })),
      problems,
      ...result,
      sessions,
    },
    () =>
      `Connected to ${teamName}. ${passLine(result)}\nSee ${sessions}\n"reckon agent status" says how it stands, "reckon agent disconnect" undoes it all.`,
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

function runCommand(agent: Command, cli: Cli): void {
  json(agent.command("run").description("read what is new and send what waits"))
    .option("--watch", "go on until it is stopped", false)
    .option("--background", "as hooks call it: quietly, and looking again a few times", false)
    .action((options: CommonOptions & { watch: boolean; background: boolean }) =>
      withCapture(cli, options, async (capture, output) => {
        if (options.background) return runInBackground(capture);
        if (options.watch) return watchUntilStopped(capture, output);
        const result = await runPass(capture, { force: true, onProgress: output.progress("reading and sending") });
        if (result?.stopped !== undefined) cli.exitCode = 1;
        output.result(result ?? { running: true }, () => passLine(result));
      }),
    );
}

async function watchUntilStopped(capture: Capture, output: Output): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  output.note("Watching; stop with Ctrl+C.");
  await watchOn(capture, WATCH_EVERY_MS, stop.signal, (result) => {
    if (result.recorded > 0 || result.stopped !== undefined) output.note(passLine(result));
  });
}

interface ScanOptions extends CommonOptions {
  readonly agents?: string[];
  readonly since?: number;
}

function scanCommand(agent: Command, cli: Cli): void {
  json(agent.command("scan").description("show what would be sent, redacted; sends and remembers nothing"))
    .option("--agents <names>", "only these, with commas between", list)
    .option("--since <span>", "how far back to read (default: 30d)", duration)
    .action(async (options: ScanOptions) => {
      const parts = partsOf(cli);
      const output = createOutput(options.json ?? false);
      const since = parts.clock.now() - (options.since ?? DEFAULT_SINCE_MS);
      const sessions: Scanned[] = [];
      await scan(
        parts,
        { since, mode: "redacted", agents: options.agents, onProgress: output.progress("reading") },
        (session) => sessions.push(options.json ? session : { ...session, documents: [] }),
      );
      output.result({ sessions }, () => scanLines(sessions));
    });
}

function lookCommands(agent: Command, cli: Cli): void {
  json(agent.command("status").description("what is watched, what waits, when the server answered last")).action(
    (options: CommonOptions) =>
      withCapture(cli, options, (capture, output) => {
        const status = readStatus(capture);
        output.result(status, () => statusLines(status));
      }),
  );
  json(agent.command("doctor").description("look whether sessions reach the server, and say what to do")).action(
    (options: CommonOptions) =>
      withCapture(cli, options, async (capture, output) => {
        const checks = await examine(capture);
        if (checks.some(({ state }) => state === "failed")) cli.exitCode = 1;
        output.result({ ok: cli.exitCode === 0, checks }, () => checkLines(checks));
      }),
  );
}

function pauseCommands(agent: Command, cli: Cli): void {
  json(agent.command("pause").description("record nothing for a while; what happens meanwhile is never read"))
    .argument("[span]", "for how long, e.g. 2h (default: until resumed)", duration)
    .action((span: number | undefined, options: CommonOptions) =>
      withCapture(cli, options, (capture, output) => {
        const until = span === undefined ? null : capture.clock.now() + span;
        beginQuiet(capture, "paused", until);
        const end = until === null ? null : isoInstant(until);
        output.result(
          { paused: true, until: end },
          () => `Paused ${end === null ? 'until "reckon agent resume"' : `until ${end}`}.`,
        );
      }),
    );
  json(agent.command("resume").description("record again")).action((options: CommonOptions) =>
    withCapture(cli, options, (capture, output) => {
      endQuiet(capture, "paused");
      output.result({ paused: false }, () => "Recording again.");
    }),
  );
}

function importCommand(agent: Command, cli: Cli): void {
  json(agent.command("import").description("record transcripts from elsewhere, as another machine's or a CI's"))
    .argument("<path...>", "files, or folders with transcripts in them")
    .option("--agent <name>", "whose they are (default: told by their content)")
    .action((paths: string[], options: CommonOptions & { agent?: string }) =>
      withCapture(cli, options, async (capture, output) => {
        const credentials = readCredentials(capture.places);
        if (!credentials) return fail(invalid, 'this machine is not connected: run "reckon agent connect URL CODE"');
        if (!knownPolicy(capture)) await refreshPolicy(capture, credentials);
        const imported = await importTranscripts(capture, paths, options.agent, output.progress("reading"));
        const result = await runPass(capture, { force: true });
        output.result({ imported, ...result }, () => `${importLines(imported)}\n${passLine(result)}`);
      }),
    );
}

function disconnectCommand(agent: Command, cli: Cli): void {
  json(agent.command("disconnect").description("undo it all: hooks, binding, and what is kept on this machine"))
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
