import type { DefectKind } from "../../../../formats/brain-kinds.ts";
import { type Attribution, linksOfEntry } from "../../../../insight/causes/causes.ts";
import { DEFECT_KINDS, errorCalendar } from "../../../../insight/defects/defects.ts";
import {
  type ClassQuery,
  countClasses,
  ownersIn,
  ownersOf,
  pageOfErrors,
  SORTS,
  STATES,
  type State,
} from "../../../../insight/triage/triage.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { chips, type Filter, filters, pager, type Sort, type Table, table } from "../../ui/list.ts";
import { anchor, empty, none } from "../../ui/parts.ts";
import { sparkline } from "../../ui/sparkline.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { kindBadge, link, type Query, repoKeyIn, repoName, setOf } from "../shared/links.ts";
import { chipsOf } from "../shared/list.ts";
import { choice, DAYS, dayFilters, type Params, selectFilter, text } from "../shared/params.ts";
import { NOBODY } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { viewedTabs } from "../shared/views.ts";
import { errorHref, nameOf, sinceDay, stateBadge } from "./labels.ts";

/** Errors as they are taken on: a row a class. */

const PAGE = 25;
const SPARK_WEEKS = 12;
const MAX_TEXT = 200;
const MAX_TITLE = 120;
/** People to choose from: those who have taken something on. */
const MAX_OWNERS = 100;
/** Which states each tab shows. */
const TABS = {
  open: { label: "Open", states: ["open", "again"] },
  again: { label: "Came again", states: ["again"] },
  snoozed: { label: "Snoozed", states: ["snoozed"] },
  resolved: { label: "Resolved", states: ["resolved"] },
  all: { label: "All", states: STATES },
} as const satisfies Record<string, { readonly label: string; readonly states: readonly State[] }>;
type Tab = keyof typeof TABS;
const TAB_NAMES = Object.keys(TABS) as Tab[];
/** Columns whose first click puts the least first. */
const RISING = ["title", "state"];

/** Parameters that narrow the list; a value that cannot be understood does not. */
export const PARAMS = {
  repo: text(1_024),
  q: text(MAX_TEXT),
  kind: choice(DEFECT_KINDS),
  owner: text(100),
  model: text(512),
  state: choice(TAB_NAMES),
  sort: choice(SORTS.flatMap((sort) => [sort, `-${sort}`])),
  ...DAYS,
};
export type ErrorParams = Params<typeof PARAMS>;

/** What the query asks for, whatever the state. */
async function queryOf(call: Member, params: ErrorParams, { models }: Attribution): Promise<ClassQuery> {
  const { repo, q, kind, owner, model, from, to } = params;
  const lists: (readonly string[])[] = [];
  if (q.trim() !== "" || from !== "" || to !== "")
    lists.push(
      await errorCalendar.classesWith(call.core, call.session.team.id, {
        ...{ text: q, from: from || undefined, to: to || undefined },
      }),
    );
  if (model !== "") lists.push(models.find(({ name }) => name === model)?.classes ?? []);
  const [first, second] = lists.map((list) => new Set(list));
  return {
    repoKey: repoKeyIn(repo),
    kind,
    owner: owner === "" ? undefined : owner === NOBODY ? "" : owner === "me" ? call.session.userId : owner,
    only: first && [...(second ? first.intersection(second) : first)],
  };
}

export async function listSection(call: Member, params: ErrorParams, causes: Attribution): Promise<Html> {
  const { core, session } = call;
  const team = session.team.id;
  const query = await queryOf(call, params, causes);
  const { sort = "last", state = "open" } = params;
  const key = sort.replace("-", "") as (typeof SORTS)[number];
  const { classes } = await countClasses(core, team, query);
  const pageAt = (cursor: string | undefined) =>
    pageOfErrors(core, team, {
      ...query,
      states: TABS[state].states,
      sort: key,
      ascending: RISING.includes(key) !== sort.startsWith("-"),
      cursor,
      limit: PAGE,
    });
  const found = await pageAt(call.query.get("cursor") ?? undefined);
  // All rows of this page may have another state by now. The list then begins anew, where there may be rows.
  const page = found.rows.length === 0 ? await pageAt(undefined) : found;
  const address = (query: Query) => `${link(call, "/errors", setOf({ ...params, ...query }))}#entries`;
  const shown = listFilters(call, params, causes);
  const kept = setOf({ repo: params.repo, kind: params.kind, state: params.state, sort: params.sort });
  const form = filters({
    action: call.href("/errors"),
    label: "Filter errors",
    filters: shown,
    hidden: kept,
    clear: `${link(call, "/errors", kept)}#entries`,
    live: "#results",
    folded: true,
  });
  const countOf = (tab: Tab) => TABS[tab].states.reduce((sum: number, state) => sum + classes[state], 0);
  return html`<section class="section" id="entries" aria-label="List of errors"><div class="stack">${form}
<div id="results" class="errors-list" data-count="${page.rows.length}">${chips(chipsOf(call, { path: "/errors", params, hash: "#entries" }, shown))}${viewedTabs(
    call,
    "/errors",
    {
      label: "States",
      own: TAB_NAMES.map((tab) => ({
        label: `${TABS[tab].label} ${number(countOf(tab))}`,
        href: address({ state: tab === "open" ? "" : tab }),
        current: tab === state,
      })),
    },
  )}
${table(errorTable(call, page.rows, { sort: (name) => sortOf(name, sort, address), none: nothing(call, params, countOf("all")) }))}${pager(
  {
    newer: page.newer && address({ cursor: page.newer }),
    older: page.older && address({ cursor: page.older }),
    labels: { newer: "Previous", older: "Next" },
  },
)}</div></div></section>`;
}

function sortOf(name: (typeof SORTS)[number], current: string, address: (query: Query) => string): Sort {
  const isCurrent = current.replace("-", "") === name;
  const isTurned = isCurrent && current.startsWith("-");
  const rises = RISING.includes(name) !== isTurned;
  const next = isCurrent && !isTurned ? `-${name}` : name;
  return {
    href: address({ sort: next === "last" ? "" : next }),
    direction: isCurrent ? (rises ? "ascending" : "descending") : undefined,
  };
}

function listFilters(call: Member, { q, owner, model, from, to }: ErrorParams, { models }: Attribution): Filter[] {
  const others = ownersIn(call.core, call.session.team.id, MAX_OWNERS).filter(({ id }) => id !== call.session.userId);
  return [
    { kind: "search", name: "q", label: "Text", value: q, placeholder: "Words of a heading, a rule or a path" },
    selectFilter({ name: "owner", label: "Owner", value: owner }, "anybody", [
      { value: "me", label: "me" },
      { value: NOBODY, label: "nobody" },
      ...others.map((person) => ({ value: person.id, label: short(nameOf(person), 60) })),
    ]),
    selectFilter(
      { name: "model", label: "Model", value: model },
      "all",
      models.flatMap(({ name }) => (name ? [{ value: name, label: short(name, 60) }] : [])),
    ),
    ...(from !== "" || to !== "" ? dayFilters({ from, to }) : []),
  ];
}

function nothing(call: Member, params: ErrorParams, others: number): Html {
  const isNarrowed = [params.q, params.owner, params.model, params.kind ?? "", params.from, params.to].some(
    (value) => value !== "",
  );
  const all = { ...params, state: "all", cursor: undefined };
  if (isNarrowed && others === 0)
    return empty({ title: "No error fits", intro: "Take a filter back, or search for other words." });
  return empty({
    title: params.state === "again" ? "None came again" : params.state ? "None here" : "Nothing is open",
    intro: "An error is open while its entry in the errors file says so, or somebody opened it.",
    actions: anchor(`${link(call, "/errors", setOf(all))}#entries`, `All ${number(others)}`),
  });
}

type Row = Awaited<ReturnType<typeof pageOfErrors>>["rows"][number];

interface Look {
  sort(name: (typeof SORTS)[number]): Sort;
  readonly none: Content;
}

function errorTable(call: Member, rows: readonly Row[], { sort, none }: Look): Table<Row> {
  const { core, session } = call;
  const now = core.clock.now();
  const owners = ownersOf(
    core,
    rows.map(({ ownerId }) => ownerId),
  );
  return {
    caption: "Errors",
    dense: true,
    columns: [
      { label: "Error", heading: true, grow: true, sort: sort("title"), cell: (row) => titleCell(call, row) },
      {
        label: "Trend",
        cell: ({ fingerprint }) => {
          const weeks = errorCalendar.weeksOfClass(core, session.team.id, fingerprint, SPARK_WEEKS);
          return sparkline(weeks, `Entries in each of the last ${SPARK_WEEKS} weeks: ${weeks.join(", ")}`);
        },
      },
      { label: "Entries", numeric: true, sort: sort("count"), cell: countCell },
      { label: "Last seen", sort: sort("last"), cell: ({ lastSeen }) => sinceDay(lastSeen, now) },
      { label: "State", sort: sort("state"), cell: ({ state }) => stateBadge(state) },
      {
        label: "Owner",
        cell: ({ ownerId }) => {
          const owner = owners.get(ownerId ?? "");
          return owner ? nameOf(owner) : html`<span class="none">nobody</span>`;
        },
      },
      { label: "Model", cell: ({ newestId }) => modelCell(call, newestId) },
    ],
    rows,
    empty: none,
  };
}

const countCell = ({ occurrences }: Row): Html =>
  html`${number(occurrences)}<span class="narrow-only">${occurrences === 1 ? " entry" : " entries"}</span>`;

function titleCell(call: Member, row: Row): Html {
  const { title, kind, repoKey, repos } = row;
  const others = (JSON.parse(repos) as string[]).length - 1;
  return html`<a href="${errorHref(call, row)}">${short(title, MAX_TITLE)}</a> ${kind !== "error" && html`${kindBadge(kind as DefectKind)} `}<small class="muted"><bdi>${short(repoName(repoKey), 60)}${others > 0 && ` +${others}`}</bdi></small>`;
}

/** The model of the session that its newest entry is put down to, where that link counts. */
function modelCell({ core, session }: Member, entryId: number): Content {
  const cause = linksOfEntry(core, session.team.id, { id: entryId }).find(({ counts, model }) => counts && model);
  return cause?.model ? short(cause.model, 40) : none;
}
