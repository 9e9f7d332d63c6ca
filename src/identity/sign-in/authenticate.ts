import { type Core, slot } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { fail, forbidden, Problem, rateLimited, unauthorized } from "../../kit/problem.ts";
import { minutesText } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { notify } from "../../platform/notices/notices.ts";
import { membershipsOf } from "../members/members.ts";
import { emailKey, findUser, findUserByEmail } from "../people/people.ts";
import { isKnownAddress, type Origin } from "../web-sessions/web-sessions.ts";
import { type Entered, enter, requirePasswordsFor } from "./enter.ts";
import { verifyPassword } from "./passwords.ts";

/*
 * Wrong passwords that are tolerated. From addresses that an account was never used from, it takes 10 at once and 40 an hour, 970 in a day,
 * however many addresses there are; the passwords that everybody tries first are not allowed here (passwords.ts). Each address that the
 * account was used from has as many for itself. Over all accounts an address has RECKON_LIMIT_SIGN_IN, 20 a minute, which slows down
 * somebody who tries one password at every account.
 */
const FAILURES: Quota = { count: 10, seconds: 15 * 60 };

/** Refusals at one account that give a notice, and how often such a notice is given. */
const MANY: Quota = { count: 5, seconds: 15 * 60 };
const REPORTS: Quota = { count: 1, seconds: 60 * 60 };

const failures = slot(() => new Buckets());
const refusals = slot(() => new Buckets());
const reports = slot(() => new Buckets());
const addresses = slot(() => new Buckets());

/** One text for every reason, so that it does not tell which accounts exist. */
const WRONG = "The e-mail address and the password do not belong together.";

const WRONG_AGAIN = "The present password is not right.";

/**
 * Signs somebody in with a password. Wrong passwords at one account are slowed down from whatever address, and wrong passwords from one
 * address for whatever account. Addresses that the person signed in from before are counted separately, so that neither guessing elsewhere
 * nor a neighbour's guessing can lock them out.
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
  const right = await checked([address, own], verifyPassword(password, stored, known ? undefined : origin.ip));
  if (!right || !user) {
    await recordRefused(core, key, {
      kind: "user",
      id: user?.id ?? null,
      label: user?.email ?? "unknown",
      ip: origin.ip,
    });
    // The answer must be the same for an account that exists and one that does not, also for others behind the same address.
    throw address.refusal ?? new Problem(unauthorized, WRONG);
  }
  address.giveBack();
  own.giveBack();
  return core.store.write(() => {
    const now = findUser(core, user.id);
    // Only somebody who knows the password is told.
    if (now) requirePasswordsFor(core, now);
    // Closed, or given another password, while the hash was being computed.
    if (now?.disabledAt !== null || now.passwordHash !== user.passwordHash) fail(unauthorized, WRONG);
    return enter(core, now, origin, previousSessionId);
  });
}

/** Puts a wrong password on record, and gives notice where there were many. @param key the account's address */
function recordRefused(core: Core, key: string, by: Actor, detail?: { reason: string }): Promise<void> {
  const isMany = areMany(core, key);
  return core.store.write(() => {
    recordEvent(core, by, { action: "session.refused", teamId: null, ...(detail && { detail }) });
    if (isMany) notifyRefused(core, by.id);
  });
}

/** Counts a refusal. @returns whether there were many at this account, and no notice was given lately */
function areMany(core: Core, key: string): boolean {
  const now = core.clock.monotonic();
  const { remaining } = refusals(core).take(key, now, MANY);
  return remaining === 0 && reports(core).take(key, now, REPORTS).allowed;
}

/** Row change: gives notice to a person's teams, or to the operators, that somebody may be guessing. */
function notifyRefused(core: Core, userId: string | null): void {
  const teams: (string | null)[] = userId === null ? [] : membershipsOf(core, userId).map(({ id }) => id);
  const data = { account: userId, tries: MANY.count, minutes: MANY.seconds / 60 };
  for (const teamId of teams.length === 0 ? [null] : teams)
    notify(core, { type: "sign_in.refused", teamId, path: teamId === null ? "/settings" : "/audit", data });
}

/**
 * Asks a signed-in person for their password again. Wrong ones make only this person wait, and are on record as those at signing in are.
 * @throws Problem 403 for a wrong one, 429 after too many
 */
export async function confirmPassword(core: Core, userId: string, password: string, by: Actor): Promise<void> {
  const own = takeTry(core, failures(core), `confirm ${userId}`, FAILURES, "at this account");
  if (own.refusal) throw own.refusal;
  const user = findUser(core, userId);
  if (!(await checked([own], verifyPassword(password, user?.passwordHash ?? null)))) {
    await recordRefused(core, user?.emailKey ?? "", by, { reason: WRONG_AGAIN });
    fail(forbidden, WRONG_AGAIN);
  }
  own.giveBack();
}

/** A try, counted before the password is checked, so that tries at the same time all count. */
interface Try {
  /** Set when there were too many. */
  readonly refusal?: Problem;
  /** To be called when the password was right. */
  readonly giveBack: () => void;
}

/** Whether a password is right. Where it could not be checked, the tries do not count. */
async function checked(counted: readonly Try[], verified: Promise<boolean>): Promise<boolean> {
  try {
    return await verified;
  } catch (error) {
    for (const { giveBack } of counted) giveBack();
    throw error;
  }
}

/** @param quota null when switched off */
function takeTry(core: Core, buckets: Buckets, key: string, quota: Quota | null, where: string): Try {
  const nothing = () => {};
  if (quota === null) return { giveBack: nothing };
  const { allowed, retryAfterSeconds } = buckets.take(key, core.clock.monotonic(), quota);
  if (allowed) return { giveBack: () => buckets.giveBack(key, core.clock.monotonic(), quota) };
  const message = `There were too many attempts ${where}. Try again in ${minutesText(retryAfterSeconds)}.`;
  return { refusal: new Problem(rateLimited, { message, retryAfterSeconds }), giveBack: nothing };
}
