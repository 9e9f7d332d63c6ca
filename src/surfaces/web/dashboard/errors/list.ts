import { DEFECT_KINDS, pageOfDefects } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { empty, section } from "../../ui/parts.ts";
import type { Member } from "../shared/call.ts";
import { kindName, repoKeyIn } from "../shared/links.ts";
import { list } from "../shared/list.ts";
import { choiceIn, selectFilter, textIn } from "../shared/params.ts";
import { entryTable } from "./classes.ts";

/** All entries, page by page. */

const PAGE = 25;
const MAX_TEXT = 200;

/** What narrows the list; what cannot be understood does not. */
export interface Params {
  /** As in the address; `""` for all. */
  readonly repo: string;
  readonly q: string;
  readonly kind: (typeof DEFECT_KINDS)[number] | undefined;
  readonly open: "" | "on";
}

export function readParams({ query }: Member): Params {
  return {
    repo: textIn(query, "repo", 1_024),
    q: textIn(query, "q", MAX_TEXT),
    kind: choiceIn(query, "kind", DEFECT_KINDS),
    open: choiceIn(query, "open", ["on"]) ?? "",
  };
}

export function listSection(call: Member, { repo, q, kind, open }: Params): Html {
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
      empty({ title: "No entry fits", says: "Take a filter back, or search for other words." }),
    ),
    pages: { older: { cursor: older }, newer: { cursor: newer } },
  });
  return section({ id: "entries", title: "All entries", body: html`<div class="stack">${body}</div>` });
}
