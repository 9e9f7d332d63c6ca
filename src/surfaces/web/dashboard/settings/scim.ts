import {
  createScimToken,
  listScimTokens,
  revokeScimToken,
  type ScimTokenFacts,
} from "../../../../identity/directory/directory.ts";
import { SCIM_PATH } from "../../../../identity/scim/scim.ts";
import { getIssuer, type Issuer } from "../../../../identity/sso/sso.ts";
import { html } from "../../../../kit/html.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { button, buttonLink } from "../../ui/button.ts";
import { confirmButton, hiddenInputs } from "../../ui/confirm.ts";
import { table } from "../../ui/list.ts";
import { codeBlock, empty, secretOnce, section } from "../../ui/parts.ts";
import { ago } from "../../ui/units.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { ID, readParams } from "../shared/params.ts";
import { settingsFrame } from "./parts.ts";

/** The provisioning of an issuer's directory: where it sends what, and its tokens. */

const ISSUERS = "/settings/sso";
const pathOf = ({ name }: Issuer) => `${ISSUERS}/${name}/scim`;

const addressOf = ({ baseUrl }: ByOperator) => `${baseUrl}${SCIM_PATH}`;

/** The part of an issuer's page. */
export function scimSection(call: ByOperator, issuer: Issuer) {
  const { core } = call;
  const now = core.clock.now();
  const tokens = listScimTokens(core, issuer.id);
  return section({
    title: "Provisioning (SCIM)",
    actions:
      tokens.length < 2 &&
      html`<form method="post" action="${call.href(pathOf(issuer))}">${hiddenInputs({ _csrf: call.csrf })}${button("Make a token")}</form>`,
    body: html`${codeBlock(addressOf(call), { label: "Tenant URL", titled: true })}
${table({
  caption: "SCIM tokens",
  columns: [
    { label: "Token", heading: true, grow: true, cell: ({ id }: ScimTokenFacts) => html`<code>${id}</code>` },
    { label: "Made", cell: ({ createdAt }) => ago(createdAt, now, "never") },
    { label: "Last used", cell: ({ lastUsedAt }) => ago(lastUsedAt, now, "never") },
    { label: "Actions", hidden: true, cell: (token) => revocation(call, issuer, token) },
  ],
  rows: tokens,
  empty: empty({
    title: "No SCIM token yet",
    intro: "With one, the directory adds people, changes and closes accounts.",
  }),
})}`,
  });
}

const revocation = (call: ByOperator, issuer: Issuer, { id }: ScimTokenFacts) =>
  confirmButton(call, {
    action: `${pathOf(issuer)}/revoke`,
    hidden: { id },
    label: html`Revoke<span class="vh"> ${id}</span>`,
    question: `Revoke this token? The directory of ${issuer.label} is refused with it from now on.`,
    confirm: "Revoke token",
    small: true,
  });

function issuedPage(call: ByOperator, issuer: Issuer, token: string) {
  const { href } = call;
  const back = `${ISSUERS}/${issuer.name}`;
  const crumbs = [
    { label: "Single sign-on", href: href(ISSUERS) },
    { label: issuer.name, href: href(back) },
    { label: "SCIM token" },
  ];
  const body = html`${secretOnce({
    label: `SCIM token of ${issuer.label}`,
    value: token,
    intro: "Copy it now: only its fingerprint is kept here, so it is never shown again.",
  })}
${codeBlock(addressOf(call), { label: "Tenant URL", titled: true })}
<p>${buttonLink("Done", href(back))}</p>`;
  return settingsFrame(call, { title: "Your new SCIM token", intro: issuer.label, body, crumbs });
}

/** The issuer that stands in an address. @throws Problem 404 */
export const issuerIn = ({ core, params }: ByOperator) => getIssuer(core, String(params.name));

export const scimSettingsPages = [
  page({ id: "createScimToken", method: "POST", path: `${ISSUERS}/:name/scim`, access: "operator" }, async (call) => {
    const issuer = issuerIn(call);
    return issuedPage(call, issuer, (await createScimToken(call.core, issuer, by(call))).token);
  }),
  page(
    { id: "revokeScimToken", method: "POST", path: `${ISSUERS}/:name/scim/revoke`, access: "operator" },
    async (call) => {
      const issuer = issuerIn(call);
      const revoked = await revokeScimToken(call.core, issuer, readParams(ID, call.form).id, by(call));
      return redirect(`${ISSUERS}/${issuer.name}`, revoked ? "The token is revoked." : "The token was revoked before.");
    },
  ),
];
