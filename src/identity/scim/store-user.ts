import { withoutMisleading } from "../../kit/escape-invisible.ts";
import { newId } from "../../kit/ids.ts";
import { fail, forbidden, Problem, type ProblemRow } from "../../kit/problem.ts";
import { revokeDevicesOf } from "../devices/devices.ts";
import { directoryKey, directoryRecords, type UserRecord } from "../directory/directory.ts";
import { syncMemberships } from "../members/members.ts";
import {
  emailKey,
  findUserByEmail,
  getUser,
  readEmail,
  readPersonName,
  storePerson,
  storeUser,
  type User,
} from "../people/people.ts";
import { storeClosed } from "../sign-in/sign-in.ts";
import { identityUser, waysIn } from "../sso/sso.ts";
import { invalidValue, uniqueness } from "./problems.ts";
import { MAX_RECORDS, recordDone, type Scope } from "./scope.ts";
import type { UserDraft } from "./user-draft.ts";

/** Changes of accounts; everything here is called inside a transaction. */

const ONE = { limit: 1, offset: 0 };

/** Runs something, and turns a problem of another room into one of SCIM. */
function as<T>(row: ProblemRow, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof Problem ? new Problem(row, error.message) : error;
  }
}

/** @throws Problem unless the address is of a domain that is listed for the issuer: others may vouch for the rest */
function vouchedEmail({ issuer }: Scope, typed: string | null): string {
  const email = as(invalidValue, () => readEmail(typed ?? ""));
  const domain = emailKey(email).split("@").at(-1) as string;
  if (!issuer.domains.includes(domain))
    fail(invalidValue, `${issuer.label} may not provision addresses of ${domain}: list the domain for it first.`);
  return email;
}

/** A person's name; the former one when the directory says nothing. */
function nameOf({ displayName, formatted, givenName, familyName }: UserDraft, before: string | null): string | null {
  const parts = [givenName, familyName].filter((part) => part !== null).join(" ");
  const name = [displayName, formatted, parts].find((one) => one !== null && one !== "");
  return name ? as(invalidValue, () => readPersonName(withoutMisleading(name.slice(0, 100).toWellFormed()))) : before;
}

/** Makes a person's record, with a new account or for an existing one. @throws Problem */
export function createRecord(scope: Scope, draft: UserDraft): UserRecord {
  const { core, issuer, by } = scope;
  const linked = draft.externalId === null ? undefined : identityUser(core, issuer.id, draft.externalId);
  const desired = draft.email ?? draft.userName;
  // A person who signed in by the issuer before keeps their address, of whatever domain: if it were refused here, the directory could not
  // close their account.
  const email = emailKey(desired) === linked?.emailKey ? linked.email : vouchedEmail(scope, desired);
  requireFreeName(scope, draft.userName, undefined);
  if (directoryRecords.users(core, issuer.id, "all", null, ONE).total >= MAX_RECORDS)
    fail(forbidden, `There are ${MAX_RECORDS} users already.`);
  const known = linked ?? findUserByEmail(core, email);
  const before = known ? pastOf(scope, known) : undefined;
  const account = known ?? newAccount(scope, draft, email);
  if (!known) storeUser(core, account, by);
  else if (!linked && before) endPast(scope, account);
  else if (!linked) waysIn.endOthers(core, account, by);
  const now = core.clock.now();
  const record: UserRecord = {
    ...recordFields(draft),
    id: newId("scu", core.clock, core.random),
    issuerId: issuer.id,
    userId: account.id,
    closed: before?.closed ?? 0,
    createdAt: now,
    updatedAt: now,
    endedAt: null,
  };
  if (before) directoryRecords.dropUser(core, before.id);
  const closed = settleAccount(scope, record, account, draft, email);
  const stored = { ...record, closed };
  directoryRecords.storeUser(core, stored, directoryRecords.hasGroups(core, issuer.id));
  const target = { kind: "user", id: account.id, label: email };
  recordDone(scope, "scim.user_added", target, { made: !known });
  return stored;
}

/**
 * Ends all ways into an account and its devices: the directory removed its former person, and may now mean somebody else by the address.
 */
function endPast({ core, by }: Scope, account: User): void {
  waysIn.endAll(core, account, by);
  revokeDevicesOf(core, account.id, by);
}

/**
 * Judges whether an existing account may be taken over, as when signing in: never an operator's, and a closed one only if this directory
 * closed it.
 * @returns the record that the directory had of it before
 */
function pastOf({ core, issuer }: Scope, user: User): UserRecord | undefined {
  if (user.operator === 1)
    fail(uniqueness, `${user.email} runs this installation, and operators are not provisioned. Leave them out.`);
  const records = directoryRecords.recordsOf(core, user.id).filter(({ issuerId }) => issuerId === issuer.id);
  if (records.some(({ endedAt }) => endedAt === null)) fail(uniqueness, "There is a user with this account already.");
  const before = records.at(-1);
  if (user.disabledAt !== null && before?.closed !== 1)
    fail(uniqueness, `The account of ${user.email} was closed here by hand. Open it first.`);
  return before;
}

const newAccount = ({ core }: Scope, draft: UserDraft, email: string): User => ({
  id: newId("usr", core.clock, core.random),
  email,
  emailKey: emailKey(email),
  name: nameOf(draft, null),
  passwordHash: null,
  operator: 0,
  createdAt: core.clock.now(),
  disabledAt: null,
});

const recordFields = ({ userName, externalId, givenName, familyName, formatted, displayName }: UserDraft) => ({
  ...{ userName, externalId, givenName, familyName, formatted, displayName },
  userKey: directoryKey(userName),
  displayKey: displayName === null ? null : directoryKey(displayName),
});

function requireFreeName({ core, issuer }: Scope, userName: string, own: string | undefined): void {
  const [other] = directoryRecords.users(core, issuer.id, "username", directoryKey(userName), ONE).page;
  if (other && other.id !== own) fail(uniqueness, "There is a user with this userName already.");
}

/** Brings a record in line with what the directory says now, with its account. @throws Problem */
export function changeRecord(scope: Scope, before: UserRecord, draft: UserDraft): UserRecord {
  const { core } = scope;
  const account = requireOrdinary(scope, before);
  requireFreeName(scope, draft.userName, before.id);
  const email = emailOf(scope, before, draft, account);
  const { externalId } = draft;
  const isRenumbered = externalId !== null && externalId !== before.externalId;
  // Directories reopen a closed account by its name, also for somebody else.
  if (account.disabledAt !== null && isRenumbered && identityUser(core, before.issuerId, externalId)?.id !== account.id)
    endPast(scope, account);
  const record = { ...before, ...recordFields(draft), updatedAt: core.clock.now() };
  const closed = settleAccount(scope, record, account, draft, email);
  const changed = Object.keys(recordFields(draft)).filter(
    (name) => !name.endsWith("Key") && record[name as keyof UserRecord] !== before[name as keyof UserRecord],
  );
  const after = { ...record, closed };
  directoryRecords.storeUser(core, after, false);
  if (changed.length > 0)
    recordDone(scope, "scim.user_changed", { kind: "user", id: account.id, label: email }, { changed });
  return after;
}

/** @throws Problem 403 for an operator's account, which nobody may change from elsewhere */
function requireOrdinary({ core }: Scope, { userId }: UserRecord): User {
  const account = getUser(core, userId);
  if (account.operator === 1) fail(forbidden, "This person runs the installation: operators are not changed by SCIM.");
  return account;
}

/**
 * A person's new address: it must be of a listed domain. It follows the user name when only that holds an address. Somebody who is
 * deactivated keeps theirs when the new one is not possible: directories rename the people they remove, and a refusal would leave the
 * account open.
 */
function emailOf(scope: Scope, before: UserRecord, draft: UserDraft, account: User): string {
  const isSaid = draft.email !== undefined || (before.userKey === account.emailKey && draft.userName.includes("@"));
  const desired = isSaid ? (draft.email ?? draft.userName) : account.email;
  if (desired.trim() === account.email) return account.email;
  try {
    const email = vouchedEmail(scope, desired);
    const other = findUserByEmail(scope.core, email);
    return draft.active || !other || other.id === account.id ? email : account.email;
  } catch (error) {
    if (error instanceof Problem && !draft.active) return account.email;
    throw error;
  }
}

/** @returns whether the directory closed the account */
function settleAccount(scope: Scope, record: UserRecord, account: User, draft: UserDraft, email: string): 0 | 1 {
  const { core, by } = scope;
  const name = nameOf(draft, account.name);
  as(uniqueness, () => storePerson(core, account, { email, name }, by));
  const open = account.disabledAt === null;
  if (draft.active === open) return open ? 0 : record.closed;
  if (draft.active && record.closed === 0)
    fail(forbidden, "The account was closed here by hand, and has to be opened here.");
  storeClosed(core, { ...account, email }, !draft.active, by);
  return draft.active ? 0 : 1;
}

/** Ends a person's record: closes the account, and removes it from the teams of its groups. @throws Problem */
export function endRecord(scope: Scope, record: UserRecord): void {
  const { core, issuer, by } = scope;
  const account = requireOrdinary(scope, record);
  const closes = storeClosed(core, account, true, by);
  syncMemberships(core, account, issuer.id, new Map(), by);
  directoryRecords.endUser(core, { ...record, closed: closes ? 1 : record.closed, endedAt: core.clock.now() });
  recordDone(scope, "scim.user_removed", { kind: "user", id: account.id, label: account.email });
}
