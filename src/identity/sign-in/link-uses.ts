import { type Core, slot } from "../../core.ts";
import { Buckets, type Quota } from "../../kit/buckets.ts";
import { conflict, fail, forbidden, gone, rateLimited } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { ROLES, type Role, roleIn, storeMember } from "../members/members.ts";
import { getLink, type LinkRow, useLink } from "../one-time-links/one-time-links.ts";
import { emailKey, findUser, findUserByEmail, getUser, hasUsers, storeUser, type User } from "../people/people.ts";
import { issuerOfDomain } from "../sso/sso.ts";
import { findTeam, getTeam, storeTeam } from "../teams/teams.ts";
import type { Origin } from "../web-sessions/web-sessions.ts";
import { preparePassword, prepareUser, storePassword } from "./accounts.ts";
import { begin, type Entered, enter, requirePasswordsFor } from "./enter.ts";

/*
 * Tokens of links have 178 bits, so guessing them need not be slowed down. But the holder of a working link gets few forms with it: an
 * invitation's form tells whether there is an account for an address, and each form costs hashing a password.
 */
const FORMS: Quota = { count: 20, seconds: 60 };
const forms = slot(() => new Buckets());

/** The link behind a form that was sent. @throws Problem as `getLink`, and 429 for too many forms with one link */
function linkOfForm(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  const { allowed, retryAfterSeconds } = forms(core).take(link.id, core.clock.monotonic(), FORMS);
  if (allowed) return link;
  fail(rateLimited, {
    message: "There were too many attempts with this link. Try again in a minute.",
    retryAfterSeconds: retryAfterSeconds,
  });
}

export interface Chosen {
  readonly email: string;
  readonly name: string | null;
  readonly password: string;
}

/** The team of the first person: an existing one that the command line made (its id), or a new one by its name. */
export type FirstTeam = { readonly takeOver: string } | { readonly make: string };

/**
 * Makes the first operator, the owner of a team, and a sign-in.
 * @returns the session token
 * @throws Problem for a link, a person or a team that will not do
 */
export async function setUp(
  core: Core,
  token: string,
  chosen: Chosen,
  first: FirstTeam,
  origin: Origin,
): Promise<string> {
  linkOfForm(core, token, "setup");
  const teamName = "takeOver" in first ? getTeam(core, first.takeOver).name : first.make;
  const user = await prepareUser(core, { ...chosen, operator: true }, [teamName]);
  return core.store.write(() => {
    useLink(core, token, "setup");
    if (hasUsers(core)) fail(gone, "This installation has been set up already.");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    const team = "takeOver" in first ? getTeam(core, first.takeOver) : storeTeam(core, first.make, {}, by);
    storeMember(core, team.id, user, "owner", by);
    return begin(core, user, origin);
  });
}

/**
 * Accepts an invitation with a new account.
 * @param vouchedEmail the address that a trusted proxy names
 * @returns the session token
 */
export async function acceptAsNew(
  core: Core,
  token: string,
  chosen: Chosen,
  origin: Origin,
  vouchedEmail?: string,
): Promise<string> {
  const link = linkOfForm(core, token, "invitation");
  // Where only operators have passwords, invited people sign in by single sign-on first, and then join.
  requirePasswordsFor(core, { operator: 0 });
  if (link.email !== null && emailKey(link.email) !== emailKey(chosen.email))
    fail(forbidden, "This invitation is for another e-mail address.");
  requireOwnAddress(core, link, chosen.email, vouchedEmail);
  if (findUserByEmail(core, chosen.email))
    fail(conflict, "You have an account already: sign in, then open the link again.");
  const team = findTeam(core, link.teamId as string);
  const user = await prepareUser(core, chosen, team ? [team.name] : []);
  return core.store.write(() => {
    const used = useLink(core, token, "invitation");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    join(core, used, user, by);
    return begin(core, user, origin);
  });
}

/**
 * Demands that an address may be used for a new account. Single sign-on and a trusted proxy sign people in to the account with their
 * address, with all that their groups give and others invite them to. Somebody who merely holds a link, or may invite into one team, must
 * not have chosen its password before. So addresses of an issuer's domain, and those that a proxy names, are given out by operators only.
 */
function requireOwnAddress(core: Core, { email: named, makerId }: LinkRow, email: string, vouched = ""): void {
  if (named !== null && (makerId === null || findUser(core, makerId)?.operator === 1)) return;
  const domain = emailKey(email).split("@").at(-1) as string;
  const issuer = issuerOfDomain(core, domain);
  if (issuer)
    fail(
      forbidden,
      `People with addresses of ${domain} sign in with ${issuer.label}: do that, then open the link again.`,
    );
  if (core.config.proxySignIn !== null && emailKey(vouched) !== emailKey(email))
    fail(
      forbidden,
      `The proxy in front does not say that you are ${email}: only operators may invite others by address.`,
    );
}

/** Accepts an invitation as somebody who is signed in. @returns the team */
export function acceptAs(core: Core, token: string, userId: string, by: Actor): Promise<{ readonly teamId: string }> {
  return core.store.write(() => {
    const user = getUser(core, userId);
    const { email } = getLink(core, token, "invitation");
    if (email !== null && emailKey(email) !== user.emailKey)
      fail(forbidden, `This invitation is for ${email}; you are signed in as ${user.email}.`);
    return join(core, useLink(core, token, "invitation"), user, by);
  });
}

function join(core: Core, link: LinkRow, user: { id: string; email: string }, by: Actor): { readonly teamId: string } {
  const teamId = link.teamId as string;
  const offered = link.role as Role;
  const before = roleIn(core, teamId, user.id);
  // An invitation never lowers a person's role.
  if (before === undefined || ROLES.indexOf(offered) < ROLES.indexOf(before))
    storeMember(core, teamId, user, offered, by);
  recordEvent(core, by, {
    action: "invitation.accepted",
    teamId,
    target: { kind: "invitation", id: link.id, label: user.email },
  });
  return { teamId };
}

/**
 * Chooses a new password with a reset link; every sign-in of the person ends but the new one. A second factor stays: a link does not
 * replace it.
 * @param alongside ends other things together with the old password; runs inside the transaction
 * @param previousId a sign-in of this browser to end
 * @returns a session, or what asks for the second factor
 */
export async function resetPassword(
  core: Core,
  token: string,
  password: string,
  origin: Origin,
  alongside: (user: User, by: Actor) => void = () => {},
  previousId?: string,
): Promise<Entered> {
  const user = getUser(core, linkOfForm(core, token, "reset").userId as string);
  // A sign-in by a link would last for weeks, whatever the issuer says meanwhile.
  requirePasswordsFor(core, user);
  const hash = await preparePassword(core, user, password);
  return core.store.write(() => {
    useLink(core, token, "reset");
    // The account may have been closed while the hash was being computed.
    if (getUser(core, user.id).disabledAt !== null)
      fail(forbidden, "This account is closed. Ask who runs this installation.");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storePassword(core, user, hash, by);
    alongside(user, by);
    return enter(core, getUser(core, user.id), origin, previousId);
  });
}
