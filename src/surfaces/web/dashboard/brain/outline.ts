import { type Html, trustedHtml } from "../../../../kit/html.ts";
import { renderMarkdown, sections } from "../../../../kit/markdown.ts";

/** A heading of a rendered file. */
export interface Entry {
  /** Of the element in the rendered text. */
  readonly id: string;
  /** 2 to 6, as rendered. */
  readonly level: number;
  readonly text: Html;
}

interface Head extends Entry {
  /** Where it begins and ends in the rendered text. */
  readonly at: number;
  readonly end: number;
  readonly plain: string;
}

const HEADING = /<h([2-6]) id="([^"]*)">([\s\S]*?)<\/h\1>/g;

/**
 * Renders a file with its outline.
 * @param line 1-based; the section that holds it gets an anchor `L<line>` before its heading, where it can be told
 * @param notes what stands below headings, by their line
 */
export function outlined(
  content: string,
  line: number | undefined,
  notes: ReadonlyMap<number, Html> = new Map(),
): { rendered: Html; entries: readonly Entry[] } {
  const text = renderMarkdown(content);
  const heads = [...text.matchAll(HEADING)].map((match): Head => {
    // The renderer has escaped it; without tags, it is text.
    const plain = (match[3] as string).replace(/<[^>]*>/g, "").trim();
    const [at, level] = [match.index, Number(match[1])];
    return { id: match[2] as string, level, text: trustedHtml(plain), at, end: at + match[0].length, plain };
  });
  const inserted: { readonly at: number; readonly html: string }[] = [];
  if (line !== undefined || notes.size > 0) {
    let before: number | undefined = 0;
    for (const [sectionLine, head] of placed(content, heads)) {
      if (line !== undefined && sectionLine <= line) before = head?.at;
      const note = head && notes.get(sectionLine);
      if (note) inserted.push({ at: head.end, html: note.toString() });
    }
    if (line !== undefined && before !== undefined) inserted.push({ at: before, html: `<span id="L${line}"></span>` });
  }
  let rendered = "";
  let done = 0;
  for (const { at, html } of inserted.sort((a, b) => a.at - b.at)) {
    rendered += text.slice(done, at) + html;
    done = at;
  }
  return { rendered: trustedHtml(rendered + text.slice(done)), entries: heads };
}

/** The lines of a file's headings with where each is in the rendered text: sections and headings come in the same order. */
function* placed(content: string, heads: readonly Head[]): Generator<readonly [line: number, Head | undefined]> {
  // Marks within a heading are drawn, not written; letters and digits are the same on both sides.
  const written = heads.map(({ plain }) => letters(plain));
  let next = 0;
  for (const section of sections(content)) {
    if (section.level === 0) continue;
    const at = written.indexOf(letters(section.heading), next);
    yield [section.line, heads[at]];
    if (at !== -1) next = at + 1;
  }
}

const letters = (text: string) => text.replace(/&[a-z0-9#]+;/gi, "").replace(/[^\p{L}\p{N}]+/gu, "");
