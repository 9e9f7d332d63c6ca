import type * as v from "valibot";
import type { Config } from "../../config.ts";
import type { Core } from "../../core.ts";
import type { Decision, Quota } from "../../kit/buckets.ts";
import { malformed, type ProblemRow, rateLimited, tooLarge, unauthorized } from "../../kit/problem.ts";
import type { Credential } from "./credential.ts";
import type { Fault, Shape } from "./faults.ts";
import { internal, storeUnavailable, unsupportedVersion } from "./faults.ts";
import type { Preparation } from "./preparation.ts";
import type { Schema } from "./read-json.ts";

export type { Schema } from "./read-json.ts";

/** Also answered by an endpoint that heeds `If-None-Match`. */
export const unchanged = { status: 304, description: "Unchanged since the ETag in If-None-Match." } as const;

type Out<S> = S extends Schema ? v.InferOutput<S> : undefined;

/** A quota on an endpoint. */
export interface Limit {
  /** As it stands in `RateLimit-Policy`. */
  readonly name: string;
  readonly quota: (config: Config) => Quota | null;
  /** Whose use is counted. `site` and `provider` are blocks of addresses, see `blocksOf`, so that many addresses do not make many callers. */
  readonly per: "ip" | "site" | "provider" | "team" | "token";
  /** Whether the rate-limit headers go on every reply or on refusals only. */
  readonly headers: "always" | "limited";
  /** Set when only refusals count, as with guesses at a secret: a success is given back. */
  readonly counts?: "refusals";
  /**
   * For a quota that outlives the process: what is left of it, read anew each time. The handler counts a request in the transaction of its
   * work, and refuses with `rateLimited` there when parallel requests were faster.
   */
  readonly stored?: (core: Core, key: string) => Decision;
}

export interface BodySpec<B extends Schema, P = unknown, M = unknown> {
  readonly schema: B;
  /** Cap in bytes, after inflating where gzip is accepted. */
  readonly maxBytes: (config: Config) => number;
  readonly gzip?: boolean;
  /** A form (`application/x-www-form-urlencoded`) is taken as well, as OAuth clients send it. */
  readonly form?: boolean;
  /** `application/x-protobuf` is taken as well: its preparation reads it with `readBinary`, and refusals are answered in the same type. */
  readonly protobuf?: boolean;
  /** An absent body counts as `{}`. */
  readonly optional?: boolean;
  /** Parts of the body are the client's own and kept as sent; the handler looks for members named twice in the others. */
  readonly freeForm?: boolean;
  /** Prepares the body before the handler gets it: off the main thread, where it is large. */
  readonly prepare?: Prepare<P, M>;
}

/** A preparation of an endpoint's bodies, see `prepared`. */
export interface Prepare<P, M> {
  readonly by: Preparation<Schema, unknown, M, unknown>;
  /** Values for the preparation, read once the body has arrived. A fault of the body is answered before one thrown here. */
  given(core: Core, principal: P): unknown;
  /** Answers what it asks. */
  answer?(core: Core, principal: P, question: unknown): unknown;
}

/** Says how an endpoint's bodies are prepared. */
export const prepared = <S extends Schema, P, Given, M, Skimmed>(
  by: Preparation<S, Given, M, Skimmed>,
  given: (core: Core, principal: P) => Given,
  answer?: (core: Core, principal: P, question: never) => unknown,
): Prepare<P, M> => ({ by, given, ...(answer ? { answer } : {}) }) as unknown as Prepare<P, M>;

/** The methods of endpoints; HEAD is answered as GET. */
type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface EndpointSpec<
  P,
  Q extends Schema | undefined,
  B extends Schema | undefined,
  R extends Schema,
  M = Out<B>,
> {
  /** The OpenAPI operationId. */
  readonly id: string;
  readonly method: Method;
  /** With `:name` for a part that varies, `**:name` at its end for several. */
  readonly path: `/${string}`;
  /** Whether the part that varies is a whole number. */
  readonly numbered?: boolean;
  /** Another path at which it answers; the documents name the first alone. */
  readonly alias?: `/${string}`;
  /** Also answers with the base URL's sub-path behind its own, where RFC 8414 section 3.1 puts metadata. */
  readonly wellKnown?: boolean;
  /** One line for the documents. */
  readonly summary: string;
  /** The group of the API's document that it stands in, one that a room declares; null where it is no part of the public contract. */
  readonly tag: string | null;
  /** Whose credential it demands. */
  readonly auth: "none" | Credential<P>;
  readonly query?: Q;
  readonly body?: B extends Schema ? BodySpec<B, P, M> : never;
  readonly ok: R;
  /** Status of a success. Default 200; 204 has no body. */
  readonly okStatus?: 200 | 201 | 204;
  /** Media type of a success. Default `application/json`. */
  readonly media?: string;
  /** Other media types of a success, for those who ask for them; the handler names which its reply is in. */
  readonly renditions?: readonly { readonly media: string; readonly schema: Schema }[];
  /** Replies other than 200 and the faults: status and what it means, with the schema where there is a body. */
  readonly also?: readonly {
    readonly status: number;
    readonly description: string;
    readonly schema?: Schema;
    readonly example?: unknown;
  }[];
  /** In the shape that each names, else in the endpoint's own. */
  readonly faults: readonly (ProblemRow | Fault)[];
  readonly limits: readonly Limit[];
  /** Shape of the faults any endpoint can meet. Default `legacy`. */
  readonly errorShape?: Extract<Shape, "legacy" | "canonical" | "okFalse" | "jsonRpc" | "rpcStatus" | "scim">;
  /** `Cache-Control` of a success. Default `no-store`. */
  readonly cache?: string;
  /** An exchange for the documents; `query` by name. */
  readonly example?: {
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: unknown;
    readonly ok?: unknown;
  };
}

/** A request as a handler sees it: validated, prepared where its endpoint says so, and of a known caller. */
export interface Call<P = unknown, Q = unknown, B = unknown> {
  readonly core: Core;
  readonly principal: P;
  /** Parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** The JSON text as sent, for what must be kept in its own spelling; `""` without a body, and of one that was prepared. */
  readonly text: string;
  /** The client's address, proxies seen through. */
  readonly ip: () => string;
  header(name: string): string | null;
}

/** A body as it is sent: at once, or piece by piece. */
export type Content = string | Uint8Array | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** A success with more to say than its body. */
export class Reply<R> {
  readonly body: R | null;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Which of the endpoint's renditions the body is; its own media type without it. */
  readonly media: string | undefined;
  /** The body as it is sent, when it is not rendered from `body`: text or bytes, or pieces. */
  readonly content: Content | undefined;
  constructor(
    body: R | null,
    options: {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly media?: string | undefined;
      readonly content?: Content | undefined;
    } = {},
  ) {
    this.body = body;
    this.status = options.status ?? 200;
    this.headers = options.headers ?? {};
    this.media = options.media;
    this.content = options.content;
  }
}

export type Handler<P, Q, B, R> = (call: Call<P, Q, B>) => R | Reply<R> | Promise<R | Reply<R>>;

export interface Endpoint {
  readonly spec: EndpointSpec<unknown, Schema | undefined, Schema | undefined, Schema>;
  readonly handle: (call: Call<never, never, never>) => unknown;
}

/** Declares an endpoint. Everything that is known of it without running it is in the first argument. */
export function endpoint<
  R extends Schema,
  P = undefined,
  Q extends Schema | undefined = undefined,
  B extends Schema | undefined = undefined,
  M = Out<B>,
>(spec: EndpointSpec<P, Q, B, R, M>, handler: Handler<P, Out<Q>, M, v.InferInput<R>>): Endpoint {
  return { spec: spec as unknown as Endpoint["spec"], handle: handler as unknown as Endpoint["handle"] };
}

const withoutShape = ({ shape: _, ...row }: Fault): ProblemRow => row;

/** A problem as an endpoint answers with it: as its own row of that name says, or else in its own shape. */
export function faultOf({ spec }: Endpoint, row: ProblemRow): Fault {
  const { auth, errorShape = "legacy", faults } = spec;
  const ofCredential = errorShape === "legacy" && auth !== "none" ? (auth.faults ?? []) : [];
  return { shape: errorShape, ...([...faults, ...ofCredential].find(({ name }) => name === row.name) ?? row) };
}

/** Every fault an endpoint can answer with: its own, and those that follow from what it declares. */
export function faultsOf(endpoint: Endpoint): Fault[] {
  const { spec } = endpoint;
  const implied: ProblemRow[] = [];
  if (spec.auth !== "none" && !spec.auth.lenient)
    implied.push(unauthorized, ...(spec.auth.faults ?? []).map(withoutShape));
  if (spec.body || spec.query) implied.push(malformed);
  if (spec.body) implied.push(tooLarge);
  if (spec.limits.length > 0) implied.push(rateLimited);
  // The health check reports on the store in a reply of its own.
  if (!spec.also?.some(({ status }) => status === storeUnavailable.status)) implied.push(storeUnavailable);
  implied.push(internal);
  const own = new Set(spec.faults.map((fault) => fault.name));
  const rows = [...spec.faults, ...implied.filter((row) => !own.has(row.name)), unsupportedVersion];
  return rows.map((row) => faultOf(endpoint, row));
}
