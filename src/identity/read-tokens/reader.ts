import type { Core } from "../../core.ts";
import { isWellFormedToken, tokenDigest } from "../../kit/tokens.ts";
import { credential } from "../../platform/http/credential.ts";
import { rows } from "./rows.ts";
import type { ReadScope } from "./scope.ts";

/** An integration that reads a person's brain, by its read token. */
export interface ReadPrincipal {
  readonly tokenId: string;
  readonly userId: string;
  readonly scope: ReadScope;
}

/**
 * Whose a read token is; undefined when it is nobody's, expired or revoked, or its owner's account is closed. The form and
 * check characters are tried first, so that guesses and other kinds of tokens cost no query; the look-up is by SHA-256, so
 * its timing tells nothing of stored tokens.
 */
export function findReader(core: Core, token: string): ReadPrincipal | undefined {
  if (!isWellFormedToken(token, "rkr")) return undefined;
  const found = rows(core.store).reader.get(tokenDigest(token));
  if (!found || found.revokedAt !== null || found.disabledAt !== null) return undefined;
  if (found.expiresAt !== null && found.expiresAt <= core.clock.now()) return undefined;
  return { tokenId: found.tokenId, userId: found.userId, scope: JSON.parse(found.scope) as ReadScope };
}

/** A person's read token. */
export const readToken = credential({
  id: "read",
  openapi: {
    name: "readToken",
    description: "Personal, scoped and revocable token that reads the brain; minted in the dashboard under My Brain.",
  },
  find: findReader,
  sender: ({ tokenId, userId }) => ({ credential: tokenId, team: userId }),
});
