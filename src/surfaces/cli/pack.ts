import type { Command } from "commander";
import { getTeam, verifyTeam } from "../../identity/teams/teams.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant } from "../../kit/clock.ts";
import { visible } from "../../kit/escape-invisible.ts";
import { fail, unprocessable } from "../../kit/problem.ts";
import {
  type Curation,
  curatePack,
  draftPack,
  installCommand,
  listAllPacks,
  type OwnPack,
  type PackDraft,
  publishPack,
} from "../../share/packs/packs.ts";
import {
  type Cli,
  type CommonOptions,
  common,
  noteGuessedAddress,
  type OfTeam,
  ofTeam,
  teamIdNamed,
  withCore,
  withTeam,
} from "./context.ts";
import type { Output } from "./output.ts";
import { several, upTo } from "./values.ts";

const DEFAULT_LISTED = 100;
const MAX_LISTED = 10_000;

const asJson = ({ createdAt, publishedAt, removed, ...pack }: OwnPack) => ({
  ...pack,
  createdAt: isoInstant(createdAt),
  publishedAt: isoInstant(publishedAt),
  removed: removed && { at: isoInstant(removed.at), reason: removed.reason },
});

const stateOf = ({ removed, withheld, featured }: OwnPack) =>
  removed ? "removed" : withheld !== null ? "not handed out" : featured ? "featured" : "published";

const draftJson = (draft: PackDraft, published: boolean, install: string) => ({
  published,
  name: draft.name,
  version: draft.version,
  previous: draft.previous,
  publisher: draft.publisher,
  title: draft.title,
  license: draft.license,
  tags: draft.tags,
  rules: draft.rules,
  bytes: draft.archive.length,
  sha256: draft.sha256,
  files: draft.files,
  replaced: draft.replaced,
  install,
});

/** Says on stderr what redaction changed, before anything is published. */
function noteReplaced(output: Output, { replaced }: PackDraft): void {
  for (const { path, line, rule } of replaced)
    output.note(`Replaced a likely secret in ${path}, line ${line} (${rule})`);
}

interface PublishOptions extends OfTeam {
  readonly repo: string;
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly summary?: string;
  readonly path?: string[];
  readonly readme?: string;
  readonly license?: string;
  readonly tag?: string[];
  readonly dryRun: boolean;
}

export function packCommands(program: Command, cli: Cli): void {
  const pack = program.command("pack").description("brain packs: files of a team's brain, published for everybody");
  addPublish(pack, cli);
  addList(pack, cli);
  const decide = async (options: CommonOptions, name: string, curation: Curation, status: string) =>
    withCore(cli, options, async (core, output, { by }) => {
      const changed = await curatePack(core, name, curation, by);
      output.result({ name, status, changed }, () => `${name} is ${status}${changed ? "" : " already"}`);
    });
  for (const [act, status, description] of [
    ["feature", "featured", "show a pack first"],
    ["unfeature", "not featured", "no longer show a pack first"],
    ["restore", "published", "bring a removed pack back"],
  ] as const)
    common(pack.command(act).argument("<name>", "the pack's name").description(description)).action(
      (name: string, options: CommonOptions) => decide(options, name, { act }, status),
    );
  common(pack.command("remove").argument("<name>", "the pack's name").description("stop showing and serving a pack"))
    .requiredOption("--reason <text>", "why; shown to everybody who looks for the pack")
    .action((name: string, options: CommonOptions & { reason: string }) =>
      decide(options, name, { act: "remove", reason: options.reason }, "removed"),
    );
  addVerify(pack, cli);
}

function addPublish(pack: Command, cli: Cli): void {
  ofTeam(pack.command("publish").description("publish a version of a pack from a team's current brain"))
    .requiredOption("--repo <key>", "the repository's key, as its devices name it")
    .requiredOption("--name <name>", "the pack's name: lower-case words joined by dashes")
    .requiredOption("--version <version>", "above the pack's newest stable one (semver.org)")
    .option("--path <glob>", "files to publish; may be given again; all of the brain without it", several)
    .option("--title <text>", "what people call it")
    .option("--summary <text>", "what it is for, in one line")
    .option("--readme <file>", "markdown; - reads standard input")
    .option("--license <id>", "SPDX identifier, or words of your own")
    .option("--tag <tag>", "language, framework or tool; may be given again", several)
    .option("--dry-run", "show what would be published, and publish nothing", false)
    .action(async (options: PublishOptions) => {
      const readme = options.readme === undefined ? undefined : await cli.place.readText(options.readme);
      return withTeam(cli, options, async (core, output, { id: teamId }, caller) => {
        const { repo, path, tag, dryRun, name, version, title, summary, license } = options;
        const draft = await draftPack(core, teamId, {
          ...{ repoKey: repo, globs: path, tags: tag, name, version, title, summary, license, readme },
        });
        noteReplaced(output, draft);
        if (draft.refusal !== null) fail(unprocessable, draft.refusal);
        if (!dryRun) await publishPack(core, draft, caller.by);
        const install = installCommand(baseUrlOf(core.config), draft);
        output.result(draftJson(draft, !dryRun, install), () =>
          [
            ...draft.files.map((file) => `${visible(file.path)}\t${file.bytes}\t${file.source ?? "made for the pack"}`),
            `${draft.name} ${draft.version}\t${dryRun ? "not published" : "published"}\t${draft.sha256}`,
          ].join("\n"),
        );
        if (dryRun) return;
        output.note(`To install it, in a repository: ${install}`);
        noteGuessedAddress(core, output);
      });
    });
}

function addList(pack: Command, cli: Cli): void {
  common(pack.command("list").description("list packs by name, removed ones too"))
    .option("--team <team>", "only this team's: id or exact name")
    .option("--search <text>", "text in the name, the title or the publisher")
    .option("--limit <n>", `how many at most, 1 to ${MAX_LISTED}`, upTo(MAX_LISTED), DEFAULT_LISTED)
    .action((options: CommonOptions & { team?: string; search?: string; limit: number }) =>
      withCore(cli, options, async (core, output, caller) => {
        const teamId = teamIdNamed(core, caller, options.team);
        const { rows, next } = listAllPacks(core, options.search ?? "", options.limit, "", teamId);
        await output.list(rows, {
          json: asJson,
          headings: ["NAME", "VERSION", "STATUS", "RANK", "INSTALLS", "PUBLISHER"],
          cells: (one) => [
            ...[one.name, one.version, stateOf(one), one.rank, one.installs],
            `${one.publisher.name}${one.publisher.verified ? " (verified)" : ""}`,
          ],
          empty: `No packs yet. Publish one: ${output.reckon("pack publish --help")}`,
        });
        if (next !== undefined) output.note(`There are more than ${rows.length}: raise --limit to see them.`);
      }),
    );
}

function addVerify(pack: Command, cli: Cli): void {
  common(pack.command("verify").argument("<team>", "id or exact name").description("say that a publisher is known"))
    .option("--off", "take it back", false)
    .action((name: string, options: CommonOptions & { off: boolean }) =>
      withCore(cli, options, async (core, output, { by }) => {
        const changed = await verifyTeam(core, name, !options.off, by);
        const team = getTeam(core, name);
        output.result({ teamId: team.id, name: team.name, verified: !options.off, changed }, () =>
          options.off ? `${team.name} is not verified` : `${team.name} is verified`,
        );
      }),
    );
}
