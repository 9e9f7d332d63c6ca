import { existsSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Core } from "../../core.ts";
import { MINUTE_MS, parseDuration } from "../../kit/clock.ts";
import { counted } from "../../kit/strings.ts";
import { databasePath } from "../../platform/store/store.ts";
import {
  type CheckedReplica,
  checkReplica,
  noteReplicaCheck,
  withRestored,
} from "../../share/maintenance/maintenance.ts";
import { type Cli, type CommonOptions, common, outputAt, withCoreToLook } from "./context.ts";
import { facts, type Output } from "./output.ts";
import { copyFacts, copyJson, partsOf } from "./restore.ts";

interface CheckOptions extends CommonOptions {
  readonly restoreTo?: string;
  readonly from?: string;
  readonly maxLag: number;
}

export function replicaCommands(program: Command, cli: Cli): void {
  const replica = program.command("replica").description("a replica that another program keeps, such as Litestream");
  common(
    replica
      .command("check")
      .argument("[command...]", "after --: the command that restores it, with {} for the file to write")
      .description(
        "restore a replica and verify it, against the running database too; note the outcome for the figures",
      ),
  )
    .option("--restore-to <dir>", "where the command restores it for as long as it is checked")
    .option("--from <database>", "one that is restored already, instead of a command")
    .addOption(
      new Option("--max-lag <span>", "deliveries older than this must be in it")
        .argParser(lag)
        .default(5 * MINUTE_MS, "5m"),
    )
    .action(async (command: readonly string[], options: CheckOptions, check: Command) => {
      const { from, restoreTo } = options;
      if ((command.length === 0) === (from === undefined) || (from === undefined && restoreTo === undefined))
        check.error("error: say --restore-to DIR -- COMMAND…, or --from DATABASE");
      const { config } = partsOf(cli, options);
      const look = (live: Core | undefined, output: Output) => checkAndNote(cli, options, command, live, output);
      // Without a database here, another machine checks: all but the comparison with the running database.
      if (existsSync(databasePath(config.data))) await withCoreToLook(cli, options, look);
      else await look(undefined, outputAt(cli, options));
    });
}

function lag(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new InvalidArgumentError("It must be a span such as 90s, 5m or 2h.");
  return ms;
}

async function checkAndNote(
  cli: Cli,
  options: CheckOptions,
  command: readonly string[],
  live: Core | undefined,
  output: Output,
): Promise<void> {
  const parts = partsOf(cli, options);
  const askedAt = parts.clock.now();
  const judge = (file: string, restoreMs: number | null) =>
    checkReplica(parts, live, file, { askedAt, maxLagMs: options.maxLag, restoreMs }, output.steps);
  let found: CheckedReplica;
  try {
    found =
      options.from === undefined
        ? await withRestored(parts, options.restoreTo ?? "", command, judge)
        : await judge(options.from, null);
  } catch (error) {
    if (live) noteReplicaCheck(parts, (error as Error).message);
    throw error;
  }
  if (live) noteReplicaCheck(parts, null);
  show(output, found);
}

function show(output: Output, found: CheckedReplica): void {
  const { behind, restoreMs, verifyMs } = found;
  output.result({ ...copyJson(found), behind, restoreMs, verifyMs }, () =>
    facts([
      ...copyFacts(found),
      [
        "behind",
        behind === null
          ? "unknown: the running database is not here, or awaits its upgrade"
          : counted(behind, "leaf", "leaves"),
      ],
      ...(restoreMs === null ? [] : [["restored in", `${restoreMs} ms`] as const]),
      ["verified in", `${verifyMs} ms`],
    ]),
  );
}
