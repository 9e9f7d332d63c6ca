import * as v from "valibot";
import { fail, forbidden, notFound } from "../../kit/problem.ts";
import { type Endpoint, endpoint, Reply } from "../../platform/http/endpoint.ts";
import {
  directoryKey,
  directoryRecords,
  type ScimPrincipal,
  type UserColumn,
  type UserRecord,
  writeByScim,
} from "../directory/directory.ts";
import { findUserByEmail, getUser as getAccount } from "../people/people.ts";
import { changesIn } from "./changes.ts";
import { USER_BODY, USER_EXAMPLE } from "./examples.ts";
import { filterIn } from "./paths.ts";
import { invalidFilter, invalidPath, invalidValue, mutability, noTarget, uniqueness } from "./problems.ts";
import {
  BODY,
  type Body,
  LIST_SCHEMA,
  ListQuery,
  listOf,
  listReply,
  locationOf,
  OneQuery,
  PATCH_SCHEMA,
  UserResource,
  userResource,
  windowIn,
} from "./resources.ts";
import { SCIM_PATH } from "./scim.ts";
import { COMMON, type Scope, scopeOf } from "./scope.ts";
import { settleTeams } from "./settle.ts";
import { changeRecord, createRecord, endRecord } from "./store-user.ts";
import { changeAll, draftIn, type UserDraft } from "./user-draft.ts";
import { membersOf } from "./values.ts";

const PATH = `${SCIM_PATH}/Users` as const;

function recordIn({ core, issuer }: Scope, id: string | undefined): UserRecord {
  return directoryRecords.user(core, issuer.id, id ?? "") ?? fail(notFound, "There is no such user.");
}

/**
 * The records that a filter selects.
 * @returns undefined when it can match nobody
 * @throws Problem for an attribute that cannot be searched
 */
function selectionIn(
  { core }: Scope,
  filter: string | undefined,
): { column: UserColumn; value: string | null } | undefined {
  if (filter === undefined || filter.trim() === "") return { column: "all", value: null };
  const { attribute, operand } = filterIn(filter);
  switch (attribute) {
    case "username":
    case "displayname":
      return { column: attribute, value: directoryKey(operand) };
    case "id":
    case "externalid":
      return { column: attribute, value: operand };
    case "emails":
    case "emails.value": {
      const account = findUserByEmail(core, operand);
      return account && { column: "account", value: account.id };
    }
    default:
      return fail(invalidFilter, "Users can be filtered by userName, externalId, displayName, id and emails.value.");
  }
}

const listUsers = endpoint<ReturnType<typeof listOf<typeof UserResource>>, ScimPrincipal, typeof ListQuery>(
  {
    ...COMMON,
    id: "scimListUsers",
    method: "GET",
    path: PATH,
    summary: "Find people of the directory",
    query: ListQuery,
    ok: listOf(UserResource),
    faults: [invalidFilter],
    example: {
      query: { filter: 'userName eq "ada@acme.example"', startIndex: "1", count: "100" },
      ok: { schemas: [LIST_SCHEMA], totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [USER_EXAMPLE] },
    },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const selection = selectionIn(scope, call.query.filter);
    const window = windowIn(call.query);
    const { total, page } = selection
      ? directoryRecords.users(scope.core, scope.issuer.id, selection.column, selection.value, window)
      : { total: 0, page: [] };
    const resources = page.map((record) => userResource(scope.core, record, call.query));
    return listReply(total, window, resources);
  },
);

const createUser = endpoint<typeof UserResource, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimCreateUser",
    method: "POST",
    path: PATH,
    summary: "Add a person of the directory, with an account",
    body: BODY,
    ok: UserResource,
    okStatus: 201,
    faults: [invalidValue, uniqueness, forbidden],
    example: { body: USER_BODY, ok: USER_EXAMPLE },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core, issuer, by } = scope;
    const draft = draftIn(call.body);
    const made = await writeByScim(scope.core, call.principal, () => createRecord(scope, draft));
    await settleTeams(core, issuer.id, by);
    const headers = { location: locationOf(core, "User", made.id) };
    return new Reply(userResource(core, made), { status: 201, headers });
  },
);

const getUser = endpoint<typeof UserResource, ScimPrincipal, typeof OneQuery>(
  {
    ...COMMON,
    id: "scimGetUser",
    method: "GET",
    path: `${PATH}/:id`,
    summary: "Read a person of the directory",
    query: OneQuery,
    ok: UserResource,
    faults: [notFound],
    example: { ok: USER_EXAMPLE },
  },
  async (call) => {
    const scope = await scopeOf(call);
    return userResource(scope.core, recordIn(scope, call.params.id), call.query);
  },
);

const replaceUser = endpoint<typeof UserResource, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimReplaceUser",
    method: "PUT",
    path: `${PATH}/:id`,
    summary: "Replace a person of the directory",
    body: BODY,
    ok: UserResource,
    faults: [notFound, invalidValue, uniqueness, forbidden],
    example: { body: USER_BODY, ok: USER_EXAMPLE },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core } = scope;
    const draft = draftIn(call.body);
    const hasActive = (membersOf(call.body).get("active") ?? null) !== null;
    const after = await writeByScim(scope.core, call.principal, () => {
      const before = recordIn(scope, call.params.id);
      return changeRecord(scope, before, hasActive ? draft : { ...draft, active: draftOf(scope, before).active });
    });
    return userResource(core, after);
  },
);

/** A person as a draft, for changes. */
function draftOf({ core }: Scope, record: UserRecord): UserDraft {
  const { userName, externalId, givenName, familyName, formatted, displayName, userId } = record;
  const active = getAccount(core, userId).disabledAt === null;
  return { userName, externalId, givenName, familyName, formatted, displayName, email: undefined, active };
}

const patchUser = endpoint<typeof UserResource, ScimPrincipal, undefined, typeof Body>(
  {
    ...COMMON,
    id: "scimPatchUser",
    method: "PATCH",
    path: `${PATH}/:id`,
    summary: "Change a person of the directory: their name, address, or whether the account is open",
    body: BODY,
    ok: UserResource,
    faults: [notFound, invalidValue, invalidPath, mutability, noTarget, uniqueness, forbidden],
    example: {
      body: { schemas: [PATCH_SCHEMA], Operations: [{ op: "replace", value: { active: false } }] },
      ok: { ...USER_EXAMPLE, active: false },
    },
  },
  async (call) => {
    const scope = await scopeOf(call);
    const { core } = scope;
    const changes = changesIn(call.body);
    const after = await writeByScim(scope.core, call.principal, () => {
      const before = recordIn(scope, call.params.id);
      const draft = draftOf(scope, before);
      changeAll(draft, changes);
      return changeRecord(scope, before, draft);
    });
    return userResource(core, after);
  },
);

const deleteUser = endpoint<v.GenericSchema<null>, ScimPrincipal>(
  {
    ...COMMON,
    id: "scimDeleteUser",
    method: "DELETE",
    path: `${PATH}/:id`,
    summary: "Remove a person: their account is closed",
    ok: v.null(),
    okStatus: 204,
    faults: [notFound, forbidden],
    example: { ok: null },
  },
  async (call) => {
    const scope = await scopeOf(call);
    await writeByScim(scope.core, call.principal, () => endRecord(scope, recordIn(scope, call.params.id)));
    return null;
  },
);

export const USER_ENDPOINTS: readonly Endpoint[] = [listUsers, createUser, getUser, replaceUser, patchUser, deleteUser];
