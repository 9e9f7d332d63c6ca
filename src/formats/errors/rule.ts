import type { TextBlock } from "../../kit/markdown-blocks.ts";
import { withoutEnd } from "../../kit/strings.ts";
import { DECORATION, SEPARATORS } from "./entry.ts";
import { isStatusLine } from "./status.ts";

const WORDS = String.raw`prevention[\s-]{1,5}rules?(?!\p{L})`;
/** The bold words at the beginning of a line, perhaps behind a mark, a check box or the edge of a table. */
const LEAD = new RegExp(
  String.raw`^${DECORATION}{0,20}(?:\[[ xX]\]\s*)?(\*{2,3}|_{2,3}|<b>|<strong>)${DECORATION}{0,20}${WORDS}`,
  "iu",
);
const HEADING_LEAD = new RegExp(`^(?:${DECORATION}|[*_]){0,20}${WORDS}`, "iu");
/**
 * Rest of a label inside its bold: a number, a remark in parentheses, a colon. It is not tried on longer text, since blanks can match in
 * many ways.
 */
const REST_OF_LABEL = /^\s*(?:#?\d{1,3}\s*)?(?:\([^()]{0,60}\))?[\s:：.\p{Pd}]*$/u;
const MAX_REST_CHARS = 200;
const isRestOfLabel = (text: string) => text.length <= MAX_REST_CHARS && REST_OF_LABEL.test(text);
/** Another label, as the other paragraphs of an entry begin with: `**Fix:**`, `**Fix**:`. */
const LABEL = /^\s*(?:[-*+]\s+)?(\*\*|__)[^*_]{1,60}(?:[:：]\1|\1\s*(?:[:：]|\p{Pd}))/u;

/**
 * The first paragraph of an entry that begins with the bold words "Prevention rule", behind these words and on one line. It
 * may be a list item or a quote, the words may stand alone over it or be a heading. It ends with its block, or before the
 * next line that begins with a label of its own: many entries are written without blank lines.
 * @returns "" when the words stand there with nothing to follow, undefined when they don't stand there
 */
export function findRule(blocks: readonly TextBlock[]): string | undefined {
  for (const [i, block] of blocks.entries()) {
    if (!/prevention/i.test(block.text)) continue;
    const own = ruleIn(block);
    if (own === undefined) continue;
    if (own !== "") return own;
    const next = blocks[i + 1];
    return next?.level === 0 ? (ruleIn(next) ?? joined(next.text.split("\n"))) : "";
  }
  return undefined;
}

function ruleIn({ level, text }: TextBlock): string | undefined {
  if (level > 0) {
    const lead = HEADING_LEAD.exec(text);
    return lead ? withoutSeparators(text.slice(lead[0].length).replace(/[*_]{2,3}/g, "")) : undefined;
  }
  const lines = text.split("\n");
  for (const [n, line] of lines.entries()) {
    const first = afterLead(line);
    if (first === undefined) continue;
    return [first, joined(lines.slice(n + 1))].filter(Boolean).join(" ");
  }
  return undefined;
}

function afterLead(line: string): string | undefined {
  const lead = LEAD.exec(line);
  if (!lead) return undefined;
  const after = line.slice(lead[0].length);
  const mark = (lead[1] as string).replace("<", "</");
  const end = after.indexOf(mark);
  // When the bold includes the rule itself, only the mark that ends it is removed.
  const rest =
    end === -1 || isRestOfLabel(after.slice(0, end))
      ? after.slice(end === -1 ? 0 : end + mark.length)
      : after.slice(0, end) + after.slice(end + mark.length);
  return withoutSeparators(line.trimStart().startsWith("|") ? withoutEnd(rest, /[\s|]/) : rest);
}

/** Lines of a paragraph as one, up to one that begins another matter. */
function joined(lines: readonly string[]): string {
  const end = lines.findIndex((line) => LABEL.test(line) || isStatusLine(line) || /^\s*\|/.test(line));
  return lines
    .slice(0, end === -1 ? undefined : end)
    .join(" ")
    .trim();
}

const withoutSeparators = (text: string) => text.replace(SEPARATORS, "").trim();
