import { connect, type Socket } from "node:net";
import { DEADLINE_MS } from "./process.ts";

/** HTTP as bytes on a socket: requests that no client library would send, replies as they stand on the wire. */

export interface RawReply {
  readonly status: number;
  /** Status line and headers as received. */
  readonly head: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export class RawSocket {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => {};

  constructor(port: number, host = "127.0.0.1") {
    this.socket = connect({ port, host, allowHalfOpen: true });
    this.socket.setNoDelay(true);
    const change = () => this.#wake();
    this.socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      change();
    });
    const ended = () => {
      this.#ended = true;
      change();
    };
    this.socket.on("end", ended).on("close", ended).on("error", ended);
  }

  send(data: string | Uint8Array): this {
    if (this.socket.writable) this.socket.write(data);
    return this;
  }

  /** Settles once more can be written, or nothing can any more. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off("drain", done).off("close", done);
        resolve();
      };
      this.socket.once("drain", done).once("close", done);
    });
  }

  async #change(ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      this.#wake = resolve;
      timer = setTimeout(() => reject(new Error(`no reply and no end within ${ms} ms: a hang`)), ms);
    }).finally(() => clearTimeout(timer));
  }

  /** The next reply, interim ones included. @returns undefined when the server closed without one */
  async reply(options: { head?: boolean; ms?: number } = {}): Promise<RawReply | undefined> {
    for (;;) {
      const found = parseReply(this.#received, this.#ended, options.head ?? false);
      if (found) {
        this.#received = this.#received.subarray(found.length);
        return found.reply;
      }
      if (this.#ended) return undefined;
      await this.#change(options.ms ?? DEADLINE_MS);
    }
  }

  /** Waits until the server has closed its side. */
  async ended(ms = DEADLINE_MS): Promise<void> {
    while (!this.#ended) await this.#change(ms);
  }

  get isOpen(): boolean {
    return !this.#ended;
  }

  /** Bytes received and not yet taken as a reply. */
  get rest(): string {
    return this.#received.toString("latin1");
  }

  /** Closes with a reset, as a crashed client's kernel does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }
}

function parseReply(bytes: Buffer, ended: boolean, noBody: boolean): { reply: RawReply; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = bytes.subarray(0, headEnd).toString("latin1");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const at = headEnd + 4;
  if (noBody || status < 200 || status === 204 || status === 304)
    return { reply: { status, head, headers, body: "" }, length: at };
  const length = headers.get("content-length");
  if (length !== undefined) {
    const end = at + Number(length);
    if (bytes.length < end) return undefined;
    return { reply: { status, head, headers, body: bytes.subarray(at, end).toString("utf8") }, length: end };
  }
  if (headers.get("transfer-encoding") === "chunked") return parseChunked(bytes, at, { status, head, headers });
  if (!ended) return undefined;
  return { reply: { status, head, headers, body: bytes.subarray(at).toString("utf8") }, length: bytes.length };
}

function parseChunked(bytes: Buffer, from: number, reply: Omit<RawReply, "body">) {
  const parts: Buffer[] = [];
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString("latin1"), 16);
    const end = lineEnd + 2 + size;
    if (bytes.length < end + 2) return undefined;
    if (size === 0) return { reply: { ...reply, body: Buffer.concat(parts).toString("utf8") }, length: end + 2 };
    parts.push(bytes.subarray(lineEnd + 2, end));
    at = end + 2;
  }
}

export interface RawAsk {
  readonly method?: string;
  readonly path: string;
  readonly token?: string;
  /** Those that are undefined are left out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Uint8Array;
}

/** A well-formed request as bytes. */
export function requestBytes(ask: RawAsk): Buffer {
  const body = ask.body === undefined ? undefined : Buffer.from(ask.body);
  const headers: Record<string, string | undefined> = {
    host: "reckon.test",
    ...(ask.token === undefined ? {} : { authorization: `Bearer ${ask.token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json", "content-length": String(body.length) }),
    ...ask.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`));
  const head = `${ask.method ?? (body ? "POST" : "GET")} ${ask.path} HTTP/1.1\r\n${lines.join("")}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body ?? Buffer.alloc(0)]);
}

/** Sends one request on a socket of its own. @throws Error when the server closed without a reply */
export async function ask(port: number, what: RawAsk): Promise<RawReply> {
  return askBytes(port, requestBytes(what), { head: what.method === "HEAD" });
}

export async function askBytes(
  port: number,
  bytes: string | Uint8Array,
  options: { head?: boolean; host?: string } = {},
): Promise<RawReply> {
  const socket = new RawSocket(port, options.host);
  try {
    const reply = await socket.send(bytes).reply(options);
    if (!reply) throw new Error("the server closed the connection without a reply");
    return reply;
  } finally {
    socket.close();
  }
}
