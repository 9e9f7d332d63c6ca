import type { Command } from "commander";
import { noteSeats } from "../../identity/devices/devices.ts";
import {
  createTeam,
  getTeam,
  listTeams,
  SUBSCRIPTIONS,
  setMembersBind,
  setSecondFactorDemanded,
  type Team,
  type TeamChange,
  TIERS,
  updateTeam,
} from "../../identity/teams/teams.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { fail, forbidden } from "../../kit/problem.ts";
import { shellWord } from "../../kit/strings.ts";
import { type Cli, type CommonOptions, common, teamNamed, withCore } from "./context.ts";
import { facts } from "./output.ts";
import { addMoves } from "./team-move.ts";
import { instant, oneOf, wholeNumber } from "./values.ts";

const statusOf = (team: Team) =>
  team.movedTo !== null ? "moved" : team.suspendedAt === null ? team.subscription : "suspended";

function asJson(team: Team) {
  return {
    teamId: team.id,
    name: team.name,
    tier: team.tier,
    seatCount: team.seats,
    status: statusOf(team),
    subscription: team.subscription,
    periodEndsAt: instantOrNull(team.periodEndAt),
    suspended: team.suspendedAt !== null,
    movedTo: team.movedTo,
    membersBind: team.bindingClosedAt === null,
    secondFactor: team.secondFactorSince === null ? "optional" : "required",
    createdAt: isoInstant(team.createdAt),
  };
}

const asText = (team: Team) =>
  facts([
    ["team", team.name],
    ["id", team.id],
    ["tier", team.tier],
    ["seats", team.seats],
    ["status", statusOf(team)],
    ...(team.movedTo === null ? [] : [["moved to", team.movedTo] as const]),
    ["paid until", instantOrNull(team.periodEndAt)],
  ]);

type Tier = (typeof TIERS)[number];

export function teamCommands(program: Command, cli: Cli): void {
  const team = program.command("team").description("teams, their tiers and subscriptions");
  addCreate(team, cli);
  addList(team, cli);
  addShow(team, cli);
  addSet(team, cli);
  addMoves(team, cli);
}

function addCreate(team: Command, cli: Cli): void {
  common(team.command("create").argument("<name>").description("make a team"))
    .option("--tier <tier>", `one of ${TIERS.join(", ")}`, oneOf(TIERS))
    .option("--seats <n>", "seats the team has paid for", wholeNumber)
    .action((name: string, options: CommonOptions & { tier?: Tier; seats?: number }) =>
      withCore(
        cli,
        options,
        async (core, output, { by }) => {
          const made = await createTeam(core, name, by, options);
          output.result(asJson(made), () => asText(made));
          output.note(`Next: ${output.reckon(`code create --team ${shellWord(made.name)}`)}`);
        },
        true,
      ),
    );
}

function addList(team: Command, cli: Cli): void {
  common(team.command("list").description("list the teams")).action((options: CommonOptions) =>
    withCore(cli, options, (core, output, { teamId }) => {
      const teams = teamId === null ? listTeams(core) : [getTeam(core, teamId)];
      return output.list(teams, {
        json: asJson,
        headings: ["ID", "NAME", "TIER", "SEATS", "STATUS"],
        cells: (one) => [one.id, one.name, one.tier, one.seats, statusOf(one)],
        empty: `No teams yet. Make one: ${output.reckon("team create NAME")}`,
      });
    }),
  );
}

function addShow(team: Command, cli: Cli): void {
  common(team.command("show").argument("<team>", "id or exact name").description("show one team")).action(
    (name: string, options: CommonOptions) =>
      withCore(cli, options, (core, output, caller) => {
        const found = teamNamed(core, caller, name);
        output.result(asJson(found), () => asText(found));
      }),
  );
}

function addSet(team: Command, cli: Cli): void {
  const set = common(team.command("set").argument("<team>", "id or exact name").description("change a team"))
    .option("--tier <tier>", `one of ${TIERS.join(", ")}`, oneOf(TIERS))
    .option("--seats <n>", "seats the team has paid for", wholeNumber)
    .option("--subscription <state>", `one of ${SUBSCRIPTIONS.join(", ")}`, oneOf(SUBSCRIPTIONS))
    // Commander would replace null by an empty text.
    .option("--period-end <date>", "end of the paid period, or none", (text: string) =>
      text === "none" ? text : instant(text),
    )
    .option("--suspended <true|false>", "suspend or restore the account", oneOf(["true", "false"] as const))
    .option(
      "--members-bind <true|false>",
      "let members connect machines of their own",
      oneOf(["true", "false"] as const),
    )
    .option(
      "--second-factor <required|optional>",
      "demand a second factor of people who sign in with a password",
      oneOf(["required", "optional"] as const),
    )
    .action((name: string, options: Changes) => {
      const change = changeOf(options);
      const switches = options.membersBind ?? options.secondFactor;
      if (Object.keys(change).length === 0 && switches === undefined)
        set.error("error: name what to change, e.g. --seats 20");
      return withCore(cli, options, async (core, output, caller) => {
        const { id } = teamNamed(core, caller, name);
        if (caller.teamId !== null && Object.keys(change).length > 0)
          fail(forbidden, "A token of one team may change --members-bind and --second-factor alone.");
        if (options.membersBind) await setMembersBind(core, id, options.membersBind === "true", caller.by);
        if (options.secondFactor)
          await setSecondFactorDemanded(core, id, options.secondFactor === "required", caller.by);
        const changed = await updateTeam(core, id, change, caller.by, noteSeats);
        output.result(asJson(changed), () => asText(changed));
      });
    });
}

interface Changes extends CommonOptions {
  readonly tier?: Tier;
  readonly seats?: number;
  readonly subscription?: (typeof SUBSCRIPTIONS)[number];
  readonly periodEnd?: number | "none";
  readonly suspended?: "true" | "false";
  readonly membersBind?: "true" | "false";
  readonly secondFactor?: "required" | "optional";
}

const changeOf = ({ tier, seats, subscription, periodEnd, suspended }: Changes): TeamChange => ({
  ...(tier && { tier }),
  ...(seats !== undefined && { seats }),
  ...(subscription && { subscription }),
  ...(periodEnd !== undefined && { periodEndAt: periodEnd === "none" ? null : periodEnd }),
  ...(suspended && { suspended: suspended === "true" }),
});
