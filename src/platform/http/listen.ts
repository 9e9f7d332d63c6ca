import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { NodeRequest, type NodeResponse, sendNodeResponse } from "srvx/node";
import type { Log } from "../../kit/log.ts";
import { SMALL_BODY_BYTES } from "./admission.ts";
import { badRequest, faultBody } from "./faults.ts";
import { PacedRequest } from "./paced.ts";
import { SERVED_VERSIONS } from "./version.ts";

/** How long a client may take over its headers, over a whole request, and between two requests. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 30_000;
/**
 * Longer than proxies keep a connection for their next request (Caddy two minutes): a proxy answers 502 when it sends a request while we
 * close.
 */
const KEEP_ALIVE_MS = 125_000;
/** A socket on which nothing moves for so long during a request is given up, unless it is we who take long. */
const STALLED_MS = 30_000;
const SWEEP_MS = 5_000;
/**
 * Whoever reads a reply has longer: the kernel takes more of it once a third of its buffer is free again (4 MiB on Linux, and those of a
 * proxy), which a slow line empties in minutes. Not while half of all places are taken: those who read nothing would keep others out.
 */
const DEAF_MS = 180_000;
/** Within that time a client has to take so much of a reply that holds memory, 4 KiB a second: less than the kernel takes at once. */
const LEAST_TAKEN_BYTES = 720 * 1024;
/** How long requests in flight may take once the server is told to stop. */
const DRAIN_MS = 8_000;

/** What answers requests. */
export interface Application {
  fetch(request: Request): Response | Promise<Response>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  readonly log: Log;
}

export interface Listener {
  readonly port: number;
  /** Stops accepting and finishes what is in flight. */
  close(): Promise<void>;
}

/**
 * Serves an application over HTTP/1.1. What Node's parser refuses, or would answer by itself, is answered here: every reply is
 * JSON in the declared shape, and no socket is held by a client that neither speaks nor listens.
 */
export async function listen(app: Application, options: ListenOptions): Promise<Listener> {
  const serve = (request: PacedRequest, reply: ServerResponse<PacedRequest>) => {
    // Node keeps this timer itself from the second request on (see `server.timeout`).
    if (request.socket.timeout === HEADERS_MS) request.socket.setTimeout(STALLED_MS);
    answer(app, request, reply, options.log);
  };
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: REQUEST_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: 16_384,
      // Node's own refusal has no body; ours is in `answer`.
      requireHostHeader: false,
      IncomingMessage: PacedRequest,
    },
    serve,
  );
  server.maxConnections = options.maxConnections;
  // Node's timers start with the first byte; until then a socket costs its place, so that it must speak up.
  server.timeout = STALLED_MS;
  server.on("connection", (socket) => socket.setTimeout(HEADERS_MS));
  const stopSweeping = sweepDeaf(server);
  server.on("timeout", (socket: HttpSocket & Socket) => {
    // Work has bounds of its own, and so have readers. Whoever lost the connection would only send the same again.
    if (isOwed(socket) || socket.writableLength > 0) socket.setTimeout(STALLED_MS);
    else socket.destroy();
  });
  server.on("clientError", (error, socket) => refuseAfterReplies(error, socket));
  server.on("checkContinue", (request, reply) => {
    inviteBody(request, reply);
    serve(request, reply);
  });
  server.on("checkExpectation", (_request, reply) => refusePlainly(reply, 417, "The expectation cannot be met."));
  server.on("connect", (_request, socket) => endWith(socket, 405, "This server is no proxy."));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: options.host, port: options.port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { port: (server.address() as { port: number }).port, close: () => drain(server).finally(stopSweeping) };
}

/**
 * Sends 100 Continue (RFC 9110 section 10.1.1) once somebody takes the body, so that a refused client sends none in vain. Whether the
 * client sends it all the same cannot be known, so nothing else is read from its connection.
 */
function inviteBody(request: PacedRequest, reply: ServerResponse<PacedRequest>): void {
  const { shouldKeepAlive } = reply;
  reply.shouldKeepAlive = false;
  request.onTaken = () => {
    reply.writeContinue();
    reply.shouldKeepAlive = shouldKeepAlive;
  };
}

/** Where Node says what the kernel took of a write; `bytesWritten` counts one only when all of it is taken. */
type HandledSocket = Socket & { readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } };

/**
 * Gives up clients that do not read their replies: to Node such a socket is merely idle, and idle ones may stay for long.
 * @returns a function that stops looking
 */
function sweepDeaf(server: Server): () => void {
  const waiting = new Map<HandledSocket, { taken: number; sweeps: number }>();
  server.on("connection", (socket: HandledSocket) => {
    waiting.set(socket, { taken: 0, sweeps: 0 });
    socket.once("close", () => waiting.delete(socket));
  });
  const timer = setInterval(() => {
    const patience = waiting.size * 2 > server.maxConnections ? STALLED_MS : DEAF_MS;
    for (const [socket, seen] of waiting) {
      const { writableLength: unsent, _handle: handle } = socket;
      const taken = handle ? handle.bytesWritten - handle.writeQueueSize : 0;
      const least = unsent > SMALL_BODY_BYTES ? LEAST_TAKEN_BYTES : 1;
      if (unsent === 0 || taken - seen.taken >= least) waiting.set(socket, { taken, sweeps: 0 });
      else if (++seen.sweeps * SWEEP_MS >= patience) socket.destroy();
    }
  }, SWEEP_MS);
  timer.unref();
  return () => clearInterval(timer);
}

function answer(app: Application, request: PacedRequest, reply: ServerResponse<PacedRequest>, log: Log): void {
  // RFC 9112 section 3.2: a request without Host is malformed, but for HTTP/1.0.
  if (request.headers.host === undefined && request.httpVersion !== "1.0") {
    refusePlainly(reply, 400, "The request names no host.");
    return;
  }
  // A host that is none is refused, too (same section): the code that reads the request's URL would fail, or take a part of it for the path.
  if (request.headers.host && !isHost(request.headers.host)) {
    refusePlainly(reply, 400, "The request's host cannot be read.");
    return;
  }
  const coding = request.headers["transfer-encoding"];
  // Whoever passed it on as HTTP/1.0 knows no codings, and saw another end of it (RFC 9112 section 6.1).
  if (coding !== undefined && request.httpVersion === "1.0") {
    refusePlainly(reply, 400, "HTTP/1.0 has no transfer codings.");
    return;
  }
  // Node's parser looks at the last coding alone, and what another had packed would be taken for the body (same section).
  if (coding !== undefined && !/^chunked$/i.test(coding)) {
    refusePlainly(reply, 501, "The only transfer coding accepted here is chunked, once.");
    return;
  }
  const target = request.url ?? "/";
  if (!isTarget(target)) {
    refusePlainly(reply, 400, "The request's target cannot be read.");
    return;
  }
  const failed = (error: unknown) => {
    log.error("reply_failed", { cause: String(error) });
    if (reply.headersSent) reply.destroy();
    else refusePlainly(reply, 500, "Internal error.");
  };
  try {
    const response = app.fetch(new NodeRequest({ req: request, res: reply }));
    if (response instanceof Promise) response.then((done) => send(reply, done)).catch(failed);
    else Promise.resolve(send(reply, response)).catch(failed);
  } catch (error) {
    failed(error);
  }
}

/** Writes a reply. Head and text go out in one piece, which halves what a small reply costs. */
function send(reply: ServerResponse<PacedRequest>, response: Response): Promise<void> | undefined {
  if (!reply.req.complete) discardRest(reply);
  if (!isFast(response)) return sendNodeResponse(reply, response);
  const { status, statusText, headers, body } = response._toNodeResponse();
  reply.writeHead(status, statusText, headers);
  if (!(body instanceof ReadableStream)) {
    // `render.ts` makes no other kinds of bodies.
    reply.end((body as string | Uint8Array | null) ?? undefined);
    return undefined;
  }
  // A reader who leaves ends the making of the body; errors in making it were logged there.
  return pipeline(Readable.fromWeb(body), reply).catch(() => void reply.destroy());
}

/**
 * Drops the rest of a request's body. Where the connection closes after the reply, that waits for the rest: a socket closed with bytes
 * unread is reset, and who still sends never reads the reply (RFC 9112 section 9.6).
 */
function discardRest({ req, shouldKeepAlive }: ServerResponse<PacedRequest>): void {
  req.discard();
  // Whoever was to be invited to send the body may send none.
  if (shouldKeepAlive || req.headers.expect) return;
  const { socket } = req;
  const close = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    if (req.closed) close();
    else req.once("close", close);
  };
}

const isFast = (response: Response): response is NodeResponse => "_toNodeResponse" in response;

/** @param text what `Host` says: a host, and perhaps a port (RFC 9110 section 7.2) */
const isHost = (text: string): boolean => !/[/?#@\\\s]/.test(text) && URL.canParse(`http://${text}`);

/** Whether a target can be read (RFC 9112 section 3.2). `URL` takes a backslash for a slash: rules of a proxy for paths would not see it. */
function isTarget(target: string): boolean {
  if (/^[^?]*\\/.test(target)) return false;
  if (target.startsWith("/") || target === "*") return true;
  if (!URL.canParse(target)) return false;
  const { protocol, host } = new URL(target);
  return (protocol === "http:" || protocol === "https:") && host !== "";
}

const plainBody = (text: string) => JSON.stringify(faultBody(badRequest, { message: text }));

function plainHeaders(body: string): Record<string, string> {
  return {
    "service-api-version": SERVED_VERSIONS.at(-1) as string,
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(body)),
    "cache-control": "no-store",
    connection: "close",
  };
}

function refusePlainly(reply: ServerResponse, status: number, text: string): void {
  const body = plainBody(text);
  reply.writeHead(status, plainHeaders(body)).end(body);
}

/** Writes a refusal to a socket that has no request object, and closes both its halves once that is sent. */
function endWith(socket: Duplex, status: number, text: string): void {
  const body = plainBody(text);
  const head = Object.entries(plainHeaders(body)).map(([name, value]) => `${name}: ${value}`);
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join("\r\n")}\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}

const REFUSALS: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "The request's headers are too large."],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The request took too long to arrive."],
};

/** What Node keeps on a socket: the reply being written, and the request being read. */
type HttpSocket = Duplex & {
  readonly _httpMessage?: ServerResponse | null;
  readonly parser?: { readonly incoming?: IncomingMessage | null } | null;
};

/** Whether a request has arrived whole, and its reply has not begun. */
const isOwed = ({ _httpMessage: reply }: HttpSocket): boolean => reply?.req.complete === true && !reply.headersSent;

/** Answers what the parser refused, after the replies to earlier requests on the same socket: replies keep their order. */
function refuseAfterReplies(error: NodeJS.ErrnoException, socket: HttpSocket): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const current = socket._httpMessage;
  const incoming = socket.parser?.incoming;
  // The reply of a request whose own body failed will never be written, so it is not waited for.
  const failed = incoming?.complete === false ? incoming : undefined;
  if (current && current.req !== failed) {
    current.once("close", () => setImmediate(refuseAfterReplies, error, socket));
    return;
  }
  // It was answered before its body was there: what came behind that would be taken for the reply to another.
  if (failed && (!current || current.writableEnded)) {
    socket.end(() => socket.destroy());
    return;
  }
  const [status, text] = REFUSALS[error.code ?? ""] ?? [400, badRequest.message];
  endWith(socket, status, text);
}

async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // close() waits for idle keep-alive sockets, which may stay for minutes: they are closed as they fall idle.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
