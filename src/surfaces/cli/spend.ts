import { type Command, InvalidArgumentError, Option } from "commander";
import type { Core } from "../../core.ts";
import { sourcesOf } from "../../identity/ownership/ownership.ts";
import {
  catchUpSpend,
  GROUPINGS,
  type Grouping,
  isSince,
  isUntil,
  readPeriod,
  type SpendFigures,
  type SpendReport,
  spendCsv,
  spendProgress,
  spendReport,
} from "../../insight/spend/spend.ts";
import { isoDate } from "../../kit/clock.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { counted } from "../../kit/strings.ts";
import { recordAct } from "../../platform/audit/audit.ts";
import { type Caller, type Cli, type OfTeam, ofTeam, personNamed, withTeam } from "./context.ts";
import { dollars, type Output, type Table, table } from "./output.ts";
import { oneOf } from "./values.ts";

interface SpendOptions extends OfTeam {
  readonly repo?: string;
  readonly person?: string;
  readonly by: Grouping;
  readonly since?: string;
  readonly until?: string;
  readonly csv?: boolean;
}

const dated = (isRight: (text: string) => boolean, wrong: string) => (text: string) => {
  if (!isRight(text)) throw new InvalidArgumentError(wrong);
  return text;
};
const A_DATE = "It must be a date such as 2026-11-21";

export function spendCommands(program: Command, cli: Cli): void {
  ofTeam(program.command("spend").description("what agents used of models, and what it costs"))
    .option("--repo <key>", "only this repository")
    .option(
      "--person <email>",
      "only of this person, by e-mail address or id: whom agents name as signed in, or else whose the machine is",
    )
    .option("--by <what>", `sums by ${GROUPINGS.join(", ")}`, oneOf(GROUPINGS), "model" as Grouping)
    .option(
      "--since <date>",
      "first day: a date, or a number of days such as 30d (default: 30d)",
      dated(isSince, `${A_DATE}, or a number of days such as 30d.`),
    )
    .option("--until <date>", "last day: a date (default: today)", dated(isUntil, `${A_DATE}.`))
    .addOption(
      new Option("--csv", "print the result as comma-separated values (RFC 4180)").default(false).conflicts("json"),
    )
    .action((options: SpendOptions, command: Command) =>
      withTeam(cli, options, async (core, output, { id: teamId }, caller) => {
        const span = readPeriod(options, core.clock.now());
        if (!span) command.error("error: --until lies before --since");
        await bringUpToDate(cli, core, output);
        const { by, repo: repoKey } = options;
        const person = options.person === undefined ? undefined : personAsked(core, caller, options.person);
        const sources = person === undefined ? undefined : sourcesOf(core, teamId, person);
        const report = spendReport(core, teamId, { ...span, by, repoKey, sources });
        // A name without any spend is probably a slip: this fails where nobody has it.
        if (person !== undefined && report.groupCount === 0) personNamed(core, caller, person);
        const { date, overridden, problem } = report.prices;
        if (problem !== null) fail(invalid, problem);
        const [since, until] = [isoDate(span.from), isoDate(span.to)];
        if (options.csv)
          await recordAct(core, caller.by, {
            action: "spend.exported",
            teamId,
            detail: { by, repo: repoKey, person, firstDay: since, lastDay: until },
          });
        output.result(
          {
            teamId,
            since,
            until,
            by: options.by,
            currency: "USD",
            priceTable: { date, overridden },
            total: report.total,
            groups: report.groups,
          },
          () => (options.csv ? [...spendCsv(options.by, report.groups)].join("") : plain(options.by, report)),
        );
        remark(output, report, `${since} to ${until} (UTC)`);
      }),
    );
}

/**
 * Any e-mail address is taken, because agents may name somebody without an account here. @throws Problem for any other word that names
 * nobody
 */
const personAsked = (core: Core, caller: Caller, named: string): string =>
  named.includes("@") ? named : personNamed(core, caller, named).email;

/** Notes the days and the prices of the figures, and the tokens without a price. */
function remark(output: Output, { groups, total, prices }: SpendReport, days: string): void {
  const source = prices.overridden ? ", of prices.json in the data directory" : "";
  output.note(groups.length === 0 ? `No usage from ${days}.` : `${days}; list prices of ${prices.date}${source}.`);
  if (total.unpricedTokens > 0)
    output.note(
      `${counted(total.unpricedTokens, "token is", "tokens are")} of models whose price is not known: give one in prices.json.`,
    );
}

/** Reads first what was delivered since the last report. Where that takes long, a bar shows the progress. */
async function bringUpToDate(cli: Cli, core: Core, output: Output): Promise<void> {
  const show = output.steps("reading usage");
  const timer = setInterval(() => show(spendProgress(core)), 200);
  try {
    await catchUpSpend(core);
    show(1);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    output.note("Nothing can be stored at the moment, so what was delivered last may be missing from this.");
    cli.exitCode = 1;
  } finally {
    clearInterval(timer);
  }
}

function cells(key: string, one: SpendFigures): (string | number | null)[] {
  return [
    key === "" ? "(unknown)" : key,
    dollars(one.usd, one.unpricedTokens > 0 ? "unpriced" : "-"),
    dollars(one.reportedUsd, "-"),
    one.inputTokens,
    one.outputTokens,
    one.cacheWriteTokens,
    one.cacheReadTokens,
    one.unpricedTokens,
    one.usages,
  ];
}

function plain(by: Grouping, { groups, total }: SpendReport): Table {
  // The note of `remark` says so.
  if (groups.length === 0) return table([], [], "");
  return table(
    [by.toUpperCase(), "USD", "REPORTED", "INPUT", "OUTPUT", "CACHE WRITE", "CACHE READ", "UNPRICED", "USAGES"],
    [...groups.map((group) => cells(group.key, group)), cells("total", total)],
    "",
  );
}
