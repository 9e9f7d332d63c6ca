import { type Hunk, hunkHeader } from "../../../kit/diff.ts";
import { type Html, html } from "../../../kit/html.ts";

const MARKS = { same: " ", added: "+", removed: "−" } as const;
const WORDS = { same: "", added: "added: ", removed: "removed: " } as const;

/**
 * A line diff with the numbers of both sides. Added and removed lines differ by mark, by words for screen readers and by
 * colour.
 * @param label what is compared, e.g. the path
 * @param numbered whether it is known at which lines
 */
export function diff(label: string, hunks: readonly Hunk[], numbered = true): Html {
  if (hunks.length === 0) return html`<p class="says">No differences.</p>`;
  return html`<div class="table-frame diff" role="region" aria-label="Changes of ${label}" tabindex="0" data-scroll><table><caption class="vh">Changes of ${label}</caption>
<thead class="vh"><tr><th scope="col">Old line</th><th scope="col">New line</th><th scope="col">Text</th></tr></thead>
${hunks.map((hunk) => hunkRows(hunk, numbered))}</table></div>`;
}

function hunkRows(hunk: Hunk, numbered: boolean): Html {
  let { oldStart: oldLine, newStart: newLine } = hunk;
  return html`<tbody>${numbered && html`<tr class="hunk"><td colspan="3">${hunkHeader(hunk).replace("-", "−")}</td></tr>`}
${hunk.lines.map(({ kind, text }) => {
  const before = kind === "added" || !numbered ? "" : oldLine++;
  const after = kind === "removed" || !numbered ? "" : newLine++;
  const word = WORDS[kind];
  return html`<tr class="${kind}"><td class="line">${before}</td><td class="line">${after}</td><td class="text"><span class="mark" aria-hidden="true">${MARKS[kind]}</span>${word && html`<span class="vh">${word}</span>`}<span>${text}</span></td></tr>\n`;
})}</tbody>`;
}
