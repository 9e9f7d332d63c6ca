import { type Core, slot } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { fail, forbidden, Problem, rateLimited, unauthorized } from "../../kit/problem.ts";
import { recordEvent } from "../../platform/audit/audit.ts";
import { notify } from "../../platform/notices/notices.ts";
import { membershipsOf } from "../members/members.ts";
import { emailKey, findUser, findUserByEmail } from "../people/people.ts";
import { isKnownAddress, type Origin } from "../web-sessions/web-sessions.ts";
import { type Entered, enter, requirePasswordsFor } from "./enter.ts";
import { verifyPassword } from "./passwords.ts";

/*
 * Wrong passwords that are borne. From addresses that an account was never used from it takes 10 at once and 40 an hour, 970 in
 * a day however many addresses they come from; those everybody tries first are no passwords here (passwords.ts). Each address
 * it was used from has as many for itself. Over all accounts an address gets RECKON_LIMIT_SIGN_IN, 20 a minute: who tries one
 * password at every account is slowed down by that.
 */
const FAILURES: Quota = { count: 10, seconds: 15 * 60 };

/** Refusals at one account that somebody may want to hear of; and how often they do. */
const MANY: Quota = { count: 5, seconds: 15 * 60 };
const REPORTS: Quota = { count: 1, seconds: 60 * 60 };

const failures = slot(() => new Buckets());
const refusals = slot(() => new Buckets());
const reports = slot(() => new Buckets());
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
  const own = takeTry(core, failures(core), known ? `${key} ${quotaKey(origin.ip)}` : key, FAILURES, "at this account");
  if (own.refusal) throw address.refusal ?? own.refusal;
  const stored = user?.disabledAt === null ? user.passwordHash : null;
  const right = await verifyPassword(password, stored, known ? undefined : origin.ip).catch((error: unknown) => {
    // Nothing was looked at, so nothing was tried.
    address.giveBack();
    own.giveBack();
    throw error;
  });
  if (!right || !user) {
    const isMany = areMany(core, key);
    await core.store.write(() => {
      recordEvent(
        core,
        { kind: "user", id: user?.id ?? null, label: user?.email ?? "unknown", ip: origin.ip },
        { action: "session.refused", teamId: null },
      );
      if (isMany) notifyRefused(core, user?.id);
    });
    // The answer must be the same for an account that exists and one that does not, also for others behind the same address.
    throw address.refusal ?? new Problem(unauthorized, WRONG);
  }
  address.giveBack();
  own.giveBack();
  return core.store.write(() => {
    const now = findUser(core, user.id);
    // Said only to who knows the password.
    if (now) requirePasswordsFor(core, now);
    // Closed, or given another password, while the hash was being computed.
    if (now?.disabledAt !== null || now.passwordHash !== user.passwordHash) fail(unauthorized, WRONG);
    return enter(core, now, origin, previousSessionId);
  });
}

/** Counts a refusal. @returns whether there were many at this account, and nobody was told lately */
function areMany(core: Core, key: string): boolean {
  const now = core.clock.monotonic();
  const { remaining } = refusals(core).take(key, now, MANY);
  return remaining === 0 && reports(core).take(key, now, REPORTS).allowed;
}

/** Row change: tells the teams of a person, or whoever runs the installation, that somebody may be guessing. */
function notifyRefused(core: Core, userId: string | undefined): void {
  const teams: (string | null)[] = userId === undefined ? [] : membershipsOf(core, userId).map(({ id }) => id);
  const data = { account: userId ?? null, tries: MANY.count, minutes: MANY.seconds / 60 };
  for (const teamId of teams.length === 0 ? [null] : teams)
    notify(core, { type: "sign_in.refused", teamId, path: teamId === null ? "/settings" : "/audit", data });
}

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
