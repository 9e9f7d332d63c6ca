import type { IncomingMessage } from "node:http";
import { constants, gunzipSync } from "node:zlib";
import { redactJson, redactText } from "../../redact/redact.ts";
import type { Wire } from "./wire.ts";

/** A request and its reply, secrets masked. */
export interface Entry {
  /** Counts up from 1; `since` asks for later ones. */
  readonly id: number;
  /** By the instance's clock. */
  readonly at: string;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Null for a request that belongs to no operation. */
  readonly operationId: string | null;
  readonly status: number;
  /** Name of the fault, as the endpoint declares it. */
  readonly fault: string | null;
  /** It was answered by POST /_dev/faults, not by its endpoint. */
  readonly injected: boolean;
  /** The disturbance of the reply's way that was set by POST /_dev/faults. */
  readonly wire: Wire | null;
  /** Milliseconds of real time, body included. */
  readonly ms: number;
  readonly request: Side;
  readonly reply: Side;
}

interface Side {
  readonly headers: Readonly<Record<string, string>>;
  /** At most 4,096 characters; null when there was none. */
  readonly body: string | null;
}

const MAX_ENTRIES = 200;
const MAX_CHARS = 4_096;
const MAX_BYTES = 64 * 1024;
const SECRET_HEADERS = /^(?:authorization|cookie|set-cookie|proxy-authorization)$/;
/** Members and form fields whose text is a credential, whatever it looks like. A `code` in lower case is an error's. */
const SECRET_MEMBERS =
  /("?\b(?:code(?!"?\s*[:=]\s*"?[a-z_]+(?:["&\s]|$))|device_code|user_code|deviceToken|access_token|token|license|password|_csrf)"?\s*[:=]\s*)("(?:[^"\\]|\\.)*"?|[^&"\s,}]+)/g;

/** The last requests and replies. */
export class Journal {
  #entries: Entry[] = [];
  #next = 1;

  add(entry: Omit<Entry, "id">): void {
    this.#entries.push({ id: this.#next++, ...entry });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }

  /** Entries after an id, oldest first. */
  since(id: number): { entries: Entry[]; next: number } {
    return { entries: this.#entries.filter((entry) => entry.id > id), next: this.#next - 1 };
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Forgets everything; ids go on counting, so that a `since` stays valid. */
  clear(): number {
    const { length } = this.#entries;
    this.#entries = [];
    return length;
  }
}

/** Headers as the journal shows them; of a credential only its kind is shown. */
export function maskHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    [...headers].map(([name, value]) => [
      name,
      SECRET_HEADERS.test(name) ? maskCredential(value) : redactText(value).text,
    ]),
  );
}

function maskCredential(value: string): string {
  const known = /^(Bearer) +(rk[drapsl]_)?/i.exec(value);
  return known ? `${known[1]} ${known[2] ?? ""}[masked]` : "[masked]";
}

/** A path with its query, without secrets. */
export const maskPath = (path: string): string => redactText(path).text.slice(0, MAX_CHARS);

/** A body as the journal shows it: secrets out, then cut. */
export function maskBody(text: string): string | null {
  if (text === "") return null;
  const masked = text
    // A body that was cut is no JSON any more. It is searched as plain text, which finds what it can.
    .replace(
      SECRET_MEMBERS,
      (_, name: string, value: string) => `${name}${value.startsWith('"') ? '"[masked]"' : "[masked]"}`,
    );
  const clean = isJson(masked) ? redactJson(masked).text : redactText(masked).text;
  return clean.length > MAX_CHARS ? `${clean.slice(0, MAX_CHARS).toWellFormed()}… (${clean.length} characters)` : clean;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Collects a request's body while its endpoint reads it, without changing how it is read.
 * @returns a function that gives what arrived so far, as text
 */
export function captureBody(request: Request): () => string | Promise<string> {
  const incoming = (request as { runtime?: { node?: { req: IncomingMessage } } }).runtime?.node?.req;
  if (!incoming) {
    if (!request.body) return () => "";
    const copy = request.clone();
    return async () => decode(Buffer.from(await copy.arrayBuffer()), request.headers);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // A listener of our own would start the stream before the endpoint is there to read it.
  const emit = incoming.emit.bind(incoming);
  incoming.emit = (name: string | symbol, ...args: unknown[]): boolean => {
    if (name === "data" && size < MAX_BYTES) {
      chunks.push(args[0] as Buffer);
      size += (args[0] as Buffer).length;
    }
    return emit(name, ...args);
  };
  return () => decode(Buffer.concat(chunks), request.headers);
}

function decode(bytes: Buffer, headers: Headers): string {
  if (headers.get("content-encoding")?.trim().toLowerCase() !== "gzip")
    return bytes.subarray(0, MAX_BYTES).toString("utf8");
  try {
    // What was collected may be only the beginning.
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: 64 * MAX_BYTES }).toString("utf8");
  } catch {
    return `(${bytes.length} bytes that are no gzip)`;
  }
}
