import { slot } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { fail, forbidden, notFound } from "../../kit/problem.ts";
import { Turns } from "../../kit/turns.ts";
import { cooperative } from "../../kit/yield.ts";
import { directoryKey, directoryRecords, type GroupRecord } from "../directory/directory.ts";
import type { Change } from "./changes.ts";
import { invalidPath, invalidValue, uniqueness } from "./problems.ts";
import { MAX_RECORDS, recordDone, type Scope } from "./scope.ts";
import { memberIdsIn, membersOf, textIn } from "./values.ts";

/** A group as a directory describes it. */
export interface GroupDraft {
  displayName: string;
  externalId: string | null;
  members: Set<string>;
}

const ONE = { limit: 1, offset: 0 };

/** Reads a group whole, as POST and PUT send it. @throws Problem */
export function groupIn(body: Readonly<Record<string, unknown>>): GroupDraft {
  const members = membersOf(body);
  return {
    displayName: textIn(members.get("displayname"), "displayName") ?? fail(invalidValue, "displayName is missing."),
    externalId: textIn(members.get("externalid"), "externalId"),
    members: new Set(memberIdsIn(members.get("members"))),
  };
}

/** A group as it is now. */
export const groupDraft = ({ core }: Scope, { id, displayName, externalId }: GroupRecord): GroupDraft => ({
  displayName,
  externalId,
  members: new Set(directoryRecords.memberIds(core, id)),
});

/** Makes a change to a group. @throws Problem */
export function changeGroupDraft(draft: GroupDraft, change: Change): void {
  const value = change.op === "remove" ? undefined : change.value;
  switch (change.attribute) {
    case "displayname":
      draft.displayName = textIn(value, "displayName") ?? fail(invalidValue, "displayName is required.");
      return;
    case "externalid":
      draft.externalId = textIn(value, "externalId");
      return;
    case "members":
      changeMembers(draft.members, change);
      return;
    default:
      if (change.attribute !== "schemas") fail(invalidPath, "The path names no attribute of a group.");
  }
}

/** Changes a group's members. A `remove` names them in its path (Okta) or in its value (Entra ID); without either it removes all. */
function changeMembers(members: Set<string>, { op, filter, sub, value }: Change): void {
  if (filter && (filter.attribute !== "value" || op !== "remove"))
    fail(invalidPath, 'Of members only members[value eq "ID"] is taken, for remove.');
  if (sub !== undefined && sub !== "value") fail(invalidPath, "Members are changed as a whole.");
  const ids = filter ? [filter.operand] : memberIdsIn(value);
  if (op === "replace" || (op === "remove" && !filter && value === undefined)) members.clear();
  for (const id of ids)
    if (op === "remove") members.delete(id);
    else members.add(id);
}

/** Members that are added or removed in one transaction: others get their turn between. */
const STEP_MEMBERS = 250;

/** A group is changed by one request at a time. */
const underWay = slot(() => new Turns());

/** Runs a transaction, unless the directory's token was revoked. */
type Write = <T>(act: () => T) => Promise<T>;

interface MemberStep {
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Makes a group. @throws Problem */
export function makeGroup(scope: Scope, write: Write, draft: GroupDraft): Promise<GroupRecord> {
  const id = newId("scg", scope.core.clock, scope.core.random);
  return underWay(scope.core).after(id, () => storeGroup(scope, write, id, undefined, draft));
}

/**
 * Changes a group: at once when it has few members, else step by step. A request that breaks off leaves it partly changed, and repeating
 * the request does the rest.
 * @param draftOf gives the desired group from the present one
 * @throws Problem
 */
export function changeGroup(
  scope: Scope,
  write: Write,
  id: string,
  draftOf: (before: GroupRecord) => GroupDraft,
): Promise<GroupRecord> {
  return underWay(scope.core).after(id, async () => {
    const before = recordIn(scope, id);
    return storeGroup(scope, write, id, before, draftOf(before));
  });
}

/** @throws Problem 404 */
export function recordIn({ core, issuer }: Scope, id: string): GroupRecord {
  return directoryRecords.group(core, issuer.id, id) ?? fail(notFound, "There is no such group.");
}

async function storeGroup(
  scope: Scope,
  write: Write,
  id: string,
  before: GroupRecord | undefined,
  draft: GroupDraft,
): Promise<GroupRecord> {
  const [first, ...more] = await memberSteps(scope, id, draft.members);
  const renamed =
    before !== undefined && (before.displayName !== draft.displayName || before.externalId !== draft.externalId);
  if (renamed) await markMembers(scope, write, id);
  const stored = await write(() => {
    const after = storeRecord(scope, id, before, draft);
    const changed = storeMembers(scope, id, first);
    // Marks the members again that were settled since they were marked.
    if (renamed) directoryRecords.setMembersPending(scope.core, id);
    if (!before) recordDone(scope, "scim.group_added", targetOf(after), { members: changed.added });
    else if (renamed || changed.added + changed.removed > 0)
      recordDone(scope, "scim.group_changed", targetOf(after), {
        ...(renamed ? { from: before.displayName } : {}),
        ...changed,
      });
    return after;
  });
  for (const step of more)
    await write(() => recordDone(scope, "scim.group_changed", targetOf(stored), storeMembers(scope, id, step)));
  return stored;
}

/** Marks a group's members step by step, before the group gets its other name: members settled until then find all as it was. */
async function markMembers({ core }: Scope, write: Write, groupId: string): Promise<void> {
  const ids = directoryRecords.memberIds(core, groupId);
  for (let at = 0; at < ids.length; at += STEP_MEMBERS)
    await write(() => {
      for (const id of ids.slice(at, at + STEP_MEMBERS)) directoryRecords.setPending(core, id, true);
    });
}

const targetOf = ({ id, displayName }: GroupRecord) => ({ kind: "group", id, label: displayName });

/** Stores a group without its members; call inside a transaction. @throws Problem */
function storeRecord(
  { core, issuer }: Scope,
  id: string,
  before: GroupRecord | undefined,
  { displayName, externalId }: GroupDraft,
): GroupRecord {
  const displayKey = directoryKey(displayName);
  const [other] = directoryRecords.groups(core, issuer.id, "displayname", displayKey, ONE).page;
  if (other && other.id !== id) fail(uniqueness, "There is a group with this displayName already.");
  if (!before && directoryRecords.groups(core, issuer.id, "all", null, ONE).total >= MAX_RECORDS)
    fail(forbidden, `There are ${MAX_RECORDS} groups already.`);
  const now = core.clock.now();
  const after: GroupRecord = {
    id,
    issuerId: issuer.id,
    createdAt: before?.createdAt ?? now,
    displayName,
    displayKey,
    externalId,
    updatedAt: now,
  };
  directoryRecords.storeGroup(core, after);
  return after;
}

/** The steps to give a group its members: removals come first. @throws Problem for a member whom the directory does not have */
async function memberSteps({ core, issuer }: Scope, groupId: string, desired: ReadonlySet<string>) {
  const yieldNow = cooperative(core.clock);
  const present = new Set(directoryRecords.memberIds(core, groupId));
  const removed = [...present].filter((id) => !desired.has(id));
  const added: string[] = [];
  for (const id of desired) {
    if (present.has(id)) continue;
    if (!directoryRecords.user(core, issuer.id, id)) fail(invalidValue, "One of the members is not a user here.");
    added.push(id);
    await yieldNow();
  }
  const steps: MemberStep[] = [];
  for (let at = 0; at < removed.length + added.length; at += STEP_MEMBERS) {
    const leaving = removed.slice(at, at + STEP_MEMBERS);
    const from = Math.max(0, at - removed.length);
    steps.push({ removed: leaving, added: added.slice(from, Math.max(0, at + STEP_MEMBERS - removed.length)) });
  }
  return steps;
}

/** Stores one step; call inside a transaction. People who left the directory since the request came are left out. */
function storeMembers({ core, issuer }: Scope, groupId: string, { removed, added }: MemberStep = NOBODY) {
  const isThere = (id: string) => directoryRecords.user(core, issuer.id, id) !== undefined;
  const [leaving, coming] = [removed.filter(isThere), added.filter(isThere)];
  for (const id of leaving) directoryRecords.dropMember(core, groupId, id);
  for (const id of coming) directoryRecords.addMember(core, groupId, id);
  for (const id of [...leaving, ...coming]) directoryRecords.setPending(core, id, true);
  return { added: coming.length, removed: leaving.length };
}

const NOBODY: MemberStep = { removed: [], added: [] };

/** Removes a group, after its members step by step. @throws Problem 404 */
export function dropGroup(scope: Scope, write: Write, id: string): Promise<void> {
  const { core } = scope;
  return underWay(core).after(id, async () => {
    const { displayName } = recordIn(scope, id);
    const steps = await memberSteps(scope, id, new Set());
    for (const step of steps) await write(() => storeMembers(scope, id, step));
    const members = steps.reduce((sum, { removed }) => sum + removed.length, 0);
    await write(() => {
      directoryRecords.dropGroup(core, id);
      recordDone(scope, "scim.group_removed", { kind: "group", id, label: displayName }, { members });
    });
  });
}
