import type { Core } from "../../core.ts";
import { HOUR_MS } from "../../kit/clock.ts";
import { withoutMisleading } from "../../kit/escape-invisible.ts";
import { newId } from "../../kit/ids.ts";
import { fail, forbidden, Problem } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { accountByExternalId, directoryGroups, isProvisioned } from "../directory/directory.ts";
import { membershipsOf, syncMemberships } from "../members/members.ts";
import { isInvited } from "../one-time-links/one-time-links.ts";
import {
  emailKey,
  findUser,
  findUserByEmail,
  readEmail,
  readPersonName,
  storeUser,
  type User,
} from "../people/people.ts";
import { endSessionsBy, type Origin, requireLive, storeSession } from "../web-sessions/web-sessions.ts";
import { findIssuer, type Issuer, rolesBy } from "./issuers.ts";
import type { Vouched } from "./provider.ts";
import { rows } from "./rows.ts";
import { waysIn } from "./take-over.ts";

/** The account for a person whom an issuer vouches for: a linked one, one to be linked, or one to be made. */
type Found = { readonly user: User } | { readonly link: User } | { readonly make: string };

/**
 * Signs in a person whom an issuer vouches for: finds their account by issuer and subject, links or makes it the first time, and brings
 * their teams in line with their groups.
 * @returns the session token
 * @throws Problem 403 that says what is missing
 */
export async function acceptVouched(
  core: Core,
  answering: Issuer,
  vouched: Vouched,
  origin: Origin,
  previousId?: string,
): Promise<string> {
  try {
    return await core.store.write(() => {
      const issuer = asItIs(core, answering);
      const user = settle(core, issuer, vouched, origin);
      const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
      syncMemberships(core, user, issuer.id, rolesNow(core, issuer, user, vouched), by);
      rows(core.store).touchIdentity.run(core.clock.now(), issuer.id, vouched.subject);
      const lifetimeMs = issuer.sessionHours * HOUR_MS;
      const session = storeSession(core, user.id, origin, { previousId, method: issuer.name, lifetimeMs });
      recordEvent(core, by, {
        action: "session.started",
        teamId: null,
        target: { kind: "session", id: session.id },
        detail: { by: issuer.name },
      });
      return session.token;
    });
  } catch (error) {
    if (error instanceof Problem) await recordRefused(core, answering, vouched, origin, error);
    throw error;
  }
}

/** The asked issuer in its present state: it may have been changed, or removed, while it answered. @throws Problem 403 */
const asItIs = (core: Core, { id, issuer, label }: Issuer): Issuer => {
  const found = findIssuer(core, id);
  return found?.issuer === issuer ? found : fail(forbidden, `${label} lets nobody in here any more. Sign in again.`);
};

/** The roles that a person's groups give: by the groups that the issuer's directory sends, else by those that it names at the sign-in. */
const rolesNow = (core: Core, issuer: Issuer, { id }: User, { groups }: Vouched) =>
  rolesBy(issuer, directoryGroups(core, issuer.id, id) ?? groups);

/** Records that a person whom an issuer vouched for was refused, and why. */
function recordRefused(core: Core, issuer: Issuer, vouched: Vouched, { ip }: Origin, error: Problem): Promise<void> {
  const known = rows(core.store).identity.get(issuer.id, vouched.subject);
  const user = known && findUser(core, known.userId);
  const by: Actor = { kind: "user", id: user?.id ?? null, label: user?.email ?? "unknown", ip };
  return core.store.write(() =>
    recordEvent(core, by, {
      action: "session.refused",
      teamId: null,
      detail: { by: issuer.name, reason: error.message },
    }),
  );
}

function settle(core: Core, issuer: Issuer, vouched: Vouched, origin: Origin): User {
  const found = find(core, issuer, vouched);
  if ("user" in found) return found.user;
  const user = "link" in found ? found.link : newUser(core, found.make, vouched);
  const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
  if ("make" in found) storeUser(core, user, by);
  else waysIn.endOthers(core, user, by);
  storeIdentity(core, issuer, vouched.subject, user, by);
  return user;
}

const newUser = (core: Core, email: string, { name }: Vouched): User => ({
  id: newId("usr", core.clock, core.random),
  email,
  emailKey: emailKey(email),
  name: readPersonName(name && withoutMisleading(name.replace(/\p{Cc}/gu, " "))),
  passwordHash: null,
  operator: 0,
  createdAt: core.clock.now(),
  disabledAt: null,
});

function find(core: Core, issuer: Issuer, vouched: Vouched): Found {
  const known = rows(core.store).identity.get(issuer.id, vouched.subject);
  if (known) {
    const user = findUser(core, known.userId);
    if (user?.disabledAt !== null) fail(forbidden, "Your account here is closed. Ask who runs this installation.");
    return { user };
  }
  const provisioned = provisionedAccount(core, issuer, vouched);
  if (provisioned) return { link: linkable(provisioned, provisioned.email) };
  const email = provenEmail(issuer, vouched);
  const user = findUserByEmail(core, email);
  if (user) {
    // Also for a closed account, and after that link has ended: opening the account, or a password, does not make it somebody else's.
    if (user.operator === 0 && isOfAnother(core, issuer, user, vouched.subject))
      fail(
        forbidden,
        `${issuer.label} named somebody else by ${email} before, whose account this is. ${
          user.passwordHash !== null && core.config.passwords !== "operators"
            ? "If that was you, sign in with your password and link it anew under “Your account”. "
            : ""
        }Who runs this installation can leave it to you (Settings → Accounts, or reckon sso unlink ${email}).`,
      );
    return { link: linkable(user, email) };
  }
  // The invitation lets this address in; its link gives the team, once they are signed in.
  if (isInvited(core, email)) return { make: email };
  if (!issuer.jit)
    fail(
      forbidden,
      `There is no account for ${email} here. Ask an owner or admin of your team for an invitation to this address.`,
    );
  if (rolesBy(issuer, vouched.groups).size === 0)
    fail(forbidden, `You are in no group that has a team here. Ask who runs ${issuer.label} to put you into one.`);
  return { make: email };
}

/**
 * The account that the issuer's directory made for a person: by the directory's own id for them, or by their address, for which the
 * directory has vouched. Not by an address that the issuer calls unverified, and not an account that somebody else already signs in to by
 * this issuer.
 */
function provisionedAccount(core: Core, issuer: Issuer, { subject, email, emailVerified }: Vouched): User | undefined {
  const userId = accountByExternalId(core, issuer.id, subject);
  if (userId !== undefined) return findUser(core, userId);
  const user = email === null || emailVerified === false ? undefined : findUserByEmail(core, email);
  if (!user || !isProvisioned(core, issuer.id, user.id)) return undefined;
  return isOfAnother(core, issuer, user, subject) ? undefined : user;
}

/** Whether an issuer ever signed somebody else in to an account, but never the person it names now: addresses are given to others. */
function isOfAnother(core: Core, { id }: Issuer, user: User, subject: string): boolean {
  const holders = rows(core.store).holders.all(user.id, id);
  return holders.length > 0 && !holders.includes(subject);
}

/** The address by which a person is found the first time. Afterwards only issuer and subject count: addresses are given to others. */
function provenEmail({ label, domains, trustEmail }: Issuer, { email, emailVerified }: Vouched): string {
  if (email === null)
    fail(forbidden, `${label} did not tell your e-mail address. Who runs it can add the scope or claim "email".`);
  const read = readEmail(email);
  const domain = emailKey(read).split("@").at(-1) as string;
  if (!domains.includes(domain))
    fail(
      forbidden,
      `${label} may not let in people with addresses of ${domain}: who runs this installation can list the domain.`,
    );
  if (!emailVerified && !trustEmail)
    fail(forbidden, `${label} does not say that ${read} is verified, so no account is linked or made by it.`);
  return read;
}

function linkable(user: User, email: string): User {
  if (user.disabledAt !== null) fail(forbidden, "Your account here is closed. Ask who runs this installation.");
  if (user.operator === 1)
    fail(
      forbidden,
      `${email} runs this installation. Sign in with the password, and link single sign-on under “Your account”.`,
    );
  return user;
}

function storeIdentity(core: Core, issuer: Issuer, subject: string, user: User, by: Actor): void {
  rows(core.store).insertIdentity.run(issuer.id, subject, user.id, core.clock.now());
  rows(core.store).insertHolder.run(user.id, issuer.id, subject);
  recordEvent(core, by, {
    action: "sso.linked",
    teamId: null,
    target: { kind: "user", id: user.id, label: user.email },
    detail: { issuer: issuer.name },
  });
}

/**
 * Links a signed-in person's account to the person whom an issuer names.
 * @param sessionId the sign-in in which it is done
 * @throws Problem 403; 401 when that sign-in has ended
 */
export function linkVouched(
  core: Core,
  answering: Issuer,
  vouched: Vouched,
  userId: string,
  by: Actor,
  sessionId?: string,
): Promise<void> {
  return core.store.write(() => {
    if (sessionId !== undefined) requireLive(core, userId, sessionId);
    const issuer = asItIs(core, answering);
    const known = rows(core.store).identity.get(issuer.id, vouched.subject);
    if (known) {
      if (known.userId === userId) return;
      fail(forbidden, `This account of ${issuer.label} belongs to somebody else here.`);
    }
    const user = findUser(core, userId);
    if (user?.disabledAt !== null) fail(forbidden, "Your account here is closed.");
    storeIdentity(core, issuer, vouched.subject, user, by);
    syncMemberships(core, user, issuer.id, rolesNow(core, issuer, user, vouched), by);
  });
}

/** An issuer that vouches for a person. */
export interface Link {
  readonly issuerId: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** The account linked to an issuer's subject. */
export function identityUser(core: Core, issuerId: string, subject: string): User | undefined {
  const known = rows(core.store).identity.get(issuerId, subject);
  return known && findUser(core, known.userId);
}

/** The issuers a person is linked to. */
export const linksOf = (core: Core, userId: string): Link[] =>
  rows(core.store)
    .identitiesOf.all(userId)
    .map(({ issuerId, createdAt, lastUsedAt }) => ({ issuerId, createdAt, lastUsedAt }));

/**
 * Ends a person's link to an issuer, with the memberships from its groups and the sign-ins by it.
 * @throws Problem 403 for the only way in
 */
export function unlink(core: Core, userId: string, issuerId: string, by: Actor): Promise<void> {
  return core.store.write(() => {
    const user = findUser(core, userId);
    if (!user) return;
    const others = rows(core.store)
      .identitiesOf.all(userId)
      .filter((one) => one.issuerId !== issuerId);
    if (others.length === 0) requirePassword(core, user);
    if (rows(core.store).unlink.run(userId, issuerId).changes === 0) return;
    const issuer = findIssuer(core, issuerId);
    if (issuer) endSessionsBy(core, issuer.name, userId);
    syncMemberships(core, user, issuerId, new Map(), by);
    recordEvent(core, by, {
      action: "sso.unlinked",
      teamId: null,
      target: { kind: "user", id: user.id, label: user.email },
      detail: { teams: membershipsOf(core, userId).length },
    });
  });
}

/** @throws Problem 403 for somebody who has no password, or may not sign in with it */
function requirePassword({ config }: Core, { passwordHash, operator }: User): void {
  if (config.passwords === "operators" && operator === 0)
    fail(forbidden, "This is the only way into the account: only operators sign in with a password here.");
  if (passwordHash === null)
    fail(
      forbidden,
      "This is the only way into the account. Who runs this installation can make you a link to choose a password first.",
    );
}

/** Row change: erases a person's identities at issuers. @returns how many went */
export function eraseIdentities({ store }: Core, userId: string): number {
  rows(store).dropHoldersOf.run(userId);
  return rows(store).dropIdentitiesOf.run(userId).changes;
}
