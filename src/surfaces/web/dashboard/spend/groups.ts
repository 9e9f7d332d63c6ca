import { listDevices } from "../../../../identity/devices/devices.ts";
import type { Grouping, SpendGroup, SpendReport } from "../../../../insight/spend/spend.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { findSessionId } from "../../../../record/traces/traces.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { anchor, section, tabs } from "../../ui/parts.ts";
import { dayText, number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, link, NO_REPO, repoName } from "../shared/links.ts";
import { NOBODY } from "../shared/people.ts";
import { short } from "../shared/text.ts";
import { modelName } from "./chart.ts";
import { costText, reportedText, tokenCell } from "./labels.ts";
import { type Params, spendAddress } from "./params.ts";

/** Spend by what it was for. */

const SHOWN = 100;

const LABELS: Readonly<Record<Grouping, string>> = {
  model: "Model",
  repo: "Repository",
  branch: "Branch",
  person: "Person",
  device: "Device",
  session: "Session",
  day: "Day",
};

export function groupsSection(call: Member, params: Params, { groups, total }: SpendReport): Html {
  const { by } = params;
  // Of days the latest stand on top, everything else by what it cost.
  const all = by === "day" ? groups.toReversed() : groups;
  const shown = all.slice(0, SHOWN);
  const name = namer(call, params);
  return section({
    id: "groups",
    title: "What it was for",
    actions: buttonLink("Download CSV", spendAddress(call, params, {}, "/spend/csv"), { small: true }),
    body: html`<div class="stack">${tabs(
      "Sums by",
      Object.entries(LABELS).map(([value, label]) => ({
        label,
        href: `${spendAddress(call, params, { by: value as Grouping })}#groups`,
        current: value === by,
      })),
    )}
${table({
  caption: `Spend by ${LABELS[by].toLowerCase()}`,
  columns: [
    { label: LABELS[by], heading: true, grow: true, cell: name },
    { label: "Cost", numeric: true, cell: costText },
    { label: "Share", numeric: true, cell: (group) => share(group.usd, total.usd) },
    { label: "Reported", numeric: true, cell: reportedText },
    { label: "Input", numeric: true, cell: (group) => tokenCell(group.inputTokens) },
    { label: "Output", numeric: true, cell: (group) => tokenCell(group.outputTokens) },
    { label: "Cache write", numeric: true, cell: (group) => tokenCell(group.cacheWriteTokens) },
    { label: "Cache read", numeric: true, cell: (group) => tokenCell(group.cacheReadTokens) },
    { label: "Calls", numeric: true, cell: (group) => group.usages },
  ],
  rows: shown,
  narrow: "scroll",
})}
${all.length > shown.length && html`<p class="says">${number(all.length - shown.length)} more ${by === "day" ? "and earlier " : ""}rows stand in the CSV.</p>`}</div>`,
  });
}

function share(usd: number | null, total: number | null): Content {
  if (usd === null || total === null || total === 0) return html`<span class="none">–</span>`;
  const percent = (usd / total) * 100;
  return percent > 0 && percent < 1 ? "< 1 %" : `${Math.round(percent)} %`;
}

const notTold = (what: string) => html`<span class="muted">no ${what} named</span>`;

/** How a row is called, and where it leads. All names but the devices' labels are what agents sent. */
function namer(call: Member, params: Params): (group: SpendGroup) => Content {
  const { core, session, href } = call;
  const team = session.team.id;
  const at = (to: string, text: Content) => anchor(to, text);
  const sessions = (query: Readonly<Record<string, string>>) =>
    link(call, "/sessions", { ...query, from: params.first, to: params.last });
  const narrowed = {
    ...(params.repoKey === undefined ? {} : { repo: params.repo }),
    ...(params.person === "" ? {} : { person: params.person }),
  };
  switch (params.by) {
    case "model":
      return ({ key }) => (key === "" ? notTold("model") : at(sessions({ ...narrowed, model: key }), modelName(key)));
    case "branch":
      return ({ key }) =>
        key === ""
          ? notTold("branch")
          : at(sessions({ ...narrowed, branch: key }), html`<code>${short(key, 60)}</code>`);
    case "repo":
      return ({ key }) =>
        at(spendAddress(call, params, { by: "model", repo: key === "" ? NO_REPO : key }), short(repoName(key), 60));
    case "day":
      return ({ key }) =>
        at(
          spendAddress(call, params, { by: "model", days: undefined, first: key, last: key }),
          html`<span class="nowrap">${dayText(key)}</span>`,
        );
    case "person": {
      const names = new Map(listDevices(core, team).map(({ personId, person }) => [personId, person]));
      return ({ key, personId = NOBODY }) => {
        const text = personId === NOBODY ? html`<span class="muted">nobody’s</span>` : short(key, 80);
        const name = names.get(personId)?.name;
        return html`${at(spendAddress(call, params, { by: "model", person: personId }), text)}${name && html`<br><small class="muted">${short(name, 80)}</small>`}`;
      };
    }
    case "device": {
      const deviceName = deviceNames(call);
      return ({ key }) => deviceName(key);
    }
    case "session": {
      const deviceName = deviceNames(call);
      return ({ key, deviceId = "" }) => {
        const number = key === "" ? undefined : findSessionId(core, team, deviceId, key);
        const text = key === "" ? notTold("session") : short(key, 60);
        return html`${number === undefined ? text : at(href(`/sessions/${number}`), text)}<br><small>${deviceName(deviceId)}</small>`;
      };
    }
  }
}

/** A device by its label, with the person whose it is. */
function deviceNames(call: Member): (id: string) => Content {
  const devices = new Map(listDevices(call.core, call.session.team.id).map((device) => [device.id, device]));
  return (id) => {
    const device = devices.get(id);
    if (!device) return notTold("device");
    return html`${deviceLink(call, { deviceId: id, deviceLabel: device.label })}${device.person && html`<br><small class="muted">${short(device.person.email, 80)}</small>`}`;
  };
}
