import * as v from "valibot";
import { ALG } from "../../kit/jwt.ts";
import { fail, problem } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { ensureSigningKey, publishedKeys } from "../../platform/keys/keys.ts";

const signingNotConfigured = problem({
  name: "signingNotConfigured",
  status: 501,
  code: "not_configured",
  message: "Licence signing is not configured on this server.",
});

/** The active public key, for checking licences offline. */
export const pubkey = endpoint(
  {
    id: "getLicensePubkey",
    method: "GET",
    path: "/api/license/pubkey",
    summary: "Public key that verifies licences",
    tag: "Licence",
    auth: "none",
    ok: v.object({ alg: v.string(), pubkey: v.pipe(v.string(), v.description("SPKI, PEM.")) }),
    faults: [signingNotConfigured],
    limits: [],
    cache: "public, max-age=3600",
    example: { ok: { alg: "RS256", pubkey: "-----BEGIN PUBLIC KEY-----\nMIIBojAN…\n-----END PUBLIC KEY-----\n" } },
  },
  async ({ core }) => {
    if (core.config.signing === "off") return fail(signingNotConfigured);
    return { alg: ALG, pubkey: (await ensureSigningKey(core)).publicPem };
  },
);

/** Every key that ever signed here, retired ones included, so that older tokens still verify. */
export const jwks = endpoint(
  {
    id: "getJwks",
    method: "GET",
    path: "/.well-known/jwks.json",
    summary: "All public signing keys as a JWK set (RFC 7517)",
    tag: "Licence",
    auth: "none",
    ok: v.object({
      keys: v.array(v.looseObject({ kty: v.string(), kid: v.string(), alg: v.string(), use: v.string() })),
    }),
    media: "application/jwk-set+json",
    faults: [],
    limits: [],
    cache: "public, max-age=3600",
    example: {
      ok: { keys: [{ kty: "RSA", kid: "NzbLsXh8uDCcd", alg: "RS256", use: "sig", n: "0vx7agoebGcQSuu…", e: "AQAB" }] },
    },
  },
  async ({ core }) => {
    if (core.config.signing === "on") await ensureSigningKey(core);
    return (await publishedKeys(core)) as { keys: { kty: string; kid: string; alg: string; use: string }[] };
  },
);
