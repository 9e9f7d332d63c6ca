import { findDeviceOf } from "../../../../identity/devices/devices.ts";
import { peopleBySource } from "../../../../identity/ownership/ownership.ts";
import { nameSession } from "../../../../insight/sessions/sessions.ts";
import type { Grouping, SpendFigures, SpendGroup, SpendReport } from "../../../../insight/spend/spend.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { buttonLink } from "../../ui/button.ts";
import { type Column, table } from "../../ui/list.ts";
import { anchor, none, section, tabs } from "../../ui/parts.ts";
import { dayText, number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, link, repoLink } from "../shared/links.ts";
import { NOBODY, personName, personParam } from "../shared/people.ts";
import { seesDevice } from "../shared/sight.ts";
import { short } from "../shared/text.ts";
import { modelName } from "./chart.ts";
import { changeText, costCell, reportedText, tokenCell } from "./labels.ts";
import { type Params, spendAddress } from "./params.ts";

/** Spend by what it was for. */

const SHOWN = 100;
const MAX_NAME = 60;

const LABELS: Readonly<Record<Grouping, string>> = {
  model: "Model",
  repo: "Repository",
  branch: "Branch",
  agent: "Agent",
  person: "Person",
  device: "Device",
  session: "Session",
  day: "Day",
};
/** Groupings whose groups can be compared with the period before; sessions and days are not there twice. */
const COMPARED: readonly Grouping[] = ["model", "repo", "branch", "agent", "person", "device"];

const keyOf = ({ key, deviceId = "", personId = "" }: SpendGroup) => JSON.stringify([key, deviceId, personId]);

/** @param previous the same of the period before */
export function groupsSection(call: Member, params: Params, report: SpendReport, previous: SpendReport): Html {
  const { by } = params;
  // Days are shown from the latest on, all other groups from the most expensive on.
  const { total, groupCount } = report;
  const shown = by === "day" ? report.groups.toReversed().slice(0, SHOWN) : report.firstGroups(SHOWN);
  const before = new Map(previous.groups.map((group) => [keyOf(group), group.usd]));
  const label = LABELS[by];
  const columns: (Column<SpendGroup> | false)[] = [
    { label, heading: true, grow: true, cell: namer(call, params) },
    by === "session" && { label: "Device", cell: deviceNamer(call) },
    { label: "Cost", numeric: true, cell: costCell },
    { label: "Share", numeric: true, cell: (group) => share(group.usd, total.usd) },
    COMPARED.includes(by) && {
      label: "Change",
      numeric: true,
      cell: (group) => changeText(group.usd, before.get(keyOf(group)) ?? null) || none,
    },
    { label: "Reported", numeric: true, cell: reportedText },
    { label: "Input", numeric: true, cell: (group) => tokenCell(group.inputTokens) },
    { label: "Output", numeric: true, cell: (group) => tokenCell(group.outputTokens) },
    { label: "Cache write", numeric: true, cell: (group) => tokenCell(group.cacheWriteTokens) },
    { label: "Cache read", numeric: true, cell: (group) => tokenCell(group.cacheReadTokens) },
    { label: "Calls", numeric: true, cell: (group) => group.usages },
  ];
  const body = html`<div class="stack">${tabs(
    "Sums by",
    Object.entries(LABELS).map(([value, name]) => ({
      label: name,
      href: `${spendAddress(call, params, { by: value as Grouping })}#groups`,
      current: value === by,
    })),
  )}
${table({
  caption: `Spend by ${label.toLowerCase()}`,
  columns,
  rows: shown,
  foot: totalRow(total, previous.total, by),
  narrow: "scroll",
  dense: true,
})}
${groupCount > shown.length && html`<p class="says">${number(groupCount - shown.length)} more ${by === "day" ? "and earlier " : ""}rows stand in the CSV.</p>`}</div>`;
  const csv = buttonLink("Download CSV", spendAddress(call, params, {}, "/spend/csv"), { small: true });
  return section({ id: "groups", title: "Breakdown", actions: csv, body });
}

/** Cells of the sum of all, in the order of the columns. */
function totalRow(total: SpendFigures, before: SpendFigures, by: Grouping): readonly Content[] {
  return [
    "Total",
    ...(by === "session" ? [""] : []),
    costCell(total),
    "",
    ...(COMPARED.includes(by) ? [changeText(total.usd, before.usd) || none] : []),
    reportedText(total),
    tokenCell(total.inputTokens),
    tokenCell(total.outputTokens),
    tokenCell(total.cacheWriteTokens),
    tokenCell(total.cacheReadTokens),
    number(total.usages),
  ];
}

function share(usd: number | null, total: number | null): Content {
  if (usd === null || total === null || total === 0) return none;
  const percent = (usd / total) * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

const notTold = (what: string) => html`<span class="muted">no ${what} named</span>`;

/** How a row is called, and where it leads. All names but the devices' labels are what agents sent. */
function namer(call: Member, params: Params): (group: SpendGroup) => Content {
  const narrowed = {
    ...(params.repoKey === undefined ? {} : { repo: params.repo }),
    ...(params.person === "" ? {} : { person: params.person }),
    from: params.first,
    to: params.last,
  };
  const sessions = (name: string, key: string, text: Content) =>
    key === "" ? notTold(name) : anchor(link(call, "/sessions", { ...narrowed, [name]: key }), text);
  const days = (key: string) => spendAddress(call, params, { by: "session", days: undefined, first: key, last: key });
  switch (params.by) {
    case "model":
      return ({ key }) => sessions("model", key, modelName(key));
    case "branch":
      return ({ key }) => sessions("branch", key, html`<code>${short(key, MAX_NAME)}</code>`);
    case "agent":
      return ({ key }) => sessions("agent", key, short(key, MAX_NAME));
    case "repo":
      return ({ key }) => repoLink(call, key);
    case "day":
      return ({ key }) => anchor(days(key), dayText(key));
    case "person":
      return personNamer(call, params);
    case "device": {
      const name = deviceNamer(call);
      return ({ key }) => name({ deviceId: key });
    }
    case "session":
      return sessionNamer(call);
  }
}

function personNamer(call: Member, params: Params): (group: SpendGroup) => Content {
  const personOf = peopleBySource(call.core, call.session.team.id, []);
  return ({ key }) => {
    const person = personOf(key);
    const text = person
      ? html`<span title="${key}">${short(personName(person), 80)}</span>`
      : html`<span class="muted">nobody’s</span>`;
    return anchor(spendAddress(call, params, { by: "model", person: person ? personParam(person) : NOBODY }), text);
  };
}

/** A session by its title; one known only by its usage by the name that its agent gave it. */
function sessionNamer(call: Member): (group: SpendGroup) => Content {
  return ({ key, deviceId = "" }) => {
    if (key === "") return notTold("session");
    const { id, title = null } = nameSession(call.core, deviceId, key, (other) => seesDevice(call, other)) ?? {};
    const text = short(title ?? key, MAX_NAME);
    return id === undefined ? text : anchor(call.href(`/sessions/${id}`), text);
  };
}

/** A device by its label, with the person whose it is. */
function deviceNamer(call: Member): (group: Pick<SpendGroup, "deviceId">) => Content {
  return ({ deviceId = "" }) => {
    const device = findDeviceOf(call.core, call.session.team.id, deviceId);
    if (!device) return notTold("device");
    const name = deviceLink(call, { deviceId, deviceLabel: device.label });
    return html`${name}${device.person && html`<span class="muted"> · ${short(personName(device.person), 80)}</span>`}`;
  };
}
