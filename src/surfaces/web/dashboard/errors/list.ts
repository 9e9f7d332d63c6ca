import { DEFECT_KINDS, pageOfDefects } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { empty, section } from "../../ui/parts.ts";
import type { Member } from "../shared/call.ts";
import { kindName, repoKeyIn } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { choice, type Params, selectFilter, text, ticked } from "../shared/params.ts";
import { entryTable } from "./classes.ts";

/** All entries, page by page. */

const PAGE = 25;
const MAX_TEXT = 200;

/** What narrows the list; what cannot be understood does not. */
export const PARAMS = { repo: text(1_024), q: text(MAX_TEXT), kind: choice(DEFECT_KINDS), open: ticked };

export function listSection(call: Member, { repo, q, kind, open }: Params<typeof PARAMS>): Html {
  const { rows, older, newer } = pageOfDefects(call.core, call.session.team.id, {
    repoKey: repoKeyIn(repo),
    text: q,
    cursor: call.query.get("cursor") ?? undefined,
    limit: PAGE,
    ...(kind && { kind }),
    ...(open && { open: true }),
  });
  const body = list(call, {
    path: "/errors",
    params: { q, kind, open },
    kept: { repo: repo || undefined },
    hash: "#entries",
    id: "results",
    label: "Filter entries",
    filters: [
      { kind: "search", name: "q", label: "Text", value: q, placeholder: "Words of a heading, a rule or a path" },
      selectFilter(
        { name: "kind", label: "Kind", value: kind ?? "" },
        "all",
        DEFECT_KINDS.map((value) => ({ value, label: kindName(value) })),
      ),
      { kind: "checkbox", name: "open", label: "Only open", value: open },
    ],
    table: entryTable(
      call,
      rows,
      "Entries",
      empty({ title: "No entry fits", intro: "Take a filter back, or search for other words." }),
    ),
    pages: { older: { cursor: older }, newer: { cursor: newer } },
  });
  return section({ id: "entries", title: "All entries", body: html`<div class="stack">${body}</div>` });
}
