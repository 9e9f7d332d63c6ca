/**
 * Licences: the signing keys, what a subscription entitles to, and the signed statement of it that verifies offline.
 * Not here: subscriptions themselves (teams), or any licence check of Reckon's own features.
 */
export { issueLicense, MAX_LICENSE_DAYS } from "./issue.ts";
export { ensureSigningKey, exportKeys, findPublicKey, hasSigningKey, listKeys, rotateKey } from "./keys.ts";
export { licenseFor, verifyLicense } from "./mint.ts";
export { type Entitlement, GRACE_DAYS, judgeSubscription } from "./rules.ts";
