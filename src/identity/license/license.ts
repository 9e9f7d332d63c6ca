/**
 * Licences: what a subscription entitles to, and the signed statement of it, which is verified offline.
 * Not here: the keys that sign it (keys), subscriptions themselves (teams), or any licence check of Reckon's own features.
 */
export { issueLicense, MAX_LICENSE_DAYS } from "./issue.ts";
export { licenseFor, mintLicense, verifyLicense } from "./mint.ts";
export { type Entitlement, GRACE_DAYS, judgeSubscription } from "./rules.ts";
