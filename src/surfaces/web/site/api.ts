import { html } from "../../../kit/html.ts";
import { codeBlock, withCode } from "../ui/parts.ts";
import { plural } from "../ui/units.ts";
import { apiReference, type Operation, type Reference } from "./api-model.ts";
import { operationPages } from "./api-operation.ts";
import { docsLayout } from "./docs.ts";
import type { Visit } from "./frame.ts";
import { bullets, fence, markdownTable } from "./markdown.ts";
import { publicPage, twinOf } from "./rendition.ts";

/** The reference of the API, drawn from the same document that programs read: what holds for all operations, and their list. */

const SUMMARY =
  "Every operation of this installation's HTTP API, with parameters, replies, errors and an example to paste.";

/** What a caller has to know before any operation. */
const RULES: readonly string[] = [
  "Bodies are JSON. A gzip body is taken where the operation says so.",
  "A token goes into the header `Authorization: Bearer …`, never into an address.",
  "Paths carry no version. `Service-Api-Version: 1` pins one; every reply names the version that served it.",
  "After 429 and 503 wait for the seconds in `Retry-After`, then send the same request again.",
];

const SCHEME_TITLES: Readonly<Record<string, string>> = {
  deviceToken: "Device token",
  cliToken: "CLI token",
  readToken: "Read token",
  apiToken: "API token",
  deviceKey: "API key",
};
/** What people call a credential of the document. */
const schemeTitle = (name: string): string => SCHEME_TITLES[name] ?? name;

const idOf = (tag: string) => tag.toLowerCase().replace(/[^a-z0-9]+/g, "-");

function index(call: Visit, reference: Reference) {
  const { href } = call;
  const { tags, schemes, shapes, headers } = reference;
  const row = ({ id, method, path, summary, auth }: Operation) =>
    html`<li><a href="${href(`/docs/api/${id}`)}"><span class="verb ${method.toLowerCase()}">${method}</span><span class="op-path">${path}</span>${auth.length === 0 && html`<em>no token</em>`}<span class="op-says">${summary}</span></a></li>`;
  return html`<h1>API reference</h1>
<p class="says">${SUMMARY} The <a href="${href("/docs/using-the-api")}">guide</a> explains how they work together; programs read <a href="${href("/openapi.json")}">openapi.json</a>.</p>
${codeBlock(call.baseUrl, { label: "Base URL", titled: true })}
<section id="rules"><h2>Rules for every request</h2><ul class="dots">${RULES.map((rule) => html`<li>${withCode(rule)}</li>`)}</ul></section>
<section id="operations"><h2>Operations</h2>${tags.map(
    ({ name, description, operations }) =>
      html`<h3 id="${idOf(name)}">${name}</h3><p class="says">${description}</p><ul class="ops">${operations.map(row)}</ul>`,
  )}</section>
<section id="credentials"><h2>Credentials</h2><dl class="members">${schemes.map(
    ({ name, description, format }) =>
      html`<div><dt><strong>${schemeTitle(name)}</strong>${format && html` <span>${format}</span>`} <span>${plural(reference.operations.filter(({ auth }) => auth.includes(name)).length, "operation")}</span></dt><dd>${description}</dd></div>`,
  )}</dl></section>
<section id="errors"><h2>Errors</h2><p class="says">Errors are JSON, or protobuf where the request is. Branch on the status and on <code>code</code>, <code>reason</code> or the code in <code>error</code>; the wording for people may change. Each operation names its own; <a href="${href("/docs/faults")}">all of them</a> are in one table.</p>
<dl class="members">${shapes.map(
    ({ name, members }) =>
      html`<div><dt><code>${name}</code></dt>${members
        .filter(({ path }) => path !== "…")
        .map(
          ({ path, type, required }) => html`<dd><code>${path}</code> ${type}${!required && " (optional)"}</dd>`,
        )}</div>`,
  )}</dl></section>
<section id="rate-limits"><h2>Rate limits</h2><p class="says">Ingest is limited per team, what needs no credential per address, reading per token. A limited reply is 429.</p>
<dl class="members">${headers.map(({ name, description }) => html`<div><dt><code>${name}</code></dt><dd>${withCode(description)}</dd></div>`)}</dl></section>`;
}

const HEADINGS = [
  ["rules", "Rules for every request"],
  ["operations", "Operations"],
  ["credentials", "Credentials"],
  ["errors", "Errors"],
  ["rate-limits", "Rate limits"],
] as const;

function inMarkdown({ baseUrl, tags, schemes, shapes, headers }: Reference): string {
  return [
    "# API reference",
    `${SUMMARY} Machine-readable: ${baseUrl}/openapi.json`,
    fence(baseUrl),
    "## Rules for every request",
    bullets(RULES),
    "## Operations",
    ...tags.flatMap(({ name, description, operations }) => [
      `### ${name}`,
      description,
      bullets(
        operations.map(
          ({ id, method, path, summary, auth }) =>
            `[\`${method} ${path}\`](${baseUrl}${twinOf(`/docs/api/${id}`)}): ${summary} (${auth.map(schemeTitle).join(" or ") || "no credential"})`,
        ),
      ),
    ]),
    "## Credentials",
    bullets(schemes.map(({ name, description }) => `**${schemeTitle(name)}**: ${description}`)),
    "## Errors",
    markdownTable(
      ["Shape", "Members"],
      shapes.map(({ name, members }) => [
        name,
        members.map(({ path, type, required }) => `\`${path}\` ${type}${required ? "" : " (optional)"}`).join("; "),
      ]),
    ),
    "## Rate limits",
    bullets(headers.map(({ name, description }) => `\`${name}\`: ${description}`)),
  ].join("\n\n");
}

export const apiPages = [
  ...publicPage({ id: "apiReference", path: "/docs/api" }, (call) => {
    const reference = apiReference(call.core);
    return {
      title: "API reference",
      summary: SUMMARY,
      look: "docs",
      html: () =>
        docsLayout(
          call,
          index(call, reference),
          HEADINGS.map(([id, text]) => ({ id, text, level: 2 })),
        ),
      markdown: () => inMarkdown(reference),
    };
  }),
  ...operationPages,
];
