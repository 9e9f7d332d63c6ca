import { attributes, type Content, type Html, html, trustedHtml } from "../../../kit/html.ts";
import { fail, notFound } from "../../../kit/problem.ts";
import { docEntry, docText, docTitle } from "./doc-text.ts";
import { DOC_GROUPS, DOCS } from "./docs-list.ts";
import type { Visit } from "./frame.ts";
import { bullets } from "./markdown.ts";
import { publicPage, twinOf } from "./rendition.ts";

/** The documentation: its index, and a page for each document. */

/** What the reference adds to a group of documents. */
const REFERENCE = { title: "API reference", path: "/docs/api" } as const;

/** The documentation's navigation beside a page of it. */
function docsNav(call: Visit): Html {
  const link = (path: string, label: Content) =>
    html`<li><a${attributes({ href: call.href(path), "aria-current": (call.path === path || (path === REFERENCE.path && call.path.startsWith(`${path}/`))) && "page" })}>${label}</a></li>`;
  return html`<nav class="doc-nav" aria-label="Documentation">${DOC_GROUPS.map(
    ({ title, docs }) =>
      html`<h2>${title}</h2><ul>${docs.map((doc) => link(`/docs/${doc.slug}`, docTitle(doc)))}${
        title === "Build on it" && link(REFERENCE.path, REFERENCE.title)
      }</ul>`,
  )}</nav>`;
}

/** A documentation page: navigation, content, what is on this page. */
export function docsLayout(
  call: Visit,
  body: Content,
  headings: readonly { readonly id: string; readonly text: string; readonly level: number }[],
): Html {
  // The navigation comes last, as it does where the window is narrow; elsewhere the style sheet puts it to the left.
  return html`<div class="doc"><article class="doc-body">${body}</article>
${
  headings.length > 1
    ? html`<nav class="toc" aria-label="On this page"><h2>On this page</h2><ul>${headings.map(
        ({ id, text, level }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`,
      )}</ul></nav>`
    : html`<div class="toc"></div>`
}
${docsNav(call)}</div>`;
}

const SUMMARY = "How to use Reckon, build on it and run it; every document is there as markdown, too.";

function docsIndex(call: Visit) {
  const { href, baseUrl } = call;
  const groups = DOC_GROUPS.map(({ title, docs }) => ({
    title,
    entries: [
      ...docs.map(docEntry),
      ...(title === "Build on it"
        ? [{ ...REFERENCE, summary: "Every operation with its parameters, replies, errors and an example to paste." }]
        : []),
    ],
  }));
  return {
    title: "Documentation",
    summary: SUMMARY,
    look: "plain",
    html: () => html`<div class="lead"><h1>Documentation</h1><p class="says">${SUMMARY}</p></div>
${groups.map(
  ({ title, entries }) =>
    html`<section class="band"><h2>${title}</h2><ul class="tiles">${entries.map(
      (entry) =>
        html`<li><a href="${href(entry.path)}"><strong>${entry.title}</strong><span>${entry.summary}</span></a></li>`,
    )}</ul></section>`,
)}`,
    markdown: () =>
      [
        "# Documentation",
        SUMMARY,
        ...groups.flatMap(({ title, entries }) => [
          `## ${title}`,
          bullets(entries.map((one) => `[${one.title}](${baseUrl}${twinOf(one.path)}): ${one.summary}`)),
        ]),
      ].join("\n\n"),
  };
}

function docPage(call: Visit) {
  const doc = DOCS.find(({ slug }) => slug === call.params.name);
  if (!doc) fail(notFound, "There is no document of that name.");
  const { title, html: body, headings, markdown } = docText(call.core, doc);
  return {
    title,
    summary: doc.summary,
    look: "docs",
    // Our own text, through a renderer that passes no HTML.
    html: () => docsLayout(call, html`<h1>${title}</h1><div class="prose">${trustedHtml(body)}</div>`, headings),
    markdown: () => markdown,
  };
}

export const docsPages = [
  ...publicPage({ id: "docs", path: "/docs" }, docsIndex),
  ...publicPage({ id: "doc", path: "/docs/:name" }, docPage),
];
