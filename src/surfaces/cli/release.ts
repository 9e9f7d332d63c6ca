import type { Command } from "commander";
import { isoInstant } from "../../kit/clock.ts";
import {
  addRelease,
  listReleases,
  PLATFORM_NAMES,
  type Release,
  removeRelease,
} from "../../share/releases/releases.ts";
import { type Cli, type CommonOptions, common, noteGuessedAddress, withCore } from "./context.ts";
import { facts } from "./output.ts";
import { oneOf } from "./values.ts";

const platform = oneOf(Object.keys(PLATFORM_NAMES));

const shown = ({ platform, version, url, sha512, bytes, fileName, createdAt, missing }: Release) => ({
  ...{ platform, version, url, sha512, bytes, file: fileName, missing },
  createdAt: isoInstant(createdAt),
});

export function releaseCommands(program: Command, cli: Cli): void {
  const release = program.command("release").description("desktop installers that the download page offers");

  common(release.command("add").description("register an installer: a file that is served here, or one elsewhere"))
    .requiredOption("--platform <name>", "win32, or win for short", platform)
    .requiredOption("--version <version>", "by semver.org, e.g. 1.4.0")
    .option("--file <file>", "the installer; copied into the data directory, unless --url says where it is served")
    .option("--url <url>", "where clients fetch it from; nothing is fetched now")
    .option("--sha512 <digest>", "hexadecimal or base64; needed with --url where there is no --file")
    .action(
      (options: CommonOptions & { platform: string; version: string; file?: string; url?: string; sha512?: string }) =>
        withCore(cli, options, async (core, output, { by }) => {
          const added = await addRelease(core, options, by, output.steps("reading the installer"));
          output.result(shown(added), () =>
            facts([
              ["platform", added.platform],
              ["version", added.version],
              ["url", added.url],
              ["sha512", added.sha512],
            ]),
          );
          if (added.fileName === null) return;
          output.note("Backups do not hold installers: keep the original.");
          noteGuessedAddress(core, output);
        }),
    );

  common(release.command("list").description("list the installers, newest first")).action((options: CommonOptions) =>
    withCore(cli, options, (core, output) =>
      output.list(listReleases(core), {
        json: shown,
        headings: ["PLATFORM", "VERSION", "BYTES", "URL", "SHA512", "FILE"],
        cells: (one) => [
          ...[one.platform, one.version, one.bytes, one.url, one.sha512],
          one.missing ? "missing" : one.fileName === null ? "elsewhere" : "here",
        ],
        empty: "No installer is registered.",
      }),
    ),
  );

  common(release.command("remove").description("withdraw an installer and delete its file"))
    .requiredOption("--platform <name>", "win32, or win for short", platform)
    .requiredOption("--version <version>", "as it was registered")
    .action((options: CommonOptions & { platform: string; version: string }) =>
      withCore(cli, options, async (core, output, { by }) => {
        await removeRelease(core, options.platform, options.version, by);
        output.result(
          { platform: options.platform, version: options.version, removed: true },
          () => `${options.version} is withdrawn`,
        );
      }),
    );
}
