import { attributes, type Content, type Html, html } from "../../../kit/html.ts";
import type { PageCall } from "../../../platform/http/page.ts";
import { assetPath } from "../ui/assets.ts";
import { BRAND, documentHead, flashBox, THEME_SWITCH } from "../ui/layout.ts";
import { DOWNLOAD_PATH, hasDownload } from "./page-index.ts";

/** A request for a public page, by whoever. */
export type Visit = PageCall<"anyone">;

interface Framed {
  readonly title: string;
  readonly summary: string;
  readonly main: Content;
  /** Where the same page is as markdown. */
  readonly twin?: string;
  readonly look?: string;
}

const PLACES = [
  { path: "/docs", label: "Docs" },
  { path: "/docs/api", label: "API" },
  { path: "/marketplace", label: "Marketplace" },
  { path: DOWNLOAD_PATH, label: "Download" },
] as const;

const FOOT: readonly { readonly title: string; readonly links: readonly (readonly [string, string])[] }[] = [
  {
    title: "Read",
    links: [
      ["/docs", "Documentation"],
      ["/docs/api", "API reference"],
      ["/docs/security", "Security"],
      ["/docs/operate", "Operating it"],
    ],
  },
  {
    title: "Find",
    links: [
      ["/marketplace", "Marketplace"],
      ["/explore", "Explore"],
      [DOWNLOAD_PATH, "Download"],
    ],
  },
  {
    title: "For programs",
    links: [
      ["/openapi.json", "OpenAPI 3.1"],
      ["/llms.txt", "llms.txt"],
      ["/llms-full.txt", "Page index"],
      ["/api/health", "Health"],
    ],
  },
];

/** The place of the navigation that a path belongs to: the one with the longest path. */
function placeOf(path: string): string | undefined {
  const at = path === "/explore" || path.startsWith("/explore/") ? "/marketplace" : path;
  return PLACES.filter((place) => at === place.path || at.startsWith(`${place.path}/`)).at(-1)?.path;
}

/** Puts a public page's content between the site's header and footer. */
export function siteFrame(call: Visit, { title, summary, main, twin, look }: Framed): Html {
  const { href, session, flash, baseUrl } = call;
  const here = placeOf(call.path);
  // A link to an empty page would promise what is not there.
  const leads = (path: string) => path !== DOWNLOAD_PATH || hasDownload(call.core);
  const link = (path: string, label: string, current: boolean) =>
    html`<a${attributes({ href: href(path), "aria-current": current && "page" })}>${label}</a>`;
  const name = title === "Reckon" ? "Reckon: accountability for AI coding agents" : `${title} · Reckon`;
  const assets = { style: href(assetPath("site.css")), script: href(assetPath("site.js")) };
  const inHead = html`<meta name="description"${attributes({ content: summary })}>${
    twin !== undefined &&
    html`\n<link rel="canonical"${attributes({ href: baseUrl + (call.path === "/" ? "/" : call.path) })}>\n<link rel="alternate" type="text/markdown"${attributes({ href: twin })}>`
  }`;
  return html`${documentHead(name, assets, inHead)}
<body class="site ${look}">
<a class="skip" href="#main">Skip to content</a>
<header class="top"><div class="bar"><a class="brand"${attributes({ href: href("/") })}>${BRAND}<span>Reckon</span></a>
<nav class="places" aria-label="Main"><ul>${PLACES.filter(({ path }) => leads(path)).map(({ path, label }) => html`<li>${link(path, label, path === here)}</li>`)}</ul></nav>
<div class="top-end">${THEME_SWITCH}${
    session
      ? html`<a class="button primary"${attributes({ href: href("/overview") })}>Open the dashboard</a>`
      : html`<a class="button"${attributes({ href: href("/login") })}>Sign in</a>`
  }</div></div></header>
<main id="main" tabindex="-1">${flash && flashBox(flash)}${main}</main>
<footer class="foot"><div class="foot-row"><div class="foot-brand"><p class="brand">${BRAND}<span>Reckon</span></p>
<p>Accountability for AI coding agents, run on this server and asking nothing of any other.</p>
${twin !== undefined && html`<p><a${attributes({ href: twin })}>This page as markdown</a></p>`}</div>
${FOOT.map(({ title, links }) => html`<nav aria-label="${title}"><h2>${title}</h2><ul>${links.filter(([path]) => leads(path)).map(([path, label]) => html`<li><a${attributes({ href: href(path) })}>${label}</a></li>`)}</ul></nav>`)}</div></footer>
</body>
</html>
`;
}
