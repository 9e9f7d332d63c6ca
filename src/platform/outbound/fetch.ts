import type { IncomingMessage } from "node:http";
import type { Core } from "../../core.ts";
import { openRequest } from "./connect.ts";
import { judgeUrl, OutboundRefused } from "./destination.ts";
import { failureOf, OutboundFailed } from "./post.ts";

/** From looking up the name to the last byte of the reply, unless the caller needs longer. */
const TOTAL_MS = 10_000;
const MAX_REPLY_BYTES = 512 * 1024;
/** Headers of a reply that callers read. */
const READ_HEADERS = ["content-type", "retry-after", "x-amz-bucket-region"];

/** The supported parts of a request. */
export interface OutboundRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Bytes, or what is turned into text. */
  readonly body?: unknown;
  /** Ends it early. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A `fetch` for libraries that bring none of their own: the same hosts, no redirects, no proxy, bounded in time and size.
 * @returns a function that rejects with OutboundRefused before anything is sent, and with OutboundFailed when no whole answer came
 */
export const outboundFetch =
  (core: Core, totalMs = TOTAL_MS, maxReplyBytes = MAX_REPLY_BYTES) =>
  async (address: string, init: OutboundRequest = {}): Promise<Response> => {
    const url = judgeUrl(core, address);
    const { method = "GET", body } = init;
    const content = body === undefined || body === null || body instanceof Uint8Array ? body : String(body);
    const late = AbortSignal.timeout(totalMs);
    const signal = AbortSignal.any([late, ...(init.signal ? [init.signal] : [])]);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const sent = openRequest(core, url, { method, headers: { ...init.headers }, signal });
    sent.on("response", (response) => {
      sent.off("close", reject);
      void whole(response, maxReplyBytes).then(resolve, reject);
    });
    sent.on("error", reject);
    // A server that changes the protocol (101) is neither an error nor a response: the connection is closed.
    sent.on("close", reject);
    sent.end(content ?? undefined);
    try {
      return await promise;
    } catch (error) {
      if (error instanceof OutboundRefused || error instanceof OutboundFailed) throw error;
      throw new OutboundFailed(late.aborted ? `no answer within ${totalMs / 1_000} seconds` : failureOf(error), {
        cause: error,
      });
    } finally {
      sent.destroy();
    }
  };

async function whole(response: IncomingMessage, maxBytes: number): Promise<Response> {
  const { statusCode: status = 500, headers } = response;
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of response) {
    bytes += (part as Buffer).length;
    if (bytes > maxBytes) throw new OutboundFailed(`the answer is longer than ${maxBytes / 1024} KiB`);
    parts.push(part as Buffer);
  }
  const empty = status === 204 || status === 304;
  return new Response(empty ? null : Buffer.concat(parts), {
    status,
    headers: READ_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  });
}
