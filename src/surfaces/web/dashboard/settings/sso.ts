import * as v from "valibot";
import {
  addIssuer,
  blockedBy,
  callbackPath,
  changeIssuer,
  countIdentities,
  groupLine,
  type Issuer,
  listIssuers,
  removeIssuer,
} from "../../../../identity/sso/sso.ts";
import { html } from "../../../../kit/html.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, trimmed, typed, type Values } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { anchor, codeBlock, empty, section } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { changedFields, drawnWith, handleForm } from "../shared/forms.ts";
import { settingsFrame } from "./parts.ts";
import { issuerIn, scimSection, scimSettingsPages } from "./scim.ts";

/** Issuers of single sign-on, for who runs the installation. */

const PATH = "/settings/sso";
/** A thousand groups by their distinguished names, as they are and as they were when the form was drawn. */
const MAX_FORM_BYTES = 1024 * 1024;

/** Domains in the form in which they are stored, so that sending the same form again changes nothing. */
const domains = v.pipe(
  typed,
  v.transform((text) =>
    text
      .split(/[\n,]/)
      .map((one) => one.trim().toLowerCase().replace(/^@/, ""))
      .filter(Boolean),
  ),
);

const FIELDS = {
  label: { kind: "text", label: "Label", hint: "On the button of the sign-in page.", maxLength: 100, schema: trimmed },
  issuer: {
    kind: "text",
    label: "Issuer",
    hint: "As its metadata names it, e.g. https://login.example.com/realms/acme",
    required: true,
    maxLength: 500,
    autocomplete: "off",
    schema: trimmed,
  },
  clientId: {
    kind: "text",
    label: "Client id",
    required: true,
    maxLength: 500,
    autocomplete: "off",
    schema: trimmed,
  },
  clientSecret: {
    kind: "password",
    label: "Client secret",
    hint: "Empty: a public client, or the present secret stays.",
    autocomplete: "off",
  },
  scopes: { kind: "text", label: "Scopes", hint: "Beside openid.", maxLength: 500, schema: trimmed },
  groupsClaim: { kind: "text", label: "Groups claim", maxLength: 200, schema: trimmed },
  groups: {
    kind: "textarea",
    label: "Groups",
    hint: "A line each: GROUP=TEAM:ROLE, with owner, admin, member, viewer or own-only. * is everybody.",
    rows: 5,
    schema: v.pipe(
      typed,
      v.transform((text) =>
        text
          .split("\n")
          .map((line) => line.trim())
          .filter(Boolean),
      ),
    ),
  },
  domains: {
    kind: "text",
    label: "E-mail domains",
    hint: "Separated by commas: an account is linked or made for addresses of these.",
    maxLength: 2000,
    schema: domains,
  },
  jit: {
    kind: "checkbox",
    value: "yes",
    label: "Make an account for who has none",
    hint: "For people whom a group puts into a team.",
  },
  trustEmail: {
    kind: "checkbox",
    value: "yes",
    label: "Take its e-mail addresses as verified",
    hint: "For issuers that do not say so, where only administrators set addresses.",
  },
  sessionHours: {
    kind: "number",
    label: "Hours until it is asked again",
    schema: v.pipe(typed, v.transform(Number), v.integer("Say a number of hours.")),
  },
} as const;

const CHANGE = formSpec(FIELDS);
const ADD = formSpec({
  name: {
    kind: "text",
    label: "Name",
    hint: "In addresses: lower-case letters, digits, hyphens.",
    required: true,
    maxLength: 40,
    autocomplete: "off",
    schema: trimmed,
  },
  ...FIELDS,
});

const changeOf = ({ clientSecret, label, ...rest }: Partial<Values<typeof FIELDS>>) => ({
  ...rest,
  ...(label ? { label } : {}),
  ...(clientSecret ? { clientSecret } : {}),
});

function issuersPage(call: ByOperator, error?: FormError) {
  const { core, href } = call;
  const blocked = listIssuers(core)
    .map((issuer) => blockedBy(core, issuer))
    .filter((one) => one !== undefined);
  const body = html`${[...new Set(blocked)].map((text) => html`<div class="flash warn" role="status">${text}</div>`)}${table(
    {
      caption: "Single sign-on",
      columns: [
        {
          label: "Name",
          heading: true,
          cell: ({ name, label }) =>
            html`${anchor(href(`${PATH}/${name}`), name)} <small class="muted">${label}</small>`,
        },
        { label: "Issuer", grow: true, cell: ({ issuer }) => issuer },
        { label: "Groups", numeric: true, cell: ({ groups }) => number(groups.length) },
        { label: "People", numeric: true, cell: ({ id }) => number(countIdentities(core, id)) },
      ],
      rows: listIssuers(core),
      empty: empty({
        title: "No single sign-on yet",
        intro: "People then sign in as they do everywhere else, and their groups put them into teams.",
      }),
    },
  )}
${section({
  title: "Add an issuer",
  intro: html`Register ${call.baseUrl} there as a web application, with the redirect address <code>${call.baseUrl}${callbackPath("NAME")}</code>.`,
  framed: true,
  body: ADD.draw(call, {
    action: PATH,
    values: { scopes: "email profile", groupsClaim: "groups", sessionHours: "24" },
    error,
    submit: "Add",
  }),
})}`;
  const actions = buttonLink("How it works", href("/docs/sso"));
  return settingsFrame(call, {
    title: "Single sign-on",
    intro: "Who vouches for people, and what their groups mean here.",
    body,
    actions,
  });
}

type Change = Omit<Values<typeof FIELDS>, "clientSecret" | "domains"> & { readonly domains: readonly string[] };

/** What stands in its form, but for the secret. */
const shownOf = ({ label, issuer, clientId, scopes, groupsClaim, groups, domains, ...rest }: Change) => ({
  ...{ label, issuer, clientId, scopes, groupsClaim, groups: groups.join("\n"), domains: domains.join(", ") },
  ...{ jit: String(rest.jit), trustEmail: String(rest.trustEmail), sessionHours: String(rest.sessionHours) },
});

const shownNow = ({ core }: ByOperator, issuer: Issuer) =>
  shownOf({ ...issuer, groups: issuer.groups.map((one) => groupLine(core, one)) });

function issuerPage(call: ByOperator, issuer: Issuer, error?: FormError) {
  const { core, baseUrl, href } = call;
  const shown = shownNow(call, issuer);
  const { jit, trustEmail } = issuer;
  const form = CHANGE.draw(call, {
    action: `${PATH}/${issuer.name}`,
    values: { ...shown, jit, trustEmail },
    hidden: drawnWith(shown, call, error),
    error,
    submit: "Save",
  });
  const body = html`${codeBlock(`${baseUrl}${callbackPath(issuer.name)}`, { label: "Redirect address", titled: true })}
${section({ title: "Settings", framed: true, body: form })}
${scimSection(call, issuer)}
${section({
  title: "Remove",
  framed: true,
  body: confirmButton(call, {
    action: `${PATH}/${issuer.name}/remove`,
    label: "Remove this single sign-on",
    question: `Remove ${issuer.label}? Its ${number(countIdentities(core, issuer.id))} people are signed out, and leave the teams that its groups gave them. Accounts stay.`,
    confirm: "Remove",
  }),
})}`;
  const crumbs = [{ label: "Single sign-on", href: href(PATH) }, { label: issuer.name }];
  return settingsFrame(call, { title: issuer.label, intro: issuer.issuer, body, crumbs });
}

export const ssoSettingsPages = [
  page({ id: "ssoIssuers", method: "GET", path: PATH, access: "operator" }, (call) => issuersPage(call)),
  page({ id: "addSsoIssuer", method: "POST", path: PATH, access: "operator", maxFormBytes: MAX_FORM_BYTES }, (call) =>
    handleForm(
      call,
      ADD,
      async ({ name, ...values }) => {
        await addIssuer(call.core, name, changeOf(values), by(call));
        return redirect(`${PATH}/${name}`, "Added. Try it: sign in with it in another browser.");
      },
      (error) => issuersPage(call, error),
    ),
  ),
  page({ id: "ssoIssuer", method: "GET", path: `${PATH}/:name`, access: "operator" }, (call) =>
    issuerPage(call, issuerIn(call)),
  ),
  page(
    { id: "changeSsoIssuer", method: "POST", path: `${PATH}/:name`, access: "operator", maxFormBytes: MAX_FORM_BYTES },
    (call) =>
      handleForm(
        call,
        CHANGE,
        async ({ clientSecret, ...sent }) => {
          const issuer = issuerIn(call);
          const { name } = issuer;
          const now = shownNow(call, issuer);
          const mine = changedFields(
            call,
            now,
            shownOf(sent),
            (field) => `${FIELDS[field].label} is other than it was`,
          );
          const change = Object.fromEntries(mine.map((field) => [field, sent[field]]));
          await changeIssuer(call.core, name, changeOf({ ...change, clientSecret }), by(call));
          return redirect(`${PATH}/${name}`, "Saved. It counts from the next sign-in on.");
        },
        (error) => issuerPage(call, issuerIn(call), error),
      ),
  ),
  page({ id: "removeSsoIssuer", method: "POST", path: `${PATH}/:name/remove`, access: "operator" }, async (call) => {
    await removeIssuer(call.core, issuerIn(call).name, by(call));
    return redirect(PATH, "Removed.");
  }),
  ...scimSettingsPages,
];
