import { type Html, html } from "../../../kit/html.ts";
import { fail, notFound } from "../../../kit/problem.ts";
import { badge, codeBlock, withCode } from "../ui/parts.ts";
import { type Answer, apiReference, type Operation, type Shown } from "./api-model.ts";
import type { Member } from "./api-schema.ts";
import { docsLayout } from "./docs.ts";
import type { Visit } from "./frame.ts";
import { fence, markdownTable } from "./markdown.ts";
import { publicPage } from "./rendition.ts";

/** One operation of the API. */

const NEEDS: Readonly<Record<string, string>> = {
  deviceToken: "a device token",
  cliToken: "a CLI access token",
  readToken: "a personal read token",
  apiToken: "an API token",
  deviceKey: "a device token as `X-API-Key`",
};
const needs = (auth: readonly string[]) => auth.map((name) => NEEDS[name] ?? name).join(" or ") || "no credential";

/** Headers that every reply has, or every limited one; told once, in the index. */
const EVERYWHERE = /^(?:Service-Api-Version|RateLimit-|WWW-Authenticate)/;

/** Members or parameters one below the other: name and type, then what it means. */
function memberList(members: readonly (Member & { readonly where?: string })[]): Html {
  return html`<dl class="members">${members.map(
    ({ path, required, type, description, where }) =>
      html`<div><dt><code>${path}</code> <span>${type}${where && `, ${where}`}${!required && path !== "…" && html` <em>optional</em>`}</span></dt>${description && html`<dd>${withCode(description)}</dd>`}</div>\n`,
  )}</dl>`;
}

function shownParts(label: string, { says, members, example }: Shown): Html {
  return html`${members.length === 0 ? html`<p class="says">${withCode(says)}</p>` : memberList(members)}${example !== undefined && codeBlock(example, { label, titled: true, tall: true })}`;
}

const answerHead = ({ status, description }: Answer) =>
  html`<h3>${badge(status < 400 ? "good" : "warn", status)} ${status === 200 ? "Success" : description}</h3>`;

function operationHtml(call: Visit, one: Operation): Html {
  const { method, path, summary, tag, auth, parameters, body, answers, failures, id, curl } = one;
  const always = answers.some(({ headers }) => headers.includes("RateLimit-Limit"));
  return html`<nav aria-label="Breadcrumbs" class="crumbs"><ol><li><a href="${call.href("/docs/api")}">API reference</a></li><li><span>${tag}</span></li></ol></nav>
<h1>${summary}</h1>
<p class="endpoint"><span class="verb ${method.toLowerCase()}">${method}</span> <code>${path}</code></p>
<p class="says">Needs ${withCode(needs(auth))}. Operation <code>${id}</code>.${always && " Rate-limit headers are sent on every reply."}</p>
${codeBlock(curl, { label: "As a command", titled: true })}
${
  parameters.length > 0 &&
  html`<section id="parameters"><h2>Parameters</h2>${memberList(parameters.map((parameter) => ({ ...parameter, path: parameter.name })))}</section>`
}
${
  body &&
  html`<section id="body"><h2>Body</h2><p class="says">${withCode(mediaNames(body))}${!body.required && "; may be left out"}. ${body.description === undefined ? "" : html`May be sent with <code>Content-Encoding: gzip</code>.`}</p>${shownParts("Example body", body)}</section>`
}
<section id="replies"><h2>Replies</h2>${answers.map(
    (answer) =>
      html`${answerHead(answer)}${answer.content && html`<p class="says">${withCode(mediaNames(answer.content))}.</p>${shownParts(`Example reply, ${answer.status}`, answer.content)}`}`,
  )}</section>
<section id="errors"><h2>Errors</h2><dl class="members">${failures.map(
    ({ status, code, description, example, headers }) =>
      html`<div><dt><span class="status">${status}</span><code>${code}</code></dt><dd>${description}${headers.filter((name) => !EVERYWHERE.test(name)).map((name) => html` Header <code>${name}</code>.`)}</dd>${moreThanText(example, description)}</div>`,
  )}</dl></section>`;
}

/** The body of a refusal where it says more than the text for people, that text left out. */
function moreThanText(example: string, description: string): Html | false {
  const rest = example.replace(JSON.stringify(description), '"…"');
  return rest !== '{"error":"…"}' && html`<dd><code>${rest}</code></dd>`;
}

const mediaNames = ({ medias }: Shown) => medias.map((media) => `\`${media}\``).join(" or ");

function memberLines({ says, members }: Shown): string {
  if (members.length === 0) return says;
  return markdownTable(
    ["Member", "Type", "Required", "Meaning"],
    members.map(({ path, type, required, description }) => [`\`${path}\``, type, required ? "yes" : "no", description]),
  );
}

function operationMarkdown(one: Operation): string {
  const { method, path, summary, auth, parameters, body, answers, failures, id, curl } = one;
  const shown = (it: Shown) => [
    memberLines(it),
    ...(it.example === undefined ? [] : [fence(it.example, it.medias[0]?.endsWith("json") ? "json" : "")]),
  ];
  return [
    `# ${summary}`,
    `\`${method} ${path}\``,
    `Needs ${needs(auth)}. Operation \`${id}\`.`,
    fence(curl, "sh"),
    ...(parameters.length > 0
      ? [
          "## Parameters",
          markdownTable(
            ["Name", "In", "Type", "Required", "Meaning"],
            parameters.map((parameter) => [
              `\`${parameter.name}\``,
              parameter.where,
              parameter.type,
              parameter.required ? "yes" : "no",
              parameter.description,
            ]),
          ),
        ]
      : []),
    ...(body ? ["## Body", `${mediaNames(body)}. ${body.description ?? ""}`.trim(), ...shown(body)] : []),
    "## Replies",
    ...answers.flatMap(({ status, description, content, headers }) => [
      `### ${status} ${description}`,
      `Headers: ${headers.map((name) => `\`${name}\``).join(", ")}`,
      ...(content ? [`${mediaNames(content)}.`, ...shown(content)] : []),
    ]),
    "## Errors",
    markdownTable(
      ["Status", "Code", "Meaning", "Body", "Headers"],
      failures.map(({ status, code, description, example, headers }) => [
        ...[String(status), `\`${code}\``, description, `\`${example}\``],
        headers.join(", "),
      ]),
    ),
  ].join("\n\n");
}

export const operationPages = publicPage({ id: "apiOperation", path: "/docs/api/:operation" }, (call) => {
  const one = apiReference(call.core).operations.find(({ id }) => id === call.params.operation);
  if (!one) fail(notFound, "The API has no operation of that name.");
  const headings = [
    ...(one.parameters.length > 0 ? [["parameters", "Parameters"]] : []),
    ...(one.body ? [["body", "Body"]] : []),
    ["replies", "Replies"],
    ["errors", "Errors"],
  ].map(([id = "", text = ""]) => ({ id, text, level: 2 }));
  return {
    title: one.summary,
    summary: `${one.method} ${one.path}: ${one.summary}.`,
    look: "docs",
    html: () => docsLayout(call, operationHtml(call, one), headings),
    markdown: () => operationMarkdown(one),
  };
});
