import { type Core, slot } from "../../core.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { fail, forbidden, rateLimited } from "../../kit/problem.ts";
import { minutesText } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { takeChallenge } from "./challenges.ts";
import { codeDigest } from "./factors.ts";
import { rows } from "./rows.ts";
import { stepOf } from "./totp.ts";
import { type Assertion, type RelyingParty, verifyAssertion } from "./webauthn.ts";

/*
 * Wrong codes that are tolerated. Of all six-digit codes three are right at a time, so 5 at once and 20 an hour leave a guesser who has the
 * password a chance of 1 in 700 a day. Each wrong code is recorded.
 */
const FAILURES: Quota = { count: 5, seconds: 15 * 60 };
const failures = slot(() => new Buckets());

/** The answer that proves a second factor. */
export type Answer = { readonly code: string } | { readonly passkey: Assertion };

/** The kind of second factor that was proved. */
export type Proof = "totp" | "passkey" | "recovery";

/**
 * Checks a second factor: a code of an app, a recovery code, or a passkey. Each counts once.
 * @throws Problem 403 for a wrong one, 429 after too many
 */
export async function verifyFactor(
  core: Core,
  userId: string,
  answer: Answer,
  party: RelyingParty,
  by: Actor,
): Promise<Proof> {
  const { allowed, retryAfterSeconds } = failures(core).take(userId, core.clock.monotonic(), FAILURES);
  if (!allowed)
    fail(rateLimited, {
      message: `There were too many wrong codes. Try again in ${minutesText(retryAfterSeconds)}.`,
      retryAfterSeconds,
    });
  const challenge = "passkey" in answer ? takeChallenge(core, userId, "get") : undefined;
  const proof = await core.store.write(() => {
    const proved =
      "code" in answer ? byCode(core, userId, answer.code) : byPasskey(core, userId, answer.passkey, challenge, party);
    if (proved === undefined) recordEvent(core, by, { action: "factor.refused", teamId: null });
    else if (proved === "recovery") recordEvent(core, by, { action: "factor.recovery_used", teamId: null });
    return proved;
  });
  if (proof === undefined)
    fail(
      forbidden,
      "passkey" in answer ? "This passkey was not taken. Try again." : "This code is not right, or was used before.",
    );
  failures(core).giveBack(userId, core.clock.monotonic(), FAILURES);
  return proof;
}

function byCode(core: Core, userId: string, code: string): Proof | undefined {
  const sql = rows(core.store);
  const now = core.clock.now();
  for (const { id, secret, lastStep } of sql.ofUser.all(userId)) {
    const step = secret && stepOf(secret, code, now, lastStep);
    if (typeof step !== "number") continue;
    sql.useStep.run({ id, step, now });
    return "totp";
  }
  return sql.useCode.run(now, userId, codeDigest(userId, code)).changes === 1 ? "recovery" : undefined;
}

function byPasskey(
  core: Core,
  userId: string,
  sent: Assertion,
  challenge: string | undefined,
  party: RelyingParty,
): Proof | undefined {
  const factor = rows(core.store).byCredential.get(Buffer.from(sent.credentialId, "base64url"));
  if (challenge === undefined || factor?.userId !== userId || factor.publicKey === null) return undefined;
  const known = { publicKey: factor.publicKey, signCount: factor.signCount ?? 0 };
  const signCount = verifyAssertion(sent, known, challenge, party);
  if (signCount === undefined) return undefined;
  rows(core.store).useKey.run({ id: factor.id, signCount, now: core.clock.now() });
  return "passkey";
}
