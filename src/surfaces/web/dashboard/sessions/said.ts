import { type Content, type Html, html } from "../../../../kit/html.ts";
import { codeBlock } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import { short } from "../shared/text.ts";

/** Texts that people, models and tools wrote: short ones as they are, long ones folded, and only so much of them on one page. */

/** How much whole text a page may still carry, in UTF-16 units. */
export interface Budget {
  text: number;
}

export const pageBudget = (): Budget => ({ text: 256 * 1024 });

const EXCERPT = { lines: 8, chars: 700 };
const INLINE = { lines: 4, chars: 320 };
const FIRST_LINE_CHARS = 100;

const fits = (text: string, { lines, chars }: typeof EXCERPT) =>
  text.length <= chars && text.split("\n", lines + 1).length <= lines;

/** Text as it was written, in the font of the page; or as code. */
const shown = (text: string, look: "prose" | "code"): Html =>
  look === "prose"
    ? html`<div class="said">${text}</div>`
    : html`<div class="code wrap"><pre>\n<code>${text}</code></pre></div>`;

/** What a prompt or an answer says: a long one by its beginning, with the whole behind a click. */
export function saidText(text: string, label: string, budget: Budget): Html {
  const trimmed = text.trim();
  if (fits(trimmed, EXCERPT)) return shown(trimmed, "prose");
  const excerpt = short(trimmed.split("\n", EXCERPT.lines).join("\n"), EXCERPT.chars);
  const what = `the whole ${label.replace(/ \d+$/, "").toLowerCase()}`;
  return html`${shown(excerpt.endsWith("…") ? excerpt : `${excerpt}\n…`, "prose")}${folded(`Show ${what}, ${number(trimmed.length)} characters`, trimmed, `${label}, whole`, budget)}`;
}

/**
 * What went into a tool or came out of it.
 * @param label tells it from every other on the page
 * @param open of what somebody will want to read, such as an error
 */
export function toolText(text: string, word: string, label: string, budget: Budget, open = false): Content {
  const trimmed = text.replace(/^\n+|\s+$/g, "");
  if (trimmed === "") return false;
  if (fits(trimmed, INLINE)) return shown(trimmed, "code");
  const first = short(
    trimmed
      .slice(0, 4 * FIRST_LINE_CHARS)
      .trimStart()
      .split("\n", 1)[0] ?? "",
    FIRST_LINE_CHARS,
  );
  const extent = /\n/.test(trimmed)
    ? plural(trimmed.split("\n").length, "line")
    : `${number(trimmed.length)} characters`;
  return folded(html`${word}, ${extent} <code>${first}</code>`, trimmed, label, budget, open);
}

function folded(summary: Content, text: string, label: string, budget: Budget, open = false): Html {
  budget.text -= text.length;
  if (budget.text < 0)
    return html`<p class="says">${summary}: too much for this page. The whole stands in the record.</p>`;
  return html`<details class="numbers"${open && html` open`}><summary>${summary}</summary>${codeBlock(text, { label, wrap: true, tall: true })}</details>`;
}
