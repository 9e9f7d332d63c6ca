import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { findMentions } from "../../../../record/brain/brain.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { table } from "../../ui/list.ts";
import { section } from "../../ui/parts.ts";
import type { Member } from "../shared/call.ts";
import { kindBadge, link, repoName } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** Places of the team's brain that name what a session committed or touched. */

type Mentions = Awaited<ReturnType<typeof findMentions>>;

export function mentionsSection(call: Member, session: Session, { mentions, cutShort }: Mentions): Content {
  if (session.commits.length === 0 && session.files.length === 0 && mentions.length === 0) return false;
  return section({
    title: "In the brain",
    intro:
      "Errors, decisions, security notes and anti-patterns of the current brain that name a commit or a file of this session. They name it; that the session caused them is not said.",
    body: html`${table({
      caption: "Places in the brain",
      columns: [
        {
          label: "Entry",
          heading: true,
          cell: (
            mention,
          ) => html`<a href="${link(call, "/brain/file", { repo: mention.repoKey, path: mention.path, view: "source", line: mention.line })}#L${mention.line}">${short(mention.heading || mention.path, 160)}</a>
<br><small class="muted mono">${mention.repoKey !== session.repoKey && `${repoName(mention.repoKey)} · `}${mention.path}:${mention.line}</small>`,
        },
        { label: "Kind", cell: (mention) => kindBadge(mention.kind) },
        { label: "Mentions", cell: mentionText },
        { label: "Line", grow: true, cell: (mention) => mention.text },
      ],
      rows: mentions,
      empty: html`<p class="says">No entry names one of them.</p>`,
    })}${cutShort && html`<p class="says">Not everything was looked through: there may be more.</p>`}`,
  });
}

const mentionText = ({ names }: Mentions["mentions"][number]): Html =>
  names.kind === "commit"
    ? html`<span class="nowrap">commit <code>${names.value.slice(0, 7)}</code></span>`
    : html`file <code>${short(names.value, 160)}</code>`;
