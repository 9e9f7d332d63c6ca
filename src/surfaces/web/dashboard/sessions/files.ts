import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { Span } from "../../../../record/traces/traces.ts";
import { table } from "../../ui/list.ts";
import { anchor, empty, none } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { pathText, sessionsOf } from "../shared/links.ts";
import { shaText, short } from "../shared/text.ts";
import { placesOf } from "./conversation.ts";
import { filesOf, type Touched } from "./touched.ts";
import { sessionPage, type Visit, visitOf } from "./visit.ts";

/** The files that a session touched. */

const MAX_FILES = 500;
const MAX_COMMITS = 4;

export async function filesPage(call: Member): Promise<Html> {
  const visit = await visitOf(call);
  return sessionPage(visit, "/files", filesTable(visit));
}

function filesTable(visit: Visit): Html {
  const { call, session } = visit;
  const files = filesOf(session);
  const { hrefOf } = placesOf(visit);
  const rows = [...files].slice(0, MAX_FILES);
  return html`${table({
    caption: "Files touched",
    columns: [
      { label: "File", heading: true, grow: true, cell: ([path]) => pathText(short(path, 512)) },
      { label: "Edits", numeric: true, cell: ([, touched]) => edits(touched, hrefOf) },
      { label: "Commits", cell: ([, { commits }]) => commitList(commits) },
      {
        label: "More",
        hidden: true,
        cell: ([path]) => anchor(sessionsOf(call, session.repoKey, short(path, 256)), "Sessions"),
      },
    ],
    rows,
    empty: empty({ title: "No files", intro: "No step edited a file, and the session lists none." }),
  })}${files.size > rows.length && html`<p class="says">${number(files.size - rows.length)} more files are in the record.</p>`}`;
}

function edits({ edits: count, first }: Touched, hrefOf: (span: Span) => string | undefined): Content {
  const href = first && hrefOf(first);
  const text = count > 0 ? plural(count, "edit") : none;
  return href === undefined ? text : anchor(href, text);
}

function commitList(commits: ReadonlySet<string>): Content {
  const shown = [...commits].slice(0, MAX_COMMITS);
  if (shown.length === 0) return none;
  return html`${shown.map((sha) => html`<code>${shaText(sha)}</code> `)}${commits.size > shown.length && `+${number(commits.size - shown.length)}`}`;
}
