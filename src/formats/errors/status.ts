import type { TextBlock } from "../../kit/markdown-blocks.ts";
import { DECORATION } from "./entry.ts";

const MARKUP = /~~[^~\n]*~~|[*_`]|<\/?(?:b|strong|em|i)>/g;
/** A line such as `Status: open`, its markup gone. */
const STATUS = new RegExp(
  String.raw`^(?:${DECORATION}|[-+>]){0,20}(?:\[[ xX]\]\s*)?status(?:\s*\([^()]{0,60}\))?\s*(?:[:：=|]|\p{Pd}|$)(.*)$`,
  "iu",
);
/** Bold sets the word apart as well as a colon does. */
const BOLD_STATUS = new RegExp(
  String.raw`^(?:${DECORATION}|[-+>]){0,20}(?:\[[ xX]\]\s*)?(\*\*|__)status\1\s(.*)$`,
  "iu",
);
const OPEN = /^(?:still\s+|currently\s+)?(?:open|unresolved|in[\s_-]?progress|pending)(?![\p{L}\p{N}]|-\p{L})/iu;

/** Whether a paragraph or table of an entry says that its status is open, unresolved, in progress or pending. */
export function saysOpen(blocks: readonly TextBlock[]): boolean {
  return blocks.some((block, i) => {
    if (!/status/i.test(block.text)) return false;
    const lines = block.text.split("\n");
    return (
      hasOpenColumn(lines) ||
      lines.some((line, n) => {
        const value = statusOf(line);
        if (value === undefined) return false;
        return isOpen(value.trim() === "" ? (lines[n + 1] ?? firstLine(blocks[i + 1])) : value);
      })
    );
  });
}

/** Whether a line tells the entry's status, whatever it is. */
export function isStatusLine(line: string): boolean {
  return statusOf(line) !== undefined;
}

function statusOf(line: string): string | undefined {
  return BOLD_STATUS.exec(line)?.[2] ?? STATUS.exec(line.replace(MARKUP, ""))?.[1];
}

function isOpen(value: string): boolean {
  const now = value.replace(MARKUP, (mark) => (mark === "_" ? " " : "")).split(/→|->|=>|⇒/);
  return OPEN.test((now.at(-1) as string).replace(/^[^\p{L}\p{N}]+/u, ""));
}

const firstLine = (block: TextBlock | undefined) => (block?.level === 0 ? (block.text.split("\n")[0] as string) : "");

/** A table with a column named status: `| Date | Status |` over its rows. */
function hasOpenColumn(lines: readonly string[]): boolean {
  let column = -1;
  for (const line of lines) {
    if (!line.includes("|")) column = -1;
    const cells = line.replace(/^\s*\|/, "").split("|");
    if (column >= 0 && isOpen(cells[column] ?? "")) return true;
    if (column < 0 && cells.length > 1) column = cells.findIndex((cell) => /^[\s*_]*status[\s*_]*$/i.test(cell));
  }
  return false;
}
