import * as v from "valibot";
import type { Core } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { type Endpoint, endpoint } from "../../platform/http/endpoint.ts";
import type { ScimPrincipal } from "../directory/directory.ts";
import { GROUP_SCHEMA, listOf, listReply, MAX_PAGE, USER_SCHEMA } from "./resources.ts";
import { SCIM_PATH } from "./scim.ts";
import { COMMON, scopeOf } from "./scope.ts";

/** What a directory may ask for before it provisions (RFC 7643 sections 5 to 7, RFC 7644 section 4). */

const CONFIG_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig";
const TYPE_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:ResourceType";
const SCHEMA_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Schema";

const Described = v.looseObject({ schemas: v.array(v.string()) });
const List = listOf(Described);

const whole = (resources: readonly v.InferInput<typeof Described>[]) =>
  listReply(resources.length, { offset: 0 }, resources);

const metaOf = (base: string, resourceType: string, path: string) => ({ resourceType, location: `${base}${path}` });
const baseOf = ({ config }: Pick<Core, "config">) => `${baseUrlOf(config)}${SCIM_PATH}`;
const EXAMPLE_BASE = `https://reckon.example.com${SCIM_PATH}`;

const providerConfig = (base: string) => ({
  schemas: [CONFIG_SCHEMA],
  documentationUri: `${base.slice(0, -SCIM_PATH.length)}/docs/sso`,
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: "oauthbearertoken",
      name: "Bearer token",
      description: "The SCIM token, in the header Authorization.",
      primary: true,
    },
  ],
  meta: metaOf(base, "ServiceProviderConfig", "/ServiceProviderConfig"),
});

const resourceTypes = (base: string) =>
  [
    { name: "User", schema: USER_SCHEMA },
    { name: "Group", schema: GROUP_SCHEMA },
  ].map(({ name, schema }) => ({
    schemas: [TYPE_SCHEMA],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    meta: metaOf(base, "ResourceType", `/ResourceTypes/${name}`),
  }));

interface Attribute {
  readonly type?: "string" | "boolean" | "complex" | "reference";
  readonly multiValued?: boolean;
  readonly required?: boolean;
  readonly caseExact?: boolean;
  readonly mutability?: "readWrite" | "readOnly" | "immutable";
  readonly uniqueness?: "none" | "server";
  readonly subAttributes?: readonly object[];
  readonly referenceTypes?: readonly ("User" | "Group")[];
}

const attribute = (name: string, more: Attribute = {}) => ({
  name,
  type: "string",
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: "readWrite",
  returned: "default",
  uniqueness: "none",
  ...more,
});

const linked = (type: "User" | "Group") => [
  attribute("value", { mutability: "immutable" }),
  attribute("display", { mutability: "readOnly" }),
  attribute("$ref", { type: "reference", mutability: "readOnly", referenceTypes: [type] }),
];

const USER_ATTRIBUTES = [
  attribute("userName", { required: true, uniqueness: "server" }),
  attribute("externalId", { caseExact: true }),
  attribute("name", {
    type: "complex",
    subAttributes: ["formatted", "familyName", "givenName"].map((name) => attribute(name)),
  }),
  attribute("displayName"),
  attribute("emails", {
    type: "complex",
    multiValued: true,
    subAttributes: [attribute("value"), attribute("type"), attribute("primary", { type: "boolean" })],
  }),
  attribute("active", { type: "boolean" }),
  attribute("groups", { type: "complex", multiValued: true, mutability: "readOnly", subAttributes: linked("Group") }),
];
const GROUP_ATTRIBUTES = [
  attribute("displayName", { required: true, uniqueness: "server" }),
  attribute("externalId", { caseExact: true }),
  attribute("members", { type: "complex", multiValued: true, subAttributes: linked("User") }),
];

const schemas = (base: string) =>
  [
    { id: USER_SCHEMA, name: "User", attributes: USER_ATTRIBUTES },
    { id: GROUP_SCHEMA, name: "Group", attributes: GROUP_ATTRIBUTES },
  ].map((one) => ({ schemas: [SCHEMA_SCHEMA], ...one, meta: metaOf(base, "Schema", `/Schemas/${one.id}`) }));

/** Endpoints for a list, and for each of its elements at the address that the element names as its own. */
const describing = (
  [id, path, summary]: readonly [id: string, path: string, summary: string],
  [oneId, oneSummary]: readonly [id: string, summary: string],
  make: (base: string) => readonly (v.InferInput<typeof Described> & { readonly id: string })[],
): Endpoint[] => [
  endpoint<typeof List, ScimPrincipal>(
    {
      ...COMMON,
      id,
      method: "GET",
      path: `${SCIM_PATH}/${path}`,
      summary,
      ok: List,
      faults: [],
      example: { ok: whole(make(EXAMPLE_BASE)) },
    },
    async (call) => whole(make(baseOf((await scopeOf(call)).core))),
  ),
  endpoint<typeof Described, ScimPrincipal>(
    {
      ...COMMON,
      id: oneId,
      method: "GET",
      path: `${SCIM_PATH}/${path}/:id`,
      summary: oneSummary,
      ok: Described,
      faults: [notFound],
      example: { ok: make(EXAMPLE_BASE)[0] as v.InferInput<typeof Described> },
    },
    async (call) => {
      const { core } = await scopeOf(call);
      const named = make(baseOf(core)).find((one) => one.id === call.params.id);
      return named ?? fail(notFound, "SCIM has no resource type or schema of this name here.");
    },
  ),
];

export const DISCOVERY_ENDPOINTS: readonly Endpoint[] = [
  endpoint<typeof Described, ScimPrincipal>(
    {
      ...COMMON,
      id: "scimServiceProviderConfig",
      method: "GET",
      path: `${SCIM_PATH}/ServiceProviderConfig`,
      summary: "Read which features of SCIM are supported",
      ok: Described,
      faults: [],
      example: { ok: providerConfig(EXAMPLE_BASE) },
    },
    async (call) => providerConfig(baseOf((await scopeOf(call)).core)),
  ),
  ...describing(
    ["scimResourceTypes", "ResourceTypes", "List the kinds of resources"],
    ["scimGetResourceType", "Read a kind of resource"],
    resourceTypes,
  ),
  ...describing(
    ["scimSchemas", "Schemas", "List the attributes of all kinds of resources"],
    ["scimGetSchema", "Read the attributes of a kind of resource"],
    schemas,
  ),
];
