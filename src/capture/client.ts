import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { asObject, asText, parseJson } from "../formats/values.ts";
import { programVersion } from "../kit/assets.ts";
import { DAY_MS, SECOND_MS } from "../kit/clock.ts";
import { isObject } from "../kit/json.ts";
import { isCut, trusting, whyUnreached } from "../kit/reach.ts";
import { visibleLine } from "../kit/strings.ts";

/** What became of a request. */
export type Answer =
  /** 2xx, or 304 with an empty body. */
  | {
      readonly kind: "ok";
      readonly status: number;
      readonly body: Record<string, unknown>;
      readonly text: string;
      readonly etag: string | null;
      /** The server's signed receipt of a delivery. */
      readonly receipt: string | null;
      /** The name of the server's log, where it says so. */
      readonly log: string | null;
      /** Whether the server takes digests of contents that it holds. */
      readonly takesDigests: boolean;
    }
  /** No answer, or none now: worth trying again, not before `afterMs` where the server says so. */
  | { readonly kind: "later"; readonly reason: string; readonly afterMs?: number | undefined }
  /**
   * The server will not take this, however often it is sent. With 408: not over this line, as long as it is as slow or takes as little at
   * once.
   */
  | {
      readonly kind: "refused";
      readonly status: number;
      readonly reason: string;
      readonly body: Record<string, unknown>;
    };

/** The address at which the team is served now, as a refusal says; a line that can be shown and kept. */
export function movedToOf(answer: Answer): string | undefined {
  const said = answer.kind === "refused" && answer.status === 401 ? asText(answer.body.movedTo) : undefined;
  return said === undefined ? undefined : visibleLine(said, MAX_REASON_CHARS);
}

const JSON_TYPE = "application/json";
const TIMEOUT_MS = 60 * SECOND_MS;
/** Bytes per millisecond of the slowest line from which the server takes a body. */
const SLOWEST_BYTES = 8;
/** A longer body that is not there in time was too much for the line. */
const LONG_BYTES = 128 * 1024;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const MAX_REASON_CHARS = 500;
/** Smaller bodies are not worth compressing. */
const GZIP_FROM_BYTES = 1_024;

const compress = promisify(gzip);

export interface RequestOptions {
  readonly method?: "GET" | "POST";
  readonly token?: string;
  /** JSON. */
  readonly body?: string;
  readonly compressed?: boolean;
  readonly etag?: string | undefined;
  /** The media type of the reply; JSON by default. */
  readonly accept?: string;
  readonly timeoutMs?: number;
  /** Besides those that every request has. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the server may get it twice: then it is sent again where the connection broke before a reply came. */
  readonly isRepeatable?: boolean;
}

/** Asks the server. Never throws. */
export async function ask(url: string, path: string, options: RequestOptions = {}): Promise<Answer> {
  try {
    return await answerOf(await trusting(() => send(url, path, options)), options);
  } catch (error) {
    // The server may have closed a connection that was idle while a transcript was read. That shows only when it is used again.
    if (options.isRepeatable && isCut(error)) return ask(url, path, { ...options, isRepeatable: false });
    return { kind: "later", reason: whyUnreached(error) };
  }
}

async function send(url: string, path: string, options: RequestOptions): Promise<Response> {
  const { method = "GET", token, body, compressed = false, etag, accept = JSON_TYPE, timeoutMs = TIMEOUT_MS } = options;
  const headers: Record<string, string> = {
    ...options.headers,
    accept,
    "service-api-version": "1",
    "user-agent": `reckon-agent/${programVersion()}`,
  };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (etag !== undefined) headers["if-none-match"] = etag;
  let sent: string | Uint8Array<ArrayBuffer> | undefined = body;
  if (body !== undefined) headers["content-type"] = "application/json";
  if (body !== undefined && compressed && body.length >= GZIP_FROM_BYTES) {
    sent = new Uint8Array(await compress(body));
    headers["content-encoding"] = "gzip";
  }
  // A token is for this server alone: a redirect is not followed.
  return fetch(url + path, {
    method,
    headers,
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs + Math.ceil((sent?.length ?? 0) / SLOWEST_BYTES)),
    ...(sent === undefined ? {} : { body: sent }),
  });
}

const TOO_MUCH = "a proxy on the way to the server takes less at once than this (413)";
const STRANGER: Answer = { kind: "later", reason: "something other than Reckon answers at this address" };

async function answerOf(response: Response, options: RequestOptions): Promise<Answer> {
  const { accept = JSON_TYPE, etag } = options;
  const { status, headers } = response;
  const text = await textOf(response);
  const value = parseJson(text);
  const body = asObject(value);
  const isOurs = headers.has("service-api-version");
  const ok: Answer = {
    ...{ kind: "ok", status, body, text },
    ...{ etag: headers.get("etag"), receipt: headers.get("reckon-receipt"), log: headers.get("reckon-log") },
    takesDigests: headers.get("reckon-accepts") === "contentSha256",
  };
  if (status === 304 && etag !== undefined) return ok;
  if (response.ok) {
    if (!isOurs) return STRANGER;
    if (accept === JSON_TYPE && text !== "" && !isObject(value))
      return { kind: "later", reason: "the server's reply cannot be read" };
    return ok;
  }
  // Without a full stop, as our own reasons are: they stand within sentences, which are kept and printed.
  const said = asText(body.error);
  const reason =
    said === undefined ? `the server answered ${status}` : visibleLine(said, MAX_REASON_CHARS).replace(/\.$/, "");
  if (status === 408 && (options.body?.length ?? 0) > LONG_BYTES) return { kind: "refused", status, reason, body };
  if (status === 408 || status === 429 || status >= 500)
    return { kind: "later", reason, afterMs: retryAfterMs(headers) };
  if (status >= 300 && status < 400)
    return {
      kind: "later",
      reason: `this address sends on to ${visibleLine(headers.get("location") ?? "elsewhere", MAX_REASON_CHARS)}: sign in there if it is the network's own page, or connect with that address if it is Reckon's`,
    };
  if (isOurs) return { kind: "refused", status, reason, body };
  // Another program answers here, such as a network's own page. A proxy that takes less at once than we send is treated as a line that is
  // too slow.
  return status === 413 ? { kind: "refused", status: 408, reason: TOO_MUCH, body } : STRANGER;
}

async function textOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_REPLY_BYTES) throw new Error("the server's reply is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Whether it may help to send less at once, or to leave out what is at fault. */
export const mayTakeLess = (answer: Answer): answer is Answer & { kind: "refused" } =>
  answer.kind === "refused" && [400, 408, 413].includes(answer.status);

/** `Retry-After`, in seconds as the service sends it or as an instant by the server's clock (RFC 9110 section 10.2.3); a day at most. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(text) ? Number(text) * SECOND_MS : Date.parse(text) - Date.parse(headers.get("date") ?? "");
  return ms > 0 ? Math.min(ms, DAY_MS) : undefined;
}
