/**
 * Single sign-on by OpenID Connect: issuers that vouch for people, what their groups mean here, and signing in by them.
 * Not here: passwords and links (sign-in), sessions once they began (web-sessions), the pages that a person sees on the way.
 */
export { acceptVouched, eraseIdentities, identityUser, type Link, linksOf, linkVouched, unlink } from "./accept.ts";
export { ATTEMPT_MS } from "./attempt.ts";
export { beginSso, callbackPath, finishSso } from "./begin.ts";
export {
  addIssuer,
  blockedBy,
  changeIssuer,
  countIdentities,
  findIssuer,
  getIssuer,
  groupLine,
  type Issuer,
  type IssuerChange,
  issuerOfDomain,
  listIssuers,
  removeIssuer,
  rolesBy,
} from "./issuers.ts";
export { waysIn } from "./take-over.ts";
