import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { download, type PageCall, page } from "../../../../platform/http/page.ts";
import { findPublicKey, listKeys } from "../../../../platform/keys/keys.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { badge, codeBlock, empty, section } from "../../ui/parts.ts";
import { time } from "../../ui/units.ts";

/** What the file of a public key is called. */
export const pemFilename = (kid: string) => `reckon-key-${kid.replace(/\W/g, "").slice(0, 8)}.pem`;

/** The keys that sign here or did, with their public halves. */
export function keySection({ core, href }: PageCall<"member" | "admin">, now: number): Html {
  return section({
    title: "Signing keys",
    intro: html`They sign this installation’s licences and access tokens. Retired ones stay published, so that what they signed still verifies.`,
    actions: html`${buttonLink("JWK set", href("/.well-known/jwks.json"), { small: true })}${buttonLink("Public key as JSON", href("/api/license/pubkey"), { small: true })}`,
    body: html`${table({
      caption: "Signing keys",
      columns: [
        { label: "Key id", heading: true, grow: true, cell: ({ kid }) => html`<span class="mono">${kid}</span>` },
        { label: "Algorithm", cell: ({ alg }) => alg },
        {
          label: "State",
          cell: ({ retiredAt }) => (retiredAt === null ? badge("good", "signs") : badge("neutral", "retired")),
        },
        { label: "Made", cell: ({ createdAt }) => time(createdAt, now) },
        { label: "Retired", cell: ({ retiredAt }) => time(retiredAt, now) },
        {
          label: "Public key",
          hidden: true,
          cell: ({ kid }) =>
            html`<a class="button small" href="${href(`/license/keys/${kid}`)}" download>PEM<span class="vh"> of key ${kid.slice(0, 8)}</span></a>`,
        },
      ],
      rows: listKeys(core),
      empty: empty({ title: "No key yet", intro: "The first one is made when signing is switched on." }),
    })}<p class="says">Whoever runs this installation makes a new one with <code>reckon key rotate</code>.</p>`,
  });
}

export const publicKeyPage = page(
  { id: "publicKey", method: "GET", path: "/license/keys/:kid", access: "member" },
  ({ core, params }) => {
    const kid = params.kid ?? "";
    const pem = findPublicKey(core, kid);
    if (pem === undefined) fail(notFound, "This installation never had a signing key of this name.");
    return download(pemFilename(kid), "application/x-pem-file", pem);
  },
);

/** The check of a licence with nothing but openssl (RFC 7515 section 5.2): the signature, then what was signed. */
const opensslRecipe = (file: string, pem: string) => `b64url() {
  local s; s=$(tr '_-' '/+')
  while [ $(( \${#s} % 4 )) -ne 0 ]; do s="$s="; done
  printf %s "$s" | openssl base64 -d -A
}
IFS=. read -r head claims signature < ${file}
printf %s "$signature" | b64url > signature.bin
printf %s "$head.$claims" | openssl dgst -sha256 -verify ${pem} -signature signature.bin
printf %s "$head"   | b64url; echo
printf %s "$claims" | b64url; echo`;

/** @param file name of the downloaded licence @param pem name of the downloaded public key */
export function checkCommands(file: string, pem: string): Html {
  return html`<div class="stack">${codeBlock(`reckon license verify ${file} --pubkey ${pem}`, { label: "With Reckon", titled: true })}
<details id="openssl"><summary>With openssl alone</summary><div class="stack">
${codeBlock(opensslRecipe(file, pem), { label: "In bash, with openssl" })}
<p class="says">The third command must print <code>Verified OK</code>. The header must then say <code>"alg":"RS256"</code> and <code>"typ":"license+jwt"</code>, the claims <code>"aud":"reckon:license"</code>, and <code>exp</code> (seconds since 1970) must lie ahead: compare it with <code>date +%s</code>. The signature alone only proves who signed.</p>
</div></details></div>`;
}
