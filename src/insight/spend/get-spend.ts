import * as v from "valibot";
import { teamRead } from "../../identity/api-tokens/api-tokens.ts";
import { sourcesOf } from "../../identity/ownership/ownership.ts";
import { isoDate } from "../../kit/clock.ts";
import { fail, forbidden, malformed, notFound } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Count, identifier, line, RepoKey, whole } from "../../platform/http/fields.ts";
import { Behind, stillReading } from "../../platform/projections/projections.ts";
import { requireSpend } from "./catch-up.ts";
import { readPeriod, SINCE, UNTIL } from "./period.ts";
import { recordReader, spendReader } from "./reader.ts";
import { spendReportInSlices } from "./report.ts";
import { GROUPINGS } from "./rows.ts";
import type { SpendFigures } from "./sums.ts";

const Usd = v.pipe(v.number(), v.minValue(0));
const Figures = v.object({
  usd: v.pipe(
    v.nullable(Usd),
    v.description(
      "At list prices; null when nothing of it has a price. Tokens of models without a price are not in it.",
    ),
  ),
  reportedUsd: v.pipe(v.nullable(Usd), v.description("What agents themselves said it cost; null when none did.")),
  inputTokens: v.pipe(Count, v.description("Neither read from a cache nor written to one.")),
  outputTokens: Count,
  cacheWriteTokens: Count,
  cacheReadTokens: Count,
  unpricedTokens: v.pipe(Count, v.description("Tokens of models whose price is not known.")),
  usages: v.pipe(Count, v.description("Model calls, and whole sessions without calls. Each counts once.")),
});

const SpendReply = v.object({
  ok: v.boolean(),
  since: v.pipe(v.string(), v.isoDate(), v.description("The first day, UTC, whole.")),
  until: v.pipe(v.string(), v.isoDate(), v.description("The last day, UTC, whole.")),
  by: v.picklist(GROUPINGS),
  currency: v.literal("USD"),
  priceTable: v.object({
    date: v.pipe(v.string(), v.isoDate(), v.description("When the prices were looked up.")),
    overridden: v.pipe(v.boolean(), v.description("Whether this instance's own prices are among them.")),
  }),
  total: Figures,
  groupCount: v.pipe(
    Count,
    v.description("Groups there are; those beyond `limit` are not shown, but are in the total."),
  ),
  groups: v.pipe(
    v.array(
      v.object({
        key: v.pipe(
          v.string(),
          v.description(
            "The model, repository, branch, agent, device, session, day or person's e-mail address; empty where it is unknown, or for machines that are nobody's.",
          ),
        ),
        deviceId: v.optional(v.pipe(v.string(), v.description("The device of a session."))),
        personId: v.optional(v.pipe(v.string(), v.description("Of a person."))),
        ...Figures.entries,
      }),
    ),
    v.description("Most expensive first; days by date, the last ones within `limit`."),
  ),
  behind: Behind,
});

const DEFAULT_GROUPS = 100;
const MUST_BE_SINCE = "must be a date such as 2026-11-01, a date-time or a number of days such as 30d";
const MUST_BE_UNTIL = "must be a date such as 2026-11-30 or a date-time";

const date = (description: string, form: RegExp, message: string) =>
  v.optional(v.pipe(v.string(), v.regex(form, message), v.description(description)));

const name = (description: string) => v.optional(v.pipe(identifier(512), v.description(description)));

const EXAMPLE: SpendFigures = {
  usd: 1.56,
  reportedUsd: 1.55,
  inputTokens: 20_000,
  outputTokens: 60_000,
  cacheWriteTokens: 80_000,
  cacheReadTokens: 1_000_000,
  unpricedTokens: 0,
  usages: 42,
};

/** What the team's agents used, and what that costs. */
export const spend = endpoint(
  {
    id: "getSpend",
    method: "GET",
    path: "/api/spend",
    summary: "What the team's agents used and what it costs",
    tag: "Spend",
    auth: spendReader,
    query: v.strictObject({
      since: date(
        "First day: a date, a date-time or a number of days such as 30d, counted back from the last; 30d by default.",
        SINCE,
        MUST_BE_SINCE,
      ),
      until: date("Last day: a date or a date-time; today by default.", UNTIL, MUST_BE_UNTIL),
      by: v.optional(v.pipe(v.picklist(GROUPINGS), v.description("What to group by; model by default."))),
      repoKey: v.optional(RepoKey),
      from: date("The same as since.", SINCE, MUST_BE_SINCE),
      to: date("The same as until.", UNTIL, MUST_BE_UNTIL),
      team: name("The team's id, for an API token of all teams."),
      repo: v.optional(
        v.pipe(line(512), v.description("The same as repoKey; empty for what came without a repository.")),
      ),
      device: name("Only of the device with this id."),
      person: name(
        "Only of this person, id or e-mail address: whom agents name as signed in, or else whose the device is.",
      ),
      limit: v.optional(whole(1, 1_000, "Groups at most; 100 by default, 1000 at most.")),
    }),
    ok: SpendReply,
    faults: [forbidden, stillReading, notFound],
    limits: [{ name: "api", quota: (config) => config.limitApi, per: "token", headers: "limited" }],
    example: {
      query: { since: "30d", by: "model" },
      ok: {
        ok: true,
        since: "2026-10-23",
        until: "2026-11-21",
        by: "model",
        currency: "USD",
        priceTable: { date: "2026-11-06", overridden: false },
        total: EXAMPLE,
        groupCount: 1,
        groups: [{ key: "claude-sonnet-4-5", ...EXAMPLE }],
      },
    },
  },
  async ({ core, principal, query }) => {
    const { since = query.from, until = query.to, by = "model", repoKey = query.repo, limit, device, person } = query;
    const teamId = teamRead(core, principal.teamId, query.team);
    const period = readPeriod({ since, until }, core.clock.now());
    if (!period) fail(malformed, "The query's until (or to) must not lie before its since (or from).");
    const most = limit === undefined ? DEFAULT_GROUPS : Number(limit);
    const behind = await requireSpend(core);
    const sources = person === undefined ? undefined : sourcesOf(core, teamId, person);
    const deviceIds = device === undefined ? undefined : [device];
    const report = await spendReportInSlices(core, teamId, { ...period, by, repoKey, deviceIds, sources });
    const { total, groupCount, prices } = report;
    await recordReader(core, principal, "getSpend");
    return {
      ok: true,
      since: isoDate(period.from),
      until: isoDate(period.to),
      by,
      currency: "USD" as const,
      priceTable: { date: prices.date, overridden: prices.overridden },
      total,
      groupCount,
      groups: by === "day" ? report.groups.slice(-most) : report.firstGroups(most),
      ...behind,
    };
  },
);
