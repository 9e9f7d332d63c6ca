import { freshenLinks, linksOfSession } from "../../../../insight/causes/causes.ts";
import { findDefect } from "../../../../insight/defects/defects.ts";
import { type Content, html } from "../../../../kit/html.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { section } from "../../ui/section.ts";
import { table } from "../../ui/table.ts";
import { dayText } from "../../ui/time.ts";
import { number } from "../../ui/units.ts";
import { bandBadge, entryBadges, entryLink } from "../errors/labels.ts";
import { type Member, repoName } from "../shared/links.ts";
import { short } from "./labels.ts";

/** The entries of the brain that are put down to a session. */

const SHOWN = 50;

export async function causedSection(call: Member, session: Session): Promise<Content> {
  const team = call.session.team.id;
  await freshenLinks(call.core);
  const links = linksOfSession(call.core, team, session.id);
  if (links.length === 0) return false;
  // What counts before what is possible and no more.
  const ranked = links.toSorted((a, b) => Number(b.counts) - Number(a.counts));
  const rows = ranked.slice(0, SHOWN).flatMap((one): Content[][] => {
    const defect = findDefect(call.core, team, one.entryId);
    if (!defect) return [];
    const weak = one.counts ? "" : "muted";
    return [
      [
        html`${entryLink(call, defect)}${defect.repoKey !== session.repoKey && html`<br><small class="muted">${short(repoName(defect.repoKey), 80)}</small>`}`,
        html`<span class="nowrap">${bandBadge(one)}</span>`,
        html`<span class="${weak}">${one.evidence[0]?.says}</span>`,
        html`${entryBadges(defect)}`,
        html`<span class="nowrap">${dayText(defect.date)}</span>`,
      ],
    ];
  });
  return section({
    id: "caused",
    title: "Errors put down to it",
    says: "Entries of the brain that this session is thought to have caused. “Possibly caused by” is never counted against it.",
    body: html`${table({
      caption: "Errors put down to this session",
      columns: [
        { label: "Entry", heading: true, grow: true },
        { label: "How sure" },
        { label: "Because", grow: true },
        { label: "Kind" },
        { label: "Date" },
      ],
      rows,
      empty: "",
    })}${links.length > SHOWN && html`<p class="says">${number(links.length - SHOWN)} more are not shown.</p>`}`,
  });
}
