import MarkdownIt from "markdown-it";
import { lazy } from "./lazy.ts";

/**
 * A parser of blocks only: it recognises headings and fences as CommonMark does and leaves inline text alone. HTML blocks are recognised,
 * too, but nothing is rendered.
 * @param more names of further rules
 */
export function blockParser(...more: readonly string[]): Parser {
  const parser = new MarkdownIt("zero", { html: true });
  parser.enable(["heading", "lheading", "fence", "code", "blockquote", "html_block", "hr", ...more]);
  parser.core.ruler.enableOnly(["normalize", "block"]);
  // Tokens are plain objects: the constructor of their class defines every member by itself, a third of the time of parsing.
  parser.block.State = class extends parser.block.State {
    override push(type: string, tag: string, nesting: Nesting): Token {
      if (nesting < 0) this.level--;
      const token = {
        type,
        tag,
        nesting,
        level: this.level,
        map: null,
        content: "",
        markup: "",
        info: "",
        children: null,
        hidden: false,
      } as Partial<Token> as Token;
      if (nesting > 0) this.level++;
      this.tokens.push(token);
      return token;
    }
  };
  return parser;
}

/** With lists: what stands in a list item or a quote must not pass for the file's own structure. */
const blocks = lazy(() => blockParser("list"));

/** Lines of YAML front matter at the start of a file, its fences included; 0 when there is none. */
export function frontMatterLines(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  return end + 1;
}

const inline = lazy(() =>
  new MarkdownIt("zero", { html: true }).enable([
    ...["backticks", "emphasis", "strikethrough", "link", "image", "autolink", "html_inline", "escape", "entity"],
    // Without the second passes delimiters are found but not paired.
    ...["balance_pairs", "fragments_join"],
  ]),
);

/** A heading or a paragraph, also within a list item or a quote. Code and HTML blocks are none. */
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
const MAX_UNBROKEN_CHARS = 64 * 1024;

/**
 * Characters handed to the parser at most, as a multiple of the file's. A piece that proved too short is at least twice as long the next
 * time, so all attempts come to less than four times the file.
 */
const MAX_WORK = 8;

/**
 * The headings and paragraphs of a file, a few KiB at a time, so that a caller may let others in between. Front matter does not count. Of
 * more than 64 KiB without a heading or a paragraph at top level only the beginning is parsed: such a file is no prose, and empty lists
 * cost most. A fence, comment or other HTML is read to its end, however long it is.
 * @throws Error when a file takes more work than any should: better no blocks than a process that never comes back
 */
export function* textBlocks(lines: readonly string[]): Generator<readonly TextBlock[]> {
  let from = frontMatterLines(lines);
  let limit = CHUNK_CHARS;
  let left = MAX_WORK * (MAX_UNBROKEN_CHARS + lines.reduce((sum, line) => sum + line.length + 1, 0));
  while (from < lines.length) {
    const to = chunkEnd(lines, from, limit);
    const whole = lines.slice(from, to).join("\n");
    const most = Math.max(MAX_UNBROKEN_CHARS, limit * 2);
    const cut = whole.length > most;
    const text = cut ? whole.slice(0, Math.max(0, whole.lastIndexOf("\n", most))) : whole;
    left -= text.length;
    if (left < 0) throw new Error("these blocks take too much work");
    // With its own end of line the last line counts even where it is empty.
    const tokens = blocks().parse(`${text}\n`, {});
    // A fence or comment that reaches the end of the piece may go on after it, so a longer piece is taken. How much longer follows from the
    // limit and not from what was taken, which a single long line makes small.
    if ((cut || to < lines.length) && reachesEnd(tokens.at(-1), text)) {
      limit = most;
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
    limit = CHUNK_CHARS;
  }
}

/** Whether a fence, comment or other HTML has no end before the end of the text. */
function reachesEnd(last: Token | undefined, text: string): boolean {
  if (last?.type !== "fence" && last?.type !== "html_block") return false;
  const [first, behind] = last.map ?? [0, 0];
  const lines = text.split("\n");
  if (behind < lines.length) return false;
  const end = lines[behind - 1] as string;
  if (last.type === "html_block") return !(last.content.trimStart().startsWith("<!--") && end.includes("-->"));
  const closing = /^ {0,3}(`+|~+)[ \t]*$/.exec(end)?.[1] ?? "";
  return behind - 1 === first || !closing.startsWith(last.markup);
}

type Parser = InstanceType<typeof MarkdownIt>;
type Token = ReturnType<Parser["parse"]>[number];
type Nesting = Token["nesting"];

/** Outside fences, comments and other HTML such a line is a heading whatever stands before it. */
const SURE_HEADING = /^#{1,2}[ \t]/;
/**
 * Outside fences, comments and other HTML such a line ends every open block: a heading, or a rule, which may make a heading of the text
 * over it.
 */
const SURE_END = /^(?:#{1,6}[ \t]|-{3,}[ \t]*$)/;
/** After an empty line such a line begins a paragraph, and no list or quote goes on. */
const SURE_TEXT = /^(?:\p{L}|\d{4}-|\*\*|__|~~|\[)/u;

function chunkEnd(lines: readonly string[], from: number, limit: number): number {
  let size = 0;
  for (let i = from; i < lines.length; i++) {
    const line = lines[i] as string;
    if (size >= limit && i > from && beginsBlock(lines[i - 1] as string, line)) return i;
    size += line.length + 1;
  }
  return lines.length;
}

function beginsBlock(before: string, line: string): boolean {
  return SURE_HEADING.test(line) || SURE_END.test(before) || (/^[ \t]*$/.test(before) && SURE_TEXT.test(line));
}

/** What a reader sees of inline markdown: no emphasis marks, link targets, code marks or tags; lines stay. */
export function plainText(markdown: string): string {
  if (!/[*_`~[\\&<!]/.test(markdown)) return markdown;
  const [token] = inline().parseInline(markdown, {});
  return (token?.children ?? []).map(({ type, content }) => (type === "html_inline" ? "" : content)).join("");
}
