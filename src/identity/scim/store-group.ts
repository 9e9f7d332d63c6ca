import { newId } from "../../kit/ids.ts";
import { fail, forbidden } from "../../kit/problem.ts";
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
      if (change.attribute !== "schemas") fail(invalidPath, "The path is none of an attribute of a group.");
  }
}

/** Who is taken out stands in the path (Okta), or in the value (Entra ID); where neither says it, everybody is. */
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

/** Stores a group that is new, or changed; call inside a transaction. @throws Problem */
export function storeGroup(scope: Scope, before: GroupRecord | undefined, draft: GroupDraft): GroupRecord {
  const { core, issuer } = scope;
  const displayKey = directoryKey(draft.displayName);
  const [other] = directoryRecords.groups(core, issuer.id, "displayname", displayKey, ONE).page;
  if (other && other.id !== before?.id) fail(uniqueness, "There is a group with this displayName already.");
  if (!before && directoryRecords.groups(core, issuer.id, "all", null, ONE).total >= MAX_RECORDS)
    fail(forbidden, `There are ${MAX_RECORDS} groups already.`);
  const now = core.clock.now();
  const after: GroupRecord = {
    id: before?.id ?? newId("scg", core.clock, core.random),
    issuerId: issuer.id,
    createdAt: before?.createdAt ?? now,
    displayName: draft.displayName,
    displayKey,
    externalId: draft.externalId,
    updatedAt: now,
  };
  directoryRecords.storeGroup(core, after);
  const { added, removed } = storeMembers(scope, after.id, draft.members);
  const renamed =
    before !== undefined && (before.displayName !== after.displayName || before.externalId !== after.externalId);
  if (renamed) for (const id of draft.members) directoryRecords.setPending(core, id, true);
  const target = { kind: "group", id: after.id, label: after.displayName };
  if (!before) recordDone(scope, "scim.group_added", target, { members: added });
  else if (renamed || added + removed > 0)
    recordDone(scope, "scim.group_changed", target, {
      ...(renamed ? { from: before.displayName } : {}),
      added,
      removed,
    });
  return after;
}

/** @throws Problem for a member whom the directory does not have */
function storeMembers({ core, issuer }: Scope, groupId: string, desired: ReadonlySet<string>) {
  const present = new Set(directoryRecords.memberIds(core, groupId));
  let added = 0;
  let removed = 0;
  for (const id of desired) {
    if (present.has(id)) continue;
    if (!directoryRecords.user(core, issuer.id, id)) fail(invalidValue, "One of members is no user here.");
    directoryRecords.addMember(core, groupId, id);
    directoryRecords.setPending(core, id, true);
    added++;
  }
  for (const id of present) {
    if (desired.has(id)) continue;
    directoryRecords.dropMember(core, groupId, id);
    directoryRecords.setPending(core, id, true);
    removed++;
  }
  return { added, removed };
}

/** Takes a group away; call inside a transaction. */
export function dropGroup(scope: Scope, { id, displayName }: GroupRecord): void {
  const { core } = scope;
  const members = directoryRecords.memberIds(core, id);
  for (const member of members) directoryRecords.setPending(core, member, true);
  directoryRecords.dropGroup(core, id);
  recordDone(scope, "scim.group_removed", { kind: "group", id, label: displayName }, { members: members.length });
}
