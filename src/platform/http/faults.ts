import * as v from "valibot";
import { type ProblemDetails, type ProblemRow, problem, tooLarge } from "../../kit/problem.ts";

/**
 * How an error body looks. `canonical`: `{ok:false, code, error}`; `legacy`: `{error}`; `okFalse`: `{ok:false, error}`;
 * `rotation`: legacy plus `reason`; `tierGate`: legacy plus `entitled`; `moved`: legacy plus `movedTo`; `retryable`: legacy plus `retryable`; `rfc8628`: the
 * code itself in `error` (RFC 8628 section 3.5); `download`: the code in `error`, too, plus optional `download`; `jsonRpc`: an error
 * response of JSON-RPC 2.0 (section 5.1) to a message that was not read; `rpcStatus`: `{code, message}` as google.rpc.Status has it, with
 * gRPC's code; `scim`: an error of SCIM (RFC 7644 section 3.12).
 */
export type Shape = keyof typeof SHAPE_SCHEMAS;

/** A problem as an endpoint answers with it. */
export interface Fault extends ProblemRow {
  readonly shape: Shape;
}

/** Problems that an endpoint declares in another shape than its own. */
export const inShape = (shape: Shape, ...rows: readonly ProblemRow[]): Fault[] =>
  rows.map((row) => ({ ...row, shape }));

/** A 400 in place of the 413, for endpoints whose contract has no 413. */
export const tooLargeMalformed = problem({ ...tooLarge, status: 400, code: "bad_request" });
export const internal = problem({ name: "internal", status: 500, code: "server_error", message: "Internal error." });
export const storeUnavailable = problem({
  name: "storeUnavailable",
  status: 503,
  code: "unavailable",
  message: "The server cannot read or store data at the moment. Nothing of this request was kept; send it again later.",
});
/** Why a body that arrived was not read to its end: a thread ended, it took too long, or the server is stopping. */
export const unread = problem({
  ...storeUnavailable,
  message:
    "The server could not finish reading what was sent. Nothing of this request was kept; send it again later, in smaller parts if need be.",
});
/** Why a body is not waited for any longer. Both are worth another try. */
export const noRoom = problem({
  ...storeUnavailable,
  message: "The server is taking in as much as it can. Nothing of this request was kept; send it again later.",
});
export const tooSlow = problem({
  ...storeUnavailable,
  message: "The body arrived too slowly. Nothing of this request was kept; send it again, in smaller parts if need be.",
});

/** Belongs to no endpoint. */
export const noSuchPath: Fault = {
  name: "notFound",
  status: 404,
  code: "not_found",
  shape: "canonical",
  message: "There is nothing at this path.",
};
export const methodNotAllowed: Fault = {
  name: "methodNotAllowed",
  status: 405,
  code: "method_not_allowed",
  shape: "canonical",
  message: "This path does not answer that method.",
};
export const unsupportedVersion: Fault = {
  name: "unsupportedVersion",
  status: 400,
  code: "unsupported_api_version",
  shape: "canonical",
  message: "This deployment does not serve the pinned API version.",
};
export const badRequest: Fault = {
  name: "badRequest",
  status: 400,
  code: "bad_request",
  shape: "canonical",
  message: "The request is malformed.",
};

const SCIM_ERROR = "urn:ietf:params:scim:api:messages:2.0:Error";
/** The media type of SCIM (RFC 7644 section 8.1). */
export const SCIM_MEDIA = "application/scim+json";

const error = v.pipe(v.string(), v.description("What went wrong, for a person. The wording may change."));

/** The body schema of each shape, for the OpenAPI document and the tests. */
export const SHAPE_SCHEMAS = {
  canonical: v.looseObject({
    ok: v.literal(false),
    code: v.pipe(v.string(), v.description("Stable snake_case code.")),
    error,
  }),
  legacy: v.object({ error }),
  okFalse: v.object({ ok: v.literal(false), error }),
  rotation: v.object({
    error,
    reason: v.picklist(["invalid_token", "token_expired", "token_revoked", "already_rotated"]),
  }),
  tierGate: v.object({
    error,
    entitled: v.pipe(v.array(v.string()), v.description("The tiers that would include it.")),
  }),
  moved: v.object({
    error,
    movedTo: v.pipe(v.string(), v.description("The base URL of the server that takes it now, with the same token.")),
  }),
  retryable: v.object({ error, retryable: v.pipe(v.boolean(), v.description("Whether waiting can help.")) }),
  rfc8628: v.object({ error: v.picklist(["authorization_pending", "slow_down", "expired_token", "invalid_grant"]) }),
  download: v.object({
    error: v.picklist(["unsupported-platform", "not-available"]),
    download: v.optional(v.pipe(v.string(), v.url())),
  }),
  jsonRpc: v.object({
    jsonrpc: v.literal("2.0"),
    // Null in our refusals. A type of null alone would break generators of clients.
    id: v.union([v.string(), v.number(), v.null()]),
    error: v.object({ code: v.pipe(v.number(), v.integer()), message: error }),
  }),
  rpcStatus: v.object({
    code: v.pipe(v.number(), v.integer(), v.description("A code of google.rpc.Code.")),
    message: v.pipe(v.string(), v.description("What went wrong, for a person. The wording may change.")),
  }),
  scim: v.object({
    schemas: v.pipe(v.array(v.literal(SCIM_ERROR)), v.length(1)),
    status: v.pipe(v.string(), v.description("The HTTP status.")),
    detail: error,
    scimType: v.optional(v.string()),
  }),
} as const;

/** The media type that a shape's bodies have, where it is not plain JSON. */
export const SHAPE_MEDIA: Partial<Record<Shape, string>> = { scim: SCIM_MEDIA };

/** What SCIM calls a problem (RFC 7644 table 9), by its code. */
const SCIM_TYPES: Readonly<Record<string, string>> = {
  bad_request: "invalidSyntax",
  invalid_filter: "invalidFilter",
  invalid_path: "invalidPath",
  invalid_value: "invalidValue",
  mutability: "mutability",
  no_target: "noTarget",
  too_many: "tooMany",
  uniqueness: "uniqueness",
};

const RPC_UNKNOWN = 2;
/** google.rpc.Code by HTTP status: invalid argument, unauthenticated, permission denied, resource exhausted, internal, unavailable. */
const RPC_CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 413: 8, 429: 8, 500: 13, 503: 14 };

/** The body of a refusal in its fault's shape. */
export function faultBody(fault: Fault, { message, members }: ProblemDetails): Record<string, unknown> {
  const text = message ?? fault.message;
  switch (fault.shape) {
    case "canonical":
      return { ok: false, code: fault.code, error: text, ...members };
    case "okFalse":
      return { ok: false, error: text };
    case "legacy":
      return { error: text };
    case "rotation":
      return { error: text, reason: fault.code };
    case "tierGate":
    case "moved":
      return { error: text, ...members };
    case "retryable":
      return { error: text, retryable: fault.retryable !== false };
    case "download":
      return { error: fault.code, ...members };
    case "rpcStatus":
      return { code: RPC_CODES[fault.status] ?? RPC_UNKNOWN, message: text };
    case "rfc8628":
      return { error: fault.code };
    case "jsonRpc":
      return { jsonrpc: "2.0", id: null, error: { code: rpcCode(fault.status), message: text } };
    case "scim":
      return scimError(fault, text);
    default:
      return fault.shape satisfies never;
  }
}

function scimError({ status, code }: Fault, detail: string): Record<string, unknown> {
  const scimType = SCIM_TYPES[code];
  return { schemas: [SCIM_ERROR], status: String(status), detail, ...(scimType === undefined ? {} : { scimType }) };
}

/** What JSON-RPC 2.0 calls a refusal (section 5.1): the codes from -32000 downward are the server's own. */
function rpcCode(status: number): number {
  if (status === 400) return -32700;
  if (status === 413) return -32600;
  return status === 500 ? -32603 : -32000;
}
