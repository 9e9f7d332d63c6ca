import { problem } from "../../kit/problem.ts";

export const signInOff = problem({
  name: "signInOff",
  status: 503,
  code: "unavailable",
  message: "Signing is switched off on this server, so no command-line tool can sign in.",
  retryable: false,
});
export const tooManyWaiting = problem({
  name: "tooManyWaiting",
  status: 503,
  code: "unavailable",
  message: "Too many sign-ins are waiting for an answer. Try again later.",
});
export const signingUnavailable = problem({
  name: "signingUnavailable",
  status: 503,
  code: "unavailable",
  message: "The token cannot be signed at the moment. The authorization stays as it is; poll again later.",
});

/** The rest is RFC 8628 section 3.5 and RFC 6749 section 5.2: the code itself stands in `error`. */
export const authorizationPending = problem({
  name: "authorizationPending",
  status: 400,
  code: "authorization_pending",
  message: "Nobody has answered yet; poll again after the interval.",
});
export const slowDown = problem({
  name: "slowDown",
  status: 400,
  code: "slow_down",
  message: "Polled before the interval was over; it is five seconds longer from now on.",
});
export const expiredToken = problem({
  name: "expiredToken",
  status: 400,
  code: "expired_token",
  message: "The device code has expired; begin again.",
});
export const invalidGrant = problem({
  name: "invalidGrant",
  status: 400,
  code: "invalid_grant",
  message: "The device code is unknown, was denied, or was redeemed before.",
});
/** Take the place of every endpoint's own `malformed` and `tooLarge`: clients of the flow read nothing but these codes. */
export const malformedGrant = problem({
  name: "malformed",
  status: 400,
  code: "invalid_grant",
  message: "The request is malformed.",
});
export const tooLargeGrant = problem({
  ...malformedGrant,
  name: "tooLarge",
  message: "The request body is too large.",
});
