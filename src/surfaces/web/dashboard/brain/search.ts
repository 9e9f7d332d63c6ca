import * as v from "valibot";
import { KINDS } from "../../../../formats/brain-kinds.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { beginning } from "../../../../kit/strings.ts";
import { type Answer, searchBrain } from "../../../../record/brain/brain.ts";
import { typed } from "../../ui/form-spec.ts";
import { type Filter, table } from "../../ui/list.ts";
import { empty } from "../../ui/parts.ts";
import { plural } from "../../ui/units.ts";
import { BRAIN_UNREAD, soonOfBrain } from "../shared/brain.ts";
import type { Member } from "../shared/call.ts";
import { kindBadge, kindName, link, repoName } from "../shared/links.ts";
import { choice, type Params, selectFilter } from "../shared/params.ts";

/** Searching the team's brain, on the page of all repositories and on that of one. */

const MAX_HITS = 50;
const MAX_QUESTION = 256;

export const PARAMS = {
  q: v.pipe(
    typed,
    v.transform((text) => beginning(text, MAX_QUESTION).trim()),
  ),
  kind: choice(KINDS),
};
type SearchParams = Params<typeof PARAMS>;

/** The filters that a search has everywhere. */
export const searchFilters = ({ q, kind }: SearchParams, placeholder: string): Filter[] => [
  { kind: "search", name: "q", label: "Search", value: q, placeholder },
  selectFilter(
    { name: "kind", label: "Kind", value: kind ?? "" },
    "all kinds",
    KINDS.map((value) => ({ value, label: kindName(value) })),
  ),
];

/** Sections found, best first. @param repoKey narrows to one repository */
export async function searchResults(call: Member, { q, kind }: SearchParams, repoKey?: string): Promise<Html> {
  const answer = await soonOfBrain(searchBrain(call.core, call.session.team.id, q, { repoKey, kind, limit: MAX_HITS }));
  if (!answer) return empty({ title: "Not read yet", intro: BRAIN_UNREAD });
  return html`${table({
    caption: "Sections found",
    columns: [
      {
        label: "Section",
        heading: true,
        cell: (hit) =>
          html`<a href="${link(call, "/brain/file", { repo: hit.repoKey ?? "", path: hit.filePath, line: hit.line })}#L${hit.line}">${hit.heading || hit.filePath}</a>
<br><small class="muted mono">${repoKey === undefined && `${repoName(hit.repoKey ?? "")} · `}${hit.filePath}:${hit.line}</small>`,
      },
      { label: "Kind", cell: ({ kind }) => kindBadge(kind) },
      { label: "Text", grow: true, cell: (hit) => marked(withoutHeading(hit), answer) },
    ],
    rows: answer.hits,
    empty: empty({
      title: "Nothing found",
      intro: html`No section of the current files holds ${q ? html`“${q}”` : "that"}. Fewer or other words may help.`,
    }),
  })}
${answer.hits.length > 0 && html`<p class="says">${saysHowMany(answer)}</p>`}`;
}

function saysHowMany({ total, hits }: Answer): Content {
  return total > hits.length
    ? `The best ${hits.length} of ${plural(total, "section")} found.`
    : `${plural(total, "section")} found.`;
}

/** The snippet of a section without the heading that it begins with, which stands beside it already. */
function withoutHeading({ snippet, heading }: Answer["hits"][number]): string {
  const rest = snippet.replace(/^#{1,6} /, "");
  return rest !== snippet && rest.startsWith(heading) ? rest.slice(heading.length).trim() : snippet;
}

/** A text with the words of the question marked, beginnings of longer words too. */
function marked(text: string, { terms }: Answer): Content {
  const requested = terms.split(" ").filter(Boolean);
  return text.split(/([\p{L}\p{N}]+)/u).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const lower = piece.toLowerCase();
    return requested.some((word) => lower === word || (word.length > 3 && lower.startsWith(word)))
      ? html`<mark>${piece}</mark>`
      : piece;
  });
}
