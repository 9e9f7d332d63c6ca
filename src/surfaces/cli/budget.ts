import { type Command, InvalidArgumentError, Option } from "commander";
import type { Core } from "../../core.ts";
import { findUser } from "../../identity/people/people.ts";
import {
  type Budget,
  type BudgetStanding,
  currentStandings,
  PERIODS,
  type Period,
  removeBudget,
  setBudget,
} from "../../insight/budgets/budgets.ts";
import { catchUpSpend, currentPrices, spendReportInSlices } from "../../insight/spend/spend.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type Caller, type Cli, type OfTeam, ofTeam, personNamed, withTeam } from "./context.ts";
import { dollars } from "./output.ts";

interface SetOptions extends OfTeam {
  readonly repo?: string;
  readonly person?: string;
  readonly model?: string;
  readonly period: Period;
  readonly usd: number;
  readonly at?: readonly number[];
}

function amount(text: string): number {
  if (!/^\d{1,8}(?:\.\d{1,2})?$/.test(text))
    throw new InvalidArgumentError("It must be an amount such as 500 or 49.90.");
  return Number(text);
}

function percentages(text: string): number[] {
  if (!/^\d{1,4}(?:,\d{1,4}){0,9}$/.test(text))
    throw new InvalidArgumentError("It must be percentages such as 80,100.");
  return text.split(",").map(Number);
}

/** The scope of a budget, by the option that names it. */
function scopeOf(core: Core, caller: Caller, { repo, person, model }: SetOptions) {
  if (repo !== undefined) return { scope: "repo", subject: repo } as const;
  if (person !== undefined) return { scope: "person", subject: personNamed(core, caller, person).id } as const;
  if (model !== undefined) return { scope: "model", subject: model } as const;
  return { scope: "team", subject: "" } as const;
}

/** Whether a budget's repository or model was not used for a year: then its name is probably mistyped. */
async function isUnheardOf(core: Core, { teamId, scope, subject }: Budget): Promise<boolean> {
  if (scope !== "repo" && scope !== "model") return false;
  await catchUpSpend(core);
  const to = core.clock.now();
  const { groups } = await spendReportInSlices(core, teamId, { from: to - 365 * DAY_MS, to, by: scope });
  return !groups.some(({ key }) => key === subject);
}

const asJson = ({ id, createdAt, ...budget }: Budget | BudgetStanding) => ({
  budgetId: id,
  ...budget,
  createdAt: isoInstant(createdAt),
});

export function budgetCommands(program: Command, cli: Cli): void {
  const budget = program.command("budget").description("what teams are to spend at most");
  ofTeam(budget.command("set").description("set a budget of a team, or of a repository, a person or a model of it"))
    .addOption(new Option("--repo <key>", "of this repository").conflicts(["person", "model"]))
    .addOption(new Option("--person <email>", "of this person's machines: e-mail address or id").conflicts(["model"]))
    .option("--model <name>", "of this model")
    .addOption(new Option("--period <period>", "calendar month or week, UTC").choices([...PERIODS]).default("month"))
    .requiredOption("--usd <amount>", "dollars at list prices", amount)
    .option("--at <percent>", "thresholds to report (default: 80,100)", percentages)
    .action((options: SetOptions) =>
      withTeam(cli, options, async (core, output, { id: teamId }, caller) => {
        const { period, usd: amountUsd, at: thresholds } = options;
        const budget = { ...scopeOf(core, caller, options), period, amountUsd, thresholds };
        const set = await setBudget(core, teamId, budget, caller.by);
        output.result(asJson(set), () => `${set.id}: $${dollars(amountUsd, "")} a ${period}`);
        if (await isUnheardOf(core, set))
          output.note(`Nothing was used of the ${set.scope} "${set.subject}" in a year: see whether that is its name.`);
      }),
    );
  ofTeam(budget.command("list").description("list a team's budgets and where they stand")).action((options: OfTeam) =>
    withTeam(cli, options, async (core, output, { id: teamId }) => {
      await catchUpSpend(core);
      const { problem } = currentPrices(core);
      if (problem !== null) fail(invalid, problem);
      const listed = await currentStandings(core, teamId);
      await output.list(listed, {
        json: asJson,
        headings: ["ID", "OF", "NAME", "PERIOD", "USD", "USED", "FORECAST", "STATE"],
        cells: (one) => [
          one.id,
          one.scope,
          one.scope === "person" ? (findUser(core, one.subject)?.email ?? one.subject) : one.subject || null,
          `${one.from} to ${one.to}`,
          dollars(one.amountUsd, "-"),
          dollars(one.usedUsd, "-"),
          dollars(one.forecastUsd, "too early"),
          one.exceedsOn === null ? one.state : `${one.state} on ${one.exceedsOn}`,
        ],
        empty: "No budgets.",
      });
    }),
  );
  ofTeam(budget.command("remove").argument("<budget>", "budget id").description("remove a budget")).action(
    (id: string, options: OfTeam) =>
      withTeam(cli, options, async (core, output, { id: teamId }, caller) => {
        await removeBudget(core, teamId, id, caller.by);
        output.result({ budgetId: id, removed: true }, () => `${id} is removed`);
      }),
  );
}
