import type { Configuration } from "openid-client";
import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { fail, Problem, problem } from "../../kit/problem.ts";
import { OutboundFailed, OutboundRefused, outboundFetch } from "../../platform/outbound/outbound.ts";
import type { Attempt } from "./attempt.ts";
import type { Issuer } from "./issuers.ts";

/** An issuer's statement about a person who signed in there. */
export interface Vouched {
  /** Unique and never given to anybody else, within the issuer (OpenID Connect Core 1.0, section 5.7). */
  readonly subject: string;
  readonly email: string | null;
  /** Whether the issuer says that the address is verified; null when it says nothing. */
  readonly emailVerified: boolean | null;
  readonly name: string | null;
  readonly groups: readonly string[];
}

/** The issuer cannot be asked, or does not answer as OpenID Connect demands. */
const issuerUnavailable = problem({
  name: "issuerUnavailable",
  status: 502,
  code: "issuer_unavailable",
  message: "The single sign-on cannot be reached.",
});
/** The issuer's answer proves nothing. */
export const answerRefused = problem({
  name: "answerRefused",
  status: 403,
  code: "sso_answer_refused",
  message: "The answer of the single sign-on was not accepted.",
});

const METADATA_MS = 5 * MINUTE_MS;
const MAX_SUBJECT_CHARS = 255;
const MAX_GROUPS = 2_000;
const MAX_CLAIM_CHARS = 256;

/** Loaded on first use: most servers have no single sign-on. */
const library = () => import("openid-client");

const metadata = slot((): Map<string, { readonly until: number; readonly found: Promise<Configuration> }> => new Map());

/** An issuer's metadata, fetched every five minutes at most. */
function discovered(core: Core, { id, issuer, clientId, clientSecret }: Issuer): Promise<Configuration> {
  const cache = metadata(core);
  const cacheKey = JSON.stringify([id, issuer, clientId, clientSecret]);
  const now = core.clock.monotonic();
  const cached = cache.get(cacheKey);
  if (cached && cached.until > now) return cached.found;
  for (const [known, { until }] of cache) if (until <= now) cache.delete(known);
  const found = discover(core, { issuer, clientId, clientSecret });
  cache.set(cacheKey, { until: now + METADATA_MS, found });
  found.catch(() => cache.delete(cacheKey));
  return found;
}

async function discover(
  core: Core,
  { issuer, clientId, clientSecret }: Pick<Issuer, "issuer" | "clientId" | "clientSecret">,
): Promise<Configuration> {
  const oidc = await library();
  try {
    const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretPost(clientSecret);
    return await oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
      [oidc.customFetch]: outboundFetch(core),
      // `outboundFetch` decides which hosts may be called, and that http is for private addresses only.
      execute: [oidc.allowInsecureRequests],
    });
  } catch (error) {
    const called = nameOf(error);
    if (called !== null)
      fail(
        issuerUnavailable,
        `The single sign-on at ${issuer} calls itself ${called}: enter that as the issuer instead.`,
      );
    return fail(issuerUnavailable, `The single sign-on at ${issuer} cannot be reached: ${reasonOf(error)}.`);
  }
}

/**
 * The issuer identifier in the metadata, when it is not the configured one (OpenID Connect Discovery 1.0, section 4.3): often only a slash
 * differs.
 */
function nameOf(error: unknown): string | null {
  const claims = causes(error).map((one) => (one ?? {}) as { attribute?: unknown; body?: { issuer?: unknown } });
  return textOf(claims.find(({ attribute }) => attribute === "issuer")?.body?.issuer);
}

/**
 * A configuration for one sign-in. Signatures are checked although the answer comes straight from the issuer, so that a foreign key or
 * algorithm is refused. The keys are fetched anew, so that a key changed a moment ago is known.
 */
async function configured(core: Core, issuer: Issuer): Promise<Configuration> {
  const oidc = await library();
  const known = await discovered(core, issuer);
  const authentication =
    issuer.clientSecret === null ? oidc.None() : authenticationOf(oidc, known, issuer.clientSecret);
  const config = new oidc.Configuration(known.serverMetadata(), issuer.clientId, undefined, authentication);
  config[oidc.customFetch] = outboundFetch(core);
  oidc.allowInsecureRequests(config);
  oidc.enableNonRepudiationChecks(config);
  return config;
}

/**
 * Client authentication: in the header, unless the issuer says that it accepts the secret in the body (OpenID Connect Discovery 1.0,
 * section 3).
 */
function authenticationOf(oidc: Awaited<ReturnType<typeof library>>, known: Configuration, secret: string) {
  const methods = known.serverMetadata().token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_post") ? oidc.ClientSecretPost(secret) : oidc.ClientSecretBasic(secret);
}

/**
 * The URL at which a person signs in (OpenID Connect Core 1.0, section 3.1.2.1; PKCE, RFC 7636).
 * @throws Problem 502 when the issuer cannot be reached
 */
export async function authorizationUrl(
  core: Core,
  issuer: Issuer,
  attempt: Pick<Attempt, "state" | "nonce" | "verifier">,
  redirectUri: string,
): Promise<string> {
  const oidc = await library();
  const config = await discovered(core, issuer);
  return oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: `openid ${issuer.scopes}`,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(attempt.verifier),
    code_challenge_method: "S256",
  }).href;
}

/**
 * Redeems the code that somebody came back with, and checks the answer: state, issuer (RFC 9207), PKCE, nonce, audience, signature, times.
 * @param address the whole address they came back to
 * @throws Problem 403 for an answer that proves nothing, 502 when the issuer cannot be reached
 */
export async function redeem(
  core: Core,
  issuer: Issuer,
  attempt: Pick<Attempt, "state" | "nonce" | "verifier">,
  address: URL,
): Promise<Vouched> {
  const oidc = await library();
  const config = await configured(core, issuer);
  try {
    const tokens = await oidc.authorizationCodeGrant(config, address, {
      expectedState: attempt.state,
      expectedNonce: attempt.nonce,
      pkceCodeVerifier: attempt.verifier,
      idTokenExpected: true,
    });
    const claims: Record<string, unknown> = { ...tokens.claims() };
    const subject = String(claims.sub);
    const lacks = claims[issuer.groupsClaim] === undefined || typeof claims.email !== "string";
    // Some issuers keep the token small and give the rest at the userinfo endpoint (section 5.3).
    if (lacks && config.serverMetadata().userinfo_endpoint !== undefined) {
      const more = await oidc.fetchUserInfo(config, tokens.access_token, subject);
      for (const [name, value] of Object.entries(more)) claims[name] ??= value;
    }
    return vouchedBy(issuer, claims);
  } catch (error) {
    throw refusedBy(issuer, error);
  }
}

/** Error codes of a token endpoint for an unknown client or a wrong secret (RFC 6749, section 5.2; the second is Keycloak's). */
const CLIENT_REFUSED = ["invalid_client", "unauthorized_client"];

function refusedBy({ label }: Issuer, error: unknown): unknown {
  const reason = reasonOf(error);
  if (CLIENT_REFUSED.includes(reason))
    return new Problem(
      issuerUnavailable,
      `${label} does not take the client's id or secret that stand here (${reason}). Who runs this installation can enter those that it has now.`,
    );
  if (causes(error).some((one) => one instanceof OutboundFailed || one instanceof OutboundRefused))
    return new Problem(issuerUnavailable, `The single sign-on cannot be reached: ${reason}.`);
  if (!(error instanceof Error) || error instanceof Problem) return error;
  return new Problem(answerRefused, `The answer of the single sign-on was not accepted (${reason}). Sign in again.`);
}

/** An error and its causes. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let one = error; one !== undefined && found.length < 8; one = (one as { cause?: unknown } | null)?.cause)
    found.push(one);
  return found;
}

/** Why something failed, without anything that was sent: OAuth's own error code, or our message. */
function reasonOf(error: unknown): string {
  for (const one of causes(error)) {
    if (one instanceof OutboundFailed || one instanceof OutboundRefused) return one.message.replace(/\.$/, "");
    const { error: answered, code } = (one ?? {}) as { error?: unknown; code?: unknown };
    for (const text of [answered, code]) if (typeof text === "string" && /^[\w.-]{1,60}$/.test(text)) return text;
  }
  return "it did not answer as OpenID Connect demands";
}

const textOf = (value: unknown): string | null =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_CLAIM_CHARS ? value.trim() : null;

function vouchedBy({ groupsClaim }: Issuer, claims: Readonly<Record<string, unknown>>): Vouched {
  const { sub, email, email_verified: verified, name } = claims;
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT_CHARS)
    fail(answerRefused, "The single sign-on did not say who you are.");
  return {
    subject: sub,
    email: textOf(email),
    // Some send it as a text.
    emailVerified: verified === undefined ? null : verified === true || verified === "true",
    name: textOf(name)?.slice(0, 100) ?? null,
    groups: groupsIn(groupsClaim, claims),
  };
}

/**
 * A list of texts, or one text. When there are too many groups, some issuers send an address instead where they can be asked for, which is
 * refused.
 */
function groupsIn(claim: string, claims: Readonly<Record<string, unknown>>): string[] {
  const value = claims[claim];
  const elsewhere = claims._claim_names;
  if (value === undefined && typeof elsewhere === "object" && elsewhere !== null && claim in elsewhere)
    fail(
      answerRefused,
      "You are in more groups than the single sign-on sends. Who runs it can send application roles, or only the groups of this application.",
    );
  const list = Array.isArray(value) ? value : [value];
  if (list.length > MAX_GROUPS)
    fail(answerRefused, `The single sign-on names more than ${MAX_GROUPS} groups of yours.`);
  return list.filter((one): one is string => typeof one === "string" && one.length <= MAX_CLAIM_CHARS);
}
