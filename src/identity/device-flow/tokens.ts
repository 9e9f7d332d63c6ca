import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { newId } from "../../kit/ids.ts";
import { signJwt } from "../../kit/jwt.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { ensureSigningKey } from "../../platform/keys/keys.ts";
import { findUser, getUser } from "../people/people.ts";
import type { Requester } from "./authorizations.ts";
import { rows, type TokenRow } from "./rows.ts";

/** Explicit type of an access token (RFC 9068 section 2.1). */
export const TYP = "at+jwt";
export const TOKEN_LIFETIME_MS = 30 * DAY_MS;
const CLIENT_ID = "reckon-cli";

/** A token that is signed but not stored yet: before it is stored, it opens nothing. */
export interface SignedToken {
  /** Its `jti`. */
  readonly id: string;
  readonly accessToken: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

interface Person {
  readonly id: string;
  readonly email: string;
}

/** Signs an access token for a person. @throws DataDirectoryError when the signing key cannot be read */
export async function signToken(core: Core, user: Person): Promise<SignedToken> {
  const key = await ensureSigningKey(core);
  const id = newId("cli", core.clock, core.random);
  const createdAt = core.clock.now();
  const expiresAt = createdAt + TOKEN_LIFETIME_MS;
  const issuer = baseUrlOf(core.config);
  const claims = { iss: issuer, aud: issuer, sub: user.id, email: user.email, client_id: CLIENT_ID, jti: id };
  const accessToken = await signJwt(key, TYP, claims, Math.floor(createdAt / 1000), Math.floor(expiresAt / 1000));
  return { id, accessToken, userId: user.id, createdAt, expiresAt };
}

/** Makes a signed token valid; call inside a transaction. @param from where it is used first, as far as is known */
export function storeToken(core: Core, signed: SignedToken, user: Person, from: Requester, by: Actor): void {
  const { accessToken: _, ...row } = signed;
  rows(core.store).insertToken.run({ ...row, ...from });
  recordEvent(core, by, {
    action: "cli_token.created",
    teamId: null,
    target: { kind: "cli_token", id: signed.id, label: user.email },
    detail: { channel: from.channel, userAgent: from.userAgent },
  });
}

/** Gives a person an access token without the device flow, for instances that print their credentials. */
export async function createCliToken(core: Core, user: Person, by: Actor): Promise<SignedToken> {
  const signed = await signToken(core, user);
  const from = { channel: null, ip: by.ip ?? "127.0.0.1", userAgent: null };
  await core.store.write(() => storeToken(core, signed, user, from, by));
  return signed;
}

/** Tokens that are neither revoked nor expired, newest first. @param userId of this person; of everybody when null */
export function listCliTokens(core: Core, userId: string | null): (TokenRow & { readonly email: string })[] {
  const now = core.clock.now();
  const tokens = userId === null ? rows(core.store).tokens.all(now) : rows(core.store).tokensOf.all(userId, now);
  return tokens.map((token) => ({ ...token, email: getUser(core, token.userId).email }));
}

/**
 * Ends a token at once.
 * @param userId only if it is this person's; whosever when null
 * @returns false when it was revoked before
 * @throws Problem 404 for a token that is not theirs or unknown
 */
export function revokeCliToken(core: Core, userId: string | null, id: string, by: Actor): Promise<boolean> {
  return core.store.write(() => {
    const token = rows(core.store).token.get(id);
    if (!token || (userId !== null && token.userId !== userId))
      fail(notFound, `There is no CLI token with the id "${id.slice(0, 64)}".`);
    if (rows(core.store).revokeToken.run(core.clock.now(), id).changes === 0) return false;
    recordEvent(core, by, {
      action: "cli_token.revoked",
      teamId: null,
      target: { kind: "cli_token", id, label: getUser(core, token.userId).email },
    });
    return true;
  });
}

/**
 * Withdraws a person's approvals that no tool has fetched yet, since somebody else may have given them in the person's name. Call inside
 * the transaction that changes the password.
 */
export function withdrawApprovals(core: Core, userId: string): void {
  rows(core.store).withdraw.run(userId);
}

/** Ends all of a person's tokens; call inside a transaction. */
export function endCliTokens(core: Core, { id: userId, email }: Person, by: Actor): void {
  const now = core.clock.now();
  for (const { id } of rows(core.store).tokensOf.all(userId, now)) {
    rows(core.store).revokeToken.run(now, id);
    recordEvent(core, by, {
      action: "cli_token.revoked",
      teamId: null,
      target: { kind: "cli_token", id, label: email },
    });
  }
}

/** The person for whom a token may be signed. @returns undefined when the account is closed or gone */
export function openAccount(core: Core, userId: string | null): Person | undefined {
  const user = userId === null ? undefined : findUser(core, userId);
  return user?.disabledAt === null ? user : undefined;
}
