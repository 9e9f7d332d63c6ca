/**
 * A request that cannot be met, for a reason that whoever asked can understand and mend. A room declares its problems as rows and throws
 * them; the API, the pages and the command line each show the same row in their own way.
 */

/** One kind of problem: rendered, documented and demanded of the tests from this row. */
export interface ProblemRow {
  /** Tells problems with the same code apart, in documents, metrics and tests. */
  readonly name: string;
  /** Stable snake_case, except for those of downloads. */
  readonly code: string;
  /** An HTTP status code (RFC 9110 section 15); the command line needs no such detail. */
  readonly status: number;
  /** What a person reads. Wording may change; it never carries untrusted text or internals. */
  readonly message: string;
  /** For a 503: false when waiting cannot help, so that nobody is told to try again. Default true. */
  readonly retryable?: boolean;
}

/** Declares a row. */
export const problem = <const R extends ProblemRow>(row: R): R => row;

/** What is known of one occurrence. */
export interface ProblemDetails {
  /** More precise than the row's. */
  readonly message?: string;
  /** When it is worth trying again. */
  readonly retryAfterSeconds?: number | undefined;
  /** For programs: `entitled` of a tier gate, `served` of a version. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** Thrown where something cannot be done; shown at the edge. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly row: ProblemRow;
  readonly code: string;
  readonly status: number;
  readonly details: ProblemDetails;
  /** @param details a text alone is the message */
  constructor(row: ProblemRow, details: string | ProblemDetails = {}) {
    const known = typeof details === "string" ? { message: details } : details;
    super(known.message ?? row.message);
    this.row = row;
    this.code = row.code;
    this.status = row.status;
    this.details = known;
  }
}

/** Throws a problem. */
export function fail(row: ProblemRow, details?: string | ProblemDetails): never {
  throw new Problem(row, details);
}

/** A request that is not of the form that was declared. */
export const malformed = problem({
  name: "malformed",
  status: 400,
  code: "bad_request",
  message: "The request is malformed.",
});
/** A value that will not do. */
export const invalid = problem({
  name: "invalid",
  status: 400,
  code: "bad_request",
  message: "What was sent is not valid.",
});
export const unauthorized = problem({
  name: "unauthorized",
  status: 401,
  code: "unauthorized",
  message: "A valid bearer token is required.",
});
export const forbidden = problem({
  name: "forbidden",
  status: 403,
  code: "forbidden",
  message: "This is not allowed.",
});
export const notFound = problem({
  name: "notFound",
  status: 404,
  code: "not_found",
  message: "There is no such thing.",
});
export const conflict = problem({
  name: "conflict",
  status: 409,
  code: "conflict",
  message: "The request conflicts with the present state.",
});
export const gone = problem({
  name: "gone",
  status: 410,
  code: "gone",
  message: "This is not there any more.",
});
export const tooLarge = problem({
  name: "tooLarge",
  status: 413,
  code: "too_large",
  message: "The request body is too large.",
});
export const unprocessable = problem({
  name: "unprocessable",
  status: 422,
  code: "unprocessable",
  message: "What was sent cannot be taken in.",
});
export const rateLimited = problem({
  name: "rateLimited",
  status: 429,
  code: "rate_limited",
  message: "Too many requests. Wait for the Retry-After seconds, then try again.",
});
export const unavailable = problem({
  name: "unavailable",
  status: 503,
  code: "unavailable",
  message: "This cannot be done at the moment. Try again later.",
});
