import { html } from "../../../kit/html.ts";
import { page } from "../../../platform/http/page.ts";
import type { Visit } from "./frame.ts";
import { bullets } from "./markdown.ts";
import { type IndexedPage, type PageIndex, pageIndex } from "./page-index.ts";
import { kept, markdownError, twinOf } from "./rendition.ts";

/** What agents and search engines read first. */

const TEXT = "text/plain; charset=utf-8";

const WHAT =
  "Reckon is the accountability service for AI coding agents. Machines are bound to teams and report telemetry, snapshots of the markdown that agents work from (the brain) and traces of sessions; people read the record in a dashboard; licences are signed here and verified offline.";

const HOW: readonly string[] = [
  "Every page named here is markdown: append `.md` to a page's address, or send `Accept: text/markdown` to the address itself.",
  "The dashboard needs a person's session and has no markdown. Programs use the HTTP API with bearer tokens.",
];

const linkOf = (base: string) => (one: IndexedPage) => `[${one.title}](${base}${twinOf(one.path)}): ${one.summary}`;

/** Packs in the overview, at most. */
const BEST_PACKS = 20;

function keptText(call: Visit, body: string, { media = TEXT, cache = "public, max-age=300" }) {
  return kept(call, { body: `${body.trimEnd()}\n`, media, headers: [["cache-control", cache]] });
}

/** A text made of the index. Without the packs it is there, too, but nobody may keep it. */
function indexText(call: Visit, make: (call: Visit, index: PageIndex) => string, media = TEXT) {
  const index = pageIndex(call.core);
  return keptText(call, make(call, index), index.packs ? { media } : { media, cache: "no-store" });
}

/** The overview, in the form of llmstxt.org. Single operations and most packs are left to the full index. */
function overview({ baseUrl }: Visit, index: PageIndex): string {
  const link = linkOf(baseUrl);
  const groups = [...index.groups, ...packGroup(index, BEST_PACKS)].map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ path }) => !path.startsWith("/docs/api/")),
  }));
  return [
    "# Reckon",
    `> ${WHAT}`,
    ...HOW,
    ...groups.flatMap(({ title, pages }) => [`## ${title}`, bullets(pages.map(link))]),
    "## Optional",
    bullets([
      `[Page index](${baseUrl}/llms-full.txt): every public page with a summary, single operations and packs included`,
      `[OpenAPI 3.1](${baseUrl}/openapi.json): the API for programs`,
      `[Marketplace as JSON](${baseUrl}/api/marketplace/public): the packs with their ranks`,
    ]),
  ].join("\n\n");
}

/** The packs as a group, if there are any. */
function packGroup({ packs = [] }: PageIndex, most = packs.length): PageIndex["groups"] {
  return packs.length > 0 ? [{ title: "Packs", pages: packs.slice(0, most) }] : [];
}

function fullIndex({ baseUrl }: Visit, index: PageIndex): string {
  const link = linkOf(baseUrl);
  return [
    "# Reckon: page index",
    `> Every public page of ${baseUrl} with a summary.`,
    ...HOW,
    ...[...index.groups, ...packGroup(index)].flatMap(({ title, pages }) => [`## ${title}`, bullets(pages.map(link))]),
  ].join("\n\n");
}

function siteMap({ baseUrl }: Visit, index: PageIndex): string {
  const urls = [...index.groups, ...packGroup(index)].flatMap(({ pages }) => pages.map(({ path }) => baseUrl + path));
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${html`${urls.map((url) => html`<url><loc>${url}</loc></url>\n`)}`}</urlset>`;
}

function robots({ baseUrl, href }: Visit): string {
  return [
    "User-agent: *",
    `Disallow: ${href("/api/")}`,
    `Disallow: ${href("/login")}`,
    `Disallow: ${href("/download/files/")}`,
    "",
    `Sitemap: ${baseUrl}/sitemap.xml`,
  ].join("\n");
}

const open = { method: "GET", access: "anyone", formless: true, renderError: markdownError } as const;

export const programPages = [
  page({ id: "llms", path: "/llms.txt", ...open }, (call) => indexText(call, overview)),
  page({ id: "llmsFull", path: "/llms-full.txt", ...open }, (call) => indexText(call, fullIndex)),
  page({ id: "siteMap", path: "/sitemap.xml", ...open }, (call) =>
    indexText(call, siteMap, "application/xml; charset=utf-8"),
  ),
  page({ id: "robots", path: "/robots.txt", ...open }, (call) =>
    keptText(call, robots(call), { cache: "public, max-age=86400" }),
  ),
];
