import { freshenLinks, linksOfSession } from "../../../../insight/causes/causes.ts";
import { findDefect } from "../../../../insight/defects/defects.ts";
import { type Content, html } from "../../../../kit/html.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { table } from "../../ui/list.ts";
import { section } from "../../ui/parts.ts";
import { dayText, number } from "../../ui/units.ts";
import { bandBadge, entryBadges, entryLink } from "../errors/labels.ts";
import type { Member } from "../shared/call.ts";
import { repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** The entries of the brain that a session caused. */

const SHOWN = 50;

export async function causedSection(call: Member, session: Session): Promise<Content> {
  const team = call.session.team.id;
  await freshenLinks(call.core);
  const links = linksOfSession(call.core, team, session.id);
  if (links.length === 0) return false;
  // What counts before what is possible and no more.
  const ranked = links.toSorted((a, b) => Number(b.counts) - Number(a.counts));
  const rows = ranked.slice(0, SHOWN).flatMap((cause) => {
    const defect = findDefect(call.core, team, cause.entryId);
    return defect ? [{ cause, defect }] : [];
  });
  return section({
    id: "caused",
    title: "Errors it caused",
    intro:
      "Entries of the brain that this session is thought to have caused. “Possibly caused by” is never counted against it.",
    body: html`${table({
      caption: "Errors caused by this session",
      columns: [
        {
          label: "Entry",
          heading: true,
          grow: true,
          cell: ({ defect }) =>
            html`${entryLink(call, defect)}${defect.repoKey !== session.repoKey && html`<br><small class="muted">${short(repoName(defect.repoKey), 80)}</small>`}`,
        },
        { label: "How sure", cell: ({ cause }) => html`<span class="nowrap">${bandBadge(cause)}</span>` },
        {
          label: "Because",
          grow: true,
          cell: ({ cause }) => html`<span class="${cause.counts ? "" : "muted"}">${cause.evidence[0]?.says}</span>`,
        },
        { label: "Kind", cell: ({ defect }) => entryBadges(defect) },
        { label: "Date", cell: ({ defect }) => html`<span class="nowrap">${dayText(defect.date)}</span>` },
      ],
      rows,
    })}${links.length > SHOWN && html`<p class="says">${number(links.length - SHOWN)} more are not shown.</p>`}`,
  });
}
