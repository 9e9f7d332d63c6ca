import * as v from "valibot";
import {
  GROUPINGS,
  isSince,
  isUntil,
  readPeriod,
  requireSpend,
  type SpendFigures,
  spendReport,
} from "../../insight/spend/spend.ts";
import { isoDate } from "../../kit/clock.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { ANSWER_BYTES, fitted, word } from "./answer.ts";
import { wholeBrainsOf } from "./reader.ts";
import { REPO, TEAM, tool } from "./tool.ts";

const MAX_GROUPS = 20;

export const spendTool = tool({
  name: "spend",
  title: "What agents used and what it costs",
  description: "Tokens and list-price cost of the team's agents, by model, repository, branch, device, day or person.",
  args: v.object({
    since: v.optional(
      v.pipe(
        v.string(),
        v.check(isSince, "must be a date or a number of days such as 30d"),
        v.description("30d by default."),
      ),
    ),
    until: v.optional(v.pipe(v.string(), v.check(isUntil, "must be a date"), v.description("Today by default."))),
    by: v.optional(v.pipe(v.picklist(GROUPINGS), v.description("What to group by; model by default."))),
    repo: REPO,
    team: TEAM,
  }),
  async call(visit, { since, until, by = "model", repo, team }) {
    const { repoKey, teams } = wholeBrainsOf(visit, { repo, team });
    const period = readPeriod({ since, until }, visit.core.clock.now());
    if (!period) return fail(invalid, "until must not lie before since.");
    const { behind } = await requireSpend(visit.core);
    const days = `${isoDate(period.from)} to ${isoDate(period.to)}`;
    const counts = { total: 0, shown: 0 };
    const texts = teams.map(({ id, name }) => {
      const { total, groups, prices } = spendReport(visit.core, id, { ...period, by, repoKey });
      const chosen = by === "day" ? groups.slice(-MAX_GROUPS) : groups.slice(0, MAX_GROUPS);
      const head = `Team ${word(name)}, ${days} (UTC), list prices of ${prices.date}.${behind ? " The newest is not in it yet." : ""}\nTotal: ${figuresText(total)}\nBy ${by}; names are as devices sent them:`;
      const parts = chosen.map(({ key, ...figures }) => `> ${word(key) || "(none)"}: ${figuresText(figures)}`);
      const { text, shown } = fitted(head, parts, {
        count: groups.length,
        bytes: Math.floor(ANSWER_BYTES / teams.length),
      });
      counts.total += groups.length;
      counts.shown += shown;
      return text;
    });
    return { texts: [texts.join("\n\n")], question: `spend by ${by} ${days}`, ...counts };
  },
});

function figuresText(sum: SpendFigures): string {
  const { usd, reportedUsd, inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, unpricedTokens } = sum;
  return [
    usd === null ? "no price known" : `${usd} USD`,
    ...(reportedUsd === null ? [] : [`agents reported ${reportedUsd} USD`]),
    `tokens: ${inputTokens} input, ${outputTokens} output, ${cacheWriteTokens} cache write, ${cacheReadTokens} cache read`,
    ...(unpricedTokens === 0 ? [] : [`${unpricedTokens} of them without a price`]),
    `usages: ${sum.usages}`,
  ].join("; ");
}
