import { type Html, html } from "../../../../kit/html.ts";
import type { FileContent } from "../../../../record/brain/brain.ts";
import { pager } from "../../ui/list.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link } from "../shared/links.ts";
import { idIn } from "../shared/params.ts";

/** Lines of one page: a file may have a million, and its lines weigh twice the file. */
const PAGE = 2_000;

/** The text line by line, the page of it that holds the line asked for; that one is marked. @param snapshot when it is not the current one */
export function sourceView(call: Member, file: FileContent, snapshot: number | undefined): Html {
  const { path, content } = file;
  const lines = content.split(/\r\n|[\r\n]/);
  if (lines.at(-1) === "") lines.pop();
  const line = idIn(call.query.get("line"));
  const at = Math.min(line ?? idIn(call.query.get("from")) ?? 1, Math.max(lines.length, 1));
  const first = Math.floor((at - 1) / PAGE) * PAGE;
  const last = Math.min(first + PAGE, lines.length);
  const addressOf = (from: number) =>
    link(call, "/brain/file", { repo: file.snapshot.repoKey, path, snapshot, view: "source", from });
  return html`<div class="table-frame diff" role="region" aria-label="Source of ${path}" tabindex="0" data-scroll><table><caption class="vh">Source of ${path}</caption>
<thead class="vh"><tr><th scope="col">Line</th><th scope="col">Text</th></tr></thead><tbody>
${lines.slice(first, last).map((text, i) => drawLine(text, first + i + 1, line))}</tbody></table></div>
${lines.length === 0 && html`<p class="says">This file is empty.</p>`}${pager({
  newer: first > 0 ? addressOf(first - PAGE + 1) : undefined,
  older: last < lines.length ? addressOf(last + 1) : undefined,
  labels: { newer: "Earlier", older: "Later" },
  intro: lines.length > PAGE && `Lines ${number(first + 1)} to ${number(last)} of ${number(lines.length)}`,
})}`;
}

const drawLine = (text: string, at: number, marked: number | undefined): Html =>
  html`<tr id="L${at}"><td class="line">${at}</td><td class="text">${at === marked ? html`<mark>${text || " "}</mark>` : text}</td></tr>\n`;
