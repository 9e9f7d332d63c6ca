import { type Content, type Html, html, trustedHtml } from "../../../../kit/html.ts";
import { renderMarkdown } from "../../../../kit/markdown-html.ts";
import { codeBlock } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import { short } from "../shared/text.ts";

/** Texts that people, models and tools wrote: short ones as they are, long ones folded, and only so much of them on one page. */

/** How much whole text a page may still carry, in UTF-16 units, and how much of all text it may still render as markdown. */
export interface Budget {
  text: number;
  markdown: number;
}

export const pageBudget = (): Budget => ({ text: 128 * 1024, markdown: 96 * 1024 });

/** Said of what the budget has no room for; the step's own row in the waterfall has. */
export const tooMuch = "too long for this page; open the step in the waterfall, or download the record.";

const EXCERPT = { lines: 8, chars: 700 };
const INLINE = { lines: 4, chars: 320 };
const FIRST_LINE_CHARS = 100;

const fits = (text: string, { lines, chars }: typeof EXCERPT) =>
  text.length <= chars && text.split("\n", lines + 1).length <= lines;

/** Text as it was written, in the font of the page; or as code. */
const shown = (text: string, look: "prose" | "code" | "failed"): Html =>
  look === "prose"
    ? html`<div class="said" dir="auto">${text}</div>`
    : html`<div class="code wrap${look === "failed" && " failed"}"><pre>\n<code>${text}</code></pre></div>`;

/** What a prompt says: a long one by its beginning, with the whole behind a click. */
export function saidText(text: string, label: string, budget: Budget): Html {
  const trimmed = text.trim();
  if (fits(trimmed, EXCERPT)) return shown(trimmed, "prose");
  const what = `the whole ${label.replace(/ \d+$/, "").toLowerCase()}`;
  return html`${shown(beginningOf(trimmed, EXCERPT), "prose")}${folded(`Show ${what}, ${number(trimmed.length)} characters`, trimmed, `${label}, whole`, budget)}`;
}

function beginningOf(text: string, { lines, chars }: typeof EXCERPT): string {
  const excerpt = short(text.split("\n", lines).join("\n"), chars);
  return excerpt.endsWith("…") ? excerpt : `${excerpt}\n…`;
}

/** Models write lists, tables and code, of which eight lines say little. */
const ANSWER = { lines: 24, chars: 2_000 };

/** What a model answers, which is markdown: a long one by its beginning, with the whole as it was written behind a click. */
export function answered(text: string, label: string, budget: Budget): Html {
  if (fits(text, ANSWER)) return rendered(text, budget);
  return html`${rendered(beginningOf(text, ANSWER), budget)}${folded(`Show the whole answer, ${number(text.length)} characters`, text, `${label}, whole`, budget)}`;
}

/** Renders an answer. Its headings are not the page's: they become words in bold. */
function rendered(text: string, budget: Budget): Html {
  budget.markdown -= text.length;
  if (budget.markdown < 0) return shown(text, "prose");
  const body = renderMarkdown(text)
    .replace(/<h[1-6] id="[^"]*">/g, '<p class="said-head">')
    .replace(/<\/h[1-6]>/g, "</p>");
  return html`<div class="said prose" dir="auto">${trustedHtml(body)}</div>`;
}

/** What fits on a line beside a word or two. */
const ONE_LINE = 110;
/** The end of a failing step's output, where compilers and tests say what is wrong. */
const TAIL = { lines: 16, chars: 2_000 };

/**
 * What went into a tool or came out of it.
 * @param label tells it from every other on the page
 * @param failed of a step that failed: its end is shown at once
 */
export function toolText(text: string, word: string, label: string, budget: Budget, failed = false): Content {
  const trimmed = text.trimEnd().replace(/^\n+/, "");
  if (trimmed === "") return false;
  if (!failed && trimmed.length <= ONE_LINE && !trimmed.includes("\n"))
    return html`<p class="line"><span class="muted">${word}</span> <code>${trimmed}</code></p>`;
  if (fits(trimmed, failed ? TAIL : INLINE)) return shown(trimmed, failed ? "failed" : "code");
  const lines = trimmed.split("\n").length;
  const extent = lines > 1 ? plural(lines, "line") : `${number(trimmed.length)} characters`;
  const summary = html`${word}, ${extent}`;
  if (failed) return html`${folded(summary, trimmed, label, budget)}${shown(tailOf(trimmed), "failed")}`;
  return folded(html`${summary} <code>${firstLine(trimmed)}</code>`, trimmed, label, budget);
}

function tailOf(text: string): string {
  const last = text.slice(-TAIL.chars).toWellFormed().split("\n").slice(-TAIL.lines).join("\n");
  return `…\n${last}`;
}

const firstLine = (text: string): string =>
  short(
    text
      .slice(0, 4 * FIRST_LINE_CHARS)
      .trimStart()
      .split("\n", 1)[0] ?? "",
    FIRST_LINE_CHARS,
  );

function folded(summary: Content, text: string, label: string, budget: Budget): Html {
  budget.text -= text.length;
  if (budget.text < 0) return html`<p class="says">${summary}: ${tooMuch}</p>`;
  return html`<details class="numbers"><summary>${summary}</summary>${codeBlock(text, { label, wrap: true, tall: true })}</details>`;
}
