/**
 * People: accounts with their addresses, names and rights, whether closed or open.
 * Not here: who is in which team (members), how an account is made and signed in to (sign-in).
 */

import { type Core, slot } from "../../core.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { readName } from "../../kit/read-name.ts";
import { emailKey, hasControls, soughtText } from "../../kit/strings.ts";
import { type Actor, type Event, recordEvent } from "../../platform/audit/audit.ts";
import { rows, type User } from "./rows.ts";

export { emailKey, type User };

/** An account as lists show it. */
export type ListedUser = Omit<User, "passwordHash" | "emailKey">;

const ADDRESS = /^[^\s@"<>()[\],;:\\]{1,64}@[^\s@"<>()[\],;:\\]+$/u;

/** Reads an address as a person typed it. @throws Problem when it cannot be one (RFC 5321 section 4.5.3.1 bounds it) */
export function readEmail(typed: string): string {
  const email = typed.trim();
  // The compared form must fit, too: a fullwidth at-sign would give it another domain.
  if (email.length > 254 || hasControls(email) || !ADDRESS.test(email) || !ADDRESS.test(emailKey(email)))
    fail(invalid, "This is not an e-mail address.");
  return email;
}

/** Reads a person's name. @returns null for none @throws Problem for a name that would change how the text around it reads */
export function readPersonName(typed: string | null | undefined): string | null {
  const name = typed?.trim() ?? "";
  return name === "" ? null : readName(name, "A person's", 100);
}

/** Stores a new person; call inside a transaction. @throws Problem when the address is taken */
export function storeUser(core: Core, user: User, by: Actor): void {
  if (rows(core.store).userByEmail.get(user.emailKey)) fail(conflict, `There is an account for ${user.email} already.`);
  rows(core.store).insertUser.run(user);
  record(core, "user.created", user, by, { operator: user.operator === 1 });
}

/** A person by id or by e-mail address. */
export function findUser(core: Core, idOrEmail: string): User | undefined {
  return rows(core.store).userById.get(idOrEmail) ?? findUserByEmail(core, idOrEmail);
}

export const findUserByEmail = (core: Core, email: string): User | undefined =>
  rows(core.store).userByEmail.get(emailKey(email));

/** @throws Problem naming who was looked for */
export function getUser(core: Core, idOrEmail: string): User {
  const user = findUser(core, idOrEmail);
  if (!user) fail(notFound, `There is no account for "${idOrEmail}" (see: reckon user list)`);
  return user;
}

/** Everybody, the oldest account first. */
export const listUsers = (core: Core): ListedUser[] => rows(core.store).users.all().map(listed);

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
  after: string,
): { readonly rows: ListedUser[]; readonly next: string | undefined } {
  const users = rows(core.store).usersFrom.all({ after, ...soughtText(text), limit: limit + 1 });
  const page = users.slice(0, limit);
  return { rows: page.map(listed), next: users.length > limit ? page.at(-1)?.emailKey : undefined };
}

/** Those of some people whose address or name contains a text, by address: all, or so many beyond an address. */
export const findUsers = (core: Core, ids: readonly string[], text: string, most = -1, after = ""): ListedUser[] =>
  rows(core.store)
    .usersAmong.all({ ids: JSON.stringify(ids), ...soughtText(text), after, most })
    .map(listed);

/** One account, as lists show it. @throws Problem 404 */
export function getListedUser(core: Core, userId: string): ListedUser {
  const user = rows(core.store).userById.get(userId);
  if (!user) fail(notFound, "There is no such account.");
  return listed(user);
}

const listed = ({ passwordHash: _, emailKey: __, ...user }: User): ListedUser => user;

export const hasUsers = (core: Core): boolean => rows(core.store).anyUser.get() === 1;

/** Changes a person's name. @throws Problem */
export async function renameUser(core: Core, userId: string, typed: string, by: Actor): Promise<void> {
  const name = readPersonName(typed);
  await core.store.write(() => {
    const user = getUser(core, userId);
    storePerson(core, user, { email: user.email, name }, by);
  });
}

/**
 * Changes a person's name and address; call inside a transaction.
 * @returns whether anything changed
 * @throws Problem 409 when the address is taken
 */
export function storePerson(
  core: Core,
  user: User,
  { email, name }: { readonly email: string; readonly name: string | null },
  by: Actor,
): boolean {
  const sql = rows(core.store);
  const changed = [...(email === user.email ? [] : ["address"]), ...(name === user.name ? [] : ["name"])];
  if (changed.length === 0) return false;
  const key = emailKey(email);
  if (key !== user.emailKey && sql.userByEmail.get(key)) fail(conflict, `There is an account for ${email} already.`);
  if (email !== user.email) {
    // Records that stay have the old address, and an erasure has to find it.
    sql.keepFormer.run(user.id, user.email);
    forgetFormers(core);
    sql.setEmail.run(email, key, user.id);
  }
  sql.setName.run(name, user.id);
  record(core, "user.changed", { ...user, email }, by, { changed });
  return true;
}

/**
 * Former addresses with the people who had them. Cached, because many people are asked for in one go after a directory changed everybody's
 * address.
 */
const formersOfNow = slot(() => ({ byKey: undefined as Map<string, Set<string>> | undefined }));

function holdersByKey(core: Core): Map<string, Set<string>> {
  const now = formersOfNow(core);
  if (now.byKey) return now.byKey;
  const byKey = new Map<string, Set<string>>();
  for (const { userId, email } of rows(core.store).formers.iterate()) {
    byKey.getOrInsert(emailKey(email), new Set()).add(userId);
  }
  now.byKey = byKey;
  setImmediate(() => forgetFormers(core));
  return byKey;
}

const forgetFormers = (core: Core): void => {
  formersOfNow(core).byKey = undefined;
};

/** Addresses that people had before. */
export const formerAddresses = {
  /** Former addresses of a person that nobody else has or had. */
  of(core: Core, userId: string): string[] {
    const isOthers = (email: string) =>
      formerAddresses.holders(core, email).size > 1 || (findUserByEmail(core, email)?.id ?? userId) !== userId;
    return rows(core.store)
      .formersOf.all(userId)
      .filter((email) => !isOthers(email));
  },

  /** Who had an address before, by id. */
  holders: (core: Core, email: string): ReadonlySet<string> => holdersByKey(core).get(emailKey(email)) ?? new Set(),

  /** Row change: erases a person's former addresses. @returns how many went */
  erase(core: Core, userId: string): number {
    forgetFormers(core);
    return rows(core.store).dropFormer.run(userId).changes;
  },
};

/** The maker of something, as records store it: by id, since addresses change, and are given to others. */
export const makers = {
  /** The id of a person or a device; the label of anybody else. */
  of: ({ kind, id, label }: Actor): string => (kind === "user" || kind === "device" ? id : null) ?? label,

  /** The present address of a person; any other maker as stored. */
  called: (core: Core, maker: string): string => rows(core.store).userById.get(maker)?.email ?? maker,
};

/** Makes somebody an operator, or no longer one. @throws Problem for the last one */
export function setOperator(core: Core, idOrEmail: string, operator: boolean, by: Actor): Promise<boolean> {
  return core.store.write(() => {
    const user = getUser(core, idOrEmail);
    if ((user.operator === 1) === operator) return false;
    if (!operator && !isAtHand(by)) requireOtherOperator(core, user.id);
    rows(core.store).setOperator.run(operator ? 1 : 0, user.id);
    record(core, operator ? "user.operator_granted" : "user.operator_withdrawn", user, by);
    return true;
  });
}

/**
 * Marks an account as closed, or as open again; call inside a transaction.
 * @returns whether anything changed
 * @throws Problem for the last operator, without whom nobody could run the installation
 */
export function storeDisabled(core: Core, user: User, disabled: boolean, by: Actor): boolean {
  if ((user.disabledAt !== null) === disabled) return false;
  if (disabled && user.operator === 1 && !isAtHand(by)) requireOtherOperator(core, user.id);
  rows(core.store).setDisabled.run(disabled ? core.clock.now() : null, user.id);
  record(core, disabled ? "user.disabled" : "user.enabled", user, by);
  return true;
}

/** Whether an actor has access to the data directory, and so can always make another operator. */
const isAtHand = ({ kind, id }: Actor) => kind === "command" && id === null;

function requireOtherOperator(core: Core, userId: string): void {
  if (rows(core.store).otherOperators.get(userId) === 0)
    fail(conflict, "This is the only operator: make somebody else one first.");
}

/** Stores a new password's hash; call inside a transaction. */
export function storePasswordHash(core: Core, user: User, hash: string, by: Actor): void {
  rows(core.store).setPassword.run(hash, user.id);
  record(core, "user.password_changed", user, by);
}

/** Takes a password away; call inside a transaction. */
export function removePassword(core: Core, user: User, by: Actor): void {
  rows(core.store).setPassword.run(null, user.id);
  record(core, "user.password_removed", user, by);
}

function record(core: Core, action: string, { id, email }: User, by: Actor, detail: Event["detail"] = {}): void {
  recordEvent(core, by, { action, teamId: null, target: { kind: "user", id, label: email }, detail });
}

/** A person who is to be erased. */
export interface ErasedPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  /** The mark that replaces their name and address. */
  readonly mark: string;
}

/** The mark of an erased person. */
export const markOf = (userId: string): string => `erased-${userId}`;

/** Erasing accounts. */
export const userErasure = {
  /** Row change: closes an account, even the last operator's. @returns how many accounts it closed */
  close: (core: Core, userId: string): number => rows(core.store).close.run(core.clock.now(), userId).changes,

  /** Row change: leaves nothing of an account but its id. @returns how many accounts it was */
  erase: (core: Core, { id, mark }: ErasedPerson): number => rows(core.store).erase.run({ id, mark }).changes,
};
