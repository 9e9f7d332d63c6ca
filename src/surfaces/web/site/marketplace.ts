import { type Html, html } from "../../../kit/html.ts";
import { explore, listPacks } from "../../../share/packs/packs.ts";
import { filters, pager } from "../ui/list.ts";
import { empty } from "../ui/parts.ts";
import { plural } from "../ui/units.ts";
import type { Visit } from "./frame.ts";
import { bullets, escapeMarkdown } from "./markdown.ts";
import { packCards, packLine, packTabs } from "./pack-cards.ts";
import { publicPage } from "./rendition.ts";

/** All published packs, found by words and tags. */

const WHAT_PACKS_ARE =
  "Brain packs: error histories, prevention rules and decisions that teams on this installation publish for everybody's agents.";
const PER_PAGE = 18;
const MAX_PAGES = 1_000;

/** What is asked for; nonsense counts as nothing. */
function readQuery({ query }: Visit) {
  const page = Number(query.get("page"));
  return {
    q: (query.get("q") ?? "").slice(0, 200).trim(),
    tag: (query.get("tag") ?? "").slice(0, 50).trim(),
    page: Number.isSafeInteger(page) && page >= 1 && page <= MAX_PAGES ? page : 1,
  };
}

type MarketplaceParams = ReturnType<typeof readQuery>;

/** What is asked for as a query, the defaults left out. */
function searchOf({ q, tag, page }: MarketplaceParams): string {
  const query = new URLSearchParams({
    ...(q ? { q } : {}),
    ...(tag ? { tag } : {}),
    ...(page > 1 ? { page: String(page) } : {}),
  });
  return query.size > 0 ? `?${query}` : "";
}

const address = (call: Visit, search: MarketplaceParams, page: number) =>
  call.href(`/marketplace${searchOf({ ...search, page })}`);

function find(call: Visit, search: MarketplaceParams) {
  const { q, tag, page } = search;
  const found = listPacks(call.core, {
    q,
    tag: tag || undefined,
    limit: PER_PAGE,
    offset: (page - 1) * PER_PAGE,
  });
  return { ...found, pages: Math.max(1, Math.ceil(found.total / PER_PAGE)) };
}

function marketplaceHtml(call: Visit, search: MarketplaceParams): Html {
  const { entries, total, pages } = find(call, search);
  const { q, tag, page } = search;
  const stacks = Object.keys(explore(call.core).byStack);
  const known = tag === "" || stacks.includes(tag) ? stacks : [tag, ...stacks];
  const published = total > 0 || q !== "" || tag !== "";
  return html`<div class="lead"><h1>Marketplace</h1><p class="says">${WHAT_PACKS_ARE} Best trusted first; <a href="${call.href("/docs/marketplace")}">how trust is ranked</a>.</p></div>
${packTabs(call)}
${
  published &&
  filters({
    action: call.href("/marketplace"),
    label: "Find packs",
    live: "#results",
    filters: [
      { kind: "search", name: "q", label: "Search", value: q, placeholder: "cookies, migrations, react…" },
      {
        kind: "select",
        name: "tag",
        label: "Stack",
        value: tag,
        options: [{ value: "", label: "Any stack" }, ...known.map((one) => ({ value: one, label: one }))],
      },
    ],
  })
}
<div id="results" data-count="${total}">${
    entries.length > 0
      ? html`<h2 class="vh">Packs</h2>${packCards(call, entries)}${pager({
          newer: page > 1 ? address(call, search, page - 1) : undefined,
          older: page < pages ? address(call, search, page + 1) : undefined,
          intro: `${plural(total, "pack")}${pages > 1 ? `, page ${page} of ${pages}` : ""}`,
          labels: { newer: "Previous", older: "Next" },
        })}`
      : published
        ? empty({ title: "No pack fits", intro: "Try fewer words, or another stack." })
        : nothingYet(call)
  }</div>`;
}

function nothingYet(call: Visit): Html {
  return empty({
    title: "No pack is published yet",
    intro: html`A team picks files of its brain, previews what redaction changes and publishes them. Admins do it under Packs in the dashboard, or on the server:`,
    code: "reckon pack publish --team TEAM --repo REPOSITORY --name cookie-rules --version 1.0.0",
    actions: html`<a class="button" href="${call.href("/docs/marketplace")}">How packs work</a>`,
  });
}

function marketplaceMarkdown(call: Visit, search: MarketplaceParams): string {
  const { entries, total, pages } = find(call, search);
  const { q, tag, page } = search;
  const narrowed = [q && `matching “${escapeMarkdown(q)}”`, tag && `tagged ${escapeMarkdown(tag)}`].filter(Boolean);
  return [
    "# Marketplace",
    WHAT_PACKS_ARE,
    `${[plural(total, "pack"), ...narrowed].join(" ")}${pages > 1 ? `, page ${page} of ${pages} (parameter \`page\`)` : ""}. Parameters: \`q\` (words), \`tag\`. As JSON: ${call.baseUrl}/api/marketplace/public`,
    ...(entries.length > 0 ? [bullets(entries.map((entry) => packLine(call, entry)))] : ["No pack."]),
  ].join("\n\n");
}

export const marketplacePages = publicPage({ id: "marketplace", path: "/marketplace", maxAge: 60 }, (call) => {
  const params = readQuery(call);
  return {
    title: "Marketplace",
    summary: WHAT_PACKS_ARE,
    look: "plain",
    search: searchOf(params),
    html: () => marketplaceHtml(call, params),
    markdown: () => marketplaceMarkdown(call, params),
  };
});
