import { fault } from "../../platform/http/faults.ts";

export const signInOff = fault({
  name: "signInOff",
  status: 503,
  code: "unavailable",
  shape: "retryable",
  says: "Signing is switched off on this server, so no command-line tool can sign in.",
  retryable: false,
});
export const tooManyWaiting = fault({
  name: "tooManyWaiting",
  status: 503,
  code: "unavailable",
  shape: "legacy",
  says: "Too many sign-ins are waiting for an answer. Try again later.",
});
export const signingUnavailable = fault({
  name: "signingUnavailable",
  status: 503,
  code: "unavailable",
  shape: "legacy",
  says: "The token cannot be signed at the moment. The authorization stays as it is; poll again later.",
});

/** The rest is RFC 8628 section 3.5 and RFC 6749 section 5.2: the code itself stands in `error`. */
export const authorizationPending = fault({
  name: "authorizationPending",
  status: 400,
  code: "authorization_pending",
  shape: "rfc8628",
  says: "Nobody has answered yet; poll again after the interval.",
});
export const slowDown = fault({
  name: "slowDown",
  status: 400,
  code: "slow_down",
  shape: "rfc8628",
  says: "Polled before the interval was over; it is five seconds longer from now on.",
});
export const expiredToken = fault({
  name: "expiredToken",
  status: 400,
  code: "expired_token",
  shape: "rfc8628",
  says: "The device code has expired; begin again.",
});
export const invalidGrant = fault({
  name: "invalidGrant",
  status: 400,
  code: "invalid_grant",
  shape: "rfc8628",
  says: "The device code is unknown, was denied, or was redeemed before.",
});
/** Take the place of every endpoint's own `malformed` and `tooLarge`: clients of the flow read nothing but these codes. */
export const malformedGrant = fault({
  name: "malformed",
  status: 400,
  code: "invalid_grant",
  shape: "rfc8628",
  says: "The request is malformed.",
});
export const tooLargeGrant = fault({ ...malformedGrant, name: "tooLarge", says: "The request body is too large." });
