import * as v from "valibot";
import {
  type ApiScope,
  type ApiTokenFacts,
  apiReads,
  createApiToken,
  type IssuedApiToken,
  listApiTokens,
  MAX_LIFETIME_DAYS,
  revokeApiToken,
} from "../../../../identity/api-tokens/api-tokens.ts";
import { findUser } from "../../../../identity/people/people.ts";
import { getTeam } from "../../../../identity/teams/teams.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import type { Watch } from "../../../../platform/rooms/rooms.ts";
import { buttonLink } from "../../ui/button.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, codeBlock, empty, facts, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { ago, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by } from "../shared/call.ts";
import { dueConcerns } from "../shared/due.ts";
import { handleForm, lifetimeField, revokeToken } from "../shared/forms.ts";
import { ID, readParams } from "../shared/params.ts";

/** The team's API tokens, for its owners and admins: making, seeing what they are used for, ending them. */

type Admin = PageCall<"admin">;

const TITLE = "API tokens";
const PATH = "/api-tokens";
const SHOWN = 200;

const SCOPE_LABELS = { read: "Read", admin: "Admin" } as const satisfies Record<ApiScope, string>;
const SCOPES = ["read", "admin"] as const satisfies readonly ApiScope[];

const API_TOKEN = formSpec({
  name: {
    kind: "text",
    label: "Name",
    hint: "What the team will recognise it by, such as the program that uses it.",
    required: true,
    maxLength: 100,
    autocomplete: "off",
  },
  scope: {
    kind: "select",
    label: "Scope",
    hint: `Admin also runs commands from elsewhere, as an admin of the team; ${MAX_LIFETIME_DAYS.admin} days at most.`,
    options: SCOPES.map((value) => ({ value, label: SCOPE_LABELS[value] })),
    schema: v.pipe(typed, v.picklist(SCOPES, "Choose what the token may do.")),
  },
  days: lifetimeField("An API token"),
});

function tokensPage(call: Admin, error?: FormError): Html {
  const { core, session, href } = call;
  // Tokens that can be revoked come first, so that none of them is beyond what is shown.
  const tokens = listApiTokens(core, session.team.id).toSorted((a, b) => Number(isOver(a)) - Number(isOver(b)));
  const main = html`${pageHead({
    title: TITLE,
    intro: html`With one, programs read sessions, entries, errors, devices, deliveries, budgets and spend of ${session.team.name}; with the scope admin they administer it as well.`,
    actions: html`${buttonLink("How programs read", href("/docs/read-api"))} ${buttonLink("Remote commands", href("/docs/remote"))}`,
  })}
${section({ title: "Tokens", body: tokenTable(call, tokens.slice(0, SHOWN)) })}
${tokens.length > SHOWN && html`<p class="says">All that work are shown, and of the others the newest.</p>`}
${section({
  title: "New API token",
  intro: "You answer for it: it works while you may manage the team.",
  framed: true,
  body: API_TOKEN.draw(call, { action: PATH, values: { days: "30", scope: "read" }, error, submit: "Make the token" }),
})}`;
  return frame(call, { title: TITLE, main });
}

function tokenTable(call: Admin, tokens: readonly ApiTokenFacts[]): Html {
  const { core } = call;
  const now = core.clock.now();
  return table({
    caption: TITLE,
    columns: [
      {
        label: "Name",
        heading: true,
        grow: true,
        cell: ({ name, userId }) =>
          html`${name}<br><small class="muted">${userId === null ? "nobody’s" : findUser(core, userId)?.email}</small>`,
      },
      { label: "Scope", cell: ({ scopes }) => (scopes.includes("admin") ? SCOPE_LABELS.admin : SCOPE_LABELS.read) },
      {
        label: "State",
        cell: ({ status, revokedAt, expiresAt }) =>
          status === "active"
            ? badge("good", status)
            : html`${badge("neutral", status)} ${status !== "suspended" && time(revokedAt ?? expiresAt, now)}`,
      },
      { label: "Last used", cell: ({ lastUsedAt }) => ago(lastUsedAt, now, "never") },
      { label: "Uses today", numeric: true, cell: ({ id }) => number(apiReads(core, id).today) },
      { label: "Expires", cell: ({ expiresAt }) => time(expiresAt, now) },
      { label: "Actions", hidden: true, cell: (token) => !isOver(token) && revokeToken(call, `${PATH}/revoke`, token) },
    ],
    rows: tokens,
    empty: empty({ title: "No API token yet", intro: "Make one for a report, a warehouse or a board of figures." }),
  });
}

const isOver = ({ status }: ApiTokenFacts): boolean => status === "revoked" || status === "expired";

function issuedPage(call: Admin, name: string, { token, expiresAt, scopes }: IssuedApiToken) {
  const { core, baseUrl, href } = call;
  const title = "Your new API token";
  const isAdmin = scopes.includes("admin");
  const trial = isAdmin
    ? `RECKON_TOKEN=${token} \\\n  reckon --server ${baseUrl} device list`
    : `curl -s ${baseUrl}/api/sessions?limit=5 \\\n  -H "Authorization: Bearer ${token}"`;
  const main = html`${pageHead({ title, crumbs: [{ label: TITLE, href: href(PATH) }, { label: title }] })}
${secretOnce({
  label: name,
  value: token,
  intro:
    "Copy it now: only its fingerprint is kept here, so it is never shown again. Give it to the program that needs it, as a secret. If it is lost, revoke it and make another.",
})}
${section({ title: "Try it", body: codeBlock(trial, { label: isAdmin ? "The team’s devices" : "The newest five sessions" }) })}
${facts([{ label: "Expires", value: time(expiresAt, core.clock.now()) }])}
<p>${buttonLink("Done", href(PATH))}</p>`;
  return frame(call, { title, main });
}

const make = (call: Admin) =>
  handleForm(
    call,
    API_TOKEN,
    async ({ name, scope, days }) => {
      const { core, session } = call;
      const desired = { teamId: session.team.id, userId: session.userId, name, scope, lifetimeMs: days * DAY_MS };
      return issuedPage(call, name.trim(), await createApiToken(core, desired, by(call)));
    },
    (error) => tokensPage(call, error),
  );

export const apiTokenPages = [
  page({ id: "apiTokens", method: "GET", path: PATH, access: "admin" }, (call) => tokensPage(call)),
  page({ id: "createApiToken", method: "POST", path: PATH, access: "admin" }, make),
  page({ id: "revokeApiToken", method: "POST", path: `${PATH}/revoke`, access: "admin" }, async (call) => {
    const { core, session, form } = call;
    const revoked = await revokeApiToken(core, readParams(ID, form).id, by(call), session.team.id);
    return redirect(PATH, revoked ? "The token is revoked." : "The token was revoked before.");
  }),
];

/** Tokens that expire within days: whatever uses them stops then. */
export const watchApiTokens: Watch = (call, _, most) => {
  const due = dueConcerns(call, getTeam(call.core, call.session.team.id), PATH);
  const says = `${plural(due.length, "API token")} about to expire`;
  return [{ count: due.length, says, href: call.href(PATH), list: due.slice(0, most) }];
};
