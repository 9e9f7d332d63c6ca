import { peopleBySource } from "../../../../identity/ownership/ownership.ts";
import {
  findSessions,
  freshenSessions,
  type SessionPage,
  SORTS,
  sessionFacets,
  sumSessions,
} from "../../../../insight/sessions/sessions.ts";
import { freshenSpend } from "../../../../insight/spend/spend.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { type Page, page } from "../../../../platform/http/page.ts";
import type { Option } from "../../ui/field.ts";
import type { Filter } from "../../ui/list.ts";
import { pageHead } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import { nothingSent } from "../devices/connect.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { link, repoOptions, setOf } from "../shared/links.ts";
import { listPage, type Pages, PREVIOUS_NEXT } from "../shared/list.ts";
import { dayFilters, selectFilter } from "../shared/params.ts";
import { personFilter } from "../shared/people.ts";
import { proofPage } from "../shared/proof.ts";
import { deviceIdsSeen, devicesSeen } from "../shared/sight.ts";
import { sorter } from "../shared/sort.ts";
import { viewedTabs, viewMenu } from "../shared/views.ts";
import { dollars } from "../spend/labels.ts";
import { filesPage } from "./files.ts";
import { percent, shareOf } from "./labels.ts";
import { transcriptPage } from "./one.ts";
import { filterOf, presets, type SessionParams, sessionOrder, sessionParams } from "./params.ts";
import { recordFile, recordPage } from "./record.ts";
import { sessionTable } from "./table.ts";
import { visitOf } from "./visit.ts";
import { waterfallPage } from "./waterfall.ts";

/** The team's agent sessions. */

const PATH = "/sessions";
const PAGE = 50;
const ORDERS = SORTS.filter((by) => by !== "started").map((by) => ({ value: by, label: by }));

async function sessionsPage(call: Member): Promise<Html> {
  const { core, session, query } = call;
  const team = session.team.id;
  await freshenSessions(core);
  await freshenSpend(core);
  const params = sessionParams(query);
  const order = sessionOrder(params);
  // Of thousands of devices each of these takes a while.
  const yieldNow = cooperative(core.clock);
  const devices = devicesSeen(call);
  await yieldNow();
  const filter = filterOf(call, params);
  const found = await findSessions(core, team, { ...filter, ...order, cursor: query.get("cursor") ?? "", limit: PAGE });
  const filtered = Object.values(params).some((value) => value !== "");
  if (found.rows.length === 0 && !filtered && !query.has("cursor"))
    return frame(call, { title: "Sessions", main: html`${pageHead({ title: "Sessions" })}${noSessions(call)}` });
  const facets = sessionFacets(core, team, deviceIdsSeen(call));
  const personOf = peopleBySource(core, team, []);
  const people = facets.userEmails.flatMap((email) => personOf(email) ?? []);
  const filters = filtersOf(params, facets, personFilter(devices, params.person, people));
  await yieldNow();
  const sort = sorter(call, {
    path: PATH,
    query: params,
    by: order.sort,
    ascending: order.ascending,
    usual: "started",
  });
  return listPage(call, {
    title: "Sessions",
    wide: true,
    path: PATH,
    params,
    id: "results",
    label: "Filter sessions",
    actions: viewMenu(call, PATH),
    above: presetTabs(call, params),
    folded: true,
    filters,
    head: filter.text === undefined && (await totals(call, filter)),
    table: sessionTable(call, found.rows, { devices, sort, params }),
    pages: pagesOf(found, order.sort === "started"),
  });
}

function presetTabs(call: Member, params: SessionParams): Html {
  const { sort: _, dir: __, ...narrowed } = params;
  const set = JSON.stringify(setOf(narrowed));
  const own = presets(call).map((preset) => ({
    label: preset.label,
    href: link(call, PATH, preset.set),
    current: JSON.stringify(setOf(preset.set)) === set,
  }));
  return viewedTabs(call, PATH, { label: "Views", own });
}

function filtersOf(
  params: SessionParams,
  { repoKeys, agents, models, outcomes, branches, devices, partial }: ReturnType<typeof sessionFacets>,
  people: readonly Filter[],
): Filter[] {
  const choice = (name: keyof SessionParams, label: string, values: readonly Option[]) =>
    selectFilter({ name, label, value: params[name] }, "all", values, undefined, partial && "of the newest sessions");
  const select = (name: keyof SessionParams, label: string, values: readonly string[]) =>
    choice(
      name,
      label,
      values.map((value) => ({ value, label: value })),
    );
  return [
    { kind: "search", name: "q", label: "Search", value: params.q, placeholder: "Words of a prompt, a file, a commit" },
    selectFilter({ name: "result", label: "Result", value: params.result }, "all", [
      { value: "succeeded", label: "succeeded" },
      { value: "failed", label: "failed" },
      { value: "stopped", label: "stopped early" },
      { value: "unknown", label: "not known" },
    ]),
    select("outcome", "Outcome", outcomes),
    choice("repo", "Repository", repoOptions(repoKeys)),
    select("branch", "Branch", branches),
    ...people,
    select("agent", "Agent", agents),
    select("model", "Model", models),
    choice(
      "device",
      "Device",
      devices.map(({ id, label }) => ({ value: id, label: label ?? id })),
    ),
    ...dayFilters(params),
    { kind: "text", name: "cost", label: "Cost from ($)", value: params.cost, placeholder: "5" },
    selectFilter({ name: "sort", label: "Order", value: params.sort }, "started", ORDERS),
    selectFilter({ name: "dir", label: "Order from", value: params.dir }, "highest", [
      { value: "asc", label: "lowest" },
    ]),
    { kind: "checkbox", name: "errors", label: "With errors", value: params.errors },
  ];
}

/** How many there are and what they come to. */
async function totals({ core, session }: Member, filter: Parameters<typeof sumSessions>[2]): Promise<Content> {
  const { sessions, usd, unpriced, partial, ...ended } = await sumSessions(core, session.team.id, filter);
  if (sessions === 0) return "";
  const succeeded = filter?.result === undefined ? shareOf(ended) : null;
  const share = succeeded !== null && ` · ${percent(succeeded)} succeeded`;
  const cost = usd !== null && ` · ${dollars(usd)}`;
  return html`<p><strong>${partial ? `${number(sessions)}+ sessions` : plural(sessions, "session")}</strong>${share}${cost}${unpriced > 0 && ` · ${number(unpriced)} with unpriced tokens`}</p>`;
}

/** Links around the page, and that looking stopped early where it did. */
function pagesOf({ older, newer, partial, examined }: SessionPage, byTime: boolean): Pages {
  const around = { newer: { cursor: newer }, older: { cursor: older } };
  if (!partial) return byTime ? around : { ...around, labels: PREVIOUS_NEXT };
  return {
    ...around,
    intro: `${plural(examined, "session")} looked through; there may be more further on.`,
    labels: { newer: "Newer", older: "Look further" },
  };
}

function noSessions(call: Member): Html {
  return nothingSent(
    call,
    "No sessions yet",
    "Each session of an agent comes here with its prompts, answers, steps, edits and commits, within seconds of its end.",
  );
}

export const sessionPages: Page[] = [
  page({ id: "sessions", method: "GET", path: "/sessions", access: "member", narrows: true }, sessionsPage),
  page({ id: "session", method: "GET", path: "/sessions/:id", access: "member", narrows: true }, transcriptPage),
  page(
    { id: "sessionWaterfall", method: "GET", path: "/sessions/:id/waterfall", access: "member", narrows: true },
    waterfallPage,
  ),
  page({ id: "sessionFiles", method: "GET", path: "/sessions/:id/files", access: "member", narrows: true }, filesPage),
  page(
    { id: "sessionRecord", method: "GET", path: "/sessions/:id/record", access: "member", narrows: true },
    recordPage,
  ),
  page(
    { id: "sessionRecordFile", method: "GET", path: "/sessions/:id/record.json", access: "member", narrows: true },
    recordFile,
  ),
  page(
    { id: "sessionProof", method: "GET", path: "/sessions/:id/proof", access: "member", narrows: true },
    async (call) => {
      const { session } = await visitOf(call, false);
      return proofPage("session", call, { deviceId: session.deviceId });
    },
  ),
];
