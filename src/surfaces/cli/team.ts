import type { Command } from "commander";
import {
  createTeam,
  getTeam,
  listTeams,
  SUBSCRIPTIONS,
  type Team,
  TIERS,
  updateTeam,
} from "../../identity/accounts/accounts.ts";
import { isoInstant } from "../../kit/clock.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { facts, table } from "./output.ts";
import { instant, oneOf, wholeNumber } from "./values.ts";

const statusOf = (team: Team) => (team.suspendedAt === null ? team.subscription : "suspended");

function asJson(team: Team) {
  return {
    teamId: team.id,
    name: team.name,
    tier: team.tier,
    seatCount: team.seats,
    status: statusOf(team),
    subscription: team.subscription,
    periodEndsAt: team.periodEndAt === null ? null : isoInstant(team.periodEndAt),
    suspended: team.suspendedAt !== null,
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
    ["paid until", team.periodEndAt === null ? null : isoInstant(team.periodEndAt)],
  ]);

type Tier = (typeof TIERS)[number];

export function teamCommands(program: Command, cli: Cli): void {
  const team = program.command("team").description("teams, their tiers and subscriptions");
  addCreate(team, cli);
  addList(team, cli);
  addShow(team, cli);
  addSet(team, cli);
}

function addCreate(team: Command, cli: Cli): void {
  common(team.command("create").argument("<name>").description("make a team"))
    .option("--tier <tier>", `one of ${TIERS.join(", ")}`, oneOf(TIERS))
    .option("--seats <n>", "seats the team has paid for", wholeNumber)
    .action((name: string, options: CommonOptions & { tier?: Tier; seats?: number }) =>
      withCore(
        cli,
        options,
        async (core, output) => {
          const made = await createTeam(core, name, options);
          output.result(asJson(made), () => asText(made));
          output.note(`Next: reckon code create --team "${made.name}"`);
        },
        true,
      ),
    );
}

function addList(team: Command, cli: Cli): void {
  common(team.command("list").description("list the teams")).action((options: CommonOptions) =>
    withCore(cli, options, (core, output) => {
      const teams = listTeams(core);
      output.result(teams.map(asJson), () =>
        table(
          ["ID", "NAME", "TIER", "SEATS", "STATUS"],
          teams.map((one) => [one.id, one.name, one.tier, one.seats, statusOf(one)]),
          'No teams yet. Make one: reckon team create "My team"',
        ),
      );
    }),
  );
}

function addShow(team: Command, cli: Cli): void {
  common(team.command("show").argument("<team>", "id or exact name").description("show one team")).action(
    (name: string, options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        const found = getTeam(core, name);
        output.result(asJson(found), () => asText(found));
      }),
  );
}

function addSet(team: Command, cli: Cli): void {
  const set = common(team.command("set").argument("<team>", "id or exact name").description("change a team"))
    .option("--tier <tier>", `one of ${TIERS.join(", ")}`, oneOf(TIERS))
    .option("--seats <n>", "seats the team has paid for", wholeNumber)
    .option("--subscription <state>", `one of ${SUBSCRIPTIONS.join(", ")}`, oneOf(SUBSCRIPTIONS))
    .option("--period-end <date>", "end of the paid period, or none", (text: string) =>
      text === "none" ? null : instant(text),
    )
    .option("--suspended <true|false>", "suspend or restore the account", oneOf(["true", "false"] as const))
    .action(
      (
        name: string,
        options: CommonOptions & {
          tier?: Tier;
          seats?: number;
          subscription?: (typeof SUBSCRIPTIONS)[number];
          periodEnd?: number | null;
          suspended?: "true" | "false";
        },
      ) =>
        withCore(cli, options, async (core, output) => {
          const { tier, seats, subscription, periodEnd, suspended } = options;
          if ([tier, seats, subscription, periodEnd, suspended].every((one) => one === undefined))
            set.error("error: name what to change, e.g. --seats 20", { exitCode: 2 });
          const changed = await updateTeam(core, name, {
            ...(options.tier ? { tier: options.tier } : {}),
            ...(options.seats === undefined ? {} : { seats: options.seats }),
            ...(options.subscription ? { subscription: options.subscription } : {}),
            ...(options.periodEnd === undefined ? {} : { periodEndAt: options.periodEnd }),
            ...(options.suspended === undefined ? {} : { suspended: options.suspended === "true" }),
          });
          output.result(asJson(changed), () => asText(changed));
        }),
    );
}
