import { confirmPassword } from "../../../../identity/sign-in/sign-in.ts";
import { type Issuer, type Link, linksOf, listIssuers, unlink } from "../../../../identity/sso/sso.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type Page, page, redirect } from "../../../../platform/http/page.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { section } from "../../ui/parts.ts";
import { ago, time } from "../../ui/units.ts";
import { by, type Person } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { ID, readParams } from "../shared/params.ts";
import { continuePage } from "../sign-in/sso.ts";
import { hasPassword } from "./second-factor.ts";

/** The issuers of single sign-on that one's own account is linked to. */

const LINK = formSpec({
  issuer: { kind: "select", label: "Single sign-on", options: [] },
  current: {
    kind: "password",
    label: "Present password",
    hint: "So that nobody links your account to theirs while you are away.",
    autocomplete: "current-password",
  },
});

/** Nothing where no issuer is set up. */
export function ssoSection(call: Person, error?: FormError): Content {
  const { core, session } = call;
  const issuers = listIssuers(core);
  if (issuers.length === 0) return false;
  const links = new Map(linksOf(core, session.userId).map((link) => [link.issuerId, link]));
  const linked = issuers.filter(({ id }) => links.has(id));
  const others = issuers.filter(({ id }) => !links.has(id));
  return section({
    id: "sso",
    title: "Single sign-on",
    body: html`${linked.length > 0 && linkTable(call, linked, links)}
${
  others.length > 0 &&
  html`<div class="card">${LINK.draw(call, {
    action: "/account/sso/link",
    error,
    vary: {
      issuer: { options: others.map(({ id, label }) => ({ value: id, label })) },
      ...(hasPassword(call) ? {} : { current: false as const }),
    },
    submit: "Link my account",
  })}</div>`
}`,
  });
}

function linkTable(call: Person, issuers: readonly Issuer[], links: ReadonlyMap<string, Link>): Html {
  const now = call.core.clock.now();
  return table({
    caption: "Linked to",
    columns: [
      { label: "Linked to", heading: true, cell: ({ label }) => label },
      { label: "Since", cell: ({ id }) => time(links.get(id)?.createdAt ?? null, now) },
      { label: "Last used", cell: ({ id }) => ago(links.get(id)?.lastUsedAt ?? null, now, "never") },
      {
        label: "Actions",
        hidden: true,
        cell: ({ id, label }) =>
          confirmButton(call, {
            action: "/account/sso/unlink",
            hidden: { id },
            label: html`Unlink<span class="vh"> ${label}</span>`,
            question: `End the link to ${label}? The teams that its groups gave you go with it, and sign-ins by it end.`,
            confirm: "Unlink",
            small: true,
          }),
      },
    ],
    rows: issuers,
  });
}

/** @param draw the account's page */
export const ssoAccountPages = (draw: (call: Person, error: FormError) => Html): readonly Page[] => [
  page({ id: "linkSso", method: "POST", path: "/account/sso/link", access: "person", own: true }, (call) =>
    handleForm(
      call,
      LINK,
      async ({ issuer, current }) => {
        if (hasPassword(call)) await confirmPassword(call.core, call.session.userId, current, by(call));
        return continuePage(call, issuer);
      },
      (error) => draw(call, error),
    ),
  ),
  page({ id: "unlinkSso", method: "POST", path: "/account/sso/unlink", access: "person", own: true }, async (call) => {
    await unlink(call.core, call.session.userId, readParams(ID, call.form).id, by(call));
    return redirect("/account#sso", "The link is ended.");
  }),
];
