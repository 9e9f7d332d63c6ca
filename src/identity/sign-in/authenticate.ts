import { type Core, slot } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { fail, forbidden, Problem, rateLimited, unauthorized } from "../../kit/problem.ts";
import { recordEvent } from "../../platform/audit/audit.ts";
import { emailKey, findUser, findUserByEmail } from "../people/people.ts";
import { isKnownAddress, type Origin } from "../web-sessions/web-sessions.ts";
import { type Entered, enter } from "./enter.ts";
import { verifyPassword } from "./passwords.ts";

/*
 * Wrong passwords that are borne. From addresses that an account was never used from it takes 10 at once and 40 an hour, 970 in
 * a day however many addresses they come from; those everybody tries first are no passwords here (passwords.ts). Each address
 * it was used from has as many for itself. Over all accounts an address gets RECKON_LIMIT_SIGN_IN, 20 a minute: who tries one
 * password at every account is slowed down by that.
 */
const FAILURES: Quota = { count: 10, seconds: 15 * 60 };

const failures = slot(() => new Buckets());
const addresses = slot(() => new Buckets());

/** One text for every reason: which accounts exist is nobody's business. */
const WRONG = "The e-mail address and the password do not belong together.";

/**
 * Signs somebody in with a password. Wrong ones at one account are slowed down whatever address they come from, and wrong ones
 * from one address whatever account they are for. The addresses the person signed in from before are counted for themselves, so
 * that neither guessing elsewhere nor a neighbour's guessing can lock them out.
 * @param previousSessionId a sign-in of this browser to end: the token is never carried over
 * @returns a session, or what asks for the second factor
 * @throws Problem 401 when refused, 429 when the account was guessed at too often, or the address guessed too often
 */
export async function signIn(
  core: Core,
  typedEmail: string,
  password: string,
  origin: Origin,
  previousSessionId?: string,
): Promise<Entered> {
  const key = emailKey(typedEmail.slice(0, 300));
  const user = findUserByEmail(core, key);
  const known = user !== undefined && isKnownAddress(core, user.id, origin.ip);
  const address = takeTry(core, addresses(core), quotaKey(origin.ip), core.config.limitSignIn, "from your address");
  if (address.refusal && !known) throw address.refusal;
  const own = takeTry(core, failures(core), known ? `${key} ${origin.ip}` : key, FAILURES, "at this account");
  if (own.refusal) throw address.refusal ?? own.refusal;
  const right = await verifyPassword(password, user?.disabledAt === null ? user.passwordHash : null);
  if (!right || !user) {
    await core.store.write(() =>
      recordEvent(
        core,
        { kind: "user", id: user?.id ?? null, label: user?.email ?? "unknown", ip: origin.ip },
        { action: "session.refused", teamId: null },
      ),
    );
    // What a neighbour is told of an account that is used here, and of one that does not exist, must be the same.
    throw address.refusal ?? new Problem(unauthorized, WRONG);
  }
  address.giveBack();
  own.giveBack();
  return core.store.write(() => {
    const now = findUser(core, user.id);
    // Said only to who knows the password.
    if (now && !mayUsePassword(core, now))
      fail(forbidden, "Passwords are for who runs this installation. Sign in by single sign-on.");
    // Closed, or given another password, while the hash was being computed.
    if (now?.disabledAt !== null || now.passwordHash !== user.passwordHash) fail(unauthorized, WRONG);
    return enter(core, now, origin, previousSessionId);
  });
}

/**
 * Whether somebody may sign in with their password: operators always may, so that there is a way in while nothing else answers.
 */
const mayUsePassword = ({ config }: Core, { operator }: { readonly operator: 0 | 1 }): boolean =>
  config.passwords === "all" || operator === 1;

/**
 * Has somebody who is signed in say their password again. Wrong ones make this person wait, and nobody else.
 * @throws Problem 403 for a wrong one, 429 after too many
 */
export async function confirmPassword(core: Core, userId: string, password: string): Promise<void> {
  const own = takeTry(core, failures(core), `confirm ${userId}`, FAILURES, "at this account");
  if (own.refusal) throw own.refusal;
  if (!(await verifyPassword(password, findUser(core, userId)?.passwordHash ?? null)))
    fail(forbidden, "The present password is not right.");
  own.giveBack();
}

/** A try that was drawn before the password is looked at, so that tries at the same time are all counted. */
interface Try {
  /** When there were too many. */
  readonly refusal?: Problem;
  /** For one that turned out to be right. */
  readonly giveBack: () => void;
}

/** @param quota null for one that is switched off */
function takeTry(core: Core, buckets: Buckets, key: string, quota: Quota | null, where: string): Try {
  const nothing = () => {};
  if (quota === null) return { giveBack: nothing };
  const { allowed, retryAfterSeconds } = buckets.take(key, core.clock.monotonic(), quota);
  if (allowed) return { giveBack: () => buckets.giveBack(key, core.clock.monotonic(), quota) };
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const text = `There were too many attempts ${where}. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`;
  return {
    refusal: new Problem(rateLimited, { message: text, retryAfterSeconds: retryAfterSeconds }),
    giveBack: nothing,
  };
}
