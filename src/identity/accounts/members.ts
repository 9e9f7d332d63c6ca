import type { Core } from "../../core.ts";
import { conflict, fail, forbidden, notFound } from "../../kit/problem.ts";
import { likePattern } from "../../kit/strings.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { type Member, type Role, rows } from "./people-rows.ts";
import { getUser, storeMember } from "./users.ts";

/** Members listed at once; whoever looks for one of more narrows the list by text. */
export const MAX_LISTED = 200;

/** The people of a team, owners first, 200 at most. @param text part of an address or a name */
export const listMembers = (core: Core, teamId: string, text = ""): Member[] =>
  rows(core.store).members.all({ teamId, like: likePattern(text), limit: MAX_LISTED });

export const countMembers = (core: Core, teamId: string): number => rows(core.store).memberCount.get(teamId) ?? 0;

/** One of a team's people. @throws Problem 404 when they are not in it */
export function getMember(core: Core, teamId: string, userId: string): Member {
  const member = rows(core.store).member.get(teamId, userId);
  if (!member) fail(notFound, "This person is not in the team.");
  return member;
}

/** A team without an owner could not be administered from the dashboard any more. */
function requireOtherOwner(core: Core, teamId: string, userId: string): void {
  if (rows(core.store).otherOwners.get(teamId, userId) === 0)
    fail(conflict, "This is the team's only owner: make somebody else an owner first.");
}

/** Whether somebody in a role may act on somebody else's. Owners may do everything; admins manage admins and members. */
export const outranks = (actor: Role, subject: Role | undefined, wanted: Role | undefined): boolean =>
  actor === "owner" || (actor === "admin" && subject !== "owner" && wanted !== "owner");

/** The same as a demand. @param actor undefined for an operator and the command line @throws Problem (403) */
export function requireRank(actor: Role | undefined, subject: Role | undefined, wanted: Role | undefined): void {
  if (actor !== undefined && !outranks(actor, subject, wanted))
    fail(
      forbidden,
      actor === "admin" ? "Only an owner can change owners." : "Only owners and admins can change who is in a team.",
    );
}

/**
 * Puts an existing account into a team, or gives it another role there.
 * @param actorRole the role of the person who does it; undefined for an operator and the command line, who may everything
 */
export function setRole(
  core: Core,
  teamId: string,
  idOrEmail: string,
  role: Role,
  by: Actor = COMMAND_LINE,
  actorRole?: Role,
): Promise<void> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    const before = rows(core.store).role.get(teamId, user.id);
    requireRank(actorRole, before, role);
    if (before === "owner" && role !== "owner") requireOtherOwner(core, teamId, user.id);
    storeMember(core, teamId, user, role, by);
  });
}

/** Gives somebody who is in a team another role there. @throws Problem 404 for anybody else */
export function changeRole(
  core: Core,
  teamId: string,
  userId: string,
  role: Role,
  by: Actor,
  actorRole?: Role,
): Promise<void> {
  return core.store.write(() => {
    const member = getMember(core, teamId, userId);
    requireRank(actorRole, member.role, role);
    if (member.role === "owner" && role !== "owner") requireOtherOwner(core, teamId, userId);
    storeMember(core, teamId, { id: userId, email: member.email }, role, by);
  });
}

/** Takes somebody out of a team; what their read tokens may read shrinks with it at once. @throws Problem */
export function removeMember(
  core: Core,
  teamId: string,
  userId: string,
  by: Actor = COMMAND_LINE,
  actorRole?: Role,
): Promise<void> {
  return core.store.write(() => {
    const before = rows(core.store).role.get(teamId, userId);
    if (before === undefined) fail(notFound, "This person is not in the team.");
    // Everyone may leave.
    if (by.id !== userId) requireRank(actorRole, before, undefined);
    if (before === "owner") requireOtherOwner(core, teamId, userId);
    rows(core.store).removeMember.run(teamId, userId);
    recordEvent(core, by, {
      action: "member.removed",
      teamId,
      target: { kind: "user", id: userId, label: getUser(core, userId).email },
      detail: { role: before },
    });
  });
}
