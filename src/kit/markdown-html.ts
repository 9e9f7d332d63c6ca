import MarkdownIt from "markdown-it";
import { unturned } from "./escape-invisible.ts";
import { escapeHtml } from "./html.ts";
import { frontMatterLines } from "./markdown-blocks.ts";

/** A heading as a table of contents names it. */
export interface Heading {
  readonly id: string;
  readonly text: string;
  /** As written, 1 to 6. */
  readonly level: number;
  /** 1-based line of the text where it stands. */
  readonly line: number;
}

/** HTML of our own, to stand around a heading. */
interface Beside {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** What one rendering keeps in mind; markdown-it hands it to every rule as the environment. */
interface State {
  /** For each open link, whether it is rendered as a link. */
  readonly links: boolean[];
  /** Ids given out, each with the number of headings that it was made from. */
  readonly ids: Map<string, number>;
  readonly headings: Heading[];
  /** Lines of the text before what is rendered. */
  readonly skipped: number;
  readonly beside: (line: number) => Beside;
  /** Set for a document of our own: gives the target of a relative link; undefined leaves the link inert. */
  readonly resolve?: (href: string) => string | undefined;
}

interface Rendered {
  readonly html: string;
  readonly headings: readonly Heading[];
}

const OUTSIDE = /^(?:https?:\/\/|mailto:)/i;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const ANCHOR = 'rel="noopener noreferrer nofollow"';
const MAX_ID_CHARS = 80;

const NOTHING: Beside = {};
const newState = (): State => ({ links: [], ids: new Map(), headings: [], skipped: 0, beside: () => NOTHING });
const stateOf = (env: unknown) => env as State;
const renderer = makeRenderer();

function makeRenderer() {
  const md = new MarkdownIt({ html: false, linkify: false, typographer: false, maxNesting: 40 });
  // Anything with another scheme is no link at all; its brackets stay as text. Relative addresses are parsed, then left inert.
  md.validateLink = (url) => OUTSIDE.test(url.trim()) || !SCHEME.test(url.trim().replace(/[\p{Cc}\s]/gu, ""));
  const { rules } = md.renderer;
  rules.link_open = (tokens, i, _options, env) => {
    const href = String(tokens[i]?.attrGet("href") ?? "");
    const leads = OUTSIDE.test(href);
    const own = leads ? undefined : stateOf(env).resolve?.(href);
    stateOf(env).links.push(leads || own !== undefined);
    if (own !== undefined) return `<a href="${escapeHtml(own)}">`;
    return leads ? `<a href="${escapeHtml(href)}" ${ANCHOR}>` : "<span>";
  };
  rules.link_close = (_tokens, _i, _options, env) => (stateOf(env).links.pop() ? "</a>" : "</span>");
  // Pictures of other hosts would tell them who reads; they become links, and inside a link their description.
  rules.image = (tokens, i, options, env) => {
    const token = tokens[i];
    const src = String(token?.attrGet("src") ?? "");
    const label = escapeHtml(md.renderer.renderInlineAsText(token?.children ?? [], options, env)) || "image";
    return OUTSIDE.test(src) && stateOf(env).links.length === 0
      ? `<a href="${escapeHtml(src)}" ${ANCHOR}>${label}</a>`
      : label;
  };
  rules.heading_open = (tokens, i, options, env) => {
    const text = md.renderer.renderInlineAsText(tokens[i + 1]?.children ?? [], options, env);
    const tag = tokens[i]?.tag ?? "h6";
    const { ids, headings, skipped, beside, resolve } = stateOf(env);
    const id = freshId(text, ids, resolve ? "" : "md-");
    const line = skipped + (tokens[i]?.map?.[0] ?? 0) + 1;
    headings.push({ id, text, level: Number(tag.slice(1)), line });
    return `${beside(line).before ?? ""}<${resolve ? tag : shifted(tag)} id="${id}">`;
  };
  rules.heading_close = (tokens, i, _options, env) => {
    const { headings, beside, resolve } = stateOf(env);
    const tag = tokens[i]?.tag;
    return `</${resolve ? tag : shifted(tag)}>\n${beside(headings.at(-1)?.line ?? 0).after ?? ""}`;
  };
  rules.fence = (tokens, i, _options, env) => {
    const language = /^[a-z0-9+#-]{1,20}/i.exec(tokens[i]?.info ?? "")?.[0];
    const block = code(tokens[i]?.content ?? "", language);
    return stateOf(env).resolve ? copyable(block) : block;
  };
  rules.code_block = (tokens, i) => code(tokens[i]?.content ?? "");
  rules.table_open = (tokens, i, _options, env) => {
    if (!stateOf(env).resolve) return "<table>\n";
    const head = tokens.slice(i, i + tokens.slice(i).findIndex(({ type }) => type === "thead_close"));
    const columns = head.filter(({ type }) => type === "th_open").length;
    // On a phone the rows of three columns are stacked; with more it is a matrix, which scrolls.
    return `${FRAME}<table${columns < 3 ? "" : ` class="${columns === 3 ? "stacks" : "wide"}"`}>\n`;
  };
  rules.table_close = (_tokens, _i, _options, env) => (stateOf(env).resolve ? "</table></div>\n" : "</table>\n");
  // An empty header cell becomes an ordinary one: it would be read out as a header.
  const headTag = (text: string | undefined) => (text === "" ? "td" : "th");
  rules.th_open = (tokens, i) => cell(headTag(tokens[i + 1]?.content), tokens[i]?.attrGet("style"));
  rules.th_close = (tokens, i) => `</${headTag(tokens[i - 1]?.content)}>\n`;
  rules.td_open = (tokens, i) => cell("td", tokens[i]?.attrGet("style"));
  return md;
}

/** A table too wide for the window scrolls in its frame, by keys too. */
const FRAME = '<div class="table-scroll" role="group" aria-label="Table" tabindex="0" data-scroll>';

/** The script adds a button that copies. Quotes need no escape between tags, and code is full of them. */
const copyable = (block: string) => {
  const [open = "", text = ""] = block.trimEnd().split(/(?<=<code[^>]*>)/);
  const framed = open.replace("<pre>", '<pre tabindex="0" role="group" aria-label="Code" data-scroll>');
  return `<figure class="code" data-copy>${framed}${text.replaceAll("&quot;", '"').replaceAll("&#39;", "'")}</figure>\n`;
};

/** Alignment as a class: the pages' content security policy allows no style attributes. */
function cell(tag: string, style: unknown): string {
  const side = /^text-align:(left|right|center)$/.exec(String(style ?? ""))?.[1];
  return side === undefined ? `<${tag}>` : `<${tag} class="align-${side}">`;
}

/** One level down: a page's own title stays its only `h1`. */
function shifted(tag = "h6"): string {
  return `h${Math.min(Number(tag.slice(1)) + 1, 6)}`;
}

/** Prefixed, so that a file's heading cannot pass for a part of the page around it. */
function freshId(heading: string, taken: Map<string, number>, prefix: string): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, MAX_ID_CHARS)
    .replace(/^-|-$/g, "")
    .toWellFormed();
  const base = `${prefix}${slug || "section"}`;
  let count = (taken.get(base) ?? 0) + 1;
  while (count > 1 && taken.has(`${base}-${count}`)) count++;
  const id = count === 1 ? base : `${base}-${count}`;
  taken.set(id, 1).set(base, count);
  return id;
}

function code(text: string, language?: string): string {
  const named = language ? ` class="language-${escapeHtml(language.toLowerCase())}"` : "";
  return `<pre><code${named}>${escapeHtml(text)}</code></pre>\n`;
}

const MAX_BYTES = 256 * 1024;

/**
 * Renders markdown (CommonMark, tables, strikethrough) to HTML that is safe wherever block elements may stand: no HTML of
 * the text's own passes, links lead to http, https and mailto addresses only, pictures become links, headings are moved one
 * level down and their ids begin with `md-`. What is larger than 256 KiB, or nothing but
 * markup, is shown as it is written.
 */
export const renderMarkdown = (text: string): string => renderWithHeadings(text).html;

/**
 * As `renderMarkdown`, with the headings that were rendered.
 * @param arrange is given the lines of the top-level headings, in no list or quote; its result gives the HTML around a heading by its line
 */
export function renderWithHeadings(
  text: string,
  arrange: (lines: readonly number[]) => State["beside"] = () => () => NOTHING,
): Rendered {
  const sound = unturned(text.toWellFormed().replaceAll("\0", "\uFFFD"));
  if (Buffer.byteLength(sound) > MAX_BYTES || isDense(sound))
    return { html: `<pre>${escapeHtml(sound)}</pre>\n`, headings: [] };
  const lines = sound.split(/\r\n|[\r\n]/);
  const skipped = frontMatterLines(lines);
  const front = skipped === 0 ? "" : code(`${lines.slice(0, skipped).join("\n")}\n`, "yaml");
  const tokens = renderer.parse(lines.slice(skipped).join("\n"), {});
  const own = tokens.filter(({ type, level, map }) => type === "heading_open" && level === 0 && map);
  const state = { ...newState(), skipped, beside: arrange(own.map(({ map }) => skipped + (map?.[0] ?? 0) + 1)) };
  return { html: front + renderer.renderer.render(tokens, renderer.options, state), headings: state.headings };
}

/** Characters that may open markup, which is what costs time. A long file of prose, tables and lists has a few thousand. */
const MARK = /[[\]*_~!<&|`#>\\]|[-+][ \t]|\d[.)][ \t]|\n *[-=]/g;
const MAX_MARKS = 30_000;

/** Rendering is linear in these marks, but dear: without a bound, one file would keep everybody else waiting for a second. */
function isDense(text: string): boolean {
  if (text.length <= MAX_MARKS) return false;
  let count = 0;
  for (const _ of text.matchAll(MARK)) if (++count > MAX_MARKS) return true;
  return false;
}

/**
 * Renders a document of our own: headings as deep as written, with plain ids; tables in frames that scroll; code that can be
 * copied. Raw HTML does not pass here either.
 * @param resolve where a relative link leads, as it stands in `href`; undefined leaves it inert
 */
export function renderDocument(text: string, resolve: (href: string) => string | undefined): Rendered {
  const state: State = { ...newState(), resolve };
  return { html: renderer.render(text, { ...state }), headings: state.headings };
}
