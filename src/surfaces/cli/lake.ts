import type { Command } from "commander";
import { instantOrNull } from "../../kit/clock.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { checkLake, type LakeCheck, lakeStatus } from "../../share/lake/lake.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { facts } from "./output.ts";

export function lakeCommands(program: Command, cli: Cli): void {
  const lake = program.command("lake").description("the record as Parquet in a directory or a bucket (RECKON_LAKE)");
  common(lake.command("status").description("show up to when the lake is complete, and what waits")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        const status = lakeStatus(core);
        if (!status)
          return fail(notFound, "there is no lake here: the server makes one where RECKON_LAKE names a place");
        const { place, shard, waiting, failure } = status;
        const currentAt = instantOrNull(status.currentAt);
        output.result({ place, shard, currentAt, waiting, failure }, () =>
          facts([
            ["place", place],
            ["shard", shard],
            ["holds all up to", currentAt ?? "never yet"],
            ["blocks to come", waiting.blocks],
            ["days to write", waiting.days],
            ["blocks to take away", waiting.removals],
            ...(failure === null ? [] : [["failing", failure] as const]),
          ]),
        );
      }),
  );
  common(lake.command("check").description("compare the lake with what was put there, object by object"))
    .option("--repair", "remove unknown files, and write missing ones and all days again", false)
    .action((options: CommonOptions & { repair: boolean }) =>
      withCore(cli, options, async (core, output) => {
        output.steps("comparing the lake");
        const found = await checkLake(core, options.repair);
        output.result(found, () => checkText(found));
        if (!found.repaired && found.missing.length + found.unknown.length > 0) cli.exitCode = 1;
      }),
    );
}

const MAX_NAMED = 20;

const checkText = ({ objects, bytes, missing, unknown, repaired }: LakeCheck) =>
  [
    facts([
      ["objects", objects],
      ["bytes", bytes],
      ["missing", missing.length],
      ["unknown", unknown.length],
      ...(repaired
        ? [["repaired", "unknown ones are gone; missing ones and all days come with the server's next turn"] as const]
        : []),
    ]),
    ...missing.slice(0, MAX_NAMED).map((path) => `missing: ${path}`),
    ...unknown.slice(0, MAX_NAMED).map((path) => `unknown: ${path}`),
  ].join("\n");
