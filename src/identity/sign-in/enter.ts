import type { Core } from "../../core.ts";
import { fail, forbidden, unauthorized } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { findUser, type User } from "../people/people.ts";
import {
  type Answer,
  credentialIds,
  hasFactor,
  newChallenge,
  openPending,
  type RelyingParty,
  sealPending,
  verifyFactor,
} from "../second-factor/second-factor.ts";
import { type Origin, type SessionStart, storeSession } from "../web-sessions/web-sessions.ts";

/** The result of a right password: a session, or the question for a second factor. */
export type Entered =
  | {
      /** The session's token. */
      readonly session: string;
    }
  | {
      /** For `continueSignIn`; the browser keeps it for five minutes. */
      readonly pending: string;
    };

/** A sign-in whose password was right, and whose second factor is still to be proved. */
interface Pending {
  readonly userId: string;
  /** The hash at that time: a change of the password makes this void. */
  readonly passwordHash: string | null;
}

const PURPOSE = "sign-in";

/** Begins the session of somebody whose password was right, or asks for their second factor; call inside a transaction. */
export function enter(core: Core, user: User, origin: Origin, previousId?: string): Entered {
  if (hasFactor(core, user.id))
    return {
      pending: sealPending(core, PURPOSE, { userId: user.id, passwordHash: user.passwordHash } satisfies Pending),
    };
  return { session: begin(core, user, origin, { previousId }) };
}

/** Begins a session on the record; call inside a transaction. @returns its token */
export function begin(core: Core, user: User, origin: Origin, start: SessionStart = {}): string {
  const session = storeSession(core, user.id, origin, start);
  recordEvent(core, actor(user, origin), {
    action: "session.started",
    teamId: null,
    target: { kind: "session", id: session.id },
  });
  return session.token;
}

const actor = ({ id, email }: User, { ip }: Origin): Actor => ({ kind: "user", id, label: email, ip });

/**
 * Demands that a person may sign in with a password. Operators always may, so that there is a way in when single sign-on fails.
 * @throws Problem 403
 */
export function requirePasswordsFor({ config }: Core, { operator }: { readonly operator: 0 | 1 }): void {
  if (config.passwords === "all" || operator === 1) return;
  fail(forbidden, "Only operators sign in with a password here. Use single sign-on.");
}

/**
 * The person whose second factor is asked for.
 * @throws Problem 401 when it is too old, or was not begun here; 403 for somebody who may not use a password any more
 */
function pendingUser(core: Core, pending: string | undefined): User {
  const opened = openPending<Pending>(core, PURPOSE, pending);
  const user = opened && findUser(core, opened.userId);
  if (user?.disabledAt !== null || user.passwordHash !== opened?.passwordHash || !hasFactor(core, user.id))
    fail(unauthorized, "This took longer than five minutes. Sign in again.");
  requirePasswordsFor(core, user);
  return user;
}

/** The question after a right password: a code, or one of these passkeys. @throws Problem 401 */
export function secondFactorQuestion(
  core: Core,
  pending: string | undefined,
): { readonly challenge: string; readonly credentialIds: readonly string[] } {
  const { id } = pendingUser(core, pending);
  return { challenge: newChallenge(core, id, "get"), credentialIds: credentialIds(core, id) };
}

/**
 * Goes on with a sign-in by its second factor.
 * @returns the session's token
 * @throws Problem 401 when the sign-in is too old, 403 for a wrong factor, 429 after too many
 */
export async function continueSignIn(
  core: Core,
  pending: string | undefined,
  answer: Answer,
  party: RelyingParty,
  origin: Origin,
  previousId?: string,
): Promise<string> {
  const user = pendingUser(core, pending);
  await verifyFactor(core, user.id, answer, party, actor(user, origin));
  return core.store.write(() => {
    // The account may have been closed, given another password, or had its second factors removed by an operator meanwhile.
    pendingUser(core, pending);
    return begin(core, user, origin, { previousId, secondFactor: true });
  });
}
