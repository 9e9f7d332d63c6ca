/**
 * Second factor: authenticator apps, passkeys and recovery codes, which a person proves after the password.
 * Not here: the password (sign-in), which teams demand one (teams), which sign-ins had one (web-sessions).
 */
export { newChallenge, openPending, PENDING_MS, sealPending } from "./challenges.ts";
export {
  addApp,
  addPasskey,
  beginApp,
  beginPasskey,
  credentialIds,
  eraseFactors,
  type Factor,
  hasFactor,
  listFactors,
  type NewApp,
  recoveryCodesLeft,
  removeFactor,
  renewCodes,
  resetFactors,
  sameApp,
} from "./factors.ts";
export { type Answer, verifyFactor } from "./verify.ts";
export type { RelyingParty } from "./webauthn.ts";
