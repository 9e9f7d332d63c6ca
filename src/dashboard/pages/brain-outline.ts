import { type Html, trustedHtml } from "../../kit/html.ts";
import { renderMarkdown, sections } from "../../kit/markdown.ts";

/** A heading of a rendered file. */
export interface Entry {
  /** Of the element in the rendered text. */
  readonly id: string;
  /** 2 to 6, as rendered. */
  readonly level: number;
  readonly text: Html;
}

const HEADING = /<h([2-6]) id="([^"]*)">([\s\S]*?)<\/h\1>/g;

/**
 * Renders a file with its outline.
 * @param line 1-based; the section that holds it gets an anchor `L<line>` before its heading, where it can be told
 */
export function outlined(content: string, line: number | undefined): { rendered: Html; entries: readonly Entry[] } {
  const text = renderMarkdown(content);
  const heads = [...text.matchAll(HEADING)].map((match) => ({
    at: match.index,
    id: match[2] as string,
    level: Number(match[1]),
    // The renderer has escaped it; without tags, it is text.
    plain: (match[3] as string).replace(/<[^>]*>/g, "").trim(),
  }));
  const entries = heads.map(({ id, level, plain }) => ({ id, level, text: trustedHtml(plain) }));
  const before = line === undefined ? undefined : headingOf(content, line, heads);
  if (before === undefined) return { rendered: trustedHtml(text), entries };
  return { rendered: trustedHtml(`${text.slice(0, before)}<span id="L${line}"></span>${text.slice(before)}`), entries };
}

/** Where in the rendered text the section begins that holds a line: sections and headings come in the same order. */
function headingOf(
  content: string,
  line: number,
  heads: readonly { readonly at: number; readonly plain: string }[],
): number | undefined {
  // Marks within a heading are drawn, not written; letters and digits are the same on both sides.
  const written = heads.map(({ plain }) => letters(plain));
  let next = 0;
  let found: number | undefined = 0;
  for (const section of sections(content)) {
    if (section.line > line) break;
    if (section.level === 0) continue;
    const at = written.indexOf(letters(section.heading), next);
    found = at === -1 ? undefined : heads[at]?.at;
    if (at !== -1) next = at + 1;
  }
  return found;
}

const letters = (text: string) => text.replace(/&[a-z0-9#]+;/gi, "").replace(/[^\p{L}\p{N}]+/gu, "");
