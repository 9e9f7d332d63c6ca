import * as v from "valibot";
import {
  BUDGET_STATES,
  type BudgetStanding,
  currentStandings,
  PERIODS,
  SCOPES,
} from "../../insight/budgets/budgets.ts";
import { freshenSpend } from "../../insight/spend/spend.ts";
import { isoInstant } from "../../kit/clock.ts";
import { pageSize } from "../../kit/page.ts";
import { compareText } from "../../kit/strings.ts";
import { Count, Instant } from "../../platform/http/fields.ts";
import { PAGED, pageOf, Text } from "./fields.ts";
import { reading } from "./reading.ts";

const Day = v.pipe(v.string(), v.description("A day in UTC such as 2026-11-01."));
const Usd = v.pipe(v.number(), v.description("Dollars at list prices."));

const Item = v.object({
  id: v.string(),
  scope: v.pipe(
    v.picklist(SCOPES),
    v.description("What the budget covers: the whole team, or one repository, person or model."),
  ),
  subject: v.pipe(
    Text,
    v.description("The repository's key, the person's id or the model's name; null for the whole team."),
  ),
  period: v.picklist(PERIODS),
  from: v.pipe(Day, v.description("The first day of the present period.")),
  to: v.pipe(Day, v.description("Its last day.")),
  amountUsd: Usd,
  usedUsd: Usd,
  unpricedTokens: v.pipe(Count, v.description("Tokens without a price, which are not in it.")),
  forecastUsd: v.pipe(
    v.nullable(v.number()),
    v.description("By the end of the period; null while it is too early to say."),
  ),
  exceedsOn: v.pipe(
    v.nullable(v.string()),
    v.description(
      "The day on which the budget is expected to be used up; null where that is not in this period, or it is used up.",
    ),
  ),
  state: v.pipe(v.picklist(BUDGET_STATES), v.description("`early`: it is too early for a forecast.")),
  thresholds: v.pipe(v.array(Count), v.description("Percentages that are reported.")),
  reached: v.pipe(v.array(Count), v.description("Those of them that were reached in this period.")),
  createdAt: Instant,
});

/** The team's budgets and where they stand, the one made first first. */
export const budgetList = reading(
  {
    id: "readBudgets",
    path: "/api/budgets",
    summary: "List budgets with used amounts and forecasts",
    query: v.strictObject({
      scope: v.optional(v.picklist(SCOPES)),
      state: v.optional(v.picklist(BUDGET_STATES)),
      ...PAGED,
    }),
    ok: pageOf(Item),
    example: {
      query: { state: "will exceed" },
      ok: {
        ok: true,
        items: [
          {
            id: "bgt_06a15c9c007x7v3w3nbxrw2s5m",
            scope: "repo",
            subject: "github.com/acme/shop",
            period: "month",
            from: "2026-11-01",
            to: "2026-11-30",
            amountUsd: 500,
            usedUsd: 412.5,
            unpricedTokens: 0,
            forecastUsd: 590.25,
            exceedsOn: "2026-11-26",
            state: "will exceed",
            thresholds: [80, 100],
            reached: [80],
            createdAt: "2026-11-02T09:00:00.000Z",
          },
        ],
        next: null,
      },
    },
  },
  async ({ core, teamId, query: { scope, state }, limit, place = "", next }) => {
    await freshenSpend(core);
    const fits = (one: BudgetStanding) =>
      one.id > place && (scope === undefined || one.scope === scope) && (state === undefined || one.state === state);
    // Ids sort by when they were made, and stay.
    const beyond = (await currentStandings(core, teamId)).filter(fits).sort((a, b) => compareText(a.id, b.id));
    const page = beyond.slice(0, pageSize(limit));
    return { items: page.map(described), next: next(beyond.length > page.length ? page.at(-1)?.id : undefined) };
  },
);

const described = ({ teamId: _, createdBy: __, subject, createdAt, ...one }: BudgetStanding) => ({
  ...one,
  subject: one.scope === "team" ? null : subject,
  createdAt: isoInstant(createdAt),
});
