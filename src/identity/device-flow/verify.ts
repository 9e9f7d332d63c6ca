import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { verifyJwt } from "../../kit/jwt.ts";
import { credential } from "../../platform/http/credential.ts";
import { noteUse } from "../../platform/http/note-use.ts";
import { findPublicKey } from "../../platform/keys/keys.ts";
import { rows } from "./rows.ts";
import { openAccount, TYP } from "./tokens.ts";

/** A person's command-line tool, by its access token. */
interface CliPrincipal {
  readonly tokenId: string;
  readonly userId: string;
  readonly email: string;
}

/** Longer than any token of ours; a longer one is not read. */
const MAX_CHARS = 4_096;

/** The key that a compact JWS claims to be signed with; undefined when it names none. */
function claimedKey(token: string): string | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(token.split(".", 1)[0] as string, "base64url").toString("utf8"));
    const kid = (header as { kid?: unknown } | null)?.kid;
    return typeof kid === "string" ? kid : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The principal of a CLI access token. Algorithm, type, issuer and audience are pinned (RFC 9068 section 4), the key is one that signs or
 * signed here, and the token's row must be valid.
 * @returns undefined for everything else: a licence, an expired or revoked token, a closed account
 */
async function findCli(core: Core, accessToken: string): Promise<CliPrincipal | undefined> {
  if (accessToken.length > MAX_CHARS) return undefined;
  const kid = claimedKey(accessToken);
  const publicPem = kid === undefined ? undefined : findPublicKey(core, kid);
  if (publicPem === undefined) return undefined;
  const issuer = baseUrlOf(core.config);
  const now = core.clock.now();
  const verdict = await verifyJwt(accessToken, publicPem, { typ: TYP, audience: issuer, issuer, at: new Date(now) });
  if (!verdict.valid || typeof verdict.claims.jti !== "string") return undefined;
  const token = rows(core.store).token.get(verdict.claims.jti);
  if (!token || token.userId !== verdict.claims.sub || token.revokedAt !== null || token.expiresAt <= now)
    return undefined;
  const user = openAccount(core, token.userId);
  if (!user) return undefined;
  await noteUse(core, token.lastUsedAt, (at) => rows(core.store).touchToken.run(at, token.id));
  return { tokenId: token.id, userId: user.id, email: user.email };
}

/** The access token of a person's command-line tool. */
export const cliToken = credential({
  id: "cli",
  openapi: {
    name: "cliToken",
    bearerFormat: "JWT",
    description: "Access token of a person's command-line tool, from the device authorization flow (RFC 8628).",
  },
  find: findCli,
  sender: ({ tokenId, userId }) => ({ credential: tokenId, team: userId }),
});
