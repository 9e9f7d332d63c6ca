import { hasUsers } from "../../../identity/people/people.ts";
import { type Html, html } from "../../../kit/html.ts";
import { codeBlock } from "../ui/code.ts";
import { bullets, fence } from "./markdown.ts";
import { publicPage, twinOf, type Visit } from "./rendition.ts";

/** The front page of this installation: what it is, how a machine joins, where to go on. */

const TITLE = "Know what your coding agents did.";
const SAYS =
  "Reckon keeps the record of AI coding agents: what they were asked, what they changed, what they remember and what it cost. It runs on this server, and nothing in it calls out.";
const SUMMARY = "Reckon is the accountability service for AI coding agents, run on this server.";

/** What it does, each with the document that says more. */
const FEATURES = [
  {
    icon: "M4 6h16M4 12h10M4 18h13",
    title: "A record with no holes",
    says: "Telemetry is an append-only stream per machine and repository. A missing entry shows as a gap, a changed one as a rollback; both versions stay.",
    path: "/docs/using-the-api#telemetry",
  },
  {
    icon: "M5 4h9l5 5v11H5zM14 4v5h5M8.5 13h7M8.5 16.5h5",
    title: "A brain that survives resets",
    says: "The markdown that agents work from is kept in versions: search it, compare two versions, and see which machine sent which.",
    path: "/docs/using-the-api#brain",
  },
  {
    icon: "M4 6h7M7 12h9M12 18h8",
    title: "Sessions you can read",
    says: "Prompts, tool calls, edits and commits as one timeline, down to the single span.",
    path: "/docs/using-the-api#agent-traces",
  },
  {
    icon: "M6 6h.01M6 6a2 2 0 1 0 0 .01M18 18a2 2 0 1 0 0 .01M6 8v4a4 4 0 0 0 4 4h6",
    title: "Defects led back to prompts",
    says: "An entry in the errors file is compared with the sessions before it, and put down to the one that caused it, with how sure that is.",
    path: "/docs/causes",
  },
  {
    icon: "M5 19V11M10 19V5M15 19v-6M20 19V8",
    title: "What it costs",
    says: "Each usage counted once, however often agents repeat it, at dated list prices or your own. What has no price is shown as such.",
    path: "/docs/spend",
  },
  {
    icon: "M4 8l8-4 8 4v8l-8 4-8-4zM4 8l8 4 8-4M12 12v8",
    title: "Lessons to share",
    says: "Teams publish prevention rules as packs, checked for secrets. Trust is ranked by a formula that explains itself.",
    path: "/docs/marketplace",
  },
  {
    icon: "M12 3l7.5 3v5.5c0 4.5-3 7.6-7.5 9.5-4.5-1.9-7.5-5-7.5-9.5V6zM9 12l2.2 2.2L15.2 10",
    title: "Secrets stay out",
    says: "Keys and passwords are taken out before anything reaches disk, log or error. A raw key in a brain file refuses the whole snapshot.",
    path: "/docs/redaction",
  },
  {
    icon: "M9.5 14.5l5-5M8 11l-2.5 2.5a3.5 3.5 0 0 0 5 5L13 16M11 8l2.5-2.5a3.5 3.5 0 0 1 5 5L16 13",
    title: "Proof for the auditor",
    says: "Every delivery is chained to the one before. Note the head of the chain today, and prove next year that nothing was altered.",
    path: "/docs/operate#is-all-well",
  },
  {
    icon: "M8 18.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10.5 12.5L19.5 3.5M16 7l2.5 2.5",
    title: "Licences without a network",
    says: "Signed here, checked anywhere with one public key: no server, no clock but your own, plain openssl if you like.",
    path: "/docs/air-gap",
  },
] as const;

const PATHS = [
  {
    title: "You write an agent",
    says: "Send what it does, read the policy, search the brain.",
    links: [
      ["/docs/using-the-api", "The API in use"],
      ["/docs/api", "API reference"],
      ["/docs/testing-agents", "A local instance to test against"],
      ["/openapi.json", "openapi.json"],
    ],
  },
  {
    title: "You answer for a team",
    says: "Connect machines, set the policy, read the record.",
    links: [
      ["/docs/dashboard", "The dashboard"],
      ["/docs/redaction", "What is taken out"],
      ["/marketplace", "Brain packs of other teams"],
      ["/docs/air-gap", "Licences offline"],
    ],
  },
  {
    title: "You run this server",
    says: "One executable, one SQLite file, one signing key.",
    links: [
      ["/docs/operate", "Operating it"],
      ["/docs/configuration", "Every setting"],
      ["/docs/security", "Security"],
      ["/api/health", "Is it well?"],
    ],
  },
] as const;

const PROMISES = [
  ["200 means stored", "What was acknowledged survives a power cut: committed and synced to disk before the reply."],
  ["Resending is harmless", "What is there already is recognised, so a retry never counts twice."],
  ["Nothing calls out", "No telemetry of its own, no fonts or scripts from elsewhere, no licence server."],
] as const;

const connectLine = (base: string) =>
  `curl ${base}/api/connect/exchange -H 'content-type: application/json' \\\n  -d '{"code":"YOUR-CODE","consent":{"version":"1"}}'`;
const sendLine = (base: string) =>
  `curl ${base}/api/telemetry/ingest -H "authorization: Bearer $DEVICE_TOKEN" -H 'content-type: application/json' \\\n  -d '{"entries":[{"seq":1,"payload":{"type":"prompt","text":"Fix the login test"}}]}'`;

const CONNECT =
  "Any agent, or a script beside it, can report: all it takes are HTTP requests. No capture client ships with Reckon yet. An admin mints a one-time code under Devices; the machine trades it for a token, and sends with it what the agent does.";

/** A picture of a stream, in which one gap shows. What it says is said again in the text beside it. */
const LEDGER_ROWS = [
  { seq: "41", kind: "prompt", says: "Fix the login test", hash: "9c1e…a4" },
  { seq: "42", kind: "tool", says: "read src/login.ts", hash: "07b3…5d" },
  { seq: "43", kind: "edit", says: "src/login.ts, lines 10 to 14", hash: "e2f8…91" },
  { seq: "44–45", kind: "gap", says: "two entries have not arrived", hash: "" },
  { seq: "46", kind: "commit", says: "4f2c81d Set the cookie’s path", hash: "b65a…0c" },
] as const;

function ledgerPicture(): Html {
  return html`<figure class="ledger" aria-label="A stream of five entries, between which two are missing">
<figcaption><span>build-agent-3</span><span>github.com/acme/shop</span></figcaption>
<ol>${LEDGER_ROWS.map(({ seq, kind, says, hash }) => html`<li class="${kind}"><span class="seq">${seq}</span><span class="kind">${kind}</span><span class="what">${says}</span><span class="hash">${hash}</span></li>`)}</ol>
<p class="ledger-foot">chained · redacted · kept here</p></figure>`;
}

function homeHtml(call: Visit): Html {
  const { href, baseUrl, session, core } = call;
  const enter = session
    ? html`<a class="button primary large" href="${href("/overview")}">Open the dashboard</a>`
    : html`<a class="button primary large" href="${href("/login")}">Sign in</a>`;
  return html`<section class="hero"><div><h1>${TITLE}</h1><p class="hero-says">${SAYS}</p>
<p class="actions">${enter}<a class="button large" href="${href("/docs")}">Read the documentation</a></p>
${!session && !hasUsers(core) && html`<p class="says">Nobody has an account yet: the set-up link stands in the server’s output.</p>`}</div>
${ledgerPicture()}</section>
<section class="band" id="connect"><h2>Connect a machine</h2><p class="says">${CONNECT}</p>
<ol class="steps"><li>${codeBlock(connectLine(baseUrl), { label: "1 · Trade the code for a device token", titled: true })}</li>
<li>${codeBlock(sendLine(baseUrl), { label: "2 · Report what the agent does", titled: true })}</li></ol></section>
<section class="band"><h2>What it keeps, and how</h2><ul class="features">${FEATURES.map(
    ({ icon, title, says, path }) =>
      html`<li><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="${icon}"/></svg><h3><a href="${href(path)}">${title}</a></h3><p>${says}</p></li>`,
  )}</ul></section>
<section class="band promises"><h2 class="vh">What it promises</h2><dl>${PROMISES.map(([title, says]) => html`<div><dt>${title}</dt><dd>${says}</dd></div>`)}</dl></section>
<section class="band"><h2>Where to go on</h2><div class="paths">${PATHS.map(
    ({ title, says, links }) =>
      html`<div><h3>${title}</h3><p class="says">${says}</p><ul>${links.map(([path, label]) => html`<li><a href="${href(path)}">${label}</a></li>`)}</ul></div>`,
  )}</div></section>`;
}

function homeMarkdown({ baseUrl }: Visit): string {
  const linked = (path: string) => baseUrl + (/^\/docs\/[^#]+$/.test(path) ? twinOf(path) : path);
  return [
    "# Reckon",
    `**${TITLE}** ${SAYS}`,
    "## Connect a machine",
    CONNECT,
    fence(connectLine(baseUrl), "sh"),
    fence(sendLine(baseUrl), "sh"),
    "## What it keeps, and how",
    bullets(FEATURES.map(({ title, says, path }) => `[${title}](${linked(path)}): ${says}`)),
    "## What it promises",
    bullets(PROMISES.map(([title, says]) => `**${title}.** ${says}`)),
    "## Where to go on",
    ...PATHS.flatMap(({ title, says, links }) => [
      `### ${title}`,
      says,
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
