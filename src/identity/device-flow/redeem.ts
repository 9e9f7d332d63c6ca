import type { Core } from "../../core.ts";
import { fail } from "../../kit/problem.ts";
import { tokenDigest } from "../../kit/tokens.ts";
import type { Requester } from "./authorizations.ts";
import { authorizationPending, expiredToken, invalidGrant, signingUnavailable, slowDown } from "./faults.ts";
import { pacing } from "./pacing.ts";
import { type AuthorizationRow, rows } from "./rows.ts";
import { openAccount, type SignedToken, signToken, storeToken } from "./tokens.ts";

/** The state of an authorization for the tool that polls it. `over` is denied or redeemed. */
type Standing = "unknown" | "over" | "expired" | "pending" | "approved";

/** A decision outranks time: a denied code stays denied after it expired. An approval that nobody fetched expires. */
function judgeAuthorization(
  authorization: Pick<AuthorizationRow, "status" | "expiresAt"> | undefined,
  now: number,
): Standing {
  if (!authorization) return "unknown";
  const { status, expiresAt } = authorization;
  if (status === "denied" || status === "redeemed") return "over";
  return expiresAt <= now ? "expired" : status;
}

/**
 * One poll with a device code (RFC 8628 section 3.4). Nothing is written unless a token is given out.
 * @param from where the poll comes from
 * @throws Problem authorizationPending, slowDown, expiredToken, invalidGrant (400) or signingUnavailable (503)
 */
export async function redeemDeviceCode(
  core: Core,
  deviceCode: string,
  from: Omit<Requester, "channel">,
): Promise<SignedToken> {
  const hash = tokenDigest(deviceCode);
  const key = hash.toString("base64");
  const authorization = rows(core.store).byDeviceCode.get(hash);
  const standing = judgeAuthorization(authorization, core.clock.now());
  const now = core.clock.monotonic();
  if (!authorization || standing === "unknown" || standing === "over" || standing === "expired") {
    pacing(core).forget(key);
    return fail(standing === "expired" ? expiredToken : invalidGrant);
  }
  if (standing === "pending") {
    if (pacing(core).early(key, now)) fail(slowDown);
    pacing(core).note(key, now, authorization.expiresAt - core.clock.now());
    return fail(authorizationPending);
  }
  const signed = await redeem(core, hash, authorization, from);
  pacing(core).forget(key);
  return signed;
}

/** Turns an approval into a token, once: of parallel polls the first to get to the update finds it unredeemed. */
async function redeem(
  core: Core,
  hash: Buffer,
  { userId, channel }: AuthorizationRow,
  from: Omit<Requester, "channel">,
): Promise<SignedToken> {
  const user = openAccount(core, userId) ?? fail(invalidGrant);
  const signed = await signToken(core, user).catch((error: unknown) => {
    core.log.error("cli_token_signing_failed", { cause: String(error) });
    return fail(signingUnavailable, { retryAfterSeconds: 30 });
  });
  return core.store.write(() => {
    if (rows(core.store).redeem.run(hash, core.clock.now()).changes === 0) fail(invalidGrant);
    // The account may have been closed while the token was being signed.
    if (!openAccount(core, user.id)) fail(invalidGrant);
    const by = { kind: "user", id: user.id, label: user.email, ip: from.ip } as const;
    storeToken(core, signed, user, { ...from, channel }, by);
    return signed;
  });
}
