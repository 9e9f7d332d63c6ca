import { type Actor, COMMAND_LINE, recordEvent, SYSTEM } from "../audit/audit.ts";
import type { Core } from "../core.ts";
import { Buckets, type Quota } from "../kit/buckets.ts";
import { DAY_MS, MINUTE_MS } from "../kit/clock.ts";
import { Complaint } from "../kit/complaint.ts";
import { newId } from "../kit/ids.ts";
import { perOwner } from "../kit/memo.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../kit/tokens.ts";
import { getMember, outranks, requireRank } from "./members.ts";
import { hashPassword, requireAcceptablePassword } from "./passwords.ts";
import { type LinkRow, type Member, type Role, rows, type User } from "./people-rows.ts";
import { type Origin, storeSession } from "./sessions.ts";
import { createTeamRow } from "./teams.ts";
import {
  emailKey,
  findUser,
  getUser,
  hasUsers,
  prepareUser,
  readEmail,
  storeMember,
  storePassword,
  storeUser,
} from "./users.ts";

/** How long a one-time link works. */
export const LINK_LIFETIME_MS = { setup: 30 * MINUTE_MS, invitation: 7 * DAY_MS, reset: DAY_MS } as const;

export interface OneTimeLink {
  readonly id: string;
  /** Shown once; only its SHA-256 is stored. */
  readonly token: string;
  /** Below the base URL. */
  readonly path: `/${string}`;
  readonly expiresAt: number;
}

const PATHS = { setup: "/setup", invitation: "/invitation", reset: "/reset-password" } as const;

type Wanted = Pick<LinkRow, "kind"> & Partial<Pick<LinkRow, "teamId" | "role" | "email" | "userId">>;

function storeLink(core: Core, wanted: Wanted, by: Actor): OneTimeLink {
  const token = newToken("rkl", core.random);
  const id = newId("inv", core.clock, core.random);
  const now = core.clock.now();
  const expiresAt = now + LINK_LIFETIME_MS[wanted.kind];
  rows(core.store).insertLink.run({
    teamId: null,
    role: null,
    email: null,
    userId: null,
    ...wanted,
    id,
    tokenHash: tokenDigest(token),
    createdBy: by.label,
    makerId: by.kind === "user" ? by.id : null,
    createdAt: now,
    expiresAt,
  });
  return { id, token, path: `${PATHS[wanted.kind]}?token=${token}`, expiresAt };
}

/** The link that makes the first operator; an earlier one stops working. @returns undefined once there is anybody */
export function createSetupLink(core: Core): Promise<OneTimeLink | undefined> {
  return core.store.write(() => {
    if (hasUsers(core)) return undefined;
    rows(core.store).revokeLinksOf.run(core.clock.now(), "setup", null, null);
    return storeLink(core, { kind: "setup" }, SYSTEM);
  });
}

/**
 * Invites whoever opens the link into a team.
 * @param email only this address, when given
 * @param actorRole the role of the person who invites; undefined for operators and the command line
 */
export function createInvitation(
  core: Core,
  wanted: { readonly teamId: string; readonly role: Role; readonly email?: string | null },
  by: Actor = COMMAND_LINE,
  actorRole?: Role,
): Promise<OneTimeLink> {
  const email = wanted.email ? readEmail(wanted.email) : null;
  return core.store.write(() => {
    requireRank(actorRole, undefined, wanted.role);
    const link = storeLink(core, { kind: "invitation", teamId: wanted.teamId, role: wanted.role, email }, by);
    recordEvent(core, by, {
      action: "invitation.made",
      teamId: wanted.teamId,
      target: { kind: "invitation", id: link.id, label: email },
      detail: { role: wanted.role },
    });
    return link;
  });
}

/** Invitations of a team that still work. */
export const listInvitations = (core: Core, teamId: string): LinkRow[] =>
  rows(core.store)
    .invitations.all(teamId, core.clock.now())
    .filter((link) => isMakerEntitled(core, link));

/** Takes an invitation back. @throws Complaint when it is not there or was used */
export function revokeInvitation(core: Core, teamId: string, id: string, by: Actor): Promise<void> {
  return core.store.write(() => {
    if (rows(core.store).revokeInvitation.run(core.clock.now(), id, teamId).changes === 0)
      throw new Complaint("This invitation was used or taken back already.", 404);
    recordEvent(core, by, { action: "invitation.revoked", teamId, target: { kind: "invitation", id } });
  });
}

/** A link with which a person chooses a new password; an earlier one stops working. For operators and the command line. */
export function createResetLink(core: Core, idOrEmail: string, by: Actor = COMMAND_LINE): Promise<OneTimeLink> {
  return core.store.write(() => storeResetLink(core, getUser(core, idOrEmail), by, null));
}

/**
 * The same for one of a team's people, made by an admin of that team. Whoever opens the link has the account, with everything
 * it opens: nobody gets more by it than they have over that team.
 * @throws Complaint 404 for who is not in the team; 403 for who outranks the admin, runs the installation or is in other teams;
 * 409 for the admin's own account and one that is closed
 */
export function createMemberResetLink(
  core: Core,
  teamId: string,
  userId: string,
  by: Actor,
  actorRole: Role,
): Promise<OneTimeLink> {
  return core.store.write(() => {
    const member = getMember(core, teamId, userId);
    requireRank(actorRole, member.role, undefined);
    if (by.id === userId) throw new Complaint("Change your own password under Your account.", 409);
    const beyond = beyondTeam(core, member);
    if (beyond !== undefined) throw new Complaint(`${beyond}: only an operator can make this link.`, 403);
    const user = getUser(core, userId);
    if (user.disabledAt !== null) throw new Complaint("This account is closed; an operator can open it again.", 409);
    return storeResetLink(core, user, by, teamId);
  });
}

/** Why somebody's account opens more than their team answers for; undefined when it does not. */
function beyondTeam(core: Core, member: Member): string | undefined {
  if (member.operator === 1) return "This person runs the installation";
  return rows(core.store).memberships.all(member.userId).length > 1 ? "This person is in other teams too" : undefined;
}

/**
 * Whether who made a link may still do what it does. A link lends its maker's right: it must not outlive their seat or role,
 * and not grow with what the person it is for becomes.
 */
function isMakerEntitled(core: Core, link: LinkRow): boolean {
  if (link.makerId === null) return true;
  const maker = rows(core.store).userById.get(link.makerId);
  if (maker?.disabledAt !== null) return false;
  if (maker.operator === 1) return true;
  const role = link.teamId === null ? undefined : rows(core.store).role.get(link.teamId, maker.id);
  if (link.teamId === null || role === undefined) return false;
  if (link.kind === "invitation") return outranks(role, undefined, link.role ?? undefined);
  const member = rows(core.store).member.get(link.teamId, link.userId ?? "");
  return member !== undefined && outranks(role, member.role, undefined) && beyondTeam(core, member) === undefined;
}

function storeResetLink(core: Core, user: { id: string; email: string }, by: Actor, teamId: string | null) {
  rows(core.store).revokeLinksOf.run(core.clock.now(), "reset", user.id, user.id);
  const link = storeLink(core, { kind: "reset", userId: user.id, teamId }, by);
  recordEvent(core, by, {
    action: "user.reset_link_made",
    teamId,
    target: { kind: "user", id: user.id, label: user.email },
  });
  return link;
}

/**
 * The link a token stands for, while it works.
 * @throws Complaint 404 for one that is not known, 410 for one that was used, taken back or has expired, or whose maker may no
 * longer make it
 */
export function getLink(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = isWellFormedToken(token, "rkl") ? rows(core.store).link.get(tokenDigest(token)) : undefined;
  if (!link || link.kind !== kind) throw new Complaint("This link is not known. Was it copied whole?", 404);
  if (link.usedAt !== null) throw new Complaint("This link was used already; each works once.", 410);
  if (link.revokedAt !== null) throw new Complaint("This link was taken back. Ask for another.", 410);
  if (link.expiresAt <= core.clock.now()) throw new Complaint("This link has expired. Ask for another.", 410);
  if (!isMakerEntitled(core, link))
    throw new Complaint("Who made this link may no longer make it. Ask somebody else for another.", 410);
  return link;
}

/** Uses a link up; call inside the transaction that does what it is for. Of parallel uses exactly one succeeds. */
function useLink(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  rows(core.store).useLink.run(core.clock.now(), link.id);
  return link;
}

/*
 * Tokens of links have 178 bits, so nobody is made to wait for trying some. Who holds one that works gets few forms with it: an
 * invitation's say whether there is an account for an address, and each costs a hash of the password.
 */
const FORMS: Quota = { count: 20, seconds: 60 };
const forms = perOwner((_core: Core) => new Buckets());

/** The link behind a form that was sent. @throws Complaint as `getLink`, and 429 for too many forms with one link */
function linkOfForm(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  const { allowed, retryAfterSeconds } = forms(core).take(link.id, core.clock.monotonic(), FORMS);
  if (allowed) return link;
  throw new Complaint("There were too many attempts with this link. Try again in a minute.", 429, retryAfterSeconds);
}

export interface Chosen {
  readonly email: string;
  readonly name: string | null;
  readonly password: string;
}

/** Makes the first operator, their team and a sign-in. @returns the session token */
export async function setUp(
  core: Core,
  token: string,
  chosen: Chosen,
  teamName: string,
  origin: Origin,
): Promise<string> {
  linkOfForm(core, token, "setup");
  const user = await prepareUser(core, { ...chosen, operator: true });
  return core.store.write(() => {
    useLink(core, token, "setup");
    if (hasUsers(core)) throw new Complaint("This installation has been set up already.", 410);
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    const team = createTeamRow(core, teamName, {}, by);
    storeMember(core, team.id, user, "owner", by);
    return storeSession(core, user.id, origin).token;
  });
}

/** Accepts an invitation with a new account. @returns the session token */
export async function acceptAsNew(core: Core, token: string, chosen: Chosen, origin: Origin): Promise<string> {
  const link = linkOfForm(core, token, "invitation");
  if (link.email !== null && emailKey(link.email) !== emailKey(chosen.email))
    throw new Complaint("This invitation is for another e-mail address.", 403);
  if (findUser(core, chosen.email))
    throw new Complaint("You have an account already: sign in, then open the link again.", 409);
  const user = await prepareUser(core, chosen);
  return core.store.write(() => {
    const used = useLink(core, token, "invitation");
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storeUser(core, user, by);
    join(core, used, user, by);
    return storeSession(core, user.id, origin).token;
  });
}

/** Accepts an invitation as somebody who is signed in. @returns the team */
export function acceptAs(core: Core, token: string, userId: string, by: Actor): Promise<{ readonly teamId: string }> {
  return core.store.write(() => {
    const user = getUser(core, userId);
    const { email } = getLink(core, token, "invitation");
    if (email !== null && emailKey(email) !== user.emailKey)
      throw new Complaint(`This invitation is for ${email}; you are signed in as ${user.email}.`, 403);
    return join(core, useLink(core, token, "invitation"), user, by);
  });
}

const RANK = { member: 0, admin: 1, owner: 2 } as const;

function join(core: Core, link: LinkRow, user: { id: string; email: string }, by: Actor): { readonly teamId: string } {
  const teamId = link.teamId as string;
  const wanted = link.role as Role;
  const has = rows(core.store).role.get(teamId, user.id);
  // An invitation never takes away what somebody is already.
  if (has === undefined || RANK[wanted] > RANK[has]) storeMember(core, teamId, user, wanted, by);
  recordEvent(core, by, {
    action: "invitation.accepted",
    teamId,
    target: { kind: "invitation", id: link.id, label: user.email },
  });
  return { teamId };
}

/**
 * Chooses a new password with a reset link; every sign-in of the person ends but the new one.
 * @param alongside what else ends with the old password; runs inside the transaction
 * @returns the session token
 */
export async function resetPassword(
  core: Core,
  token: string,
  password: string,
  origin: Origin,
  alongside: (user: User, by: Actor) => void = () => {},
): Promise<string> {
  const user = getUser(core, linkOfForm(core, token, "reset").userId as string);
  requireAcceptablePassword(password, user.email);
  const hash = await hashPassword(password, core.random);
  return core.store.write(() => {
    useLink(core, token, "reset");
    // Closed perhaps while the hash was being computed.
    if (getUser(core, user.id).disabledAt !== null) throw new Complaint("This account is closed.", 403);
    const by: Actor = { kind: "user", id: user.id, label: user.email, ip: origin.ip };
    storePassword(core, user, hash, by);
    alongside(user, by);
    return storeSession(core, user.id, origin).token;
  });
}
