import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { hasControls, likePattern } from "../../kit/strings.ts";
import { type Actor, COMMAND_LINE, recordEvent } from "../../platform/audit/audit.ts";
import { requireAcceptablePassword } from "./password-rules.ts";
import { hashPassword } from "./passwords.ts";
import { type Membership, type Role, rows, type User } from "./people-rows.ts";
import { rows as teamRows } from "./rows.ts";
import { endSessionsOf } from "./sessions.ts";

export const ROLES = ["owner", "admin", "member"] as const satisfies readonly Role[];

/** How addresses are compared: people type theirs in any case. */
export const emailKey = (email: string) => email.trim().normalize("NFKC").toLowerCase();

/** Reads an address as a person typed it. @throws Problem when it cannot be one (RFC 5321 section 4.5.3.1 bounds it) */
export function readEmail(typed: string): string {
  const email = typed.trim();
  if (email.length > 254 || hasControls(email) || !/^[^\s@"<>()[\],;:\\]{1,64}@[^\s@"<>()[\],;:\\]+$/u.test(email))
    fail(invalid, "This is not an e-mail address.");
  return email;
}

/** Reads what a person is called. @returns null for none */
export function readPersonName(typed: string | null | undefined): string | null {
  const name = typed?.trim() ?? "";
  if (name === "") return null;
  if (name.length > 100 || hasControls(name)) fail(invalid, "A name has at most 100 characters on one line.");
  return name;
}

export interface NewUser {
  readonly email: string;
  readonly name?: string | null;
  readonly password: string;
  /** May run the installation: teams, tiers, everyone's accounts. */
  readonly operator?: boolean;
  readonly team?: { readonly id: string; readonly role: Role };
}

/** Names of the teams that an account is in; none of them is a password for it. */
export const teamNamesOf = (core: Core, userId: string): string[] =>
  rows(core.store)
    .memberships.all(userId)
    .map(({ teamName }) => teamName);

/**
 * A new person's row, hashed and checked, before the transaction that stores it.
 * @param teams names of the teams that they come into
 * @throws Problem
 */
export async function prepareUser(core: Core, wanted: NewUser, teams: readonly string[]): Promise<User> {
  const email = readEmail(wanted.email);
  const name = readPersonName(wanted.name);
  requireAcceptablePassword(wanted.password, { email, name, teams });
  return {
    id: newId("usr", core.clock, core.random),
    email,
    emailKey: emailKey(email),
    name,
    passwordHash: await hashPassword(wanted.password, core.random),
    operator: wanted.operator ? 1 : 0,
    createdAt: core.clock.now(),
    disabledAt: null,
  };
}

/** Stores a prepared person; call inside a transaction. @throws Problem when the address is taken */
export function storeUser(core: Core, user: User, by: Actor): void {
  if (rows(core.store).userByEmail.get(user.emailKey)) fail(conflict, `There is an account for ${user.email} already.`);
  rows(core.store).insertUser.run(user);
  recordEvent(core, by, {
    action: "user.created",
    teamId: null,
    target: { kind: "user", id: user.id, label: user.email },
    detail: { operator: user.operator === 1 },
  });
}

/** Puts somebody into a team, or gives them another role in it; call inside a transaction. */
export function storeMember(core: Core, teamId: string, user: Pick<User, "id" | "email">, role: Role, by: Actor): void {
  const before = rows(core.store).role.get(teamId, user.id);
  if (before === role) return;
  rows(core.store).putMember.run(teamId, user.id, role, core.clock.now());
  recordEvent(core, by, {
    action: before === undefined ? "member.added" : "member.role_changed",
    teamId,
    target: { kind: "user", id: user.id, label: user.email },
    detail: before === undefined ? { role } : { from: before, role },
  });
}

/** Makes an account. @throws Problem when the address or the password will not do */
export async function createUser(core: Core, wanted: NewUser, by: Actor = COMMAND_LINE): Promise<User> {
  const team = wanted.team && teamRows(core.store).teamById.get(wanted.team.id);
  const user = await prepareUser(core, wanted, team ? [team.name] : []);
  await core.store.write(() => {
    storeUser(core, user, by);
    if (wanted.team) storeMember(core, wanted.team.id, user, wanted.team.role, by);
  });
  return user;
}

/** A person by id or by e-mail address. */
export function findUser(core: Core, idOrEmail: string): User | undefined {
  return rows(core.store).userById.get(idOrEmail) ?? rows(core.store).userByEmail.get(emailKey(idOrEmail));
}

/** @throws Problem naming who was looked for */
export function getUser(core: Core, idOrEmail: string): User {
  const user = findUser(core, idOrEmail);
  if (!user) fail(notFound, `There is no account for "${idOrEmail}" (see: reckon user list)`);
  return user;
}

export interface ListedUser extends Omit<User, "passwordHash" | "emailKey"> {
  readonly lastSeenAt: number | null;
  readonly teams: readonly Membership[];
}

/** Everybody, the oldest account first. */
export function listUsers(core: Core): ListedUser[] {
  return rows(core.store)
    .users.all()
    .map((user) => listed(core, user));
}

/**
 * One page of everybody, by address.
 * @param text part of an address, a name or an id
 * @param after the last address of the page before
 * @returns the page, and the address to go on after when there is more
 */
export function pageOfUsers(
  core: Core,
  text: string,
  limit: number,
  after = "",
): { readonly rows: ListedUser[]; readonly next: string | undefined } {
  const found = rows(core.store).usersFrom.all({ after, like: likePattern(text), limit: limit + 1 });
  const page = found.slice(0, limit);
  return {
    rows: page.map((user) => listed(core, user)),
    next: found.length > limit ? page.at(-1)?.emailKey : undefined,
  };
}

/** One account, as lists show it. @throws Problem 404 */
export const getListedUser = (core: Core, userId: string): ListedUser => {
  const user = rows(core.store).userById.get(userId);
  if (!user) fail(notFound, "There is no such account.");
  return listed(core, user);
};

function listed(core: Core, { passwordHash: _, emailKey: __, ...user }: User): ListedUser {
  return {
    ...user,
    lastSeenAt: rows(core.store).lastSeen.get(user.id) ?? null,
    teams: rows(core.store).memberships.all(user.id),
  };
}

export const hasUsers = (core: Core): boolean => rows(core.store).anyUser.get() === 1;

/**
 * Changes a password and ends every sign-in but `keepSessionId`.
 * @param alongside what else ends with the old password; runs inside the transaction
 */
export async function setPassword(
  core: Core,
  userId: string,
  password: string,
  by: Actor = COMMAND_LINE,
  keepSessionId?: string,
  alongside: (user: User, by: Actor) => void = () => {},
): Promise<void> {
  const user = getUser(core, userId);
  requireAcceptablePassword(password, { ...user, teams: teamNamesOf(core, user.id) });
  const hash = await hashPassword(password, core.random);
  await core.store.write(() => {
    storePassword(core, user, hash, by, keepSessionId);
    alongside(user, by);
  });
}

/** Stores a new password's hash; call inside a transaction. */
export function storePassword(core: Core, user: User, hash: string, by: Actor, keepSessionId?: string): void {
  rows(core.store).setPassword.run(hash, user.id);
  rows(core.store).revokeLinksOf.run(core.clock.now(), "reset", user.id, user.id);
  endSessionsOf(core, user.id, keepSessionId);
  recordEvent(core, by, {
    action: "user.password_changed",
    teamId: null,
    target: { kind: "user", id: user.id, label: user.email },
  });
}

/** Changes what a person is called. @throws Problem */
export async function renameUser(core: Core, userId: string, typed: string): Promise<void> {
  const name = readPersonName(typed);
  await core.store.write(() => rows(core.store).setName.run(name, userId));
}

/**
 * Closes an account, or opens it again: sign-ins end, CLI and read tokens stop working, what the person did stays.
 * @returns whether anything changed
 * @throws Problem for the last operator, without whom nobody could run the installation
 */
export function setDisabled(
  core: Core,
  idOrEmail: string,
  disabled: boolean,
  by: Actor = COMMAND_LINE,
): Promise<boolean> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    if ((user.disabledAt !== null) === disabled) return false;
    if (disabled && user.operator === 1 && by.kind !== "command") requireOtherOperator(core, user.id);
    rows(core.store).setDisabled.run(disabled ? core.clock.now() : null, user.id);
    if (disabled) {
      endSessionsOf(core, user.id);
      // A link that was made before must not open the account by itself once it is open again.
      rows(core.store).revokeLinksOf.run(core.clock.now(), "reset", user.id, user.id);
    }
    recordEvent(core, by, {
      action: disabled ? "user.disabled" : "user.enabled",
      teamId: null,
      target: { kind: "user", id: user.id, label: user.email },
    });
    return true;
  });
}

/** Makes somebody an operator, or no longer one. @throws Problem for the last one */
export function setOperator(
  core: Core,
  idOrEmail: string,
  operator: boolean,
  by: Actor = COMMAND_LINE,
): Promise<boolean> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    if ((user.operator === 1) === operator) return false;
    if (!operator && by.kind !== "command") requireOtherOperator(core, user.id);
    rows(core.store).setOperator.run(operator ? 1 : 0, user.id);
    recordEvent(core, by, {
      action: operator ? "user.operator_granted" : "user.operator_withdrawn",
      teamId: null,
      target: { kind: "user", id: user.id, label: user.email },
    });
    return true;
  });
}

function requireOtherOperator(core: Core, userId: string): void {
  if (rows(core.store).otherOperators.get(userId) === 0)
    fail(conflict, "This is the only operator: make somebody else one first.");
}

/** The role of a person in a team; undefined when they are not in it. */
export const roleIn = (core: Core, teamId: string, userId: string): Role | undefined =>
  rows(core.store).role.get(teamId, userId);

/** The teams a person is in now. */
export const membershipsOf = (core: Core, userId: string): Membership[] => rows(core.store).memberships.all(userId);
