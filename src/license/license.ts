/**
 * Licences: the signing keys, what a subscription entitles to, and the signed statement of it that verifies offline.
 * Not here: subscriptions themselves (accounts), or any licence check of Reckon's own features.
 */
export { ensureSigningKey, exportKeys, findPublicKey, hasSigningKey, listKeys, rotateKey } from "./keys.ts";
export { licenseFor, mintLicense, verifyLicense } from "./mint.ts";
export { judgeSubscription } from "./rules.ts";
