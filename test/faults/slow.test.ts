import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Data, makeData, removeData } from "./support/data.ts";
import { ask, RawSocket, requestBytes } from "./support/http.ts";
import { type Running, serve, until } from "./support/process.ts";
import { expectJsonRefusal, runKeyPem } from "./support/test.ts";

/** Longer than every timeout the server sets on a request (30 s) and its check for them. */
const PATIENCE_MS = 45_000;
const CEILING = 8;

/** Whether anybody new is served. */
const serves = (server: Running) =>
  ask(server.port, { path: "/api/health" }).then(
    (reply) => reply.status === 200,
    () => false,
  );

describe.concurrent("slow and silent clients", () => {
  let data: Data[];
  let servers: Running[];
  beforeAll(async () => {
    data = await Promise.all(Array.from({ length: 4 }, () => makeData({ keyPem: runKeyPem() })));
    servers = await Promise.all(
      data.map(({ directory }) => serve(directory, { env: { RECKON_MAX_CONNECTIONS: String(CEILING) } })),
    );
  });
  afterAll(async () => {
    for (const server of servers) await server.end("SIGKILL");
    for (const { directory } of data) removeData(directory);
  });
  const of = (i: number) => ({ server: servers[i] as Running, token: data[i]?.devices[0]?.token as string });

  it("answers headers that dribble and a body that never ends with 408, and closes them", async () => {
    const { server, token } = of(0);
    const silent = new RawSocket(server.port);
    const head = new RawSocket(server.port).send("GET /api/health HTTP/1.1\r\nHost: a\r\n");
    const body = new RawSocket(server.port).send(
      requestBytes({ path: "/api/telemetry/ingest", token, body: "{", headers: { "content-length": "5000" } }),
    );
    const timer = setInterval(() => {
      head.send("X: 1\r\n");
      body.send(" ");
    }, 250);
    try {
      const [first, second, third] = await Promise.all(
        [silent, head, body].map((one) => one.reply({ ms: PATIENCE_MS })),
      );
      // A connection that never asked anything may be closed without a word.
      if (first) expectJsonRefusal(first, 408);
      if (!second || !third) throw new Error("closed without a reply");
      expectJsonRefusal(second, 408);
      expectJsonRefusal(third, 408);
      await Promise.all([silent, head, body].map((one) => one.ended()));
      expect(await serves(server)).toBe(true);
    } finally {
      clearInterval(timer);
    }
  });

  it("serves others again after silent clients filled the ceiling, though they never close their side", async () => {
    const { server } = of(1);
    // The client keeps its half open after the server has closed: such a socket must not count for ever.
    const idle = Array.from({ length: 2 * CEILING }, () => new RawSocket(server.port));
    await until("the surplus is closed", () => idle.filter((socket) => socket.isOpen).length <= CEILING);
    expect(await serves(server)).toBe(false);
    await until("somebody else is served", () => serves(server), PATIENCE_MS);
    for (const socket of idle) socket.close();
  });

  it("serves others again after clients who never read their replies filled the ceiling", async () => {
    const { server } = of(2);
    const many = Buffer.from("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000));
    const deaf = Array.from({ length: CEILING }, () => {
      const socket = new RawSocket(server.port);
      socket.socket.pause();
      return socket.send(many);
    });
    await until("the ceiling is reached", async () => !(await serves(server)));
    await until("somebody else is served", () => serves(server), PATIENCE_MS);
    for (const socket of deaf) socket.close();
  });

  it("ends a connection whose refused body goes on for ever", async () => {
    const { server, token } = of(3);
    // 413 is answered at once; the rest of the body is thrown away, for no longer than a request may take.
    const endless = new RawSocket(server.port).send(
      requestBytes({ path: "/api/telemetry/ingest", token, body: "{", headers: { "content-length": "999999999999" } }),
    );
    const reply = await endless.reply();
    if (!reply) throw new Error("closed without a reply");
    expectJsonRefusal(reply, 413);
    const timer = setInterval(() => endless.send("x".repeat(1_000)), 100);
    try {
      await endless.ended(PATIENCE_MS);
    } finally {
      clearInterval(timer);
    }
    expect(await serves(server)).toBe(true);
  });
});
