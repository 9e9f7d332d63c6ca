import { type Content, html } from "../../../../kit/html.ts";
import type { Session } from "../../../../record/traces/traces.ts";
import { table } from "../../ui/list.ts";
import { anchor, section } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { sessionsOf } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** How a session touched a file. */
interface Touched {
  edits: number;
  listed: boolean;
}

/** Files that the session lists or its steps edited, in the order of their paths. */
export function filesOf({ files, spans }: Session): ReadonlyMap<string, Touched> {
  const all = new Map<string, Touched>(files.map((path) => [path, { edits: 0, listed: true }]));
  for (const { edits } of spans)
    for (const { path } of edits) {
      const touched = all.get(path) ?? { edits: 0, listed: false };
      touched.edits++;
      all.set(path, touched);
    }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const MAX_FILES = 200;

/** The files that a session touched. */
export function filesSection(call: Member, session: Session, files: ReadonlyMap<string, Touched>): Content {
  if (files.size === 0) return false;
  const rows = [...files].slice(0, MAX_FILES);
  return section({
    id: "files",
    title: "Files touched",
    body: html`${table({
      caption: "Files touched",
      columns: [
        { label: "File", heading: true, grow: true, cell: ([path]) => html`<code>${short(path, 512)}</code>` },
        { label: "Edits traced", numeric: true, cell: ([, { edits }]) => (edits > 0 ? edits : "–") },
        {
          label: "More",
          hidden: true,
          cell: ([path]) => anchor(sessionsOf(call, session.repoKey, short(path, 256)), "Sessions naming it"),
        },
      ],
      rows,
    })}${files.size > rows.length && html`<p class="says">${number(files.size - rows.length)} more files stand in the record.</p>`}`,
  });
}

/** The labels of a session and its steps. */
export function labelsSection({ labels, labelCount }: Session): Content {
  if (labelCount === 0) return false;
  return section({
    id: "labels",
    title: "Labels",
    intro: "Marks that people and tools gave this session or a step of it.",
    body: html`${table({
      caption: "Labels",
      columns: [
        { label: "Name", heading: true, cell: ({ name }) => short(name ?? "unnamed", 120) },
        { label: "Value", cell: ({ value }) => (value === null ? "–" : short(String(value), 240)) },
        { label: "Comment", grow: true, cell: ({ comment }) => comment && short(comment, 2_000) },
        {
          label: "Step",
          cell: ({ spanId }) =>
            spanId === null
              ? html`<span class="muted">the whole session</span>`
              : html`<a href="#span-${spanId}">${short(spanId, 40)}</a>`,
        },
      ],
      rows: labels,
    })}${labelCount > labels.length && html`<p class="says">${number(labelCount - labels.length)} more labels are not shown.</p>`}`,
  });
}
