import { peopleBySource, type SourcePerson } from "../../../../identity/ownership/ownership.ts";
import { findSessions, freshenSessions, sessionFacets, sumSessions } from "../../../../insight/sessions/sessions.ts";
import { freshenSpend, type SpendFigures, spendCsv, spendReportInSlices } from "../../../../insight/spend/spend.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { inSlices } from "../../../../kit/slices.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { csvDownload, page } from "../../../../platform/http/page.ts";
import { filters } from "../../ui/list.ts";
import { empty, pageHead, type Stat, stats } from "../../ui/parts.ts";
import { compact, dayText, plural } from "../../ui/units.ts";
import { nothingSent } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { exported } from "../shared/exported.ts";
import { repoName, repoOptions } from "../shared/links.ts";
import { dayFilters, selectFilter, spanOf } from "../shared/params.ts";
import { personFilter } from "../shared/people.ts";
import { repoOfStream, reposTold } from "../shared/repositories.ts";
import { deviceIdsSeen, devicesSeen, seesOwn } from "../shared/sight.ts";
import { viewedTabs, viewMenu } from "../shared/views.ts";
import { repoKeysSeen } from "../telemetry/filter.ts";
import { budgetPages, budgetStat, budgetsSection } from "./budgets.ts";
import { spendCharts } from "./chart.ts";
import { groupsSection } from "./groups.ts";
import { changeText, dollars } from "./labels.ts";
import { type Params, PERIODS, periodBefore, spendAddress, spendParams } from "./params.ts";
import { pricesSection } from "./prices.ts";
import { keptReport } from "./reports.ts";

/** What the team's agents used of models and what that costs. */

async function spendPage(call: Member): Promise<Html> {
  await freshenSpend(call.core);
  await freshenSessions(call.core);
  const params = spendParams(call);
  const team = call.session.team.id;
  // With thousands of devices or groups each of these parts takes a while: requests are let in between.
  const yieldNow = cooperative(call.core.clock);
  const report = await keptReport(call.core, team, { ...params, daily: true });
  await yieldNow();
  const before = periodBefore(params);
  // Sessions and days of the period before are other ones, so only its total is shown; grouping by model makes few groups.
  const by = params.by === "session" || params.by === "day" ? "model" : params.by;
  const previous = await keptReport(call.core, team, { ...params, ...before, by });
  await yieldNow();
  const days = report.byDayAndModel();
  const groups = groupsSection(call, params, report, previous);
  await yieldNow();
  const choice = chosen(call, params);
  await yieldNow();
  const main = html`${pageHead({
    title: "Spend",
    actions: viewMenu(call, "/spend"),
    help: html`<p>What agents used of models at list prices. Every call counts once, however often it was told, and whether in telemetry or in a session. Tokens of models without a price stand apart.</p>`,
  })}
<div class="stack">${periods(call, params)}${params.backwards && html`<div class="flash wrong" role="alert">The last day must not lie before the first: the last ${params.days} days are shown.</div>`}${choice}</div>
${report.total.usages === 0 ? html`${await nothing(call)}${!seesOwn(call) && (await budgetsSection(call))}` : html`${await tiles(call, params, report.total, previous.total)}<section class="section" aria-label="Over time">${spendCharts(call, params, days, report.total)}</section>${groups}${!seesOwn(call) && (await budgetsSection(call))}`}
${pricesSection(report, days)}`;
  return frame(call, { title: "Spend", main, wide: true });
}

function periods(call: Member, params: Params): Html {
  return viewedTabs(call, "/spend", {
    label: "Period",
    own: PERIODS.map((days) => ({
      label: `${days} days`,
      href: spendAddress(call, params, { days }),
      current: params.days === days,
    })),
  });
}

/** Whom agents named as signed in lately. */
function signedIn(call: Member): SourcePerson[] {
  const { core, session } = call;
  const personOf = peopleBySource(core, session.team.id, []);
  const { userEmails } = sessionFacets(core, session.team.id, deviceIdsSeen(call));
  return userEmails.flatMap((email) => personOf(email) ?? []);
}

function chosen(call: Member, params: Params): Html {
  const { core, session } = call;
  const team = session.team.id;
  const keys = seesOwn(call) ? new Set(repoKeysSeen(call).map(repoOfStream)) : reposTold(core, team);
  const { days, repo, person, by, first, last } = params;
  return filters({
    action: call.href("/spend"),
    label: "Choose days, a repository and a person",
    hidden: {
      ...(by === "model" ? {} : { by }),
      ...(days === undefined ? {} : { days: String(days) }),
    },
    filters: [
      ...dayFilters(days === undefined ? { from: first, to: last } : { from: "", to: "" }),
      selectFilter({ name: "repo", label: "Repository", value: repo }, "all", repoOptions([...keys].sort()), repoName),
      ...personFilter(devicesSeen(call), person, signedIn(call)),
    ],
  });
}

async function tiles(call: Member, params: Params, total: SpendFigures, before: SpendFigures): Promise<Html> {
  const { usd, reportedUsd, unpricedTokens, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = total;
  const read = inputTokens + cacheReadTokens + cacheWriteTokens;
  const cached = read > 0 ? `, ${Math.round((cacheReadTokens / read) * 100)} % of input cached` : "";
  return html`<section class="section" aria-label="Figures">${stats([
    {
      label: "Cost",
      value: usd === null ? "–" : dollars(usd),
      sub: html`${comparison(params, usd, before.usd)}${reportedUsd !== null && html`<br>agents say ${dollars(reportedUsd)}`}`,
    },
    ...(seesOwn(call) ? [] : await budgetStat(call)),
    ...(await perSession(call, params)),
    { label: "Tokens", value: compact(read + outputTokens), sub: `${compact(outputTokens)} output${cached}` },
    ...(unpricedTokens > 0
      ? [
          {
            label: "Unpriced",
            value: compact(unpricedTokens),
            sub: "tokens, not in the cost",
            href: "#prices",
            tone: "warn" as const,
          },
        ]
      : []),
  ])}</section>`;
}

function comparison({ first, last }: Params, usd: number | null, before: number | null): string {
  if (usd === null) return "no model used has a price";
  const change = changeText(usd, before);
  // Against next to nothing there is nothing to compare.
  if (change !== "" && change !== "new" && !change.startsWith("×"))
    return `${change} to the period before (${dollars(before ?? 0)})`;
  return first === last ? dayText(last) : `${dayText(first)} to ${dayText(last)}`;
}

/** What sessions that began in these days cost on average, and their commits. */
async function perSession(
  { core, session }: Member,
  { repoKey, deviceIds, sources, first, last }: Params,
): Promise<Stat[]> {
  const days = spanOf({ from: first, to: last });
  const { sessions, usd, commits } = await sumSessions(core, session.team.id, { repoKey, deviceIds, sources, ...days });
  if (usd === null || sessions === 0) return [];
  const each = commits > 0 ? `, ${dollars(usd / commits)} per commit` : "";
  return [{ label: "Per session", value: dollars(usd / sessions), sub: `${plural(sessions, "session")}${each}` }];
}

/** How to begin, for those of whose sessions none came yet; to others it says that the days or filters chosen have no usage. */
async function nothing(call: Member): Promise<Html> {
  const { core, session } = call;
  const sent = await findSessions(core, session.team.id, { deviceIds: deviceIdsSeen(call), limit: 1 });
  if (sent.rows.length > 0)
    return empty({ title: "No usage in these days", intro: "Take a filter back, or choose other days." });
  return nothingSent(call, "No usage in these days", "What agents use comes with the sessions that they send.");
}

const access = "member";

export const spendPages = [
  ...budgetPages,
  page({ id: "spend", method: "GET", path: "/spend", access, narrows: true }, spendPage),
  page({ id: "spendCsv", method: "GET", path: "/spend/csv", access, narrows: true }, async (call) => {
    await freshenSpend(call.core);
    const params = spendParams(call);
    const report = await spendReportInSlices(call.core, call.session.team.id, params);
    const groups = await inSlices(report.groupsInSlices(), cooperative(call.core.clock));
    const name = `spend-by-${params.by}-${params.first}-to-${params.last}.csv`;
    const { by, repo, person, first, last } = params;
    return exported(
      call,
      {
        action: "spend.exported",
        teamId: call.session.team.id,
        extent: { by, repo, person, firstDay: first, lastDay: last },
      },
      csvDownload(name, spendCsv(by, groups)),
    );
  }),
];
