import type { Core } from "../../core.ts";
import { type GroupRecord, type LookUp, rows, type Selection, type UserRecord } from "./rows.ts";

/** For SQLite's LIMIT: no limit. */
const ALL = -1;

/** A user name or display name in the form in which it is compared (RFC 7643 section 4.1.1: without case). */
export const directoryKey = (text: string) => text.trim().normalize("NFKC").toLowerCase();

/** Columns by which records are looked for; `all` for none. */
export type UserColumn = "all" | "username" | "externalid" | "displayname" | "id" | "account";
export type GroupColumn = "all" | "externalid" | "displayname" | "id";

type Window = Pick<Selection, "limit" | "offset">;

/** A page of the matching records, and how many there are. */
function find<Record>({ count, page }: LookUp<Record>, selection: Selection) {
  const total = count.get(selection) ?? 0;
  return { total, page: total === 0 ? [] : page.all(selection) };
}

/**
 * The records of directories. All look-ups name the issuer, so that none sees another's records. Functions that change something are called
 * inside a transaction.
 */
export const directoryRecords = {
  user: (core: Core, issuerId: string, id: string): UserRecord | undefined => rows(core.store).user.get(id, issuerId),

  /** A page of the people who have a value, and how many there are. @param value as it is compared */
  users: (core: Core, issuerId: string, column: UserColumn, value: string | null, window: Window) =>
    find(rows(core.store).users[column], { issuerId, value, ...window }),

  /** All records of an account, in any directory, ended ones too. */
  recordsOf: (core: Core, userId: string): UserRecord[] => rows(core.store).recordsOf.all(userId),

  storeUser(core: Core, record: UserRecord, pending: boolean): void {
    rows(core.store).putUser.run({ ...record, pending: pending ? 1 : 0 });
    if (pending) rows(core.store).setPending.run(1, record.id);
  },

  /** Ends a person's record: what stays is that the directory had them, and whether it closed the account. */
  endUser(core: Core, record: UserRecord): void {
    const sql = rows(core.store);
    const blank = { externalId: null, givenName: null, familyName: null, formatted: null, displayName: null };
    sql.dropMemberships.run(record.id);
    sql.putUser.run({ ...record, ...blank, displayKey: null, userName: "", userKey: "", pending: 0 });
    sql.setPending.run(0, record.id);
  },

  /** Forgets that a directory closed an account, after it was closed or opened by hand: no directory may undo that. */
  forgetClosed: (core: Core, userId: string) => void rows(core.store).forgetClosed.run(userId),

  dropUser: (core: Core, id: string) => void rows(core.store).dropUser.run(id),

  group: (core: Core, issuerId: string, id: string): GroupRecord | undefined =>
    rows(core.store).group.get(id, issuerId),

  groups: (core: Core, issuerId: string, column: GroupColumn, value: string | null, window: Window) =>
    find(rows(core.store).groups[column], { issuerId, value, ...window }),

  storeGroup: (core: Core, record: GroupRecord) => void rows(core.store).putGroup.run(record),

  dropGroup(core: Core, id: string): void {
    rows(core.store).dropMembers.run(id);
    rows(core.store).dropGroup.run(id);
  },

  memberIds: (core: Core, groupId: string): string[] => rows(core.store).memberIds.all(groupId),
  members: (core: Core, groupId: string) => rows(core.store).members.all(groupId),
  countMembers: (core: Core, groupId: string): number => rows(core.store).memberCount.get(groupId) ?? 0,
  groupsOf: (core: Core, id: string, most: number): GroupRecord[] => rows(core.store).groupsOf.all(id, most),
  hasGroups: (core: Core, issuerId: string): boolean => rows(core.store).anyGroup.get(issuerId) === 1,

  addMember: (core: Core, groupId: string, id: string) => void rows(core.store).addMember.run(groupId, id),
  dropMember: (core: Core, groupId: string, id: string) => void rows(core.store).dropMember.run(groupId, id),

  /** Marks people whose memberships of teams still have to follow their groups. */
  setPending: (core: Core, id: string, pending: boolean) => void rows(core.store).setPending.run(pending ? 1 : 0, id),
  setMembersPending: (core: Core, groupId: string) => void rows(core.store).setMembersPending.run(groupId),
  pending: (core: Core, issuerId: string, most: number): UserRecord[] => rows(core.store).pending.all(issuerId, most),
  pendingIssuers: (core: Core): string[] => rows(core.store).pendingIssuers.all(),

  /** The names of a person's groups, and the directory's own ids for these. */
  groupNames: (core: Core, id: string): string[] =>
    rows(core.store)
      .groupsOf.all(id, ALL)
      .flatMap(({ displayName, externalId }) => (externalId === null ? [displayName] : [displayName, externalId])),
};

const ONE = { limit: 2, offset: 0 };

/** The account that an issuer's directory has under its own id, if there is exactly one. */
export function accountByExternalId(core: Core, issuerId: string, externalId: string): string | undefined {
  const { page } = directoryRecords.users(core, issuerId, "externalid", externalId, ONE);
  return page.length === 1 ? page[0]?.userId : undefined;
}

/** Whether an issuer's directory has an account now. */
export const isProvisioned = (core: Core, issuerId: string, userId: string): boolean =>
  directoryRecords.users(core, issuerId, "account", userId, ONE).total > 0;

/** A person's groups in an issuer's directory; undefined when it does not have the person, or sends no groups at all. */
export function directoryGroups(core: Core, issuerId: string, userId: string): string[] | undefined {
  if (!directoryRecords.hasGroups(core, issuerId)) return undefined;
  const [record] = directoryRecords.users(core, issuerId, "account", userId, ONE).page;
  return record && directoryRecords.groupNames(core, record.id);
}

/**
 * Marks all people of an issuer's directory, so that their memberships are worked out again after the meaning of groups changed. Call
 * inside a transaction.
 */
export function reviewDirectory(core: Core, issuerId: string): void {
  if (directoryRecords.hasGroups(core, issuerId)) rows(core.store).setAllPending.run(issuerId);
}

/** Forgets an issuer's directory with its tokens; call inside a transaction. */
export function forgetDirectory(core: Core, issuerId: string): void {
  const sql = rows(core.store);
  for (const forget of [sql.forgetMembers, sql.forgetGroups, sql.forgetUsers, sql.forgetTokens]) forget.run(issuerId);
}

/** Row change: erases a person's records in directories. @returns how many records went */
export function eraseDirectoryRecords(core: Core, userId: string): number {
  const records = rows(core.store).recordsOf.all(userId);
  for (const { id } of records) {
    rows(core.store).dropMemberships.run(id);
    rows(core.store).dropUser.run(id);
  }
  return records.length;
}
