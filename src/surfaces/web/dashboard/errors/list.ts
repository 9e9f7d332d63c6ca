import { DEFECT_KINDS, pageOfDefects } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { empty } from "../../ui/empty.ts";
import { filters } from "../../ui/filters.ts";
import { pager } from "../../ui/pager.ts";
import { section } from "../../ui/section.ts";
import { kindName, link, type Member } from "../shared/links.ts";
import { entryTable } from "./classes.ts";

/** All entries, page by page. */

const PAGE = 25;
const MAX_TEXT = 200;

/** What narrows the list; what cannot be understood does not. */
export interface Asked {
  /** As in the address; `""` for all. */
  readonly repo: string;
  readonly q: string;
  readonly kind: (typeof DEFECT_KINDS)[number] | "";
  readonly open: "" | "on";
}

export function readAsked({ query }: Member): Asked {
  return {
    repo: (query.get("repo") ?? "").slice(0, 1_024),
    q: (query.get("q") ?? "").slice(0, MAX_TEXT),
    kind: DEFECT_KINDS.find((one) => one === query.get("kind")) ?? "",
    open: query.get("open") === "on" ? "on" : "",
  };
}

export function listSection(call: Member, asked: Asked, repoKey: string | undefined): Html {
  const { repo, q, kind, open } = asked;
  const { rows, older, newer } = pageOfDefects(call.core, call.session.team.id, {
    ...{ repoKey, text: q, cursor: call.query.get("cursor") ?? undefined, limit: PAGE },
    ...(kind === "" ? {} : { kind }),
    ...(open === "" ? {} : { open: true }),
  });
  const kept = { repo: repo || undefined };
  const to = (cursor: string | undefined) =>
    cursor &&
    `${link(call, "/errors", { ...kept, q: q || undefined, kind: kind || undefined, open: open || undefined, cursor })}#entries`;
  return section({
    id: "entries",
    title: "All entries",
    body: html`<div class="stack">${filters({
      action: call.href("/errors"),
      label: "Filter entries",
      live: "#results",
      clear: `${link(call, "/errors", kept)}#entries`,
      ...(repo === "" ? {} : { hidden: { repo } }),
      filters: [
        { kind: "search", name: "q", label: "Text", value: q, placeholder: "Words of a heading, a rule or a path" },
        {
          ...{ kind: "select", name: "kind", label: "Kind", value: kind },
          options: [{ value: "", label: "all" }, ...DEFECT_KINDS.map((value) => ({ value, label: kindName(value) }))],
        },
        { kind: "checkbox", name: "open", label: "Only open", value: open },
      ],
    })}
<div id="results" data-count="${rows.length}">${entryTable(
      call,
      rows,
      "Entries",
      empty({ title: "No entry fits", says: "Take a filter back, or search for other words." }),
    )}
${pager({ older: to(older), newer: to(newer) })}</div></div>`,
  });
}
