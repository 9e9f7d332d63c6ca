import { describe, expect, it } from "vitest";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type Device, rowsOf, withDirectory } from "./support/data.ts";
import { ask, type RawReply, RawSocket, requestBytes } from "./support/http.ts";
import type { Running } from "./support/process.ts";
import { expectJsonRefusal, testData, testServer } from "./support/test.ts";

const MIB = 1024 * 1024;
const TELEMETRY = "/api/telemetry/ingest";
const TRACES = "/api/agent-traces/ingest";

/** A request that is complete but for its body's last byte. */
const shortByOne = (path: string, bytes: number, headers: Record<string, string>) => {
  const whole = requestBytes({ path, body: Buffer.alloc(bytes, 0x61), headers });
  return whole.subarray(0, whole.length - 1);
};

/** A delivery of one entry, made as large as asked by what it says. */
const delivery = (seq: number, bytes: number) =>
  JSON.stringify({
    repoKey: "victim",
    entries: Array.from({ length: Math.ceil(bytes / 50_000) }, (_, i) => ({
      seq: seq + i,
      payload: { text: "plain words ".repeat(5_000).slice(0, Math.min(bytes, 50_000)) },
    })),
  });

/** A server with a team that attacks and another that only wants to deliver. */
async function twoTeams(): Promise<{
  server: Running;
  attackers: readonly Device[];
  victim: string;
  directory: string;
}> {
  const { directory, devices } = await testData({ devices: 2 });
  const victim = await withDirectory(directory, async (core) => {
    const team = await createTeam(core, "Victim", COMMAND_LINE);
    return (await bindDevice(core, (await createCode(core, team.id, COMMAND_LINE)).code, "1", null)).deviceToken;
  });
  return { server: await testServer(directory), attackers: devices, victim, directory };
}

describe("a flood of bodies that never end", () => {
  it("is answered unread when it comes without a credential, and keeps nobody from delivering", async () => {
    const { server, victim } = await twoTeams();
    const request = shortByOne("/packs/new", 2 * MIB, { "content-type": "application/x-www-form-urlencoded" });
    const sockets = Array.from({ length: 129 }, () => new RawSocket(server.port).send(request));
    for (const reply of await Promise.all(sockets.map((socket) => socket.reply()))) {
      expect(reply?.status).toBe(303);
      expect(reply?.headers.get("location")).toMatch(/^\/login/);
    }
    for (let i = 0; i < 20; i++) {
      const body = delivery(1 + i * 100, i % 2 === 0 ? 200 : MIB);
      const reply = await ask(server.port, { path: TELEMETRY, token: victim, body });
      expect(reply.status, reply.body).toBe(200);
    }
    for (const socket of sockets) socket.close();
  });

  it("fills one device's share at most, keeps out neither its team nor others, and is given up", async () => {
    const { server, attackers, victim, directory } = await twoTeams();
    const [attacker, teamMate] = attackers as [Device, Device];
    const request = shortByOne(TRACES, 8 * MIB, { authorization: `Bearer ${attacker.token}` });
    const sockets = Array.from({ length: 32 }, () => new RawSocket(server.port).send(request));
    const answered: RawReply[] = [];
    let enough: () => void = () => {};
    const most = new Promise<void>((resolve) => {
      enough = resolve;
    });
    const all = Promise.all(
      sockets.map(async (socket) => {
        answered.push((await socket.reply()) as RawReply);
        if (answered.length === 28) enough();
      }),
    );
    // Four bodies fit the share and stay for a while; the others are refused without waiting for their last byte.
    await most;
    for (const [i, token] of [victim, teamMate.token].entries()) {
      const body = delivery(1 + i * 1_000, 2 * MIB);
      const reply = await ask(server.port, { path: TELEMETRY, token, body });
      expect(reply.status, reply.body).toBe(200);
    }
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect((await ask(server.port, { path: "/login", body: "email=a&password=b", headers: form })).status).toBe(403);
    const wish = await ask(server.port, { path: "/api/requests/ingest", body: '{"text":"More light"}' });
    expect(wish.status, wish.body).toBe(200);
    // A body that makes no progress is given up long before its request would time out.
    await all;
    for (const reply of answered) {
      expectJsonRefusal(reply, 503);
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(answered.filter(({ body }) => body.includes("too slowly"))).toHaveLength(4);
    for (const socket of sockets) socket.close();
    expect(rowsOf(directory, "SELECT count(*) AS n FROM trace_sessions")[0].n).toBe(0);
    expect(rowsOf(directory, "SELECT count(*) AS n FROM telemetry_entries")[0].n).toBe(2 * 42);
  });
});
