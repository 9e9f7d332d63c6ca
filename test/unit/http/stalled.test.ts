import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { silentLog } from "../../../src/kit/log.ts";
import { listen } from "../../../src/platform/http/listen.ts";

/** Sends a request until it has reached the application: the server's end of its connection, the client's, and how it is answered. */
async function begin(sent: string) {
  const reply = Promise.withResolvers<Response>();
  const arrived = Promise.withResolvers<Socket>();
  const fetch = (request: Request) => {
    arrived.resolve((request as unknown as { runtime: { node: { req: IncomingMessage } } }).runtime.node.req.socket);
    return reply.promise;
  };
  const listener = await listen({ fetch }, { host: "127.0.0.1", port: 0, maxConnections: 10, log: silentLog });
  onTestFinished(() => listener.close());
  const client = connect(listener.port, "127.0.0.1");
  client.write(sent);
  return { server: await arrived.promise, client, answer: (body: string) => reply.resolve(new Response(body)) };
}

it("keeps a connection on which nothing moves because the reply takes long", async () => {
  const { server, client, answer } = await begin("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  server.emit("timeout");
  answer("it took a minute");
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 .*it took a minute/s);
});

it("gives up a client that does not go on with its body", async () => {
  const { server, client } = await begin("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\nab");
  server.emit("timeout");
  await once(client.resume(), "close");
  expect([server.destroyed, client.bytesRead]).toEqual([true, 0]);
});
