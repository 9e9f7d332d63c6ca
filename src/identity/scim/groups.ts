import * as v from "valibot";
import { fail, forbidden, notFound } from "../../kit/problem.ts";
import { type Call, type Endpoint, endpoint, Reply } from "../../platform/http/endpoint.ts";
import {
  directoryKey,
  directoryRecords,
  type GroupColumn,
  type GroupRecord,
  type ScimPrincipal,
  writeByScim,
} from "../directory/directory.ts";
import { changesIn } from "./changes.ts";
import { GROUP_BODY, GROUP_EXAMPLE } from "./examples.ts";
import { filterIn } from "./paths.ts";
import { invalidFilter, invalidPath, invalidValue, mutability, noTarget, uniqueness } from "./problems.ts";
import {
  BODY,
  type Body,
  GroupResource,
  groupResource,
  LIST_SCHEMA,
  ListQuery,
  listOf,
  listReply,
  locationOf,
  OneQuery,
  PATCH_SCHEMA,
  type Shown,
  showsMembers,
  windowIn,
} from "./resources.ts";
import { SCIM_PATH } from "./scim.ts";
import { COMMON, type Scope, scopeOf } from "./scope.ts";
import { settleTeams } from "./settle.ts";
import { changeGroup, changeGroupDraft, dropGroup, groupDraft, groupIn, makeGroup, recordIn } from "./store-group.ts";

const PATH = `${SCIM_PATH}/Groups` as const;

/** Members on a page of groups, all of them together; it is cut before the group that would exceed it. */
const MAX_LISTED_MEMBERS = 10_000;

/** Runs changes for the caller, while the token is valid. */
const writing =
  ({ core, principal }: Call<ScimPrincipal>) =>
  <T>(act: () => T) =>
    writeByScim(core, principal, act);

function selectionIn(filter: string | undefined): { column: GroupColumn; value: string | null } {
  if (filter === undefined || filter.trim() === "") return { column: "all", value: null };
  const { attribute, operand } = filterIn(filter);
  if (attribute === "displayname") return { column: attribute, value: directoryKey(operand) };
  if (attribute === "id" || attribute === "externalid") return { column: attribute, value: operand };
  return fail(invalidFilter, "Groups can be filtered by displayName, externalId and id.");
}

function cutPage({ core }: Scope, page: readonly GroupRecord[], shown: Shown): readonly GroupRecord[] {
  if (!showsMembers(shown)) return page;
  let members = 0;
  const most = page.findIndex(({ id }, at) => {
    members += directoryRecords.countMembers(core, id);
    return at > 0 && members > MAX_LISTED_MEMBERS;
  });
  return most === -1 ? page : page.slice(0, most);
}

const listGroups = endpoint<ReturnType<typeof listOf<typeof GroupResource>>, ScimPrincipal, typeof ListQuery>(
  {
    ...COMMON,
    id: "scimListGroups",
    method: "GET",
    path: PATH,
    summary: "Find groups of the directory",
    query: ListQuery,
    ok: listOf(GroupResource),
    faults: [invalidFilter],
    example: {
      query: { filter: 'displayName eq "engineers"', excludedAttributes: "members" },
      ok: { schemas: [LIST_SCHEMA], totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [GROUP_EXAMPLE] },
    },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { column, value } = selectionIn(call.query.filter);
    const window = windowIn(call.query);
    const found = directoryRecords.groups(scope.core, scope.issuer.id, column, value, window);
    const page = cutPage(scope, found.page, call.query);
    const resources = page.map((record) => groupResource(scope.core, record, call.query));
    return listReply(found.total, window, resources);
  },
);

const createGroup = endpoint<typeof GroupResource, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimCreateGroup",
    method: "POST",
    path: PATH,
    summary: "Add a group of the directory",
    body: BODY,
    ok: GroupResource,
    okStatus: 201,
    faults: [invalidValue, uniqueness, forbidden],
    example: { body: GROUP_BODY, ok: { ...GROUP_EXAMPLE, members: [] } },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core, issuer, by } = scope;
    const draft = groupIn(call.body);
    const made = await makeGroup(scope, writing(call), draft);
    await settleTeams(core, issuer.id, by);
    return new Reply(groupResource(core, made), {
      status: 201,
      headers: { location: locationOf(core, "Group", made.id) },
    });
  },
);

const getGroup = endpoint<typeof GroupResource, ScimPrincipal, typeof OneQuery>(
  {
    ...COMMON,
    id: "scimGetGroup",
    method: "GET",
    path: `${PATH}/:id`,
    summary: "Read a group of the directory",
    query: OneQuery,
    ok: GroupResource,
    faults: [notFound],
    example: { query: { excludedAttributes: "members" }, ok: GROUP_EXAMPLE },
  },
  async (call) => {
    const scope = await scopeOf(call);
    return groupResource(scope.core, recordIn(scope, call.params.id ?? ""), call.query);
  },
);

const replaceGroup = endpoint<typeof GroupResource, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimReplaceGroup",
    method: "PUT",
    path: `${PATH}/:id`,
    summary: "Replace a group of the directory, with its members",
    body: BODY,
    ok: GroupResource,
    faults: [notFound, invalidValue, uniqueness],
    example: { body: GROUP_BODY, ok: { ...GROUP_EXAMPLE, members: [] } },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core, issuer, by } = scope;
    const draft = groupIn(call.body);
    const after = await changeGroup(scope, writing(call), call.params.id ?? "", () => draft);
    await settleTeams(core, issuer.id, by);
    return groupResource(core, after);
  },
);

const patchGroup = endpoint<v.GenericSchema<null>, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimPatchGroup",
    method: "PATCH",
    path: `${PATH}/:id`,
    summary: "Change a group of the directory: its name, and who is in it",
    body: BODY,
    ok: v.null(),
    okStatus: 204,
    faults: [notFound, invalidValue, invalidPath, mutability, noTarget, uniqueness],
    example: {
      body: {
        schemas: [PATCH_SCHEMA],
        Operations: [{ op: "replace", path: "displayName", value: "engine-room" }],
      },
      ok: null,
    },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core, issuer, by } = scope;
    const changes = changesIn(call.body);
    await changeGroup(scope, writing(call), call.params.id ?? "", (before) => {
      const draft = groupDraft(scope, before);
      for (const change of changes) changeGroupDraft(draft, change);
      return draft;
    });
    await settleTeams(core, issuer.id, by);
    return null;
  },
);

const deleteGroup = endpoint<v.GenericSchema<null>, ScimPrincipal>(
  {
    ...COMMON,
    id: "scimDeleteGroup",
    method: "DELETE",
    path: `${PATH}/:id`,
    summary: "Remove a group of the directory; its people leave the team that it gave them",
    ok: v.null(),
    okStatus: 204,
    faults: [notFound],
    example: { ok: null },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core, issuer, by } = scope;
    await dropGroup(scope, writing(call), call.params.id ?? "");
    await settleTeams(core, issuer.id, by);
    return null;
  },
);

export const GROUP_ENDPOINTS: readonly Endpoint[] = [
  listGroups,
  createGroup,
  getGroup,
  replaceGroup,
  patchGroup,
  deleteGroup,
];
