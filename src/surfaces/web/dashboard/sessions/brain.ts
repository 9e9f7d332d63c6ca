import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { Mentions } from "../../../../record/brain/brain.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { section } from "../../ui/section.ts";
import { table } from "../../ui/table.ts";
import { kindBadge, link, type Member, repoName } from "../shared/links.ts";
import { short } from "./labels.ts";

/** Places of the team's brain that name what a session committed or touched. */

export function mentionsSection(call: Member, session: Session, { mentions, cutShort }: Mentions): Content {
  if (session.commits.length === 0 && session.files.length === 0 && mentions.length === 0) return false;
  return section({
    title: "In the brain",
    says: "Errors, decisions, security notes and anti-patterns of the current brain that name a commit or a file of this session. They name it; that the session caused them is not said.",
    body: html`${table({
      caption: "Places in the brain",
      columns: [
        { label: "Entry", heading: true },
        { label: "Kind" },
        { label: "Mentions" },
        { label: "Line", grow: true },
      ],
      rows: mentions.map((one): Content[] => [
        html`<a href="${link(call, "/brain/file", { repo: one.repoKey, path: one.path, view: "source", line: one.line })}#L${one.line}">${short(one.heading || one.path, 160)}</a>
<br><small class="muted mono">${one.repoKey !== session.repoKey && `${repoName(one.repoKey)} · `}${one.path}:${one.line}</small>`,
        kindBadge(one.kind),
        mentionText(one),
        one.text,
      ]),
      empty: html`<p class="says">No entry names one of them.</p>`,
    })}${cutShort && html`<p class="says">Not everything was looked through: there may be more.</p>`}`,
  });
}

const mentionText = ({ names }: Mentions["mentions"][number]): Html =>
  names.kind === "commit"
    ? html`<span class="nowrap">commit <code>${names.value.slice(0, 7)}</code></span>`
    : html`file <code>${short(names.value, 160)}</code>`;
