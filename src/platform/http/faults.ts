import * as v from "valibot";

/**
 * How an error body looks. `canonical`: `{ok:false, code, error}`; `legacy`: `{error}`; `okFalse`: `{ok:false, error}`;
 * `rotation`: legacy plus `reason`; `tierGate`: legacy plus `entitled`; `retryable`: legacy plus `retryable`; `rfc8628`: the
 * code itself in `error` (RFC 8628 section 3.5); `download`: the code in `error`, too, plus optional `download`.
 */
export type Shape = "canonical" | "legacy" | "okFalse" | "rotation" | "tierGate" | "retryable" | "rfc8628" | "download";

/** One way in which a request is refused. Declared once: rendered, documented and demanded of the tests from this row. */
export interface Fault {
  readonly name: string;
  readonly status: number;
  /** Stable snake_case, `download` apart; on the wire in the canonical, rotation, RFC 8628 and download shapes, in documents always. */
  readonly code: string;
  readonly shape: Shape;
  /** What a person reads. Wording may change; it never carries untrusted text or internals. */
  readonly says: string;
  /** Of a 503: false where waiting cannot help, so that no `Retry-After` asks for it. Default true. */
  readonly retryable?: boolean;
}

export function fault<const F extends Fault>(row: F): F {
  return row;
}

/** Members beyond the fault's own: `entitled` of a tier gate, `served`, or a more precise `error` text. */
export interface Extra {
  readonly error?: string;
  readonly members?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Thrown by handlers; rendered at the edge. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly fault: Fault;
  readonly extra: Extra;
  constructor(fault: Fault, extra: Extra = {}) {
    super(extra.error ?? fault.says);
    this.fault = fault;
    this.extra = extra;
  }
}

/** Ends the request with a fault. */
export function refuse(fault: Fault, extra?: Extra): never {
  throw new Refusal(fault, extra);
}

/** Faults any endpoint can meet; `legacy` here is replaced by the endpoint's own shape. */
export const malformed = fault({
  name: "malformed",
  status: 400,
  code: "bad_request",
  shape: "legacy",
  says: "The request is malformed.",
});
export const unauthorized = fault({
  name: "unauthorized",
  status: 401,
  code: "unauthorized",
  shape: "legacy",
  says: "A valid bearer token is required.",
});
export const tooLarge = fault({
  name: "tooLarge",
  status: 413,
  code: "too_large",
  shape: "legacy",
  says: "The request body is too large.",
});
/** For endpoints that declare it, in place of the 413: those of which the contract knows none. */
export const tooLargeMalformed = fault({ ...tooLarge, status: 400, code: "bad_request" });
export const rateLimited = fault({
  name: "rateLimited",
  status: 429,
  code: "rate_limited",
  shape: "legacy",
  says: "Too many requests. Wait for the Retry-After seconds, then try again.",
});
export const internal = fault({
  name: "internal",
  status: 500,
  code: "server_error",
  shape: "legacy",
  says: "Internal error.",
});
export const storeUnavailable = fault({
  name: "storeUnavailable",
  status: 503,
  code: "unavailable",
  shape: "legacy",
  says: "The server cannot read or store data at the moment. Nothing of this request was kept; send it again later.",
});
export const stillReading = fault({
  name: "stillReading",
  status: 503,
  code: "still_reading",
  shape: "legacy",
  says: "What was delivered is still being read, as after an upgrade. Ask again after the Retry-After seconds.",
});
export const tierGate = fault({
  name: "tierGate",
  status: 402,
  code: "payment_required",
  shape: "tierGate",
  says: "The team's tier does not include this.",
});

/** Faults of no endpoint. */
export const notFound = fault({
  name: "notFound",
  status: 404,
  code: "not_found",
  shape: "canonical",
  says: "There is nothing at this path.",
});
export const methodNotAllowed = fault({
  name: "methodNotAllowed",
  status: 405,
  code: "method_not_allowed",
  shape: "canonical",
  says: "This path does not answer that method.",
});
export const unsupportedVersion = fault({
  name: "unsupportedVersion",
  status: 400,
  code: "unsupported_api_version",
  shape: "canonical",
  says: "This deployment does not serve the pinned API version.",
});
export const badRequest = fault({
  name: "badRequest",
  status: 400,
  code: "bad_request",
  shape: "canonical",
  says: "The request is malformed.",
});

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
  retryable: v.object({ error, retryable: v.pipe(v.boolean(), v.description("Whether waiting can help.")) }),
  rfc8628: v.object({ error: v.picklist(["authorization_pending", "slow_down", "expired_token", "invalid_grant"]) }),
  download: v.object({
    error: v.picklist(["unsupported-platform", "not-available"]),
    download: v.optional(v.pipe(v.string(), v.url())),
  }),
} as const;

/** The body of a refusal in its fault's shape. */
export function faultBody(fault: Fault, extra: Extra): Record<string, unknown> {
  const text = extra.error ?? fault.says;
  switch (fault.shape) {
    case "canonical":
      return { ok: false, code: fault.code, error: text, ...extra.members };
    case "okFalse":
      return { ok: false, error: text };
    case "legacy":
      return { error: text };
    case "rotation":
      return { error: text, reason: fault.code };
    case "tierGate":
      return { error: text, ...extra.members };
    case "retryable":
      return { error: text, retryable: fault.retryable !== false };
    case "download":
      return { error: fault.code, ...extra.members };
    case "rfc8628":
      return { error: fault.code };
    default:
      return fault.shape satisfies never;
  }
}
