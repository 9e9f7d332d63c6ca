import { hasUsers } from "../../../identity/accounts/accounts.ts";
import { readAsset } from "../../../kit/assets.ts";
import { type Html, html } from "../../../kit/html.ts";
import { codeBlock } from "../ui/parts.ts";
import type { Visit } from "./frame.ts";
import { bullets, fence } from "./markdown.ts";
import { publicPage, twinOf } from "./rendition.ts";

/** The front page of this installation: what it is, how a machine joins, where to go on. */

const TITLE = "Know what your coding agents did.";
const LEAD =
  "Reckon keeps the record of AI coding agents: what they were asked, what they changed, what they remember and what it cost. It runs on this server, and nothing in it calls out.";
const SUMMARY = "Reckon is the accountability service for AI coding agents, run on this server.";

interface HomeContent {
  /** What it does, each with an icon's outline and the document that says more. */
  readonly features: readonly {
    readonly icon: string;
    readonly title: string;
    readonly text: string;
    readonly path: string;
  }[];
  readonly audiences: readonly {
    readonly title: string;
    readonly text: string;
    readonly links: readonly (readonly [path: string, label: string])[];
  }[];
  readonly promises: readonly { readonly title: string; readonly text: string }[];
  /** A stream, in which one gap shows. What it says is said again in the text beside it. */
  readonly ledger: readonly {
    readonly seq: string;
    readonly kind: string;
    readonly text: string;
    readonly hash: string;
  }[];
}

let content: HomeContent | undefined;
const homeContent = (): HomeContent => {
  content ??= JSON.parse(readAsset("src/assets/home.json")) as HomeContent;
  return content;
};

const connectLine = (base: string) =>
  `curl ${base}/api/connect/exchange -H 'content-type: application/json' \\\n  -d '{"code":"YOUR-CODE","consent":{"version":"1"}}'`;
const sendLine = (base: string) =>
  `curl ${base}/api/telemetry/ingest -H "authorization: Bearer $DEVICE_TOKEN" -H 'content-type: application/json' \\\n  -d '{"entries":[{"seq":1,"payload":{"type":"prompt","text":"Fix the login test"}}]}'`;

const CONNECT =
  "Any agent, or a script beside it, can report: all it takes are HTTP requests. No capture client ships with Reckon yet. An admin mints a one-time code under Devices; the machine trades it for a token, and sends with it what the agent does.";

function ledgerPicture(): Html {
  return html`<figure class="ledger" aria-label="A stream of five entries, between which two are missing">
<figcaption><span>build-agent-3</span><span>github.com/acme/shop</span></figcaption>
<ol>${homeContent().ledger.map(({ seq, kind, text, hash }) => html`<li class="${kind}"><span class="seq">${seq}</span><span class="kind">${kind}</span><span class="what">${text}</span><span class="hash">${hash}</span></li>`)}</ol>
<p class="ledger-foot">chained · redacted · kept here</p></figure>`;
}

function homeHtml(call: Visit): Html {
  const { href, baseUrl, session, core } = call;
  const { features, audiences, promises } = homeContent();
  const enter = session
    ? html`<a class="button primary large" href="${href("/overview")}">Open the dashboard</a>`
    : html`<a class="button primary large" href="${href("/login")}">Sign in</a>`;
  return html`<section class="hero"><div><h1>${TITLE}</h1><p class="hero-says">${LEAD}</p>
<p class="actions">${enter}<a class="button large" href="${href("/docs")}">Read the documentation</a></p>
${!session && !hasUsers(core) && html`<p class="says">Nobody has an account yet: the set-up link stands in the server’s output.</p>`}</div>
${ledgerPicture()}</section>
<section class="band" id="connect"><h2>Connect a machine</h2><p class="says">${CONNECT}</p>
<ol class="steps"><li>${codeBlock(connectLine(baseUrl), { label: "1 · Trade the code for a device token", titled: true })}</li>
<li>${codeBlock(sendLine(baseUrl), { label: "2 · Report what the agent does", titled: true })}</li></ol></section>
<section class="band"><h2>What it keeps, and how</h2><ul class="features">${features.map(
    ({ icon, title, text, path }) =>
      html`<li><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="${icon}"/></svg><h3><a href="${href(path)}">${title}</a></h3><p>${text}</p></li>`,
  )}</ul></section>
<section class="band promises"><h2 class="vh">What it promises</h2><dl>${promises.map(({ title, text }) => html`<div><dt>${title}</dt><dd>${text}</dd></div>`)}</dl></section>
<section class="band"><h2>Where to go on</h2><div class="paths">${audiences.map(
    ({ title, text, links }) =>
      html`<div><h3>${title}</h3><p class="says">${text}</p><ul>${links.map(([path, label]) => html`<li><a href="${href(path)}">${label}</a></li>`)}</ul></div>`,
  )}</div></section>`;
}

function homeMarkdown({ baseUrl }: Visit): string {
  const { features, audiences, promises } = homeContent();
  const linked = (path: string) => baseUrl + (/^\/docs\/[^#]+$/.test(path) ? twinOf(path) : path);
  return [
    "# Reckon",
    `**${TITLE}** ${LEAD}`,
    "## Connect a machine",
    CONNECT,
    fence(connectLine(baseUrl), "sh"),
    fence(sendLine(baseUrl), "sh"),
    "## What it keeps, and how",
    bullets(features.map(({ title, text, path }) => `[${title}](${linked(path)}): ${text}`)),
    "## What it promises",
    bullets(promises.map(({ title, text }) => `**${title}.** ${text}`)),
    "## Where to go on",
    ...audiences.flatMap(({ title, text, links }) => [
      `### ${title}`,
      text,
      bullets(links.map(([path, label]) => `[${label}](${linked(path)})`)),
    ]),
  ].join("\n\n");
}

export const homePages = publicPage({ id: "home", path: "/" }, (call) => ({
  title: "Reckon",
  summary: SUMMARY,
  look: "home",
  html: () => homeHtml(call),
  markdown: () => homeMarkdown(call),
}));
