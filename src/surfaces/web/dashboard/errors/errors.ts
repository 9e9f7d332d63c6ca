import { attribution, freshenLinks } from "../../../../insight/causes/causes.ts";
import { brainMetrics, pageOfDefects } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { page } from "../../../../platform/http/page.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import { filters, table } from "../../ui/list.ts";
import { codeBlock, empty, pageHead, section } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, repoKeyIn, repoName, repoOptions } from "../shared/links.ts";
import { readParams, selectFilter } from "../shared/params.ts";
import { attributionSection } from "./attribution.ts";
import { classPage, entryTable, recurringSection } from "./classes.ts";
import { listSection, PARAMS } from "./list.ts";
import { defectOf, entryPage, judgeCause, sayCause } from "./one.ts";
import { figures, trendChart, trendWords } from "./trend.ts";

/** What the errors files of the team's brains come to. */

const OPEN_SHOWN = 5;

async function errorsPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const team = session.team.id;
  await freshenLinks(core);
  const yieldNow = cooperative(core.clock);
  const params = readParams(PARAMS, call.query);
  const repoKey = repoKeyIn(params.repo);
  const repos = listRepositories(core, team).map((repository) => repository.repoKey);
  const metrics = brainMetrics(core, team, repoKey);
  // Entries of other files than errors are listed, but not counted.
  if (metrics.total === 0 && pageOfDefects(core, team, { limit: 1 }).rows.length === 0)
    return frame(call, { title: "Errors", main: html`${head}${nothing(call, repos.length)}` });
  await yieldNow();
  const causes = attribution(core, team, repoKey === undefined ? {} : { repoKey });
  await yieldNow();
  const paged = query.has("cursor");
  const main = html`${head}
${(repos.length > 1 || repoKey !== undefined) && repoFilter(call, repos, params.repo)}
${
  !paged &&
  html`${figures(metrics, causes, repoKey === undefined ? "" : repoName(repoKey))}
<section class="section" aria-label="Trend"><p>${trendWords(metrics)}</p>${trendChart(call, metrics, repoKey)}</section>
${openSection(call, metrics.openTotal, params.repo, repoKey)}
${recurringSection(call, metrics.recurring, repoKey)}
${attributionSection(call, causes)}`
}
${listSection(call, params)}`;
  return frame(call, { title: "Errors", main });
}

const head = pageHead({
  title: "Errors",
  intro:
    "What went wrong, as the brains' errors files record it: how often, what comes again, and which agent session caused it.",
});

function repoFilter(call: Member, repos: readonly string[], repo: string): Html {
  return filters({
    action: call.href("/errors"),
    label: "Choose a repository",
    filters: [
      selectFilter(
        { name: "repo", label: "Repository", value: repo },
        "all repositories",
        repoOptions(repos),
        repoName,
      ),
    ],
  });
}

function openSection(call: Member, total: number, repo: string, repoKey: string | undefined): Html {
  const { rows } = pageOfDefects(call.core, call.session.team.id, {
    repoKey,
    kind: "error",
    open: true,
    limit: OPEN_SHOWN,
  });
  const all = link(call, "/errors", { repo: repo || undefined, kind: "error", open: "on" });
  return section({
    id: "open",
    title: "Open",
    intro:
      total > 0 && "Entries whose heading is marked or whose status says open, unresolved, in progress or pending.",
    actions: total > rows.length && buttonLink(`All ${total}`, `${all}#entries`, { small: true }),
    body: table(
      entryTable(
        call,
        rows,
        "Open entries",
        html`<p class="says">None. An entry is open while its heading is marked or its status says so.</p>`,
      ),
    ),
  });
}

const SAMPLE = `## 2026-11-20 Login loop after the deploy

Since commit 3f2a9c1 the cookie had no path, in src/session.ts.

**Prevention rule:** set Path on every cookie.

**Status:** open`;

function nothing(call: Member, repos: number): Html {
  return html`${empty({
    title: "No entries yet",
    intro:
      repos === 0
        ? "Agents write down what went wrong in .claude/brain/errors.md and publish it with the rest of the brain. Nothing was published so far."
        : "The published brains hold no dated entry. Agents write down what went wrong in .claude/brain/errors.md, newest first, each below a heading that begins with its date.",
    actions: buttonLink(repos === 0 ? "How to publish a brain" : "To the brain", call.href("/brain")),
  })}
${section({ title: "What an entry looks like", body: codeBlock(SAMPLE, { label: "An entry", wrap: true }) })}`;
}

const access = "member";

export const errorPages = [
  page({ id: "errors", method: "GET", path: "/errors", access }, errorsPage),
  page({ id: "errorClass", method: "GET", path: "/errors/classes/:fingerprint", access }, async (call) => {
    await freshenLinks(call.core);
    return classPage(call);
  }),
  page({ id: "errorEntry", method: "GET", path: "/errors/:id", access }, async (call) => {
    await freshenLinks(call.core);
    return entryPage(call, defectOf(call));
  }),
  page({ id: "errorSayCause", method: "POST", path: "/errors/:id/links", access }, sayCause),
  page({ id: "errorJudgeCause", method: "POST", path: "/errors/:id/links/:link", access }, judgeCause),
];
