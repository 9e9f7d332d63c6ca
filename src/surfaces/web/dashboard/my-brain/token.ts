import * as v from "valibot";
import { KINDS } from "../../../../formats/brain-kinds.ts";
import { createReadToken, type IssuedReadToken } from "../../../../identity/read-tokens/read-tokens.ts";
import { getTeam, tierHas } from "../../../../identity/teams/teams.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { page } from "../../../../platform/http/page.ts";
import { listRepositories } from "../../../../record/brain/brain.ts";
import { buttonLink } from "../../ui/button.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { codeBlock, facts, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { number, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, type Person } from "../shared/call.ts";
import { handleForm, lifetimeField } from "../shared/forms.ts";
import { KIND_NAMES, scopeWords } from "./labels.ts";

/** Making a personal read token: what it may read and for how long, then the token, once. */

const DEFAULT_DAYS = "90";
/** Repositories named as suggestions, and teams looked into for them. */
const MAX_SUGGESTED = 20;
const MAX_TEAMS_ASKED = 10;

const TITLE = "New read token";

const lines = v.pipe(
  typed,
  v.transform((text) =>
    text
      .split(/\r\n|\r|\n/)
      .map((line) => line.trim())
      .filter(Boolean),
  ),
);

const READ_TOKEN = formSpec({
  name: {
    kind: "text",
    label: "Name",
    hint: "What you will recognise it by, such as the tool that uses it.",
    required: true,
    maxLength: 100,
    autocomplete: "off",
  },
  teams: {
    kind: "checkboxes",
    name: "team",
    label: "Teams",
    hint: "None ticked: all your teams, those you join later too. Leaving a team ends its part at once.",
    options: [],
  },
  kinds: {
    kind: "checkboxes",
    name: "kind",
    label: "Kinds of files",
    hint: "None ticked: all kinds.",
    options: KINDS.map((kind) => ({ value: kind, label: KIND_NAMES[kind] })),
  },
  repos: { kind: "textarea", label: "Repositories", rows: 3, mono: true, schema: lines },
  paths: {
    kind: "textarea",
    label: "Paths",
    hint: html`One glob a line; empty for all. <code>*</code> stays within a folder, <code>**</code> goes into folders: <code>docs/**</code>, <code>.claude/brain/*.md</code>.`,
    rows: 3,
    mono: true,
    schema: lines,
  },
  days: lifetimeField("A read token"),
});

/** Keys of repositories that the person's teams have, for them to copy. */
function knownRepositories({ core, session }: Person): string[] {
  const keys = session.teams
    .filter(({ role }) => role !== "own_only")
    .slice(0, MAX_TEAMS_ASKED)
    .flatMap(({ id }) => listRepositories(core, id));
  return [...new Set(keys.map(({ repoKey }) => repoKey).filter(Boolean))].sort().slice(0, MAX_SUGGESTED);
}

const unread = (ownOnly: boolean, hasBrain: boolean): string | undefined => {
  if (ownOnly) return "You see only your own record there: there is nothing to read.";
  return hasBrain ? undefined : "Its tier has no brain: there is nothing to read.";
};

function teamOptions({ core, session }: Person) {
  return session.teams.map(({ id, name, role }) => ({
    value: id,
    label: name,
    hint: unread(role === "own_only", tierHas(getTeam(core, id).tier, "brain")),
  }));
}

function newTokenPage(call: Person, error?: FormError): Html {
  const { session, href } = call;
  const known = knownRepositories(call);
  const suggestions: Content =
    known.length > 0 && html` Your teams have ${known.map((key, i) => html`${i > 0 && ", "}<code>${key}</code>`)}.`;
  const main = html`${pageHead({
    title: TITLE,
    intro:
      "It lets a tool of yours read your teams’ brains. By MCP it also reads which prompts lines of code come from, and spend, unless you narrow it to paths or kinds. Whatever you narrow it by, it never reads more than you may read yourself.",
    crumbs: [{ label: "Read tokens", href: href("/my-brain") }, { label: TITLE }],
  })}
<div class="card">${READ_TOKEN.draw(call, {
    action: "/my-brain/tokens",
    values: { days: DEFAULT_DAYS },
    error,
    vary: {
      teams: session.teams.length > 0 && { options: teamOptions(call) },
      repos: { hint: html`One key a line, exactly as the agent sends it; empty for all.${suggestions}` },
    },
    submit: "Make the token",
    beside: buttonLink("Cancel", href("/my-brain"), { look: "quiet" }),
  })}</div>`;
  return frame(call, { title: TITLE, main });
}

function issuedPage(call: Person, name: string, { token, scope, expiresAt }: IssuedReadToken): Html {
  const { core, session, baseUrl, href } = call;
  const title = "Your new read token";
  const curl = `curl -sG ${baseUrl}/api/me/brain/context \\
  -H "Authorization: Bearer ${token}" \\
  --data-urlencode "q=what broke last week"`;
  const mcp = `claude mcp add --transport http reckon ${baseUrl}/mcp --header "Authorization: Bearer ${token}"`;
  const main = html`${pageHead({ title, crumbs: [{ label: "Read tokens", href: href("/my-brain") }, { label: title }] })}
${secretOnce({
  label: name,
  value: token,
  intro:
    "Copy it now: only its fingerprint is kept here, so it is never shown again. Give it to the tool that needs it, as a secret. If it is lost, revoke it and make another.",
})}
${section({ title: "Try it", body: codeBlock(curl, { label: "A question to your brain" }) })}
${section({
  title: "In an agent",
  intro: html`Agents read by MCP: <a href="${href("/docs/mcp")}">the line for each</a>.`,
  body: codeBlock(mcp, { label: "Claude Code", titled: true, wrap: true }),
})}
${facts([
  { label: "May read", value: scopeWords(scope, session.teams) },
  { label: "Expires", value: time(expiresAt, core.clock.now()) },
  { label: "Reads a day", value: `${number(core.config.limitReadDaily)} at most, counted from midnight UTC` },
])}
<p>${buttonLink("Done", href("/my-brain"))}</p>`;
  return frame(call, { title, main });
}

const mint = (call: Person) =>
  handleForm(
    call,
    READ_TOKEN,
    async ({ name, days, ...scope }) => {
      const { core, session } = call;
      const desired = { userId: session.userId, name, scope, lifetimeMs: days * DAY_MS };
      return issuedPage(call, name.trim(), await createReadToken(core, desired, by(call)));
    },
    (error) => newTokenPage(call, error),
  );

export const readTokenPages = [
  page({ id: "newReadToken", method: "GET", path: "/my-brain/tokens/new", access: "person", own: true }, (call) =>
    newTokenPage(call),
  ),
  page({ id: "createReadToken", method: "POST", path: "/my-brain/tokens", access: "person", own: true }, mint),
];
