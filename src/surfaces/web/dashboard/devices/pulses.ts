import { defectsOfClass } from "../../../../insight/defects/defects.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { listPulses, type Pulses } from "../../../../record/pulses/pulses.ts";
import { table } from "../../ui/list.ts";
import { anchor, columns, facts, section } from "../../ui/parts.ts";
import { ago, number, plural } from "../../ui/units.ts";
import { ruleText, titleOf } from "../errors/labels.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** What devices tell of their brains between two publications. */

const DAYS = 7;
const COUNTS_SHOWN = 10;
const SHARED_SHOWN = 5;
const MAX_RULE = 140;

/** Nothing while no device told anything lately. @param labels of the team's devices, by id */
export async function pulsesSection(call: Member, labels: ReadonlyMap<string, string | null>): Promise<Content> {
  const { core, session } = call;
  const now = core.clock.now();
  const reported = await listPulses(core, session.team.id, now - DAYS * DAY_MS);
  const [newest] = reported.pulses;
  if (!newest) return false;
  const devices = new Set(reported.pulses.map(({ deviceId }) => deviceId)).size;
  const device = { deviceId: newest.deviceId, deviceLabel: labels.get(newest.deviceId) ?? null };
  return section({
    id: "pulses",
    title: "Pulses",
    intro: html`What ${plural(devices, "device")} counted in ${devices === 1 ? "its" : "their"} brains, hour by hour, published or not: the newest of each in ${DAYS} days, added up. The last came ${ago(newest.at, now)} from ${deviceLink(call, device)}, of ${short(repoName(newest.repoKey), 80)}.`,
    body: columns(countList(reported), sharedTable(call, reported)),
  });
}

function countList({ counts }: Pulses): Html {
  const all = Object.entries(counts);
  const shown = all.slice(0, COUNTS_SHOWN);
  return html`<div class="card">${
    shown.length === 0
      ? html`<p class="says">They told no counts.</p>`
      : facts(shown.map(([name, count]) => ({ label: short(name, 64), value: number(count) })))
  }${all.length > shown.length && html`<p class="says">and ${plural(all.length - shown.length, "more count")}</p>`}</div>`;
}

/** Classes of errors that several devices have met. */
function sharedTable(call: Member, { shared }: Pulses): Html {
  return html`${table({
    caption: "Errors known on several devices",
    columns: [
      {
        label: "Met on several devices",
        heading: true,
        grow: true,
        cell: ({ fingerprint }) => className(call, fingerprint),
      },
      { label: "Devices", numeric: true, named: true, cell: ({ devices }) => devices },
    ],
    rows: shared.slice(0, SHARED_SHOWN),
    empty: html`<div class="card"><p class="says">No class of errors was met on two devices.</p></div>`,
    narrow: "compact",
  })}${shared.length > SHARED_SHOWN && html`<p class="says">and ${plural(shared.length - SHARED_SHOWN, "more class", "more classes")}</p>`}`;
}

/** What the published brains call a class; devices send no text. */
function className({ core, session, href }: Member, fingerprint: string): Content {
  const [newest] = defectsOfClass(core, session.team.id, fingerprint, { most: 1 });
  if (!newest) return html`<code>${fingerprint}</code> <small class="muted">in no published brain</small>`;
  const name = newest.rule === null ? titleOf(newest) : ruleText(newest.rule, MAX_RULE);
  return anchor(href(`/errors/classes/${fingerprint}`), name);
}
