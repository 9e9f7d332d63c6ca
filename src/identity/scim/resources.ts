import * as v from "valibot";
import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { isoInstant } from "../../kit/clock.ts";
import { WHOLE } from "../../platform/http/fields.ts";
import { directoryRecords, type GroupRecord, type UserRecord } from "../directory/directory.ts";
import { getUser } from "../people/people.ts";
import { SCIM_PATH } from "./scim.ts";

/** People and groups as directories read them (RFC 7643 section 4). */

export const USER_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:User";
export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const LIST_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
export const PATCH_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:PatchOp";

const Meta = v.object({
  resourceType: v.string(),
  created: v.pipe(v.string(), v.isoTimestamp()),
  lastModified: v.pipe(v.string(), v.isoTimestamp()),
  location: v.string(),
});
const Schemas = v.array(v.string());

/** People of a group, or groups of a person. */
const Linked = v.array(v.object({ value: v.string(), display: v.string(), $ref: v.optional(v.string()) }));

/** `attributes` may leave members out, so only `schemas` and `id` are promised. */
export const UserResource = v.looseObject({
  schemas: Schemas,
  id: v.string(),
  externalId: v.optional(v.string()),
  userName: v.optional(v.string()),
  name: v.optional(v.record(v.string(), v.string())),
  displayName: v.optional(v.string()),
  emails: v.optional(v.array(v.object({ value: v.string(), type: v.literal("work"), primary: v.literal(true) }))),
  active: v.optional(v.boolean()),
  groups: v.optional(Linked),
  meta: v.optional(Meta),
});
export const GroupResource = v.looseObject({
  schemas: Schemas,
  id: v.string(),
  externalId: v.optional(v.string()),
  displayName: v.optional(v.string()),
  members: v.optional(Linked),
  meta: v.optional(Meta),
});
export const listOf = <Resource extends v.GenericSchema>(resource: Resource) =>
  v.object({
    schemas: v.pipe(v.array(v.literal(LIST_SCHEMA)), v.length(1)),
    totalResults: v.pipe(v.number(), v.integer()),
    startIndex: v.pipe(v.number(), v.integer()),
    itemsPerPage: v.pipe(v.number(), v.integer()),
    Resources: v.array(resource),
  });

/** A page of a list, see `listOf`. */
export const listReply = <T>(
  total: number,
  { offset }: Pick<ReturnType<typeof windowIn>, "offset">,
  page: readonly T[],
) => ({
  schemas: [LIST_SCHEMA] as (typeof LIST_SCHEMA)[],
  totalResults: total,
  startIndex: offset + 1,
  itemsPerPage: page.length,
  Resources: [...page],
});

const MAX_BODY_BYTES = 1_048_576;

/** Any object: names of members are compared without case, and unknown members are ignored. */
export const Body = v.looseObject({ schemas: v.optional(v.array(v.string())) });
export const BODY = { schema: Body, maxBytes: () => MAX_BODY_BYTES };

/** A query as all endpoints take it: lists of attributes, separated by commas. */
const Names = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => text.length <= 2_000, "must have at most 2000 characters"),
    v.metadata({ maxLength: 2_000 }),
  ),
);
const SHOWN = { attributes: Names, excludedAttributes: Names };
const Whole = v.optional(v.pipe(v.string(), v.regex(/^-?\d{1,9}$/, "must be a whole number"), v.metadata(WHOLE)));
export const ListQuery = v.object({ filter: Names, startIndex: Whole, count: Whole, ...SHOWN });
export const OneQuery = v.object(SHOWN);
export type Shown = v.InferOutput<typeof OneQuery>;

/** People or groups in one reply. */
export const MAX_PAGE = 200;
/** Groups shown of one person, so that a page of people stays small. */
const MAX_SHOWN_GROUPS = 200;
const DEFAULT_PAGE = 100;

/** Which part of a list is meant (RFC 7644 section 3.4.2.4). */
export function windowIn({ startIndex = "1", count }: v.InferOutput<typeof ListQuery>) {
  const limit = count === undefined ? DEFAULT_PAGE : Math.min(MAX_PAGE, Math.max(0, Number(count)));
  return { limit, offset: Math.max(1, Number(startIndex)) - 1 };
}

/** Removes members without a value: nothing is sent as null. */
const present = (value: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null && one !== undefined));

/** Whether an attribute is to be shown (RFC 7644 section 3.9). */
function isShown({ attributes, excludedAttributes }: Shown): (name: string) => boolean {
  const named = (list: string) =>
    new Set(
      list.split(",").map((one) =>
        one
          .trim()
          .replace(/^urn:.*:(?=\w)/i, "")
          .split(/[.[]/, 1)[0]
          ?.toLowerCase(),
      ),
    );
  const only = attributes?.trim() ? named(attributes) : undefined;
  const without = named(excludedAttributes ?? "");
  return (name) => (only ? only.has(name.toLowerCase()) : !without.has(name.toLowerCase()));
}

function resource(shown: Shown, id: string, schema: string, parts: Readonly<Record<string, () => unknown>>) {
  const show = isShown(shown);
  const values = Object.entries(parts).flatMap(([name, make]) => (show(name) ? [[name, make()] as const] : []));
  return { schemas: [schema], id, ...present(Object.fromEntries(values)) };
}

export const locationOf = (core: Core, type: "User" | "Group", id: string): string =>
  `${baseUrlOf(core.config)}${SCIM_PATH}/${type}s/${id}`;

const metaOf = (
  core: Core,
  resourceType: "User" | "Group",
  { id, createdAt, updatedAt }: UserRecord | GroupRecord,
) => ({
  resourceType,
  created: isoInstant(createdAt),
  lastModified: isoInstant(updatedAt),
  location: locationOf(core, resourceType, id),
});

export function userResource(core: Core, record: UserRecord, shown: Shown = {}) {
  const account = getUser(core, record.userId);
  const { externalId, userName, givenName, familyName, formatted, displayName } = record;
  const name = present({ formatted, familyName, givenName });
  return resource(shown, record.id, USER_SCHEMA, {
    externalId: () => externalId,
    userName: () => userName,
    name: () => (Object.keys(name).length === 0 ? undefined : name),
    displayName: () => displayName,
    emails: () => [{ value: account.email, type: "work", primary: true }],
    active: () => account.disabledAt === null,
    groups: () =>
      directoryRecords
        .groupsOf(core, record.id, MAX_SHOWN_GROUPS)
        .map((group) => ({ value: group.id, display: group.displayName, $ref: locationOf(core, "Group", group.id) })),
    meta: () => metaOf(core, "User", record),
  }) as v.InferInput<typeof UserResource>;
}

export const showsMembers = (shown: Shown): boolean => isShown(shown)("members");

export function groupResource(core: Core, record: GroupRecord, shown: Shown = {}) {
  return resource(shown, record.id, GROUP_SCHEMA, {
    externalId: () => record.externalId,
    displayName: () => record.displayName,
    members: () =>
      directoryRecords
        .members(core, record.id)
        .map(({ id, userName }) => ({ value: id, display: userName, $ref: locationOf(core, "User", id) })),
    meta: () => metaOf(core, "Group", record),
  }) as v.InferInput<typeof GroupResource>;
}
