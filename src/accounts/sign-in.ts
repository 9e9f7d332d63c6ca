import { recordEvent } from "../audit/audit.ts";
import type { Core } from "../core.ts";
import { Buckets } from "../kit/buckets.ts";
import { Complaint } from "../kit/complaint.ts";
import { perOwner } from "../kit/memo.ts";
import { verifyPassword } from "./passwords.ts";
import { rows as people } from "./people-rows.ts";
import { rows } from "./session-rows.ts";
import { type Origin, storeSession } from "./sessions.ts";
import { emailKey } from "./users.ts";

/** Wrong passwords an account takes before it makes strangers wait. */
const FAILURES = { count: 10, seconds: 15 * 60 };

const failures = perOwner((_core: Core) => new Buckets());

/** One text for every reason: which accounts exist is nobody's business. */
const WRONG = "The e-mail address and the password do not belong together.";

/**
 * Signs somebody in with a password. Wrong ones at one account are slowed down whatever address they come from; the addresses
 * the person signed in from before are counted for themselves, so that guessing elsewhere cannot lock them out.
 * @param previousSessionId a sign-in of this browser to end: the token is never carried over
 * @throws Complaint 401 when refused, 429 when the account was guessed at too often
 */
export async function signIn(
  core: Core,
  typedEmail: string,
  password: string,
  origin: Origin,
  previousSessionId?: string,
): Promise<string> {
  const key = emailKey(typedEmail.slice(0, 300));
  const user = people(core.store).userByEmail.get(key);
  const known = user !== undefined && rows(core.store).knownAddress.get(user.id, origin.ip) === 1;
  const counted = known ? `${key} ${origin.ip}` : key;
  // Drawn before the password is looked at, so that tries at the same time are all counted; a right one gives it back.
  const decision = failures(core).take(counted, core.clock.monotonic(), FAILURES);
  if (!decision.allowed) {
    const minutes = Math.ceil(decision.retryAfterSeconds / 60);
    throw new Complaint(
      `There were too many attempts at this account. Try again in ${minutes === 1 ? "a minute" : `${minutes} minutes`}.`,
      429,
      decision.retryAfterSeconds,
    );
  }
  const right = await verifyPassword(password, user?.disabledAt === null ? user.passwordHash : null);
  if (!right || !user) {
    await core.store.write(() =>
      recordEvent(
        core,
        { kind: "user", id: user?.id ?? null, label: user?.email ?? "unknown", ip: origin.ip },
        { action: "session.refused", teamId: null },
      ),
    );
    throw new Complaint(WRONG, 401);
  }
  failures(core).giveBack(counted, core.clock.monotonic(), FAILURES);
  return core.store.write(() => {
    const now = people(core.store).userById.get(user.id);
    // Closed, or given another password, while the hash was being computed.
    if (now?.disabledAt !== null || now.passwordHash !== user.passwordHash) throw new Complaint(WRONG, 401);
    if (previousSessionId) rows(core.store).end.run(core.clock.now(), previousSessionId, user.id);
    const session = storeSession(core, user.id, origin);
    recordEvent(
      core,
      { kind: "user", id: user.id, label: user.email, ip: origin.ip },
      { action: "session.started", teamId: null, target: { kind: "session", id: session.id } },
    );
    return session.token;
  });
}
