import type { Core } from "../../core.ts";
import { fail } from "../../kit/problem.ts";
import { ATTEMPT_MS, type Attempt, openAttempt, sameText, sealAttempt } from "./attempt.ts";
import { findIssuer, type Issuer } from "./issuers.ts";
import { answerRefused, authorizationUrl, redeem, type Vouched } from "./provider.ts";
import { inTurn } from "./turns.ts";

/** The address to which an issuer sends people back: one for each issuer, so that none can pass for another (RFC 9700 section 4.4.2). */
export const callbackPath = (name: string) => `/sso/${name}/callback`;

const redirectUri = (baseUrl: string, { name }: Issuer) => `${baseUrl}${callbackPath(name)}`;

/**
 * Begins a sign-in by an issuer.
 * @param linkTo a signed-in person's account that is to be linked instead
 * @returns where the browser goes, and a sealed value that it keeps meanwhile, for ten minutes
 * @throws Problem 502 when the issuer cannot be reached
 */
export async function beginSso(
  core: Core,
  issuer: Issuer,
  {
    baseUrl,
    next,
    linkTo = null,
  }: { readonly baseUrl: string; readonly next: string; readonly linkTo?: string | null },
): Promise<{ readonly location: string; readonly sealed: string }> {
  const secret = () => core.random(32).toString("base64url");
  const attempt: Attempt = {
    issuerId: issuer.id,
    state: secret(),
    nonce: secret(),
    verifier: secret(),
    next,
    linkTo,
    expiresAt: core.clock.now() + ATTEMPT_MS,
  };
  const location = await authorizationUrl(core, issuer, attempt, redirectUri(baseUrl, issuer));
  return { location, sealed: sealAttempt(core, attempt) };
}

/**
 * Ends what `beginSso` began: finds out who came back, from the sealed value and the issuer's answer.
 * @param answer the query that they came back with
 * @throws Problem 403 for an answer that is forged, replayed, late, or another's; 502 when the issuer cannot be reached, 503 when too many
 * come back
 */
export async function finishSso(
  core: Core,
  issuer: Issuer,
  {
    baseUrl,
    sealed,
    answer,
    ip,
  }: {
    readonly baseUrl: string;
    readonly sealed: string | undefined;
    readonly answer: URLSearchParams;
    readonly ip: string;
  },
): Promise<{ readonly vouched: Vouched; readonly attempt: Attempt }> {
  const attempt = openAttempt(core, sealed);
  if (!attempt)
    fail(
      answerRefused,
      "This sign-in was not begun in this browser, was used before, or took longer than ten minutes. Sign in again.",
    );
  if (attempt.issuerId !== issuer.id || !sameText(answer.get("state") ?? "", attempt.state))
    fail(answerRefused, "This answer belongs to another sign-in. Sign in again.");
  const address = new URL(redirectUri(baseUrl, issuer));
  address.search = answer.toString();
  const ask = () => redeem(core, findIssuer(core, issuer.id) ?? issuer, attempt, address);
  return { attempt, vouched: await inTurn(core, issuer.id, ip, ask) };
}
