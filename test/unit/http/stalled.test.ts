import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
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

const MIB = 1024 * 1024;

/** A client that takes so many bytes of a very large reply every so many seconds, for some minutes. @returns whether it was given up */
async function readSlowly(bytes: number, pause: number): Promise<boolean> {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { server, client, answer } = await begin("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  client.pause();
  answer("x".repeat(64 * MIB));
  for (let read = 0, pauses = 1; pauses * pause <= 240 && !server.destroyed; pauses++) {
    while (read < bytes * pauses) {
      const piece = client.read() as Buffer | null;
      if (piece) read += piece.length;
      else await once(client, "readable");
    }
    vi.advanceTimersByTime(pause * 1_000);
    server.emit("timeout");
  }
  client.destroy();
  return server.destroyed;
}

it("gives up a client that takes next to nothing of a large reply, and none that goes on taking it", async () => {
  expect(await readSlowly(1, 5)).toBe(true);
  expect(await readSlowly(MIB, 5)).toBe(false);
});

it("waits for a client of which the kernel says nothing for minutes, because it has megabytes for it", async () => {
  expect(await readSlowly(8 * MIB, 120)).toBe(false);
});
