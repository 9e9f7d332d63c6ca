import type { Core } from "../../core.ts";
import { fail, unauthorized } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import type { Call, EndpointSpec, Schema } from "../../platform/http/endpoint.ts";
import { SCIM_MEDIA } from "../../platform/http/faults.ts";
import { type ScimPrincipal, scimToken, touchScimToken } from "../directory/directory.ts";
import { findIssuer, type Issuer } from "../sso/sso.ts";

/** What a directory may act on: its issuer's people and groups. */
export interface Scope {
  readonly core: Core;
  readonly issuer: Issuer;
  readonly by: Actor;
}

/** The actor of what an issuer's directory does. */
export const provisioning = ({ id, name }: Issuer, ip: string | null): Actor => ({
  kind: "system",
  id,
  label: `provisioning by ${name}`,
  ip,
});

/** What all endpoints of SCIM have in common. */
export const COMMON = {
  // Directories read what SCIM itself tells of this server (RFC 7644 section 4), and no client of the API calls it.
  tag: null,
  auth: scimToken,
  errorShape: "scim",
  media: SCIM_MEDIA,
  limits: [{ name: "scim", quota: (config) => config.limitScim, per: "token", headers: "limited" }],
} as const satisfies Partial<EndpointSpec<ScimPrincipal, undefined, undefined, Schema>>;

/** People of one issuer at most, and groups likewise. */
export const MAX_RECORDS = 10_000;

/** The scope of a request. */
export async function scopeOf({ core, principal, ip }: Call<ScimPrincipal>): Promise<Scope> {
  const issuer = findIssuer(core, principal.issuerId) ?? fail(unauthorized, "The bearer token is not valid.");
  await touchScimToken(core, principal);
  return { core, issuer, by: provisioning(issuer, ip()) };
}

/** Records what a directory did; call inside the transaction. */
export function recordDone(
  { core, by }: Scope,
  action: string,
  target: { readonly kind: string; readonly id: string; readonly label: string },
  detail: Readonly<Record<string, unknown>> = {},
): void {
  recordEvent(core, by, { action, teamId: null, target, detail });
}
