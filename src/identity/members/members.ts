/**
 * Members: which people are in which team, in what role, and who may change that.
 * Not here: how somebody is invited (one-time links), what a role sees (the pages).
 */

import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { conflict, fail, forbidden, notFound } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { emailKey, findUser, findUsers, getListedUser, getUser, type ListedUser, type User } from "../people/people.ts";
import { storeTeam, type Team, type TeamPlan, teamsById } from "../teams/teams.ts";
import { type MembershipRow, type Role, rows } from "./rows.ts";

export type { Role };
/**
 * Roles in order: of several the first one counts. A role that sees more comes first; of those that see the same, the one that does more.
 */
export const ROLES = ["owner", "admin", "member", "viewer", "own_only"] as const satisfies readonly Role[];

/** A role as people read it: the form in which it is also typed, with a hyphen. */
export const roleName = (role: Role): string => role.replace("_", " ");

/** A role as it was typed, with a hyphen or an underscore; undefined when there is none of that name. */
export const roleNamed = (text: string): Role | undefined => ROLES.find((one) => one === text.replaceAll("-", "_"));

/** Somebody in a team, as the team sees them. */
export interface Member extends Omit<ListedUser, keyof MembershipRow | "id">, Omit<MembershipRow, "teamId"> {}

type Person = Pick<User, "id" | "email">;

/** A team, as somebody in it sees it. */
export interface Membership {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** Members listed at once; larger teams are read page by page, or narrowed by text. */
export const MAX_LISTED = 200;

/** Members that are looked through in one go. */
const AT_ONCE = 2_000;

/** The people of a team, owners first, each by their addresses; 200 at most. @param text part of an address or a name */
export const listMembers = async (core: Core, teamId: string, text = ""): Promise<Member[]> =>
  (await pageOfMembers(core, teamId, text, "")).rows;

/**
 * One page of the same.
 * @param after what the page before went on after, `""` for the first
 * @returns the page, and what to go on after when there is more
 */
export async function pageOfMembers(
  core: Core,
  teamId: string,
  text: string,
  after: string,
): Promise<{ readonly rows: Member[]; readonly next: string | undefined }> {
  const [, fromRank = 0, address = ""] = /^(\d) (.+)$/.exec(after) ?? [];
  const yieldNow = cooperative(core.clock);
  const found = new Map<Role, Member[]>();
  for (let at: string | undefined = ""; at !== undefined; await yieldNow()) {
    const some: MembershipRow[] = rows(core.store).ofTeamAfter.all(teamId, at, AT_ONCE);
    for (const [role, of] of Map.groupBy(some, (row) => row.role)) {
      const rank = ROLES.indexOf(role);
      if (rank < Number(fromRank)) continue;
      const more = membersAmong(core, of, text, rank === Number(fromRank) ? address : "");
      const before = found.get(role);
      found.set(role, before ? [...before, ...more].sort(byAddress).slice(0, MAX_LISTED + 1) : more);
    }
    at = some.length < AT_ONCE ? undefined : some.at(-1)?.userId;
  }
  const all = ROLES.flatMap((role) => found.get(role) ?? []);
  const page = all.slice(0, MAX_LISTED);
  const last = page.at(-1);
  return {
    rows: page,
    next: last && all.length > MAX_LISTED ? `${ROLES.indexOf(last.role)} ${emailKey(last.email)}` : undefined,
  };
}

function membersAmong(core: Core, of: readonly MembershipRow[], text: string, after: string): Member[] {
  const memberships = new Map(of.map((row) => [row.userId, row]));
  const users = findUsers(core, [...memberships.keys()], text, MAX_LISTED + 1, after);
  return users.map((user) => memberOf(user, memberships.get(user.id) as MembershipRow));
}

const byAddress = (a: Member, b: Member): number => (emailKey(a.email) < emailKey(b.email) ? -1 : 1);

const memberOf = ({ id: userId, ...user }: ListedUser, { role, createdAt, source }: MembershipRow): Member => ({
  ...user,
  userId,
  role,
  createdAt,
  source,
});

export const countMembers = (core: Core, teamId: string): number => rows(core.store).memberCount.get(teamId) ?? 0;

/** One of a team's people. @throws Problem 404 when they are not in it */
export function getMember(core: Core, teamId: string, userId: string): Member {
  const member = findMember(core, teamId, userId);
  if (!member) fail(notFound, "This person is not in the team.");
  return member;
}

export function findMember(core: Core, teamId: string, userId: string): Member | undefined {
  const row = rows(core.store).membership.get(teamId, userId);
  return row && memberOf(getListedUser(core, userId), row);
}

/** The role of a person in a team; undefined when they are not in it. */
export const roleIn = (core: Core, teamId: string, userId: string): Role | undefined =>
  rows(core.store).membership.get(teamId, userId)?.role;

/** The teams a person is in now, by name. */
export function membershipsOf(core: Core, userId: string): Membership[] {
  const roles = new Map(
    rows(core.store)
      .ofUser.all(userId)
      .map(({ teamId, role }) => [teamId, role]),
  );
  return teamsById(core, [...roles.keys()]).map(({ id, name }) => ({ id, name, role: roles.get(id) as Role }));
}

/**
 * Puts somebody into a team, or gives them another role in it; call inside a transaction.
 * @param source id of the issuer whose groups do it
 */
export function storeMember(
  core: Core,
  teamId: string,
  user: Person,
  role: Role,
  by: Actor,
  source: string | null = null,
): void {
  const before = roleIn(core, teamId, user.id);
  if (before === role) return;
  rows(core.store).putMember.run(teamId, user.id, role, core.clock.now(), source);
  recordEvent(core, by, {
    action: before === undefined ? "member.added" : "member.role_changed",
    teamId,
    target: { kind: "user", id: user.id, label: user.email },
    detail: before === undefined ? { role } : { from: before, role },
  });
}

/**
 * Brings a person's memberships in line with their groups at an issuer of single sign-on; call inside a transaction. Memberships that
 * people gave them stay. The last owner may be removed, too: an operator can name another one.
 * @param source id of the issuer
 * @param roles by team; empty takes away all that came from it
 */
export function syncMemberships(
  core: Core,
  user: Person,
  source: string,
  roles: ReadonlyMap<string, Role>,
  by: Actor,
): void {
  const present = new Map(
    rows(core.store)
      .ofUser.all(user.id)
      .map((row) => [row.teamId, row]),
  );
  for (const row of present.values())
    if (row.source === source && !roles.has(row.teamId)) dropMember(core, row, user.email, by);
  for (const [teamId, role] of roles) {
    const before = present.get(teamId);
    if (before === undefined || before.source === source) storeMember(core, teamId, user, role, by, source);
  }
}

/** Takes away memberships that came from an issuer, so many at most; call inside a transaction. @returns how many */
export function removeMembersFrom(core: Core, source: string, by: Actor, most: number): number {
  const found = rows(core.store).fromSource.all(source, most);
  for (const row of found) dropMember(core, row, getUser(core, row.userId).email, by);
  return found.length;
}

function dropMember(core: Core, { teamId, userId, role }: MembershipRow, email: string, by: Actor): void {
  rows(core.store).removeMember.run(teamId, userId);
  recordEvent(core, by, {
    action: "member.removed",
    teamId,
    target: { kind: "user", id: userId, label: email },
    detail: { role },
  });
}

/** @throws Problem 409 for a membership that came from groups: a change here would be undone at the next sign-in */
function requireOwnPlace(core: Core, teamId: string, userId: string): void {
  if ((rows(core.store).membership.get(teamId, userId)?.source ?? null) !== null)
    fail(conflict, "Single sign-on put this person into the team: change their groups there.");
}

/** Makes a team that somebody owns from the start. @throws Problem as `createTeam` */
export function createOwnedTeam(core: Core, name: string, plan: TeamPlan, ownerId: string, by: Actor): Promise<Team> {
  return core.store.write(() => {
    const team = storeTeam(core, name, plan, by);
    storeMember(core, team.id, getUser(core, ownerId), "owner", by);
    return team;
  });
}

/** Whether somebody else owns a team, too, and can sign in. */
const hasOtherOwner = (core: Core, teamId: string, userId: string): boolean =>
  rows(core.store)
    .ofTeam.all(teamId)
    .some((row) => row.role === "owner" && row.userId !== userId && findUser(core, row.userId)?.disabledAt === null);

/** A team without an owner could not be administered from the dashboard any more. */
function requireOtherOwner(core: Core, teamId: string, userId: string): void {
  if (!hasOtherOwner(core, teamId, userId))
    fail(conflict, "This is the team's only owner: make somebody else an owner first.");
}

/** The teams, by name, that nobody else owns whose account is open. */
export const ownedAlone = (core: Core, userId: string): Membership[] =>
  membershipsOf(core, userId).filter(({ id, role }) => role === "owner" && !hasOtherOwner(core, id, userId));

/** Whether somebody in a role may act on somebody else's. Owners may do everything; admins manage admins and members. */
export const outranks = (actor: Role, subject: Role | undefined, next: Role | undefined): boolean =>
  actor === "owner" || (actor === "admin" && subject !== "owner" && next !== "owner");

/** Demands `outranks`. @param actor undefined for an operator and the command line @throws Problem (403) */
export function requireRank(actor: Role | undefined, subject: Role | undefined, next: Role | undefined): void {
  if (actor !== undefined && !outranks(actor, subject, next))
    fail(
      forbidden,
      actor === "admin" ? "Only an owner can change owners." : "Only owners and admins can change who is in a team.",
    );
}

/**
 * Puts an existing account into a team, or gives it another role there.
 * @param actorRole the role of the person who does it, who names somebody of the team by id; undefined for an operator and the command line
 * @throws Problem 404 for anybody else, 403 for a role above the own
 */
export function setRole(
  core: Core,
  teamId: string,
  idOrEmail: string,
  role: Role,
  by: Actor,
  actorRole?: Role,
): Promise<void> {
  return core.store.write(() => {
    if (actorRole !== undefined) getMember(core, teamId, idOrEmail);
    const user = getUser(core, idOrEmail);
    const before = roleIn(core, teamId, user.id);
    requireRank(actorRole, before, role);
    requireOwnPlace(core, teamId, user.id);
    if (before === "owner" && role !== "owner") requireOtherOwner(core, teamId, user.id);
    storeMember(core, teamId, user, role, by);
  });
}

/**
 * Takes somebody out of a team; their read tokens lose access to it at once.
 * @param alongside ends other things together with the membership; runs inside the transaction
 * @throws Problem
 */
export function removeMember(
  core: Core,
  teamId: string,
  userId: string,
  by: Actor,
  actorRole?: Role,
  alongside: () => void = () => {},
): Promise<void> {
  return core.store.write(() => {
    const row = rows(core.store).membership.get(teamId, userId);
    if (row === undefined) fail(notFound, "This person is not in the team.");
    // Everyone may leave.
    if (by.id !== userId) requireRank(actorRole, row.role, undefined);
    requireOwnPlace(core, teamId, userId);
    if (row.role === "owner") requireOtherOwner(core, teamId, userId);
    dropMember(core, row, getUser(core, userId).email, by);
    alongside();
  });
}

/** Everybody in a team, by id. */
export const memberIds = (core: Core, teamId: string): string[] =>
  rows(core.store)
    .ofTeam.all(teamId)
    .map(({ userId }) => userId);

/** Row change: takes an erased person out of every team. @returns the number of teams */
export const eraseMemberships = (core: Core, userId: string): number =>
  rows(core.store).removeAllOf.run(userId, MAX_ERASED_ROWS).changes;
