import { page } from "../http/page.ts";
import { html } from "../kit/html.ts";
import { bullets } from "./markdown.ts";
import { type IndexedPage, pageIndex } from "./page-index.ts";
import { kept, twinOf, type Visit } from "./rendition.ts";

/** What agents and search engines read first. */

const TEXT = "text/plain; charset=utf-8";

const WHAT =
  "Reckon is the accountability service for AI coding agents. Machines are bound to teams and report telemetry, snapshots of the markdown that agents work from (the brain) and traces of sessions; people read the record in a dashboard; licences are signed here and verified offline.";

const HOW: readonly string[] = [
  "Every page named here is markdown: append `.md` to a page's address, or send `Accept: text/markdown` to the address itself.",
  "The dashboard needs a person's session and has no markdown. Programs use the HTTP API with bearer tokens.",
];

const linkOf = (base: string) => (one: IndexedPage) => `[${one.title}](${base}${twinOf(one.path)}): ${one.summary}`;

function keptText(call: Visit, body: string, media = TEXT, maxAge = 300) {
  return kept(call, { body: `${body.trimEnd()}\n`, media, headers: [["cache-control", `public, max-age=${maxAge}`]] });
}

/** The overview, in the form of llmstxt.org. Single operations and packs are left to the full index. */
function overview({ core, baseUrl }: Visit): string {
  const link = linkOf(baseUrl);
  const groups = pageIndex(core).map(({ title, pages }) => ({
    title,
    pages: pages.filter(({ path }) => !/^\/(?:docs\/api|marketplace)\/./.test(path)),
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

function fullIndex({ core, baseUrl }: Visit): string {
  const link = linkOf(baseUrl);
  return [
    "# Reckon: page index",
    `> Every public page of ${baseUrl} with a summary.`,
    ...HOW,
    ...pageIndex(core).flatMap(({ title, pages }) => [`## ${title}`, bullets(pages.map(link))]),
  ].join("\n\n");
}

function siteMap({ core, baseUrl }: Visit): string {
  const urls = pageIndex(core).flatMap(({ pages }) => pages.map(({ path }) => baseUrl + path));
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

const open = { method: "GET", access: "anyone", formless: true } as const;

export const programPages = [
  page({ id: "llms", path: "/llms.txt", ...open }, (call) => keptText(call, overview(call))),
  page({ id: "llmsFull", path: "/llms-full.txt", ...open }, (call) => keptText(call, fullIndex(call))),
  page({ id: "siteMap", path: "/sitemap.xml", ...open }, (call) =>
    keptText(call, siteMap(call), "application/xml; charset=utf-8"),
  ),
  page({ id: "robots", path: "/robots.txt", ...open }, (call) => keptText(call, robots(call), TEXT, 86_400)),
];
