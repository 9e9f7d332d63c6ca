import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a receiver was sent. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape
  readonly json: any;
}

export interface Receiver {
  readonly url: string;
  /** `127.0.0.1:PORT`, as RECKON_OUTBOUND lists it. */
  readonly host: string;
  readonly port: number;
  readonly received: Received[];
  /** Connections that were made, whatever came over them. */
  connections: number;
  /** Answers what is sent from now on. */
  answer: (received: Received, response: ServerResponse) => void;
}

const ok = (_: Received, response: ServerResponse) => response.writeHead(204).end();

/** A program of somebody's that is sent notifications: it counts who connects, and answers 204 until told otherwise. */
export async function startReceiver(): Promise<Receiver> {
  const server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts).toString("utf8");
      const { headers, url: path = "" } = request;
      const received = { path, headers, body, json: body.startsWith("{") ? JSON.parse(body) : undefined };
      receiver.received.push(received);
      receiver.answer(received, response);
    });
  });
  server.on("connection", () => {
    receiver.connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const host = `127.0.0.1:${port}`;
  const receiver: Receiver = { url: `http://${host}/hook`, host, port, received: [], connections: 0, answer: ok };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return receiver;
}
