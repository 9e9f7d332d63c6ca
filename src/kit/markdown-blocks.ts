import MarkdownIt from "markdown-it";
import { frontMatterLines } from "./front-matter.ts";

/** Blocks only, lists among them: what stands in a list item or a quote must not pass for the file's own structure. */
const blocks = new MarkdownIt("zero", { html: true }).enable([
  "heading",
  "lheading",
  "fence",
  "code",
  "blockquote",
  "html_block",
  "hr",
  "list",
]);
blocks.core.ruler.enableOnly(["normalize", "block"]);

const inline = new MarkdownIt("zero", { html: true }).enable([
  ...["backticks", "emphasis", "strikethrough", "link", "image", "autolink", "html_inline", "escape", "entity"],
  // Without the second passes delimiters are found but not paired.
  ...["balance_pairs", "fragments_join"],
]);

/** A heading or a paragraph, of a list item or a quote too. Code and HTML blocks are none. */
export interface TextBlock {
  /** Of a heading 1 to 6; 0 for a paragraph. */
  readonly level: number;
  /** A heading made by the line under it (setext). */
  readonly underlined: boolean;
  /** Stands in no list and no quote. */
  readonly top: boolean;
  /** As written, without the marks that make it a block; lines end in "\n". */
  readonly text: string;
  /** 1-based. */
  readonly line: number;
}

/** Lines as CommonMark counts them (section 2.1), without a byte order mark. */
export function splitLines(markdown: string): string[] {
  return markdown.replace(/^\uFEFF/, "").split(/\r\n|[\r\n]/);
}

const CHUNK_CHARS = 16 * 1024;
const MOST_UNBROKEN_CHARS = 64 * 1024;

/**
 * The headings and paragraphs of a file, a few KiB at a time, so that a caller may let others in between. Front matter does
 * not count. Where more than 64 KiB go by without a heading of level 1 or 2, only their beginning is looked at: such a file
 * is no prose, and lists of nothing cost most.
 */
export function* textBlocks(lines: readonly string[]): Generator<readonly TextBlock[]> {
  let from = frontMatterLines(lines);
  let wanted = CHUNK_CHARS;
  while (from < lines.length) {
    const to = chunkEnd(lines, from, wanted);
    const whole = lines.slice(from, to).join("\n");
    const most = Math.max(MOST_UNBROKEN_CHARS, wanted * 2);
    const cut = whole.length > most;
    const text = cut ? whole.slice(0, Math.max(0, whole.lastIndexOf("\n", most))) : whole;
    const tokens = blocks.parse(text, {});
    // A fence or comment that reaches the end may go on behind it: more is taken, until it has its end.
    const last = tokens.at(-1);
    if ((cut || to < lines.length) && reachesEnd(last, text)) {
      wanted = Math.max(text.length, CHUNK_CHARS) * 2;
      continue;
    }
    yield tokens.flatMap((token, i): TextBlock[] => {
      const holder = tokens[i - 1];
      if (token.type !== "inline" || !holder) return [];
      const level = holder.type === "heading_open" ? Number(holder.tag.slice(1)) : 0;
      return [
        {
          level,
          underlined: level > 0 && !holder.markup.startsWith("#"),
          top: holder.level === 0,
          text: token.content,
          line: from + (token.map?.[0] ?? 0) + 1,
        },
      ];
    });
    from = to;
    wanted = CHUNK_CHARS;
  }
}

function reachesEnd(last: { type: string; map: [number, number] | null } | undefined, text: string): boolean {
  if (last?.type !== "fence" && last?.type !== "html_block") return false;
  return (last.map?.[1] ?? 0) >= text.split("\n").length;
}

/** Outside fences, comments and other HTML such a line is a heading whatever stands before it. */
const SURE_HEADING = /^#{1,2}[ \t]/;

function chunkEnd(lines: readonly string[], from: number, wanted: number): number {
  let size = 0;
  for (let i = from; i < lines.length; i++) {
    const line = lines[i] as string;
    if (size >= wanted && SURE_HEADING.test(line)) return i;
    size += line.length + 1;
  }
  return lines.length;
}

/** What a reader sees of inline markdown: no emphasis marks, link targets, code marks or tags; lines stay. */
export function plainText(markdown: string): string {
  if (!/[*_`~[\\&<!]/.test(markdown)) return markdown;
  const [token] = inline.parseInline(markdown, {});
  return (token?.children ?? []).map(({ type, content }) => (type === "html_inline" ? "" : content)).join("");
}
