import type { Core } from "../../../../core.ts";
import { findUser } from "../../../../identity/people/people.ts";
import { type BudgetStanding, budgetStandings } from "../../../../insight/budgets/budgets.ts";
import { freshenSpend, spendReport } from "../../../../insight/spend/spend.ts";
import type { Concerns, Watch } from "../../../../platform/rooms/rooms.ts";
import { compact, dayText, plural } from "../../ui/units.ts";
import { repoName } from "../shared/links.ts";
import { personName } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { modelName } from "./chart.ts";
import { dollars } from "./labels.ts";

const MAX_NAME = 60;

/** Budgets that are used up, before those that will be by the end of their period. */
async function watchBudgets({ core, session, href }: Parameters<Watch>[0], most: number): Promise<Concerns> {
  const at = href("/spend/budgets");
  const troubled = (await budgetStandings(core, session.team.id))
    .filter(({ state }) => state === "exceeded" || state === "will exceed")
    .sort((a, b) => Number(b.state === "exceeded") - Number(a.state === "exceeded"));
  const count = (state: BudgetStanding["state"]) => troubled.filter((one) => one.state === state).length;
  const [over, soon] = [count("exceeded"), count("will exceed")];
  return {
    count: troubled.length,
    says: [
      over > 0 && `${plural(over, "budget")} exceeded`,
      soon > 0 && `${plural(soon, "budget")} about to be exceeded`,
    ]
      .filter(Boolean)
      .join(", "),
    href: at,
    list: troubled.slice(0, most).map((one) => ({
      ...(one.state === "exceeded" ? { kind: "bad", what: "Over budget" } : { kind: "warn", what: "Budget at risk" }),
      title: `${nameOf(core, one)}: ${dollars(one.usedUsd)} of ${dollars(one.amountUsd)} this ${one.period}`,
      about: one.exceedsOn === null ? undefined : `used up on ${dayText(one.exceedsOn)}`,
      href: at,
      at: null,
    })),
  };
}

function nameOf(core: Core, { scope, subject }: BudgetStanding): string {
  if (scope === "team") return "Whole team";
  const person = scope === "person" ? findUser(core, subject) : undefined;
  if (person) return short(personName(person), MAX_NAME);
  return scope === "repo" ? short(repoName(subject), MAX_NAME) : short(modelName(subject), MAX_NAME);
}

/** Budgets that do not hold, models whose price is not known, and a file of prices that cannot be read. */
export const watchSpend: Watch = async (call, since, most) => {
  const { core, session, href } = call;
  await freshenSpend(core);
  const { groups, prices } = spendReport(core, session.team.id, { from: since, to: core.clock.now(), by: "model" });
  const unpriced = groups.filter(({ unpricedTokens }) => unpricedTokens > 0);
  const at = href("/spend?days=7#prices");
  return [
    await watchBudgets(call, most),
    {
      count: unpriced.length,
      says: plural(unpriced.length, "unpriced model"),
      href: at,
      list: unpriced.slice(0, most).map(({ key, unpricedTokens }) => ({
        kind: "info",
        what: "Unpriced",
        title: modelName(key),
        about: `${compact(unpricedTokens)} tokens`,
        href: at,
        at: null,
      })),
    },
    {
      count: prices.problem === null ? 0 : 1,
      says: "prices that cannot be read",
      href: href("/spend#prices"),
      list:
        prices.problem === null ? [] : [{ kind: "warn", what: "Prices", title: prices.problem, href: at, at: null }],
    },
  ];
};
