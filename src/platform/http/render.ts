import { STATUS_CODES } from "node:http";
import { FastResponse } from "srvx";
import type { Config } from "../../config.ts";
import type { Core } from "../../core.ts";
import { type Decision, nearestExhaustion } from "../../kit/buckets.ts";
import type { ProblemDetails } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Content, Limit } from "./endpoint.ts";
import { type Fault, faultBody, SHAPE_MEDIA } from "./faults.ts";
import { encodeStatus, PROTOBUF } from "./media.ts";
import { stackText } from "./request.ts";
import { SERVED_VERSIONS, VERSION_HEADER } from "./version.ts";

export type HeaderList = [string, string][];

const JSON_TYPE = "application/json; charset=utf-8";

/** Headers of every reply, whatever became of the request. */
export const COMMON: HeaderList = [
  [VERSION_HEADER, SERVED_VERSIONS.at(-1) as string],
  ["x-content-type-options", "nosniff"],
];

/** A reply whose body is JSON, or text already in its media type. */
export function respond(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> | HeaderList,
  media?: string,
  content?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
): Response {
  const list: HeaderList = [...COMMON];
  for (const entry of Array.isArray(headers) ? headers : Object.entries(headers)) list.push(entry);
  if (body === null && content === undefined)
    return new FastResponse(null, { status, statusText: STATUS_CODES[status] ?? "", headers: list });
  list.push(["content-type", media ?? JSON_TYPE]);
  const text = content ?? (media && media !== JSON_TYPE && typeof body === "string" ? body : JSON.stringify(body));
  return new FastResponse(text, { status, statusText: STATUS_CODES[status] ?? "", headers: list });
}

/** The reply to a refused request. */
export function respondFault(
  fault: Fault,
  details: ProblemDetails,
  context: { readonly sentToken: boolean; readonly headers?: HeaderList; readonly inProtobuf?: boolean },
): Response {
  const headers: HeaderList = [["cache-control", "no-store"], ...(context.headers ?? [])];
  if (fault.status === 401)
    headers.push(["www-authenticate", context.sentToken ? 'Bearer error="invalid_token"' : "Bearer"]);
  const wait = details.retryAfterSeconds ?? (fault.status === 503 && fault.retryable !== false ? 5 : undefined);
  if (wait !== undefined) headers.push(["retry-after", String(wait)]);
  const body = faultBody(fault, details);
  if (!context.inProtobuf || fault.shape !== "rpcStatus")
    return respond(fault.status, body, headers, SHAPE_MEDIA[fault.shape]);
  const status = encodeStatus(body as { code: number; message: string });
  return respond(fault.status, null, headers, PROTOBUF, status as Uint8Array<ArrayBuffer>);
}

/**
 * The rate-limit headers (draft-ietf-httpapi-ratelimit-headers-07): the quota nearest exhaustion, and every quota in force.
 * @param drawn limits with what each bucket said
 * @param limits the endpoint's own; a refusal by one leaves those behind it undrawn
 */
export function rateHeaders(
  drawn: readonly { readonly limit: Limit; readonly decision: Decision; readonly seconds: number }[],
  limits: readonly Limit[],
  config: Config,
): HeaderList {
  const nearest = nearestExhaustion(drawn.map(({ decision }) => decision));
  if (!nearest) return [];
  const policy = new Map<string, string>();
  for (const { name, quota } of limits) {
    const { count, seconds } = quota(config) ?? {};
    if (count !== undefined) policy.set(name, `${name};q=${count};w=${seconds}`);
  }
  for (const { limit, decision, seconds } of drawn)
    policy.set(limit.name, `${limit.name};q=${decision.limit};w=${seconds}`);
  const headers: HeaderList = [
    ["ratelimit-limit", String(nearest.limit)],
    ["ratelimit-remaining", String(nearest.remaining)],
    ["ratelimit-reset", String(nearest.resetSeconds)],
    ["ratelimit-policy", [...policy.values()].join(", ")],
  ];
  if (!nearest.allowed) headers.push(["retry-after", String(nearest.retryAfterSeconds)]);
  return headers;
}

/** A body as a response takes it. */
export const bodyOf = (content: Content, core: Core) =>
  typeof content === "string" || content instanceof Uint8Array
    ? (content as string | Uint8Array<ArrayBuffer>)
    : pieces(content, core);

/** Sends text or bytes as they are made, at the reader's pace. */
function pieces(
  body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  core: Core,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const from = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  // A reader who takes all at once would be served alone.
  const yieldNow = cooperative(core.clock);
  let gone = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        await yieldNow();
        const { done, value } = await from.next();
        // The reader may have left while this piece was made.
        if (gone) return;
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        core.log.error("download_failed", { cause: stackText(error) });
        controller.error(error);
      }
    },
    async cancel() {
      gone = true;
      await from.return?.();
    },
  });
}
