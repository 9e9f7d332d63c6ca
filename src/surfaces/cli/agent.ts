import type { Command } from "commander";
import {
  type Capture,
  examine,
  importTranscripts,
  managedFiles,
  readStatus,
  recording,
  ring,
  runInBackground,
  runPass,
  type Scanned,
  scan,
  watchOn,
} from "../../capture/capture.ts";
import { isoInstant } from "../../kit/clock.ts";
import { giveWay } from "../../kit/priority.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { agentBrainCommands } from "./agent-brain.ts";
import { connectCommand, disconnectCommand } from "./agent-connect.ts";
import {
  agentName,
  agentNames,
  DEFAULT_SINCE_MS,
  noteTrouble,
  partsOf,
  settleIn,
  withCapture,
} from "./agent-context.ts";
import { receiptsCommand } from "./agent-receipts.ts";
import { checkLines, importLines, passLine, resumedLine, scanLines, statusLines, troubleLine } from "./agent-texts.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { createOutput, type Output, withJson } from "./output.ts";
import { duration, oneOf } from "./values.ts";

const WATCH_EVERY_MS = 5_000;

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
  receiptsCommand(agent, cli);
  agentBrainCommands(agent, cli);
  managedCommand(agent);
  agent
    .command("hook <agent> <event>", { hidden: true })
    .description("what agents call where there is no shell")
    .action((name: string, event: string) => {
      const { machine, clock } = partsOf(cli);
      process.stdout.write(ring(machine, name, event, clock.now()));
    });
}

function runCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("run").description("read what is new and send what waits"))
    .option("--watch", "go on until it is stopped", false)
    .option("--background", "as hooks call it: quietly, and looking again a few times", false)
    .action((options: CommonOptions & { watch: boolean; background: boolean }) => {
      if (options.background || options.watch) giveWay();
      if (options.background) {
        settleIn(cli);
        return runInBackground(partsOf(cli));
      }
      return withCapture(cli, options, async (capture, output) => {
        if (options.watch) return watchUntilStopped(capture, output);
        const result = await runPass(capture, { force: true, onProgress: output.steps("reading and sending") });
        if (result?.stopped !== undefined) cli.exitCode = 1;
        output.result(result ?? { running: true }, () => passLine(result));
        noteTrouble(output, result);
      });
    });
}

async function watchUntilStopped(capture: Capture, output: Output): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  output.note("Watching; stop with Ctrl+C.");
  await watchOn(
    capture,
    WATCH_EVERY_MS,
    stop.signal,
    (result) => {
      if (result.recorded > 0 || result.stopped !== undefined)
        output.note(`${passLine(result)} ${troubleLine(result)}`.trimEnd());
    },
    (error) => output.note(`${(error as Error).message}; it is tried again.`),
  );
}

interface ScanOptions extends CommonOptions {
  readonly agents?: string[];
  readonly since?: number;
}

function scanCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("scan").description("show what would be sent, redacted; sends and remembers nothing"))
    .option("--agents <names>", "only these, with commas between", agentNames)
    .option("--since <span>", "how far back to read (default: 30d)", duration)
    .action(async (options: ScanOptions) => {
      const parts = partsOf(cli);
      const output = createOutput(options.json ?? false);
      const since = parts.clock.now() - (options.since ?? DEFAULT_SINCE_MS);
      const sessions: Scanned[] = [];
      const isComplete = await scan(
        parts,
        {
          since,
          agents: options.agents,
          onProgress: output.steps("reading"),
          isWhole: options.json ?? false,
        },
        (session) => sessions.push(session),
      );
      output.result({ sessions, isComplete }, () => scanLines(sessions));
      if (sessions.length === 0)
        output.note(
          `Nothing since ${isoInstant(since)} that may leave stands where agents keep their sessions: "--since" looks further back.`,
        );
      if (!isComplete)
        output.note('There is more than could be read at once: a shorter "--since", or "--agents", shows all of it.');
    });
}

function lookCommands(agent: Command, cli: Cli): void {
  withJson(agent.command("status").description("what is watched, what waits, when the server answered last")).action(
    (options: CommonOptions) =>
      withCapture(cli, options, (capture, output) => {
        const status = readStatus(capture);
        output.result(status, () => statusLines(status));
      }),
  );
  withJson(agent.command("doctor").description("look whether sessions reach the server, and say what to do")).action(
    (options: CommonOptions) =>
      withCapture(cli, options, async (capture, output) => {
        const checks = await examine(capture);
        if (checks.some(({ state }) => state === "failed")) cli.exitCode = 1;
        output.result({ ok: cli.exitCode === 0, checks }, () => checkLines(checks));
      }),
  );
}

function pauseCommands(agent: Command, cli: Cli): void {
  withJson(agent.command("pause").description("record nothing for a while; what happens meanwhile is never read"))
    .argument("[span]", "for how long, e.g. 2h (default: until resumed)", duration)
    .action((span: number | undefined, options: CommonOptions) =>
      withCapture(cli, options, (capture, output) => {
        const until = span === undefined ? null : capture.clock.now() + span;
        recording.pause(capture, until);
        const end = until === null ? null : isoInstant(until);
        output.result(
          { paused: true, until: end },
          () => `Paused ${end === null ? 'until "reckon agent resume"' : `until ${end}`}.`,
        );
      }),
    );
  withJson(agent.command("resume").description("record again")).action((options: CommonOptions) =>
    withCapture(cli, options, (capture, output) => {
      recording.resume(capture);
      output.result({ paused: false }, () => resumedLine(readStatus(capture)));
    }),
  );
}

const SYSTEMS = ["linux", "darwin", "win32"] as const;

function managedCommand(agent: Command): void {
  withJson(
    agent
      .command("managed-settings")
      .description("print managed settings that install the hooks for everybody on a machine"),
  )
    .argument("[agent]", "only this one, e.g. claude-code", agentName)
    .option("--system <name>", `one of ${SYSTEMS.join(", ")}`, oneOf(SYSTEMS), "linux" as const)
    .action((name: string | undefined, options: CommonOptions & { system: (typeof SYSTEMS)[number] }) => {
      const files = managedFiles(options.system, name);
      if (files.length === 0) fail(invalid, "no place for all people of a machine is known");
      const shown = files.map(({ file, content }) => `# ${file}\n${content}`);
      createOutput(options.json ?? false).result(files, () => shown.join("\n"));
    });
}

function importCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("import").description("record transcripts from elsewhere, as another machine's or a CI's"))
    .argument("<path...>", "files, or folders with transcripts in them")
    .option("--agent <name>", "which agent wrote them (default: recognised by their content)", agentName)
    .action((paths: string[], options: CommonOptions & { agent?: string }) =>
      withCapture(cli, options, async (capture, output) => {
        const imported = await importTranscripts(capture, paths, options.agent, output.steps("reading"));
        const result = await runPass(capture, { force: true, onProgress: output.steps("reading and sending") });
        const isSent = (result?.stopped ?? result?.waits) === undefined;
        if (!isSent || imported.some(({ problem }) => problem)) cli.exitCode = 1;
        const recorded = imported.reduce((sum, one) => sum + one.recorded, result?.recorded ?? 0);
        const all = result && { ...result, recorded };
        output.result({ imported, ...all }, () => `${importLines(imported)}\n${passLine(all)}`);
        noteTrouble(output, result);
      }),
    );
}
