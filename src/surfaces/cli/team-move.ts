import type { Command } from "commander";
import { type Team, teamMoves } from "../../identity/teams/teams.ts";
import { instantOrNull } from "../../kit/clock.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { shellWord } from "../../kit/strings.ts";
import { type CheckedFile, checkFile, exportTeam, type ImportedTeam, importTeam } from "../../share/moves/moves.ts";
import { type Cli, type CommonOptions, common, teamNamed, withCore } from "./context.ts";
import { facts, type Output } from "./output.ts";

/** Commands that move a team from one instance to another; only on the servers' own machines. */
export function addMoves(team: Command, cli: Cli): void {
  addMove(team, cli);
  addExport(team, cli);
  addImport(team, cli);
}

interface MoveOptions extends CommonOptions {
  readonly to?: string;
  readonly insecure?: boolean;
  readonly cancel?: boolean;
  readonly confirm?: boolean;
}

function addMove(team: Command, cli: Cli): void {
  common(
    team
      .command("move")
      .argument("<team>", "id or exact name")
      .description("take nothing more for a team here, and send its devices to another server"),
  )
    .option("--to <url>", "the address of the server that serves it from now on")
    .option("--insecure", "allow http to another machine, where the network is trusted")
    .option("--cancel", "serve it here again; until the move is confirmed")
    .option("--confirm", "the other server has it: the move cannot be taken back any more")
    .action((name: string, options: MoveOptions, command: Command) => {
      const { to, insecure, cancel, confirm } = options;
      if ([to, cancel, confirm].filter(Boolean).length !== 1)
        command.error("error: say --to ADDRESS, --cancel or --confirm");
      return withCore(cli, options, async (core, output, caller) => {
        const { id } = teamNamed(core, caller, name);
        if (to !== undefined) {
          const moved = await teamMoves.begin(core, id, to, caller.by, insecure);
          output.result(movedJson(moved), () => movedText(moved));
          output.note(
            `Next: ${output.reckon(`team export ${shellWord(moved.name)} --out FILE`)}, and at the other server: reckon team import FILE`,
          );
        } else {
          const act = cancel ? teamMoves.cancel : teamMoves.confirm;
          const changed = await act(core, id, caller.by);
          output.result(movedJson(changed), () => movedText(changed));
        }
      });
    });
}

const movedJson = ({ id, name, movedTo, movedAt, moveConfirmedAt }: Team) => ({
  ...{ teamId: id, name, movedTo, movedAt: instantOrNull(movedAt), confirmedAt: instantOrNull(moveConfirmedAt) },
});

const movedText = ({ id, name, movedTo, movedAt, moveConfirmedAt }: Team) =>
  facts([
    ["team", name],
    ["id", id],
    ["served", movedTo === null ? "here" : `at ${movedTo}, since ${instantOrNull(movedAt)}`],
    ["confirmed", instantOrNull(moveConfirmedAt)],
  ]);

function addExport(team: Command, cli: Cli): void {
  common(
    team
      .command("export")
      .argument("<team>", "id or exact name")
      .description("write a team into a file for another server, with its leaves of the log and their proofs"),
  )
    .requiredOption("--out <file>", "the file to make, e.g. acme.reckon-team")
    .action((name: string, options: CommonOptions & { out: string }) => {
      cli.place.requireNewFile(options.out, "an export never overwrites one");
      return withCore(cli, options, async (core, output, caller) => {
        const { id } = teamNamed(core, caller, name);
        const done = await exportTeam(core, id, options.out, output.steps("exporting the team"), caller.by);
        const { deliveries, leaves, manifestSha256, key, isFinal } = done;
        const json = { file: options.out, teamId: id, final: isFinal, deliveries, leaves, manifestSha256, key };
        output.result(json, () =>
          facts([
            ["file", options.out],
            ["team", done.team.name],
            ["final", isFinal ? `yes: it moved to ${done.team.movedTo}` : "no: it is served here, and goes on"],
            ["deliveries", deliveries],
            ["leaves", leaves],
            ["manifest", manifestSha256],
            ["key", key],
          ]),
        );
      });
    });
}

interface ImportFlags extends CommonOptions {
  readonly originKey?: string;
  readonly acceptKey?: boolean;
  readonly dryRun?: boolean;
  readonly name?: string;
  readonly withoutPacks?: boolean;
}

function addImport(team: Command, cli: Cli): void {
  common(
    team
      .command("import")
      .argument("<file>", 'what "reckon team export" wrote')
      .description("verify a team's file, and take the team in: all of it, or nothing"),
  )
    .option(
      "--origin-key <key>",
      'the log\'s key of the server that it comes from, as "reckon ledger key" prints it there',
    )
    .option("--accept-key", "believe the key that the file names")
    .option("--dry-run", "verify the file, and change nothing", false)
    .option("--name <name>", "what the team is called here")
    .option("--without-packs", "leave its packs of the marketplace behind", false)
    .action((file: string, options: ImportFlags) => {
      if ((options.originKey === undefined) === !options.acceptKey)
        fail(
          invalid,
          "say --origin-key KEY, which the other server's /ledger/key tells, or --accept-key to believe the one in the file",
        );
      return withCore(cli, options, async (core, output, { by }) => {
        const checked = await checkFile(core, file, options.originKey, output.steps("verifying the file"));
        if (options.dryRun) return showChecked(output, checked);
        output.steps("taking the team in");
        const done = await importTeam(core, file, checked, by, options);
        showImported(output, checked, done);
      });
    });
}

const checkedFacts = ({ manifest, manifestSha256, head, counts }: CheckedFile) => ({
  team: manifest.team.name,
  teamId: manifest.team.id,
  origin: head.origin,
  key: manifest.key,
  madeAt: manifest.madeAt,
  final: manifest.movedTo !== null,
  movedTo: manifest.movedTo,
  deliveries: counts.deliveries,
  devices: counts.devices,
  people: counts.users,
  sessions: counts.trace_sessions,
  events: counts.audit_events,
  manifestSha256,
});

function showChecked(output: Output, checked: CheckedFile): void {
  const found = checkedFacts(checked);
  output.result({ ...found, imported: false }, () =>
    facts([
      ...Object.entries(found).map(([name, value]) => [name, String(value)] as const),
      ["verdict", "everything holds"],
    ]),
  );
}

function showImported(
  output: Output,
  checked: CheckedFile,
  { team, leaf, leaves, isThere, people }: ImportedTeam,
): void {
  const found = checkedFacts(checked);
  output.result({ ...found, name: team.name, imported: !isThere, leaf, leaves, accounts: people }, () =>
    facts([
      ["team", team.name],
      ["id", team.id],
      ["from", found.origin],
      ["deliveries", found.deliveries],
      ["devices", found.devices],
      ["sessions", found.sessions],
      ["accounts", isThere ? null : `${people.made.length} made, ${people.known.length} were here`],
      ["leaf", `${leaf}, after ${leaves} that came`],
      ["state", isThere ? "it is here already: nothing was changed" : "it is here"],
    ]),
  );
  if (isThere) return;
  if (people.made.length > 0)
    output.note(
      `No password came along. Who signs in with one needs a link: ${output.reckon(`user reset-password ${people.made[0]}`)}${people.made.length > 1 ? ` (and ${people.made.length - 1} more)` : ""}`,
    );
  output.note(`Then, at the server it came from: reckon team move ${shellWord(checked.manifest.team.name)} --confirm`);
}
