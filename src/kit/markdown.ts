import MarkdownIt from "markdown-it";

/** Blocks only: headings and fences are told apart as CommonMark does, inline text is left alone. */
// HTML is told apart, not let through: nothing is rendered here.
const blocks = new MarkdownIt("zero", { html: true }).enable([
  "heading",
  "lheading",
  "fence",
  "code",
  "blockquote",
  "list",
  "html_block",
]);
blocks.core.ruler.enableOnly(["normalize", "block"]);

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

/**
 * Cuts markdown into sections, one a heading of any level; headings inside fences, lists and quotes do not count.
 * A section with neither heading nor text is left out.
 */
export function sections(markdown: string): Section[] {
  const lines = markdown.split(/\r\n|[\r\n]/);
  const heads: { heading: string; level: number; line: number }[] = [];
  const tokens = blocks.parse(markdown, {});
  tokens.forEach((token, i) => {
    if (token.type !== "heading_open" || token.level !== 0 || !token.map) return;
    heads.push({
      heading: tokens[i + 1]?.content.trim() ?? "",
      level: Number(token.tag.slice(1)),
      line: token.map[0] + 1,
    });
  });
  if (heads[0]?.line !== 1) heads.unshift({ heading: "", level: 0, line: 1 });
  return heads
    .map((head, i) => ({
      ...head,
      text: lines.slice(head.line - 1, (heads[i + 1]?.line ?? lines.length + 1) - 1).join("\n"),
    }))
    .filter((section) => section.heading !== "" || section.text.trim() !== "");
}
