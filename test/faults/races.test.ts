import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJournal } from "../../src/share/erasure/erasure.ts";
import { rowsOf } from "./support/data.ts";
import { type RawReply, RawSocket, requestBytes } from "./support/http.ts";
import { expectJsonRefusal, servedData, testData, testServer } from "./support/test.ts";

const CROWD = 50;

/** Sends the same bytes on many sockets at once: all are connected before the first byte leaves. */
async function allAtOnce(port: number, bytes: Uint8Array): Promise<RawReply[]> {
  const sockets = Array.from({ length: CROWD }, () => new RawSocket(port));
  await Promise.all(sockets.map(({ socket }) => new Promise((resolve) => socket.once("connect", resolve))));
  for (const socket of sockets) socket.send(bytes);
  const replies = await Promise.all(sockets.map((socket) => socket.reply()));
  for (const socket of sockets) socket.close();
  return replies.map((reply) => {
    if (!reply) throw new Error("closed without a reply");
    return reply;
  });
}

describe("fifty at once", () => {
  it("exchange a code: one gets a device, the others 400, and the rows agree", async () => {
    const data = await testData({ devices: 0, codes: 1 });
    const server = await testServer(data.directory, { env: { RECKON_LIMIT_EXCHANGE: "off" } });
    const body = JSON.stringify({ code: data.codes[0], consent: { version: "1" } });
    const replies = await allAtOnce(server.port, requestBytes({ path: "/api/connect/exchange", body }));
    const won = replies.filter((reply) => reply.status === 200);
    expect(won).toHaveLength(1);
    for (const reply of replies) if (reply.status !== 200) expectJsonRefusal(reply, 400);
    const { deviceId } = JSON.parse(won[0]?.body as string);
    expect(rowsOf(data.directory, "SELECT id FROM devices")).toEqual([{ id: deviceId }]);
    expect(rowsOf(data.directory, "SELECT device_id AS id FROM device_tokens")).toEqual([{ id: deviceId }]);
    expect(rowsOf(data.directory, "SELECT device_id AS id FROM connect_codes WHERE consumed_at IS NOT NULL")).toEqual([
      { id: deviceId },
    ]);
  });

  it("rotate a token: one gets the new one, the others 409, the old is dead and the new alive", async () => {
    const { data, server, token } = await servedData();
    const rotate = (own: string) =>
      requestBytes({ method: "POST", path: "/api/connect/rotate", token: own, headers: { "content-length": "0" } });
    const replies = await allAtOnce(server.port, rotate(token));
    const won = replies.filter((reply) => reply.status === 200);
    expect(won).toHaveLength(1);
    for (const reply of replies) {
      if (reply.status === 200) continue;
      expectJsonRefusal(reply, 409);
      expect(JSON.parse(reply.body).reason).toBe("already_rotated");
    }
    const tokens = rowsOf(data.directory, "SELECT count(*) AS n, sum(replaced_at IS NULL) AS alive FROM device_tokens");
    expect(tokens).toEqual([{ n: 2, alive: 1 }]);
    const fresh = JSON.parse(won[0]?.body as string).deviceToken;
    const heartbeat = (own: string) =>
      new RawSocket(server.port).send(
        requestBytes({
          method: "POST",
          path: "/api/telemetry/heartbeat",
          token: own,
          headers: { "content-length": "0" },
        }),
      );
    const [old, now] = [heartbeat(token), heartbeat(fresh)];
    expect((await old.reply())?.status).toBe(401);
    expect((await now.reply())?.status).toBe(200);
    old.close();
    now.close();
  });

  it("send the same batch: each entry is stored once, and the replies together count it once", async () => {
    const { data, server, token } = await servedData();
    const entries = Array.from({ length: 100 }, (_, i) => ({ seq: i + 1, payload: { n: i } }));
    const replies = await allAtOnce(
      server.port,
      requestBytes({ path: "/api/telemetry/ingest", token, body: JSON.stringify({ entries }) }),
    );
    const told = replies.map((reply) => JSON.parse(reply.body));
    expect(told.every((body) => body.ok && body.flagged === null && body.maxSeq === 100)).toBe(true);
    expect(told.reduce((sum, body) => sum + body.accepted, 0)).toBe(100);
    expect(rowsOf(data.directory, "SELECT count(*) AS n FROM telemetry_entries")).toEqual([{ n: 100 }]);
    expect(rowsOf(data.directory, "SELECT count(*) AS n FROM deliveries")).toEqual([{ n: 1 }]);
  });

  it("disconnect while others ingest: nothing is taken after the disconnect was acknowledged", async () => {
    const { server, token } = await servedData();
    const replies = await allAtOnce(
      server.port,
      requestBytes({ method: "POST", path: "/api/connect/disconnect", token, headers: { "content-length": "0" } }),
    );
    for (const reply of replies) expect([200, 401]).toContain(reply.status);
    expect(replies.filter((reply) => JSON.parse(reply.body).revoked === true)).toHaveLength(1);
    const late = new RawSocket(server.port).send(
      requestBytes({
        path: "/api/telemetry/ingest",
        token,
        body: JSON.stringify({ entries: [{ seq: 1, payload: {} }] }),
      }),
    );
    expectJsonRefusal((await late.reply()) as RawReply, 401);
    late.close();
  });
});

it("processes that erase at the same time keep every erasure in the file beside the database", async () => {
  const { directory } = await testData();
  const eraser = join(import.meta.dirname, "support/eraser.ts");
  const exits = [1, 2].map(() =>
    once(spawn(process.execPath, [eraser, directory, "50"], { stdio: "inherit" }), "exit"),
  );
  expect(await Promise.all(exits)).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(readJournal(directory)).toHaveLength(100);
});
