import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, notFound, unauthorized } from "../../kit/problem.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { credential } from "../../platform/http/credential.ts";
import { noteUse } from "../../platform/http/note-use.ts";
import { rows, type TokenRow } from "./rows.ts";

/** The principal of a SCIM token: the directory of one issuer. */
export interface ScimPrincipal {
  readonly tokenId: string;
  readonly issuerId: string;
  readonly lastUsedAt: number | null;
}

/** An issuer, as far as its tokens go. */
type Owner = { readonly id: string; readonly name: string };

/** A SCIM token as lists show it. */
export type ScimTokenFacts = Omit<TokenRow, "issuerId">;

/** Working tokens at most: an old and a new one, while the directory is switched over. */
const MAX_LIVE = 2;

/**
 * Makes a token with which an issuer's directory provisions people.
 * @returns the token, shown once; only its SHA-256 is stored
 * @throws Problem 409 when there are two that work
 */
export function createScimToken(
  core: Core,
  issuer: Owner,
  by: Actor,
): Promise<{ readonly id: string; readonly token: string }> {
  const token = newToken("rkp", core.random);
  const id = newId("stk", core.clock, core.random);
  return core.store.write(() => {
    if (listScimTokens(core, issuer.id).length >= MAX_LIVE)
      fail(conflict, `There are ${MAX_LIVE} SCIM tokens of "${issuer.name}" that work: revoke one first.`);
    rows(core.store).insertToken.run(id, issuer.id, tokenDigest(token), core.clock.now());
    record(core, "scim_token.created", issuer, id, by);
    return { id, token };
  });
}

/** The tokens of an issuer that work, newest first. */
export const listScimTokens = (core: Core, issuerId: string): ScimTokenFacts[] =>
  rows(core.store)
    .tokensOf.all(issuerId)
    .filter(({ revokedAt }) => revokedAt === null);

/** Ends a token. @returns false when it was revoked before @throws Problem 404 when the issuer has no such token */
export function revokeScimToken(core: Core, issuer: Owner, id: string, by: Actor): Promise<boolean> {
  return core.store.write(() => {
    const sql = rows(core.store);
    if (!sql.tokensOf.all(issuer.id).some((one) => one.id === id)) fail(notFound, "There is no such SCIM token.");
    if (sql.revokeToken.run(core.clock.now(), id, issuer.id).changes === 0) return false;
    record(core, "scim_token.revoked", issuer, id, by);
    return true;
  });
}

function record(core: Core, action: string, issuer: Owner, id: string, by: Actor): void {
  recordEvent(core, by, { action, teamId: null, target: { kind: "scim_token", id, label: issuer.name } });
}

function findPrincipal(core: Core, token: string): ScimPrincipal | undefined {
  if (!isWellFormedToken(token, "rkp")) return undefined;
  const row = rows(core.store).byToken.get(tokenDigest(token));
  return row && { tokenId: row.id, issuerId: row.issuerId, lastUsedAt: row.lastUsedAt };
}

export const touchScimToken = (core: Core, { tokenId, lastUsedAt }: ScimPrincipal): Promise<void> =>
  noteUse(core, lastUsedAt, (now) => rows(core.store).touchToken.run(now, tokenId));

/** Runs a change, unless the token was revoked, or its issuer removed, while it waited. @throws Problem 401 */
export function writeByScim<T>(core: Core, { tokenId }: ScimPrincipal, act: () => T): Promise<T> {
  return core.store.write(() => {
    if (rows(core.store).liveToken.get(tokenId) !== 1) fail(unauthorized, "The bearer token is not valid.");
    return act();
  });
}

/** A token with which a directory provisions people. */
export const scimToken = credential({
  id: "scim",
  openapi: {
    name: "scimToken",
    description:
      "Token with which the directory of an issuer of single sign-on provisions people; made with `reckon sso scim NAME` or on the issuer's page.",
  },
  find: findPrincipal,
  sender: ({ tokenId, issuerId }) => ({ credential: tokenId, team: issuerId }),
});
