import type { Limit } from "../http/endpoint.ts";

/** What guards everything that can be guessed without an account: passwords and one-time links. */
export const SIGN_IN_LIMITS: readonly Limit[] = [
  { name: "sign-in", quota: (config) => config.limitSignIn, per: "ip", headers: "limited" },
];
