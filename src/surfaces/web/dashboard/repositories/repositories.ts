import { freshenEntries } from "../../../../insight/defects/defects.ts";
import { freshenSessions } from "../../../../insight/sessions/sessions.ts";
import { freshenSpend } from "../../../../insight/spend/spend.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { type Page, page } from "../../../../platform/http/page.ts";
import type { Table } from "../../ui/list.ts";
import { anchor, empty, none, pageHead } from "../../ui/parts.ts";
import { ago, number, plural } from "../../ui/units.ts";
import { nothingSent } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, repoLink, repoValue } from "../shared/links.ts";
import { listPage, pagesFrom } from "../shared/list.ts";
import { readParams, rowNumber, words } from "../shared/params.ts";
import { sorter, sortParams } from "../shared/sort.ts";
import { costCell } from "../spend/labels.ts";
import { ORDERS, type OrderBy, type RepoFacts, repoFacts, SHOWN_DAYS, sessionsShown } from "./facts.ts";
import { share } from "./labels.ts";
import { overviewPage } from "./overview.ts";

/** The team's repositories. */

const PATH = "/repositories";
const PARAMS = { q: words(256), from: rowNumber, ...sortParams(ORDERS) };
const PAGE_SIZE = 100;

async function repositoriesPage(call: Member): Promise<Html> {
  const { core, query } = call;
  await Promise.all([freshenSessions(core), freshenSpend(core), freshenEntries(core)]);
  const { q, from: place = 0, sort: by = "last", dir } = readParams(PARAMS, query);
  const all = await repoFacts(call);
  const title = "Repositories";
  if (all.length === 0)
    return frame(call, {
      title,
      main: html`${pageHead({ title })}${nothingSent(call, "No repositories yet", "A repository is here once anything of it was sent.")}`,
    });
  const found = all.filter(({ repoKey }) => repoKey.toLowerCase().includes(q.toLowerCase()));
  const from = place < found.length ? place : 0;
  const ascending = dir === "asc";
  const sort = sorter(call, { path: PATH, query: { q }, by, ascending, usual: "last" });
  return listPage(call, {
    title,
    wide: true,
    path: PATH,
    params: { q },
    kept: { sort: by === "last" ? undefined : by, dir },
    id: "results",
    label: "Filter repositories",
    filters: all.length > 5 && [
      { kind: "search", name: "q", label: "Search", value: q, placeholder: "Part of its name" },
    ],
    count: found.length,
    table: repositoryTable(call, ordered(found, by, ascending).slice(from, from + PAGE_SIZE), sort),
    // The order follows from the figures, so a page is named by its position.
    pages: pagesFrom(from, found.length, PAGE_SIZE, plural(found.length, "repository", "repositories")),
  });
}

function ordered(all: readonly RepoFacts[], by: OrderBy, ascending: boolean): RepoFacts[] {
  const sorted = all.toSorted((a, b) =>
    by === "name" ? Number(a.repoKey < b.repoKey) - Number(a.repoKey > b.repoKey) : (b[by] ?? -1) - (a[by] ?? -1),
  );
  return ascending ? sorted.reverse() : sorted;
}

function repositoryTable(
  call: Member,
  rows: readonly RepoFacts[],
  sort: ReturnType<typeof sorter<OrderBy>>,
): Table<RepoFacts> {
  const now = call.core.clock.now();
  return {
    caption: `Repositories, figures of the last ${SHOWN_DAYS} days`,
    dense: true,
    columns: [
      {
        label: "Repository",
        heading: true,
        grow: true,
        sort: sort("name"),
        cell: ({ repoKey }) => repoLink(call, repoKey),
      },
      {
        label: `Sessions, ${SHOWN_DAYS} d`,
        numeric: true,
        named: true,
        sort: sort("sessions"),
        cell: ({ repoKey, sessions }) => (sessions > 0 ? anchor(sessionsShown(call, repoKey), number(sessions)) : none),
      },
      { label: "Succeeded", numeric: true, named: true, sort: sort("success"), cell: ({ success }) => share(success) },
      { label: `Cost, ${SHOWN_DAYS} d`, numeric: true, sort: sort("usd"), cell: costCell },
      {
        label: "Open errors",
        numeric: true,
        named: true,
        sort: sort("open"),
        cell: ({ repoKey, open }) =>
          open > 0 ? anchor(link(call, "/errors", { repo: repoValue(repoKey) }), number(open)) : none,
      },
      { label: "Last session", numeric: true, sort: sort("last"), cell: ({ last }) => ago(last, now) },
    ],
    rows,
    empty: empty({ title: "No repository fits", intro: "Search for another part of its name." }),
  };
}

export const repositoryPages: Page[] = [
  page({ id: "repositories", method: "GET", path: PATH, access: "member" }, repositoriesPage),
  page({ id: "repository", method: "GET", path: `${PATH}/overview`, access: "member" }, overviewPage),
];
