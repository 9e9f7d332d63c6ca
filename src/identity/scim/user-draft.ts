import { fail } from "../../kit/problem.ts";
import type { Change } from "./changes.ts";
import { invalidPath, invalidValue } from "./problems.ts";
import { activeIn, emailIn, membersOf, objectIn, textIn } from "./values.ts";

/** Somebody as a directory describes them; what is not kept here is left out. */
export interface UserDraft {
  userName: string;
  externalId: string | null;
  givenName: string | null;
  familyName: string | null;
  formatted: string | null;
  displayName: string | null;
  /** The address that the directory gives; null for none, undefined when it says nothing. */
  email: string | null | undefined;
  active: boolean;
}

const NAME_PARTS: Readonly<Record<string, "givenName" | "familyName" | "formatted">> = {
  givenname: "givenName",
  familyname: "familyName",
  formatted: "formatted",
};

/** Attributes of the core schema (RFC 7643 section 4.1) that are accepted but not stored, so that nobody has to unmap them. */
const IGNORED = new Set(
  "nickname profileurl title usertype preferredlanguage locale timezone password phonenumbers ims photos addresses entitlements roles x509certificates schemas".split(
    " ",
  ),
);

/** Reads a person as a whole, as POST and PUT send them. Active unless stated otherwise. @throws Problem */
export function draftIn(body: Readonly<Record<string, unknown>>): UserDraft {
  const members = membersOf(body);
  const text = (name: string) => textIn(members.get(name.toLowerCase()), name);
  const name = members.get("name") ?? undefined;
  const parts = name === undefined ? new Map<string, unknown>() : objectIn(name, "name");
  const given = members.get("active") ?? undefined;
  return {
    userName: text("userName") ?? fail(invalidValue, "userName is missing."),
    externalId: text("externalId"),
    givenName: textIn(parts.get("givenname"), "name.givenName"),
    familyName: textIn(parts.get("familyname"), "name.familyName"),
    formatted: textIn(parts.get("formatted"), "name.formatted"),
    displayName: text("displayName"),
    email: members.has("emails") ? emailIn(members.get("emails")) : undefined,
    active: given === undefined || activeIn(given),
  };
}

/** Applies changes to a person, `active` first: a deactivation must not fail because of another change. @throws Problem */
export function changeAll(draft: UserDraft, changes: readonly Change[]): void {
  for (const change of changes) if (change.attribute === "active") changeDraft(draft, change);
  for (const change of changes) if (change.attribute !== "active") changeDraft(draft, change);
}

function changeDraft(draft: UserDraft, change: Change): void {
  const { attribute, op } = change;
  const value = op === "remove" ? undefined : change.value;
  switch (attribute) {
    case "username":
      draft.userName = textIn(value, "userName") ?? fail(invalidValue, "userName is required.");
      return;
    case "externalid":
      draft.externalId = textIn(value, "externalId");
      return;
    case "displayname":
      draft.displayName = textIn(value, "displayName");
      return;
    case "active":
      draft.active = activeIn(value);
      return;
    case "name":
      changeName(draft, change.sub, value);
      return;
    case "emails":
      changeEmail(draft, change, value);
      return;
    default:
      if (draft.active && !IGNORED.has(attribute)) fail(invalidPath, "The path names no attribute of a user.");
  }
}

function changeName(draft: UserDraft, sub: string | undefined, value: unknown): void {
  if (sub !== undefined) {
    const part = NAME_PARTS[sub];
    if (part !== undefined && Object.hasOwn(NAME_PARTS, sub)) draft[part] = textIn(value, `name.${part}`);
    return;
  }
  const parts = value === undefined || value === null ? undefined : objectIn(value, "name");
  for (const [key, part] of Object.entries(NAME_PARTS))
    if (!parts) draft[part] = null;
    else if (parts.has(key)) draft[part] = textIn(parts.get(key), `name.${part}`);
}

/** Filters of a path that mean the one stored address. A filter by the address itself does not say of what kind it is. */
const OURS: ReadonlySet<string> = new Set(["type work", "primary true"]);

/** Changes the address: only that of work counts; others are not stored. */
function changeEmail(draft: UserDraft, { filter, sub }: Change, value: unknown): void {
  if (filter && !OURS.has(`${filter.attribute} ${filter.operand.toLowerCase()}`)) return;
  if (sub !== undefined && sub !== "value") return;
  // A list with only a home address says nothing about the work address.
  const email = emailIn(value);
  if (email !== undefined) draft.email = email;
}
