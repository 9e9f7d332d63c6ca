/**
 * Device flow: how a command-line tool gets a person's access token by device authorization (RFC 8628), and the check of such a token.
 * Not here: people and their browser sign-ins (people, sign-in), the page that asks a person (dashboard), signing keys (license).
 */
export {
  type Authorization,
  decideAuthorization,
  getAuthorization,
  listAuthorizations,
  startAuthorization,
} from "./authorizations.ts";
export { eraseTokensOf } from "./erase.ts";
export { guardUserCode } from "./guesses.ts";
export { createCliToken, endCliTokens, listCliTokens, revokeCliToken, withdrawApprovals } from "./tokens.ts";
