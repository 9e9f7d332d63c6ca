/**
 * One-time links: invitations, links that choose a new password, and the one that sets an installation up.
 * Not here: what happens when one is used (sign-in).
 */

import type { Core } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { keysetPage, MAX_PAGE, type Page } from "../../kit/page.ts";
import { conflict, fail, forbidden, gone, notFound } from "../../kit/problem.ts";
import { isWellFormedToken, newToken, tokenDigest } from "../../kit/tokens.ts";
import { type Actor, recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import {
  findMember,
  getMember,
  type Member,
  membershipsOf,
  outranks,
  type Role,
  requireRank,
  roleIn,
} from "../members/members.ts";
import { type ErasedPerson, emailKey, findUser, getUser, hasUsers, makers, readEmail } from "../people/people.ts";
import { type InvitationRow, type LinkRow, rows } from "./rows.ts";

export type { LinkRow };

/** How long a one-time link works. */
export const LINK_LIFETIME_MS = { setup: 30 * MINUTE_MS, invitation: 7 * DAY_MS, reset: DAY_MS } as const;

export interface OneTimeLink {
  readonly id: string;
  /** Shown once; only its SHA-256 is stored. */
  readonly token: string;
  /** Below the base URL, with the token in its fragment, which browsers send nowhere (RFC 3986 section 3.5). */
  readonly path: `/${string}`;
  readonly expiresAt: number;
}

const PATHS = { setup: "/setup", invitation: "/invitation", reset: "/reset-password" } as const;

type NewLink = Pick<LinkRow, "kind"> & Partial<Pick<LinkRow, "teamId" | "role" | "email" | "userId" | "makerId">>;

function storeLink(core: Core, link: NewLink, by: Actor): OneTimeLink {
  const token = newToken("rkl", core.random);
  const id = newId("inv", core.clock, core.random);
  const now = core.clock.now();
  const expiresAt = now + LINK_LIFETIME_MS[link.kind];
  rows(core.store).insertLink.run({
    teamId: null,
    role: null,
    email: null,
    userId: null,
    makerId: by.kind === "user" ? by.id : null,
    ...link,
    id,
    tokenHash: tokenDigest(token),
    createdBy: makers.of(by),
    createdAt: now,
    expiresAt,
  });
  return { id, token, path: `${PATHS[link.kind]}#${token}`, expiresAt };
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
 * Makes an invitation: whoever opens the link may join the team.
 * @param email only this address, when given
 * @param makerId the person with whose rights it works, when that is not the actor but the owner of the actor's token
 * @param actorRole the role of the person who invites; undefined for operators and the command line
 */
export function createInvitation(
  core: Core,
  invitation: Pick<NewLink, "email" | "makerId"> & { readonly teamId: string; readonly role: Role },
  by: Actor,
  actorRole?: Role,
): Promise<OneTimeLink> {
  const { teamId, role } = invitation;
  const email = invitation.email ? readEmail(invitation.email) : null;
  return core.store.write(() => {
    requireRank(actorRole, undefined, role);
    const link = storeLink(core, { ...invitation, kind: "invitation", email }, by);
    recordEvent(core, by, {
      action: "invitation.made",
      teamId,
      target: { kind: "invitation", id: link.id, label: email },
      detail: { role },
    });
    return link;
  });
}

/** A page of a team's invitations that still work, the newest first. */
export const listInvitations = (core: Core, teamId: string, cursor?: string): Page<LinkRow> =>
  keysetPage<InvitationRow>({
    cursor,
    limit: MAX_PAGE,
    parts: 2,
    keyOf: ({ createdAt, number }) => [createdAt, number],
    read(towards, [createdAt, number] = [Number.MAX_SAFE_INTEGER, 0], count) {
      const found = rows(core.store).invitations[towards].iterate(
        teamId,
        core.clock.now(),
        createdAt ?? 0,
        number ?? 0,
      );
      return Iterator.from(found)
        .filter((link) => isMakerEntitled(core, link))
        .take(count)
        .toArray();
    },
  });

/** Whether an invitation that still works is for this address, and for no other. */
export const isInvited = (core: Core, email: string): boolean =>
  rows(core.store)
    .addressed.all(core.clock.now())
    .some((link) => emailKey(link.email ?? "") === emailKey(email) && isMakerEntitled(core, link));

/** Takes an invitation back. @throws Problem when it is not there or was used */
export function revokeInvitation(core: Core, teamId: string, id: string, by: Actor): Promise<void> {
  return core.store.write(() => {
    if (rows(core.store).revokeInvitation.run(core.clock.now(), id, teamId).changes === 0)
      fail(notFound, "This invitation was used or taken back already.");
    recordEvent(core, by, { action: "invitation.revoked", teamId, target: { kind: "invitation", id } });
  });
}

/** A link with which a person chooses a new password; an earlier one stops working. For operators and the command line. */
export function createResetLink(core: Core, idOrEmail: string, by: Actor): Promise<OneTimeLink> {
  return core.store.write(() => storeResetLink(core, getUser(core, idOrEmail), by, null));
}

/**
 * As `createResetLink`, for one of a team's people, made by an admin of that team. Whoever opens the link has the account with everything
 * it opens, so it is only made when that is no more than the admin has over the team.
 * @throws Problem 404 for somebody who is not in the team; 403 for somebody who outranks the admin, is an operator, is in other teams or
 * has no password; 409 for the admin's own account and one that is closed
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
    if (by.id === userId) fail(conflict, "Change your own password under Your account.");
    const beyond = beyondTeam(core, member);
    if (beyond !== undefined) fail(forbidden, `${beyond}: only an operator can make this link.`);
    const user = getUser(core, userId);
    if (user.disabledAt !== null) fail(conflict, "This account is closed; an operator can open it again.");
    return storeResetLink(core, user, by, teamId);
  });
}

/** Why a person's account opens more than this team; undefined when it does not. */
function beyondTeam(core: Core, member: Member): string | undefined {
  if (member.operator === 1) return "This person runs the installation";
  // Without a password there is none to forget. Setting one would open a second way in, beside the issuer that decides who may sign in.
  if (getUser(core, member.userId).passwordHash === null)
    return "This person comes by single sign-on, without a password";
  return membershipsOf(core, member.userId).length > 1 ? "This person is in other teams too" : undefined;
}

/**
 * Whether the maker of a link may still do what it does. A link works with its maker's rights: it must not outlive their seat or role, and
 * must not give more when the person it is for gains rights.
 */
function isMakerEntitled(core: Core, link: LinkRow): boolean {
  if (link.makerId === null) return true;
  const maker = findUser(core, link.makerId);
  if (maker?.disabledAt !== null) return false;
  if (maker.operator === 1) return true;
  const role = link.teamId === null ? undefined : roleIn(core, link.teamId, maker.id);
  if (link.teamId === null || role === undefined) return false;
  if (link.kind === "invitation") return outranks(role, undefined, link.role ?? undefined);
  const member = findMember(core, link.teamId, link.userId ?? "");
  return member !== undefined && outranks(role, member.role, undefined) && beyondTeam(core, member) === undefined;
}

function storeResetLink(core: Core, user: { id: string; email: string }, by: Actor, teamId: string | null) {
  revokeResetLinks(core, user.id);
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
 * @throws Problem 404 for one that is not known, 410 for one that was used, taken back or has expired, or whose maker may no
 * longer make it
 */
export function getLink(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = isWellFormedToken(token, "rkl") ? rows(core.store).link.get(tokenDigest(token)) : undefined;
  if (!link || link.kind !== kind) fail(notFound, "This link is not known. Was it copied whole?");
  if (link.usedAt !== null) fail(gone, "This link was used already; each works once.");
  if (link.revokedAt !== null) fail(gone, "This link was taken back. Ask for another.");
  // One that lasts for longer than any was made by a clock that was ahead.
  const left = link.expiresAt - core.clock.now();
  if (left <= 0 || left > 2 * LINK_LIFETIME_MS[kind]) fail(gone, "This link has expired. Ask for another.");
  if (!isMakerEntitled(core, link))
    fail(gone, "Who made this link may no longer make it. Ask somebody else for another.");
  return link;
}

/** Uses a link up; call inside the transaction that does what it is for. Of parallel uses exactly one succeeds. @throws Problem */
export function useLink(core: Core, token: string, kind: LinkRow["kind"]): LinkRow {
  const link = getLink(core, token, kind);
  rows(core.store).useLink.run(core.clock.now(), link.id);
  return link;
}

/** Takes back a person's reset links; call inside a transaction. */
export function revokeResetLinks(core: Core, userId: string): void {
  rows(core.store).revokeLinksOf.run(core.clock.now(), "reset", userId, userId);
}

/** Row change: erases links that were made for a person. @returns how many went */
export function eraseLinksOf(core: Core, { id: userId, email }: ErasedPerson): number {
  const sql = rows(core.store);
  const isTheirs = (link: Pick<LinkRow, "email" | "userId">) =>
    link.userId === userId || emailKey(link.email ?? "") === emailKey(email);
  const theirs = sql.named.all(userId).filter(isTheirs).slice(0, MAX_ERASED_ROWS);
  for (const { id } of theirs) sql.drop.run(id);
  return theirs.length;
}
