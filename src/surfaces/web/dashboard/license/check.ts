import { type Html, html } from "../../../../kit/html.ts";
import { codeBlock } from "../../ui/parts.ts";

/** How a licence is checked where there is no network: commands that work as they stand with the files downloaded here. */

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
