import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { counted } from "../../kit/strings.ts";
import { type ExportRequest, exportArchive, resolveScope } from "../../share/export/export.ts";
import { exportParquet } from "../../share/lake/lake.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import type { Output } from "./output.ts";
import { orNothing } from "./texts.ts";

export function exportCommand(program: Command, cli: Cli): void {
  const command = common(program.command("export"))
    .description("write everything of a team, a repository or a person into one archive, with a digest of each file")
    .option("--team <team>", "a team, by id or exact name; with --repo: of this team alone")
    .option("--repo <key>", "a repository")
    .option("--person <email>", "a person, with the devices that are theirs: e-mail address or id")
    .requiredOption("--out <file>", "the archive to make, e.g. acme.tar.zst; a directory with --format parquet")
    .addOption(
      new Option("--format <format>", "parquet: tables for other engines, in the directory --out").choices(["parquet"]),
    )
    .action((options: CommonOptions & ExportRequest & { out: string; format?: "parquet" }) => {
      const { team, repo, person, format } = options;
      if (format === "parquet") {
        if (repo !== undefined || person !== undefined)
          command.error("error: --format parquet goes with --team or for all teams");
        return writeTables(cli, options);
      }
      if ((person !== undefined) === (team !== undefined || repo !== undefined))
        command.error("error: name what to export, by --team, --repo or --person");
      cli.place.requireNewFile(options.out, "an export never overwrites one");
      return withCore(cli, options, async (core, output, { by }) => {
        const { out: file } = options;
        const write = (archive: AsyncIterable<Uint8Array>) => cli.place.writeArchive(file, archive);
        const done = {
          file,
          ...(await exportArchive(core, resolveScope(core, options), write, by, filesOf(output))),
        };
        output.result(
          done,
          () =>
            `${done.file} (${counted(done.files, "file")}, ${done.bytes} bytes)\nMANIFEST.json ${done.manifestSha256}`,
        );
      });
    });
}

/** Shows how many files there are. */
function filesOf(output: Output): (files: number) => void {
  const onCount = output.steps("exporting");
  return (files) => onCount(counted(files, "file"));
}

function writeTables(cli: Cli, options: CommonOptions & { team?: string | undefined; out: string }): Promise<void> {
  cli.place.requireNewFile(options.out, "an export never overwrites one");
  return withCore(cli, options, async (core, output, { by }) => {
    const { out: directory, team } = options;
    const tables = await orNothing(`${resolve(directory)}.partial`, () =>
      exportParquet(core, directory, team, filesOf(output), by),
    );
    const done = { directory, ...tables };
    output.result(
      done,
      () => `${directory} (${counted(done.files, "file")}, ${counted(done.rows, "row")}, ${done.bytes} bytes)`,
    );
  });
}
