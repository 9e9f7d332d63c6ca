import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { silentLog } from "../../../src/kit/log.ts";
import { listen } from "../../../src/platform/http/listen.ts";

const MIB = 1024 * 1024;
const SOCKETS = 32;
const BYTES = 8 * MIB;

/** Sends as many bodies as asked at the same time, each on a socket of its own, to their ends, and says what was replied. */
const SENDER = `
  const { once } = require("node:events");
  const { connect } = require("node:net");
  const { parentPort, workerData: { port, sockets, bytes } } = require("node:worker_threads");
  const head = "POST / HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: " + bytes + "\\r\\n\\r\\n";
  const request = Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 97)]);
  const replies = Array.from({ length: sockets }, async () => {
    const socket = connect(port, "127.0.0.1");
    const reply = once(socket, "data");
    await new Promise((sent) => socket.write(request, sent));
    const [text] = await reply;
    socket.destroy();
    return text.toString();
  });
  Promise.all(replies).then((texts) => parentPort.postMessage(texts));
`;

/** How long the first turns are prolonged, so that data waits on all sockets. */
const HELD_MS = 20;

/**
 * @param answer what is done with each request
 * @returns the replies, and the bytes that were taken in the turn of the event loop in which most were
 */
async function flood(
  answer: (request: IncomingMessage) => Promise<Response>,
): Promise<{ replies: string[]; most: number }> {
  const sockets = new Set<Socket>();
  const fetch = (request: Request) => {
    const { req } = (request as unknown as { runtime: { node: { req: IncomingMessage } } }).runtime.node;
    sockets.add(req.socket);
    return answer(req);
  };
  const listener = await listen({ fetch }, { host: "127.0.0.1", port: 0, maxConnections: 1_000, log: silentLog });
  const hold = new Int32Array(new SharedArrayBuffer(4));
  let [before, most, isDone, holds] = [0, 0, false, 20];
  const look = () => {
    const bytes = [...sockets].reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    most = Math.max(most, bytes - before);
    before = bytes;
    if (bytes > 0 && holds-- > 0) Atomics.wait(hold, 0, 0, HELD_MS);
    if (!isDone) setImmediate(look);
  };
  look();
  const sender = new Worker(SENDER, {
    eval: true,
    workerData: { port: listener.port, sockets: SOCKETS, bytes: BYTES },
  });
  try {
    const replies = await new Promise<string[]>((resolve, reject) => sender.on("message", resolve).on("error", reject));
    return { replies, most };
  } finally {
    isDone = true;
    await sender.terminate();
    await listener.close();
  }
}

// The limit of a turn, and two pieces of each socket before it is told to wait.
const MOST = MIB + SOCKETS * 2 * 64 * 1024;

it("reads little of many large bodies before others have their turn", async () => {
  const { replies, most } = await flood(async (request) => new Response(`${(await buffer(request)).length} bytes`));
  expect(replies).toHaveLength(SOCKETS);
  for (const reply of replies) expect(reply).toContain(`${BYTES} bytes`);
  expect(most).toBeLessThanOrEqual(MOST);
});

it("reads as little of bodies that it discards, and lets each client read its refusal", async () => {
  const { replies, most } = await flood(async () => new Response("who are you?", { status: 401 }));
  expect(replies).toHaveLength(SOCKETS);
  for (const reply of replies) expect(reply).toMatch(/^HTTP\/1.1 401 .*who are you\?/s);
  expect(most).toBeLessThanOrEqual(MOST);
});
