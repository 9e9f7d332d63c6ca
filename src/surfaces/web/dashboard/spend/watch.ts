import { freshenSpend, spendReport } from "../../../../insight/spend/spend.ts";
import type { Watch } from "../../../../platform/rooms/rooms.ts";
import { compact, plural } from "../../ui/units.ts";
import { modelName } from "./chart.ts";

/** Models whose price is not known, and a file of prices that cannot be read. */
export const watchSpend: Watch = async ({ core, session, href }, since, most) => {
  await freshenSpend(core);
  const { groups, prices } = spendReport(core, session.team.id, { from: since, to: core.clock.now(), by: "model" });
  const unpriced = groups.filter(({ unpricedTokens }) => unpricedTokens > 0);
  const at = href("/spend?days=7#prices");
  return [
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
