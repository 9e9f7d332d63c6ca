import { freshenLinks, linksOfSession } from "../../../../insight/causes/causes.ts";
import { findDefect } from "../../../../insight/defects/defects.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { findMentions } from "../../../../record/brain/brain.ts";
import { dayText } from "../../ui/units.ts";
import { bandBadge, entryLink } from "../errors/labels.ts";
import { BRAIN_UNREAD, soonOfBrain } from "../shared/brain.ts";
import { kindBadge, link, repoName } from "../shared/links.ts";
import { shaText, short } from "../shared/text.ts";
import { railList } from "./rail.ts";
import { filesOf } from "./touched.ts";
import type { Visit } from "./visit.ts";

/** What the brain knows of a session: the errors it caused, and where its commits and files are named. */

const MAX_CAUSED = 50;

export async function causedList({ call, session }: Visit): Promise<Content> {
  const team = call.session.team.id;
  await freshenLinks(call.core);
  // What counts before what is possible and no more.
  const ranked = linksOfSession(call.core, team, session.id).toSorted((a, b) => Number(b.counts) - Number(a.counts));
  const items = ranked.slice(0, MAX_CAUSED).flatMap((cause) => {
    const defect = findDefect(call.core, team, cause.entryId);
    if (!defect) return [];
    const why = cause.evidence[0]?.says;
    return [
      html`<li>${bandBadge(cause)} ${entryLink(call, defect)}<br><small class="muted">${dayText(defect.date)}${defect.repoKey !== session.repoKey && ` · ${short(repoName(defect.repoKey), 80)}`}${why && ` · ${why}`}</small></li>\n`,
    ];
  });
  return railList(
    "Errors caused",
    "Errors of the brain that this session caused. “Possibly caused by” never counts against it.",
    items,
  );
}

export async function mentionList({ call, session }: Visit): Promise<Content> {
  const found = await soonOfBrain(
    findMentions(call.core, call.session.team.id, {
      repoKey: session.repoKey,
      commits: session.commits.map(({ sha }) => sha),
      files: [...filesOf(session).keys()],
    }),
  );
  if (!found) return railList("In the brain", "", [html`<li class="muted">${BRAIN_UNREAD}</li>`]);
  const { mentions, cutShort } = found;
  const items = mentions.map(({ repoKey, path, line, heading, kind, text, names }): Html => {
    const href = `${link(call, "/brain/file", { repo: repoKey, path, view: "source", line })}#L${line}`;
    const named = names.kind === "commit" ? `commit ${shaText(names.value).slice(0, 7)}` : short(names.value, 160);
    const where = `${repoKey === session.repoKey ? "" : `${repoName(repoKey)} · `}${path}:${line}`;
    return html`<li>${kindBadge(kind)} <a href="${href}" title="${text}">${short(heading || path, 160)}</a><br><small class="muted">${where} · <code>${named}</code></small></li>\n`;
  });
  if (cutShort && items.length > 0) items.push(html`<li class="muted">and perhaps more</li>`);
  return railList(
    "In the brain",
    "Errors, decisions, security notes and anti-patterns of the current brain that name a commit or a file of this session. That it caused them is another matter.",
    items,
  );
}
