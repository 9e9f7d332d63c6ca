import { hasUsers } from "../../../identity/people/people.ts";
import { readAsset } from "../../../kit/assets.ts";
import { type Html, html } from "../../../kit/html.ts";
import { connectLine } from "../ui/connect-line.ts";
import { codeBlock } from "../ui/parts.ts";
import type { Visit } from "./frame.ts";
import { bullets, fence } from "./markdown.ts";
import { publicPage, twinOf } from "./rendition.ts";

/** The front page of this installation: what it is, how a machine joins, where to go on. */

const TITLE = "Know what your coding agents did.";
const LEAD =
  "Reckon keeps the record of AI coding agents: what they were asked, what they changed, what they remember and what it cost. It runs on this server, and calls out to no host but those that are listed here.";
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

const STEPS = [
  {
    label: "See what would leave the machine",
    lines: () => "reckon agent scan",
  },
  { label: "Connect it, with a code of your team", lines: (base: string) => connectLine(base, "YOUR-CODE") },
] as const;

const CONNECT =
  "On the machine where agents work, one line finds them (Claude Code, Codex, Gemini CLI, opencode, Copilot CLI, Cursor), says what it will read and change, and sends each session as it ends: without secrets, as far as the team’s policy allows, also after days offline. Codes stand under Devices. Any other agent, or a script beside it, can report by HTTP.";

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
<ol class="steps">${STEPS.map(({ label, lines }, i) => html`<li>${codeBlock(lines(baseUrl), { label: `${i + 1} · ${label}`, titled: true })}</li>`)}</ol>
<p class="says"><a href="${href("/docs/capture")}">What is read and sent, and what never leaves</a> · <a href="${href("/docs/fleet")}">Rolling it out to many machines</a></p></section>
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
    ...STEPS.map(({ lines }) => fence(lines(baseUrl), "sh")),
    bullets([
      `[What is read and sent, and what never leaves](${linked("/docs/capture")})`,
      `[Rolling it out to many machines](${linked("/docs/fleet")})`,
    ]),
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
