import { STATUS_CODES } from "node:http";
import { type JsonSchema, toJsonSchema } from "@valibot/to-json-schema";
import { type Endpoint, faultsOf, type Schema } from "./endpoint.ts";
import {
  type Fault,
  faultBody,
  methodNotAllowed,
  noSuchPath,
  SHAPE_MEDIA,
  SHAPE_SCHEMAS,
  type Shape,
  unsupportedVersion,
} from "./faults.ts";
import { isOpenObject, WHOLE } from "./fields.ts";
import { PROTOBUF } from "./media.ts";
import { API_VERSION, HEADERS, header, RATE, VERSION } from "./openapi-headers.ts";
import { SERVED_VERSIONS } from "./version.ts";

type Json = Record<string, unknown>;

const SHAPE_NAMES: Record<Shape, string> = {
  canonical: "CanonicalError",
  legacy: "LegacyError",
  okFalse: "OkFalseError",
  rotation: "RotationFailure",
  tierGate: "TierGate",
  moved: "TeamMoved",
  retryable: "RetryableError",
  rfc8628: "DeviceFlowError",
  download: "DownloadError",
  jsonRpc: "JsonRpcError",
  rpcStatus: "RpcStatus",
  scim: "ScimError",
};

/** Converts a schema as clients write it; checks that JSON Schema cannot say are left to the server. */
export function schemaOf(schema: Schema): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    target: "draft-2020-12",
    // Nothing is transformed on the way in, so what comes out of validation is what clients send.
    typeMode: "output",
    errorMode: "ignore",
    overrideSchema({ valibotSchema, valibotSchema: { type }, jsonSchema }) {
      if (type === "loose_object" || isOpenObject(valibotSchema)) return { ...jsonSchema, additionalProperties: true };
      // Go's generators take any other number for one of 32 bits, too few for money, and need a type to leave a parameter out.
      if (type === "number") return { ...jsonSchema, format: "double" };
      // Python's clients compare a constant with its text, and so could read no reply that is ok.
      if (type === "literal" && typeof jsonSchema.const === "boolean") return { type: "boolean" };
      return type === "literal" ? { ...jsonSchema, type: typeof jsonSchema.const as "string" } : undefined;
    },
    overrideAction: ({ valibotAction, jsonSchema: { format: _, ...plain } }) =>
      /^(?:safe_)?integer$/.test(valibotAction.type) ? { ...plain, ...WHOLE } : undefined,
    ignoreActions: ["check", "trim", "brand", "transform"],
  });
  return rest;
}

/** Additional members of a refusal in each shape, for the examples. */
const EXAMPLE_MEMBERS: Partial<Record<Shape, Readonly<Record<string, unknown>>>> = {
  tierGate: { entitled: ["team", "enterprise"] },
  moved: { movedTo: "https://reckon.example.net" },
  download: { download: "https://reckon.example.com/download" },
};

function faultExample(fault: Fault): Json {
  const members = fault.name === unsupportedVersion.name ? { served: SERVED_VERSIONS } : EXAMPLE_MEMBERS[fault.shape];
  return { summary: fault.code, description: fault.message, value: faultBody(fault, members ? { members } : {}) };
}

/** Whether every reply says what is left of the quotas. */
const tellsQuotas = ({ limits }: Endpoint["spec"]) => limits.some(({ headers }) => headers === "always");

/** One response object for all faults of a status. */
function faultResponse(status: number, faults: readonly Fault[], spec: Endpoint["spec"]): Json {
  return {
    description: faults.map((fault) => (fault.message.endsWith(".") ? fault.message : `${fault.message}.`)).join(" "),
    headers: {
      ...VERSION,
      ...(status === 401 ? { "WWW-Authenticate": header("WwwAuthenticate") } : {}),
      ...(status === 429 || tellsQuotas(spec) ? RATE : {}),
      ...(status === 429 || status === 503 ? { "Retry-After": header("RetryAfter") } : {}),
    },
    content: {
      ...Object.fromEntries(
        [...Map.groupBy(faults, ({ shape }) => SHAPE_MEDIA[shape] ?? "application/json")].map(([media, group]) => [
          media,
          faultContent(group),
        ]),
      ),
      // Refusals of Protocol Buffers are in that format, too.
      ...(spec.body?.protobuf && faults.some(({ shape }) => shape === "rpcStatus")
        ? { [PROTOBUF]: { schema: { $ref: `#/components/schemas/${SHAPE_NAMES.rpcStatus}` } } }
        : {}),
    },
  };
}

function faultContent(faults: readonly Fault[]): Json {
  const shapes = [...new Set(faults.map((fault) => fault.shape))];
  const refs = shapes.map((shape) => ({ $ref: `#/components/schemas/${SHAPE_NAMES[shape]}` }));
  return {
    schema: refs.length === 1 ? refs[0] : { anyOf: refs },
    examples: Object.fromEntries(faults.map((fault) => [fault.name, faultExample(fault)])),
  };
}

function successResponse(endpoint: Endpoint): Json {
  const { spec } = endpoint;
  return {
    description: STATUS_CODES[spec.okStatus ?? 200],
    headers: {
      ...VERSION,
      ...(isConditional(endpoint) ? { ETag: header("ETag") } : {}),
      ...(tellsQuotas(spec) ? RATE : {}),
    },
    ...(spec.okStatus === 204 ? {} : { content: successContent(endpoint) }),
  };
}

/** Whether it is answered 304 to who has its entity tag. */
const isConditional = ({ spec }: Endpoint) => spec.also?.some(({ status }) => status === 304) === true;

const successContent = ({ spec }: Endpoint): Json => ({
  [spec.media?.split(";")[0] ?? "application/json"]: {
    schema: { $ref: `#/components/schemas/${componentName(spec.id, "Reply")}` },
    ...(spec.example?.ok === undefined ? {} : { example: spec.example.ok }),
  },
  ...Object.fromEntries(
    (spec.renditions ?? []).map(({ media, schema }) => [media.split(";")[0], { schema: schemaOf(schema) }]),
  ),
});

const componentName = (id: string, what: string) => id[0]?.toUpperCase() + id.slice(1) + what;

function parameters(endpoint: Endpoint): Json[] {
  const { spec } = endpoint;
  const listed: Json[] = [{ $ref: "#/components/parameters/ServiceApiVersion" }];
  if (isConditional(endpoint)) listed.push({ $ref: "#/components/parameters/IfNoneMatch" });
  for (const [, name] of spec.path.matchAll(/:(\w+)/g))
    listed.push({ name, in: "path", required: true, schema: spec.numbered ? WHOLE : { type: "string" } });
  if (!spec.query) return listed;
  const schema = schemaOf(spec.query);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const { description, ...rest } = property as JsonSchema;
    const example = spec.example?.query?.[name];
    listed.push({
      ...{ name, in: "query", required: schema.required?.includes(name) ?? false, description, schema: rest },
      ...(example === undefined ? {} : { example: rest.type === "integer" ? Number(example) : example }),
    });
  }
  return listed;
}

function operation(endpoint: Endpoint): Json {
  const { spec } = endpoint;
  const request = { $ref: `#/components/schemas/${componentName(spec.id, "Request")}` };
  const responses: Json = { [spec.okStatus ?? 200]: successResponse(endpoint) };
  for (const { status, description, schema, example } of spec.also ?? []) {
    responses[status] = {
      description,
      headers: { ...VERSION, ...(status === 304 ? { ETag: header("ETag") } : {}) },
      ...(schema
        ? { content: { "application/json": { schema: schemaOf(schema), ...(example ? { example } : {}) } } }
        : {}),
    };
  }
  for (const [status, faults] of Map.groupBy(faultsOf(endpoint), (fault) => fault.status)) {
    // A status can be both a fault and a declared reply (503 of the health check): the declared one is the more precise.
    responses[status] ??= faultResponse(status, faults, spec);
  }
  return {
    operationId: spec.id,
    summary: spec.summary,
    tags: [spec.tag],
    security: schemesOf(endpoint).map(({ name }) => ({ [name]: [] })),
    parameters: parameters(endpoint),
    ...(spec.body
      ? {
          requestBody: {
            required: !spec.body.optional,
            ...(spec.body.gzip ? { description: "May be sent with `Content-Encoding: gzip`." } : {}),
            content: {
              "application/json": {
                schema: request,
                ...(spec.example?.body === undefined ? {} : { example: spec.example.body }),
              },
              ...(spec.body.protobuf ? { [PROTOBUF]: {} } : {}),
              ...(spec.body.form ? { "application/x-www-form-urlencoded": { schema: request } } : {}),
            },
          },
        }
      : {}),
    responses,
  };
}

/** The security schemes, any one of which will do; none for an open endpoint. */
const schemesOf = ({ spec: { auth } }: Endpoint) =>
  auth === "none" ? [] : [auth.openapi, ...(auth.alternatives ?? [])];

function securitySchemes(endpoints: readonly Endpoint[]): Json {
  const schemes: Json = {};
  for (const { name, header, ...rest } of endpoints.flatMap(schemesOf))
    schemes[name] = header
      ? { type: "apiKey", in: "header", name: header, ...rest }
      : { type: "http", scheme: "bearer", ...rest };
  return schemes;
}

export interface OpenApiDocument extends Json {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; [extra: string]: unknown };
  readonly paths: Record<string, Json>;
}

/** What a document describes: endpoints in their order, and the purpose of the groups that they stand in. */
export interface Described {
  readonly endpoints: readonly Endpoint[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The OpenAPI 3.1 document of those endpoints that the public contract has. @param baseUrl the public address, for `servers` */
export function openApiDocument({ endpoints: all, tags }: Described, baseUrl: string): OpenApiDocument {
  const endpoints = all.filter(({ spec }) => spec.tag !== null);
  const schemas: Record<string, unknown> = { ApiVersion: { type: "string", enum: SERVED_VERSIONS } };
  const used = new Set(endpoints.flatMap((endpoint) => faultsOf(endpoint).map((fault) => fault.shape)));
  for (const shape of used) schemas[SHAPE_NAMES[shape]] = schemaOf(SHAPE_SCHEMAS[shape] as Schema);
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const { spec } = endpoint;
    if (spec.okStatus !== 204) schemas[componentName(spec.id, "Reply")] = schemaOf(spec.ok);
    // For a form, `additionalProperties` says nothing new and breaks a generator (ogen).
    const more = spec.body?.form ? { additionalProperties: undefined } : {};
    if (spec.body) schemas[componentName(spec.id, "Request")] = { ...schemaOf(spec.body.schema), ...more };
    const path = spec.path.replace(/(?:\*\*)?:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(endpoint) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Reckon",
      version: "1.0.0",
      summary: "Accountability for AI coding agents",
      description:
        "Binds machines to teams, takes their agents' telemetry, brain snapshots and traces durably, and mints licences that verify offline. " +
        "Served at unversioned paths; pin the version with the request header `Service-Api-Version`.\n\n" +
        // No operation answers with these: as responses of each they would only clutter the types of clients.
        "Two replies belong to no operation, both a `CanonicalError`: a method that a path does not answer gets " +
        `${methodNotAllowed.status} (\`${methodNotAllowed.code}\`) with the header \`Allow\`, and a path that does not exist ` +
        `${noSuchPath.status} (\`${noSuchPath.code}\`). HEAD is answered as GET, without the body.\n\n` +
        "Text is Unicode: an escape that is half of a surrogate pair is refused (RFC 7493 section 2.1), but in free-form JSON, which is kept as sent.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: baseUrl }],
    tags: [...new Set(endpoints.map(({ spec }) => spec.tag as string))].map((name) => ({
      name,
      description: tags[name],
    })),
    paths,
    components: {
      schemas,
      headers: HEADERS,
      parameters: {
        ServiceApiVersion: {
          name: "Service-Api-Version",
          in: "header",
          required: false,
          description: "Pins the API version; without it the current one answers.",
          schema: API_VERSION,
        },
        IfNoneMatch: {
          name: "If-None-Match",
          in: "header",
          required: false,
          description: "Entity tag of the copy at hand.",
          schema: { type: "string" },
        },
      },
      securitySchemes: securitySchemes(endpoints),
    },
  };
}
