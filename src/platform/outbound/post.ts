import type { IncomingMessage } from "node:http";
import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { whyUntrusted } from "../../kit/reach.ts";
import { openRequest } from "./connect.ts";
import { judgeUrl, OutboundRefused } from "./destination.ts";

/** No answer came: the message may have been sent. */
export class OutboundFailed extends Error {
  override readonly name = "OutboundFailed";
}

/** What a receiver answered. */
export interface Answer {
  readonly status: number;
  /** As it stands in the status line; one line, bounded. */
  readonly statusText: string;
  /** Of `Retry-After`, as it was sent. */
  readonly retryAfter: string | undefined;
  /** The beginning of the body, as text. */
  readonly reply: string;
}

/** From looking up the name to the last byte of the reply. */
const TOTAL_MS = 5_000;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_REPLY_CHARS = 2_000;

/**
 * Posts a body. Redirects are answers as any other: they are not followed.
 * @param signal ends it early
 * @throws OutboundRefused before anything is sent; OutboundFailed when there is no answer within 5 seconds
 */
export async function post(
  core: Core,
  address: string,
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  signal?: AbortSignal,
): Promise<Answer> {
  const url = judgeUrl(core, address);
  const ends = AbortSignal.any([AbortSignal.timeout(TOTAL_MS), ...(signal ? [signal] : [])]);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = openRequest(core, url, {
    method: "POST",
    headers: { ...headers, "content-length": Buffer.byteLength(body) },
    signal: ends,
  });
  sent.on("error", reject);
  // A receiver that changes the protocol (101) is neither an error nor a response: the connection is closed.
  sent.on("close", reject);
  sent.on("response", (response) => {
    // From here on the status is known, so only the reply's body can break off.
    sent
      .off("error", reject)
      .off("close", reject)
      .on("error", () => {});
    readReply(response).then((reply) => {
      sent.destroy();
      resolve(answerOf(response, reply));
    });
  });
  sent.end(body);
  try {
    return await promise;
  } catch (error) {
    if (error instanceof OutboundRefused) throw error;
    throw new OutboundFailed(ends.aborted ? "no answer within 5 seconds" : failureOf(error), { cause: error });
  }
}

function answerOf({ statusCode = 0, statusMessage = "", headers }: IncomingMessage, reply: string): Answer {
  const line = statusMessage.replace(/[^\x20-\x7e]/g, " ").slice(0, 100);
  return { status: statusCode, statusText: line.trim(), retryAfter: headers["retry-after"], reply };
}

/** The reply's body as far as it arrives, bounded. A body that breaks off is no failure: the status said what became of the message. */
async function readReply(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of response) {
      parts.push(part as Buffer);
      bytes += (part as Buffer).length;
      if (bytes >= MAX_REPLY_BYTES) break;
    }
  } catch {
    // Cut off by the clock or the receiver.
  }
  return Buffer.concat(parts).toString("utf8").slice(0, MAX_REPLY_CHARS).toWellFormed();
}

/** Why nobody answered, without texts that an error may quote: `ECONNREFUSED`, `CERT_HAS_EXPIRED`. */
export function failureOf(error: unknown): string {
  // When a name has several addresses, there is an error for each.
  const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
  const refused = errors.find((one) => one instanceof OutboundRefused);
  if (refused) return refused.message;
  const codes = errors.flatMap((one) => (one as { code?: unknown } | undefined)?.code ?? []);
  const code = typeof codes[0] === "string" ? codes[0].slice(0, 60) : undefined;
  return whyUntrusted(code) ?? code ?? "the connection broke off";
}

/** Reads `Retry-After` (RFC 9110 section 10.2.3), as milliseconds from now; 0 where it says nothing. */
export function readRetryAfter(text: string | undefined, now: number): number {
  if (text === undefined) return 0;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * SECOND_MS : Date.parse(text) - now;
  return Number.isNaN(ms) ? 0 : Math.max(ms, 0);
}
