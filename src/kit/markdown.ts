import { lazy } from "./lazy.ts";
import { blockParser, frontMatterLines } from "./markdown-blocks.ts";

/** Without lists, which cost most of the time: a heading within a list item is not taken for one of the file all the same. */
const blocks = lazy(() => blockParser());

export interface Section {
  /** Text of the heading, `""` for what precedes the first one. */
  readonly heading: string;
  /** 1 to 6; 0 for what precedes the first heading. */
  readonly level: number;
  /** 1-based line of the heading, or of the first line. */
  readonly line: number;
  /** From the heading's line to the next heading. */
  readonly text: string;
}

/** A file with more lines that look like headings is no prose: it is taken as one section, which bounds the work. */
const MAX_HEADINGS = 5_000;
const HEADING_LIKE = /^ {0,3}(?:#{1,6}(?:[ \t]|$)|=+[ \t]*$|-+[ \t]*$)/gm;

/** A list item or the opening of front matter is no text of an underlined heading; without lists it would be taken for one. */
const NOT_UNDERLINED = /^(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)|^---/;

/**
 * Cuts markdown into sections, one a heading of any level; headings inside fences, lists, quotes and front matter do not
 * count. A section with neither heading nor text is left out.
 */
export function sections(markdown: string): Section[] {
  const lines = markdown.split(/\r\n|[\r\n]/);
  const skipped = frontMatterLines(lines);
  const heads = [{ heading: "", level: 0, line: 1 }, ...headings(lines.slice(skipped).join("\n"), skipped)];
  return heads
    .map((head, i) => ({
      ...head,
      text: lines.slice(head.line - 1, (heads[i + 1]?.line ?? lines.length + 1) - 1).join("\n"),
    }))
    .filter((section) => section.heading !== "" || section.text.trim() !== "");
}

function headings(markdown: string, linesBefore: number): { heading: string; level: number; line: number }[] {
  if ((markdown.match(HEADING_LIKE)?.length ?? 0) > MAX_HEADINGS) return [];
  const tokens = blocks().parse(markdown, {});
  return tokens.flatMap((token, i) => {
    if (token.type !== "heading_open" || token.level !== 0 || !token.map) return [];
    const heading = tokens[i + 1]?.content.trim() ?? "";
    if (!token.markup.startsWith("#") && NOT_UNDERLINED.test(heading)) return [];
    return [{ heading, level: Number(token.tag.slice(1)), line: linesBefore + token.map[0] + 1 }];
  });
}
