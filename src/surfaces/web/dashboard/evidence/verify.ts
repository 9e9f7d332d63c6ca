import { type Html, html } from "../../../../kit/html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { codeBlock, section } from "../../ui/parts.ts";

/** The commands that somebody outside checks the record with: none of them asks this server to be believed. */

/**
 * Checks the newest checkpoint with openssl alone (version 3): the note's text, the key as DER (RFC 8410), the signature without the
 * key's id.
 * @param key the log's verifier key, `NAME+ID+KEY`
 */
const opensslLines = (baseUrl: string, key: string): string =>
  [
    `curl -sSf ${baseUrl}/ledger/checkpoint > checkpoint && KEY='${key}'`,
    "sed '/^$/,$d' checkpoint > text",
    "{ printf '\\060\\052\\060\\005\\006\\003\\053\\145\\160\\003\\041\\000'; printf %s \"$KEY\" | cut -d+ -f3- | openssl base64 -d -A | tail -c 32; } > key.der",
    `grep -F "— ${key.split("+")[0]} " checkpoint | cut -d' ' -f3 | openssl base64 -d -A | tail -c 64 > signature`,
    "openssl pkeyutl -verify -pubin -keyform DER -inkey key.der -rawin -in text -sigfile signature",
  ].join("\n");

/** How the record is checked. @param key undefined before anything was signed */
export function howToVerify({ baseUrl, href }: PageCall, key: string | undefined): Html | false {
  if (key === undefined) return false;
  const lines = [
    ["A proof or an archive", `reckon ledger check FILE --key '${key}'`],
    ["As a witness, from another machine", `reckon ledger witness --state log.json --key '${key}' ${baseUrl}`],
    ["The checkpoint, with openssl alone", opensslLines(baseUrl, key)],
    ["Everything stored, on the server", "reckon ledger verify"],
  ] as const;
  return section({
    title: "Verify",
    id: "verify",
    intro: html`What each shows, and what none can: <a href="${href("/docs/proofs")}">Proofs</a>`,
    body: html`<div class="stack">${lines.map(([label, text]) => codeBlock(text, { label, titled: true, wrap: true }))}</div>`,
  });
}
