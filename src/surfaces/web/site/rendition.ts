import Negotiator from "negotiator";
import { etagMatches } from "../../../kit/etag.ts";
import { sha256Hex } from "../../../kit/hash.ts";
import { type Content, html } from "../../../kit/html.ts";
import { type Page, type PageError, type PageReply, page } from "../../../platform/http/page.ts";
import { siteFrame, type Visit } from "./frame.ts";

/** A public page, before it is known in which form it is wanted. */
export interface Rendered {
  readonly title: string;
  /** One sentence, for search engines and page indexes. */
  readonly summary: string;
  readonly html: () => Content;
  /** The same content; begins with a level-1 heading. */
  readonly markdown: () => string;
  /** Class of the page's body, for its layout. */
  readonly look?: string;
  /** The part of the query that changes the content, such as `?q=cookie`; the address of its markdown gets it, too. */
  readonly search?: string;
  /** Something is missing that will be there again: nobody may keep this. */
  readonly degraded?: boolean;
}

interface Spec {
  readonly id: string;
  readonly path: `/${string}`;
  /** How long others may keep the markdown, in seconds. Default five minutes. */
  readonly maxAge?: number;
}

const MARKDOWN = "text/markdown; charset=utf-8";
const MAX_AGE = 300;
const VARY = ["vary", "Accept"] as const;

/** An address's twin that is markdown whatever is accepted, as llmstxt.org has it. */
export const twinOf = (path: string): string => (path === "/" ? "/index.md" : `${path}.md`);

/**
 * Declares a public page: HTML, or markdown for whoever prefers it; the twin of its address is markdown always. Every reply
 * carries an entity tag and is answered with 304 to a reader who has it.
 */
export function publicPage(spec: Spec, render: (call: Visit) => Rendered): Page[] {
  const answer = (call: Visit) => answerPublic(spec, render, call);
  const look = { method: "GET", access: "anyone", formless: true, renderError } as const;
  const own = page({ id: spec.id, path: spec.path, ...look }, answer);
  // A path whose last part varies matches the twins' addresses as well.
  if (/:\w+$/.test(spec.path)) return [own];
  const path = twinOf(spec.path) as `/${string}`;
  return [own, page({ id: `${spec.id}Markdown`, path, ...look }, answer)];
}

function answerPublic(spec: Spec, render: (call: Visit) => Rendered, visit: Visit): PageReply {
  if (visit.path.endsWith("/") && visit.path !== "/") return withoutSlash(visit);
  const { call, asMarkdown, vary } = formOf(visit);
  const rendered = render(call);
  if (asMarkdown) {
    const body = `${rendered.markdown().trimEnd()}\n`;
    const cache = rendered.degraded ? "no-store" : `public, max-age=${spec.maxAge ?? MAX_AGE}`;
    return kept(call, { body, media: MARKDOWN, headers: [["cache-control", cache], ...vary] });
  }
  const twin = call.href(twinOf(call.path)) + (rendered.search ?? "");
  const alternate = ["link", `<${twin}>; rel="alternate"; type="text/markdown"`] as const;
  // Private, as it tells who is signed in from who is not.
  const headers = [["cache-control", "private, no-cache"], ...vary, alternate] as const;
  return kept(call, { body: siteFrame(call, { ...rendered, main: rendered.html(), twin }), headers });
}

/** Whether the page is wanted as markdown, by its ending `.md` or by `accept`; and the call as if for the address without the ending. */
function formOf(original: Visit) {
  const isTwin = original.path.endsWith(".md");
  const asMarkdown = isTwin || prefersMarkdown(original.header("accept"));
  return { call: isTwin ? withoutEnding(original) : original, asMarkdown, vary: isTwin ? [] : [VARY] };
}

/** To a page's one address: with two, readers and caches would keep it twice, and its relative twin would be another. */
function withoutSlash(call: Visit): PageReply {
  // Slashes are joined, or a path that begins with two would name another host.
  const path = call.href(call.path.replace(/\/{2,}/g, "/").replace(/\/$/, ""));
  const query = call.query.size > 0 ? `?${call.query}` : "";
  return {
    status: 308,
    headers: [
      ["location", path + query],
      ["cache-control", `public, max-age=${MAX_AGE}`],
    ],
  };
}

function withoutEnding(call: Visit): Visit {
  const cut = (text: string) => text.replace(/\.md$/, "");
  const params = Object.fromEntries(Object.entries(call.params).map(([name, value]) => [name, cut(value)]));
  return { ...call, params, path: call.path === "/index.md" ? "/" : cut(call.path) };
}

/** A reply with an entity tag, or 304 when the reader has it already (RFC 9110 section 13.1.2). */
export function kept(call: Visit, reply: PageReply & { readonly body: object | string }): PageReply {
  const etag = `"${sha256Hex(reply.body.toString()).slice(0, 32)}"`;
  const headers = [...(reply.headers ?? []), ["etag", etag] as const];
  return etagMatches(call.header("if-none-match"), etag) ? { status: 304, headers } : { ...reply, headers };
}

/** Tells what went wrong in the form that the page was wanted in. */
function renderError(original: Visit, error: PageError): PageReply {
  const { call, asMarkdown, vary: headers } = formOf(original);
  if (asMarkdown) return { ...markdownError(call, error), headers };
  const title = errorTitle(error);
  const main = html`<div class="lead"><h1>${title}</h1><p class="says">${error.text}</p>
<p class="actions"><a class="button" href="${call.href("/docs")}">Documentation</a><a class="button quiet" href="${call.href("/")}">Front page</a></p></div>`;
  return { headers, body: siteFrame(call, { title, summary: error.text, main, look: "plain" }) };
}

/** What went wrong, for readers of markdown. */
export const markdownError = (call: Visit, error: PageError): PageReply => ({
  media: MARKDOWN,
  body: `# ${errorTitle(error)}\n\n${error.text}\n\nAll pages: ${call.baseUrl}/llms-full.txt\n`,
});

const errorTitle = ({ status }: PageError) => (status === 404 ? "Nothing here" : "Not available");

const HTML_TYPE = "text/html";
const MARKDOWN_TYPE = "text/markdown";
/** Parameters of text types (RFC 7763 section 3) say nothing of which rendition is wanted; any charset asked for gets UTF-8. */
const PARAMETERS = /;\s*(?:charset|variant)\s*=\s*(?:"[^"]*"|[^\s;,]*)/gi;

/**
 * Whether a reader would rather have markdown than HTML (RFC 9110 section 12.5.1): the higher quality value wins, each type
 * taking that of the most specific range that covers it, and 0 refuses. Of equal ones the type that is named wins over one that
 * only a wildcard covers, then the one named first: agents name markdown and add the rest as a fallback, browsers never name it.
 * Whoever takes neither gets HTML.
 */
export function prefersMarkdown(accept: string | null): boolean {
  if (accept === null) return false;
  const negotiator = new Negotiator({ headers: { accept: accept.replace(PARAMETERS, "") } });
  return negotiator.mediaTypes([HTML_TYPE, MARKDOWN_TYPE])[0] === MARKDOWN_TYPE;
}
