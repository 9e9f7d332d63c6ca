import type { Command } from "commander";
import { type NightlyResult, readBriefing, runNightly } from "../../capture/capture.ts";
import { diffLines, hunkLines } from "../../kit/diff.ts";
import { withCapture } from "./agent-context.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { withJson } from "./output.ts";

interface NightlyOptions extends CommonOptions {
  readonly apply?: boolean;
  readonly dryRun?: boolean;
}

/** Adds the commands about the brain to `reckon agent`. */
export function agentBrainCommands(agent: Command, cli: Cli): void {
  withJson(agent.command("briefing"))
    .description("print what agents are told of this folder's repository when a session starts")
    .action((options: CommonOptions) =>
      withCapture(cli, options, (capture, output) => {
        const briefing = readBriefing(capture, process.cwd());
        output.result({ briefing: briefing === "" ? null : briefing }, () => briefing);
      }),
    );
  withJson(agent.command("nightly"))
    .description("draw lessons from errors that came back into the agents' instructions")
    .option("--apply", "write the files; without it the changes are only shown", false)
    .option("--dry-run", "only show the changes, whatever else is said", false)
    .action((options: NightlyOptions) =>
      withCapture(cli, options, async (capture, output) => {
        const applied = options.apply === true && options.dryRun !== true;
        const results = await runNightly(capture, applied);
        const problems = results.flatMap(({ root, problems }) => problems.map((problem) => `${root}: ${problem}`));
        for (const problem of problems) output.note(problem);
        if (problems.length > 0) cli.exitCode = 1;
        output.result({ applied, repositories: results.map(asJson), problems }, () => shown(results, applied));
      }),
    );
}

const asJson = ({ changes, ...facts }: NightlyResult) => ({ ...facts, changes: changes.map(({ path }) => path) });

function shown(results: readonly NightlyResult[], applied: boolean): string {
  const changes = results.flatMap((result) => result.changes);
  if (changes.length === 0) return "Nothing to change.";
  return `${changes.map(diffOf).join("\n")}\n\n${applied ? "Written." : "Nothing was written: --apply does."}`;
}

/** A change as `diff -u` shows it, made printable: others' words could act on a terminal. */
function diffOf({ path, before, after }: NightlyResult["changes"][number]): string {
  const { hunks, tooDifferent } = diffLines(utf8(before), utf8(after));
  const lines = hunks.flatMap(hunkLines).map((line) => line.replace(/\p{Cc}/gu, ""));
  const names = [`--- ${before === null ? "/dev/null" : path}`, `+++ ${after === null ? "/dev/null" : path}`];
  return [...names, ...(tooDifferent ? ["(too different to be shown)"] : lines)].join("\n");
}

const utf8 = (latin1: string | null): string => Buffer.from(latin1 ?? "", "latin1").toString("utf8");
