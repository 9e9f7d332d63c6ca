import { openSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { command } from "../support/remote.ts";
import { ask, RawSocket, requestBytes } from "./support/http.ts";
import { LOAD_ENV, Load } from "./support/load.ts";
import { launch, serve, until, within } from "./support/process.ts";
import { servedData, testData, testServer } from "./support/test.ts";

/** What a supervisor allows before it kills. */
const STOP_MS = 10_000;

describe("signals", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "%s under load answers what is in flight, loses nothing, checkpoints and exits 0",
    async (signal) => {
      const data = await testData({ devices: 4 });
      const server = await testServer(data.directory, { env: LOAD_ENV });
      const load = new Load(data, "signal");
      const reached = load.reached(100);
      load.start(server.port);
      await reached;
      server.child.kill(signal);
      const exit = await within(server.exited, "the server to end", STOP_MS);
      expect(exit).toEqual({ code: 0, signal: null });
      await load.stop();
      expect(load.odd).toEqual([]);
      expect(load.compare().lost).toEqual([]);
      // Every request that the server took was answered: nothing is stored that no client heard of.
      expect(load.compare().unasked).toBe(0);
      expect(statSync(join(data.directory, "reckon.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
      expect(server.stderr()).toContain('"event":"stopped"');
      expect((await command(["ledger", "verify", "--data", data.directory])).code).toBe(0);
    },
  );

  it("SIGTERM lets a slow upload finish, and takes no new connection meanwhile", async () => {
    const { server, token } = await servedData();
    const bytes = requestBytes({
      path: "/api/telemetry/ingest",
      token,
      body: JSON.stringify({ entries: [{ seq: 1, payload: {} }] }),
    });
    const slow = new RawSocket(server.port).send(bytes.subarray(0, bytes.length - 5));
    const idle = new RawSocket(server.port).send("GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n");
    expect((await idle.reply())?.status).toBe(200);
    server.child.kill("SIGTERM");
    await idle.ended();
    const refused = new RawSocket(server.port).send("GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n");
    expect(await refused.reply()).toBeUndefined();
    slow.send(bytes.subarray(bytes.length - 5));
    expect((await slow.reply())?.status).toBe(200);
    expect(await within(server.exited, "the server to end", STOP_MS)).toEqual({ code: 0, signal: null });
    slow.close();
  });

  it("SIGTERM does not wait for ever: clients who never finish are cut off within ten seconds", async () => {
    const { server, token } = await servedData();
    const stuck = [
      new RawSocket(server.port).send(
        requestBytes({ path: "/api/telemetry/ingest", token, body: "{", headers: { "content-length": "500" } }),
      ),
      new RawSocket(server.port).send("GET /api/health HTTP/1.1\r\nHost:"),
      new RawSocket(server.port),
    ];
    const deaf = new RawSocket(server.port);
    deaf.socket.pause();
    deaf.send("GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2_000));
    expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    server.child.kill("SIGTERM");
    expect(await within(server.exited, "the server to end", STOP_MS)).toEqual({ code: 0, signal: null });
    for (const socket of [...stuck, deaf]) socket.close();
  });

  it("a second signal ends it at once, and what was acknowledged is there", async () => {
    const { data, server, token } = await servedData();
    const body = JSON.stringify({ entries: [{ seq: 1, payload: {} }] });
    expect((await ask(server.port, { path: "/api/telemetry/ingest", token, body })).status).toBe(200);
    // Held up by an upload that never ends.
    const stuck = new RawSocket(server.port).send(
      requestBytes({ path: "/api/telemetry/ingest", token, body: "{", headers: { "content-length": "500" } }),
    );
    expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    server.child.kill("SIGTERM");
    await until("it stops accepting", () =>
      ask(server.port, { path: "/api/health" }).then(
        () => false,
        () => true,
      ),
    );
    server.child.kill("SIGTERM");
    // Without the second signal it would end with 0, once the upload had its eight seconds.
    expect(await within(server.exited, "the server to end")).toEqual({ code: 1, signal: null });
    stuck.close();
    const again = await testServer(data.directory);
    expect(JSON.parse((await ask(again.port, { path: "/api/telemetry/ingest", token, body })).body)).toMatchObject({
      accepted: 0,
      maxSeq: 1,
    });
  });

  it("SIGTERM during the first start, while the key is being made, ends it cleanly and the next start works", async () => {
    const data = await testData();
    rmSync(join(data.directory, "signing-key.pem"));
    const first = await serve(data.directory);
    expect((await first.end()).code).toBe(0);
    expect(first.stderr()).not.toContain('"level":"error"');
    const second = await testServer(data.directory);
    expect((await ask(second.port, { path: "/api/license/pubkey" })).status).toBe(200);
  });
});

describe("output that nobody reads", () => {
  it("a closed stdout does not end the server", async () => {
    const { server } = await servedData();
    server.child.stdout?.destroy();
    for (let i = 0; i < 5; i++) expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    expect((await server.end()).code).toBe(0);
  });

  it("a stdout closed from the start does not end the server", async () => {
    const data = await testData();
    const server = launch(["serve", "--data", data.directory, "--port", "0"], {
      stdio: ["ignore", "ignore", "pipe"],
      under: ["sh", "-c", 'exec "$@" >&-', "sh"],
    });
    onTestFinished(() => void server.child.kill("SIGKILL"));
    await until("it started", () => server.stderr().includes('"event":"started"'));
    const { url } = JSON.parse(server.stderr().split("\n")[0] as string);
    expect((await ask(Number(new URL(url).port), { path: "/api/health" })).status).toBe(200);
    server.child.kill("SIGTERM");
    expect((await within(server.exited, "the server to end", STOP_MS)).code).toBe(0);
  });

  it("an unknown variable that is named like a setting is reported in the log", async () => {
    const data = await testData();
    const env = {
      RECKON_BACKUP_EVRY: "24h",
      RECKON_BACKUP_KEEP: "3",
      RECKON_SMTP_PASSWORD_FILE: "/dev/null",
      RECKON_TOKEN: "",
    };
    const server = await testServer(data.directory, { env });
    await until("it is told", () => server.stderr().includes("settings_unknown"));
    const line = server
      .stderr()
      .split("\n")
      .find((one) => one.includes("settings_unknown")) as string;
    expect(JSON.parse(line)).toMatchObject({ level: "warn", names: "RECKON_BACKUP_EVRY" });
    await server.end();
  });

  it("a log that nobody reads fills up, and the server goes on answering and still stops", async () => {
    const { server } = await servedData({ env: { RECKON_LOG: "debug" } });
    server.child.stderr?.pause();
    server.child.stderr?.removeAllListeners("data");
    // A pipe takes 64 KiB and the server holds a megabyte: far more than that is logged here.
    const socket = new RawSocket(server.port);
    for (let round = 0; round < 60; round++) {
      socket.send("GET /api/health HTTP/1.1\r\nHost: a\r\n\r\n".repeat(200));
      for (let i = 0; i < 200; i++) expect((await socket.reply())?.status).toBe(200);
    }
    socket.close();
    expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    server.child.kill("SIGTERM");
    await within(new Promise((resolve) => server.child.once("exit", resolve)), "the server to exit", STOP_MS);
    expect(server.child.exitCode).toBe(0);
    server.child.stderr?.resume();
  });

  it("a log whose reader went away does not end the server", async () => {
    const { server } = await servedData({ env: { RECKON_LOG: "debug" } });
    server.child.stderr?.destroy();
    for (let i = 0; i < 50; i++) expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    expect((await server.end()).code).toBe(0);
  });

  it.skipIf(process.platform !== "linux")("a log on a full device does not end the server", async () => {
    const data = await testData();
    const server = await testServer(data.directory, {
      env: { RECKON_LOG: "debug" },
      stdio: ["ignore", "pipe", openSync("/dev/full", "w")],
    });
    for (let i = 0; i < 20; i++) expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
    expect((await server.end()).code).toBe(0);
  });
});
