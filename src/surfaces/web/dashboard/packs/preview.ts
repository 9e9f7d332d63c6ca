import { visible } from "../../../../kit/escape-invisible.ts";
import { type Html, html, trustedHtml } from "../../../../kit/html.ts";
import { renderMarkdown } from "../../../../kit/markdown-html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { installFolder, type PackDraft } from "../../../../share/packs/packs.ts";
import { button } from "../../ui/button.ts";
import { form } from "../../ui/form.ts";
import { table } from "../../ui/list.ts";
import { facts, prose, section } from "../../ui/parts.ts";
import { bytes, number, plural } from "../../ui/units.ts";
import { hiddenFields, type PackInput } from "./form.ts";
import { tagList } from "./labels.ts";

/** Findings that a list shows. */
const MAX_ROWS = 200;

const more = ({ length }: readonly unknown[]) =>
  length > MAX_ROWS && html`<p class="says">${number(length - MAX_ROWS)} more are not shown.</p>`;

/** Secrets that are certain: nothing can be published with them. */
function leaksSection({ leaks }: PackDraft): Html {
  return section({
    title: "It cannot be published: it holds secrets",
    intro:
      "Take them out of the brain’s files, have the agent push the brain again, and replace the credentials: they have been written down.",
    body: html`${table({
      caption: "Secrets",
      columns: [
        { label: "Where", heading: true, grow: true, cell: ({ path }) => html`<code>${visible(path)}</code>` },
        { label: "Line", numeric: true, cell: ({ line }) => line },
        { label: "What it is", cell: ({ rule }) => html`<code>${rule}</code>` },
      ],
      rows: leaks.slice(0, MAX_ROWS),
    })}${more(leaks)}`,
  });
}

function replacedSection({ replaced }: PackDraft): Html {
  return section({
    title: "What redaction changed",
    intro:
      replaced.length === 0
        ? "Nothing: no text looks like a secret."
        : `${plural(replaced.length, "text")} that looked like a secret ${replaced.length === 1 ? "was" : "were"} replaced. Look whether the files still say what they should.`,
    body:
      replaced.length > 0 &&
      html`${table({
        caption: "Replaced texts",
        columns: [
          { label: "Where", heading: true, cell: ({ path }) => html`<code>${visible(path)}</code>` },
          { label: "Line", numeric: true, cell: ({ line }) => line },
          { label: "The line as it will be published", grow: true, cell: ({ text }) => html`<code>${text}</code>` },
        ],
        rows: replaced.slice(0, MAX_ROWS),
      })}${more(replaced)}`,
  });
}

/** @param changed the brain was pushed again since the person looked */
export function previewBody(call: PageCall<"admin">, input: PackInput, draft: PackDraft, changed: boolean): Html {
  const clean = draft.leaks.length === 0;
  const back = button("Change something", { name: "edit", value: "1" });
  return html`${changed && html`<div class="flash warn" role="alert">The brain changed since you looked, so nothing was published. Look again: this is what would be published now.</div>`}
${!clean && leaksSection(draft)}
${(clean || draft.replaced.length > 0) && replacedSection(draft)}
${section({
  title: "About",
  framed: true,
  body: facts([
    { label: "Name", value: html`<code>${draft.name}</code>` },
    {
      label: "Version",
      value: html`${draft.version}${draft.previous === null ? ", the first" : html`, after ${draft.previous}`}`,
    },
    { label: "Publisher", value: html`${draft.publisher}; everybody will see the team’s name` },
    { label: "Summary", value: draft.summary },
    { label: "Licence", value: draft.license },
    { label: "Tags", value: draft.tags.length > 0 && tagList(draft.tags) },
    { label: "Prevention rules", value: number(draft.rules) },
    { label: "Archive", value: bytes(draft.archive.length) },
    { label: "SHA-256", value: html`<code>${draft.sha256}</code>` },
    { label: "Installs into", value: html`<code>${installFolder(draft.name)}</code>` },
  ]),
})}
${section({
  title: "Files",
  body: table({
    caption: "Files of the pack",
    columns: [
      { label: "In the pack", heading: true, grow: true, cell: (file) => html`<code>${visible(file.path)}</code>` },
      {
        label: "From the brain",
        cell: (file) => (file.source === null ? "made for the pack" : html`<code>${visible(file.source)}</code>`),
      },
      { label: "Size", numeric: true, cell: (file) => bytes(file.bytes) },
    ],
    rows: draft.files,
  }),
})}
${section({
  title: "README",
  framed: true,
  // Safe: renderMarkdown lets no HTML of the text through.
  body: prose(trustedHtml(renderMarkdown(draft.readme))),
})}
${
  clean
    ? form({
        action: call.href("/packs/new"),
        csrf: call.csrf,
        hidden: { ...hiddenFields(input), step: "publish", sha256: draft.sha256 },
        fields: html`<p class="says">Anybody who reaches this installation can download it then, without an account.</p>`,
        submit: `Publish ${draft.name} ${draft.version}`,
        beside: back,
      })
    : form({
        action: call.href("/packs/new"),
        csrf: call.csrf,
        hidden: { ...hiddenFields(input), edit: "1" },
        fields: "",
        submit: "Change something",
      })
}`;
}
