import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeData, openToRead, rowsOf } from "./support/data.ts";
import { type Disk, mountDisk, noPowerCut } from "./support/disk.ts";
import { ask } from "./support/http.ts";
import { killRound } from "./support/kill.ts";
import { type Running, reckon, serve, until } from "./support/process.ts";
import { expectJsonRefusal, runKeyPem, testServer } from "./support/test.ts";

if (noPowerCut) console.log(`power-cut tests are skipped: ${noPowerCut}`);

function testDisk(): Disk {
  const disk = mountDisk(128);
  onTestFinished(() => disk.remove());
  return disk;
}

/** Cuts the power under everything and brings back what survived. */
async function powerCut(disk: Disk, server: Running): Promise<void> {
  disk.cutPower(server.pid);
  await server.end("SIGKILL");
  disk.restorePower();
}

describe.skipIf(noPowerCut)("a power cut", () => {
  it("loses nothing acknowledged under load, three times over", { timeout: 600_000 }, async () => {
    const disk = testDisk();
    const data = await makeData({ directory: join(disk.path, "data"), devices: 4, keyPem: runKeyPem() });
    for (let round = 0; round < 3; round++) {
      const found = await killRound(data, `cut${round}`, 20 + Math.floor(Math.random() * 150), (server) =>
        powerCut(disk, server),
      );
      expect(found).toMatchObject({ lost: [], resent: [], odd: [], integrity: "ok", verify: 0 });
    }
  });

  it("keeps the signing key and the binding that the first reply of a first start handed out", async () => {
    const disk = testDisk();
    const directory = join(disk.path, "data");
    const data = await makeData({ directory, devices: 0, codes: 1 });
    const server = await serve(directory);
    const body = JSON.stringify({ code: data.codes[0], consent: { version: "1" } });
    const bound = JSON.parse((await ask(server.port, { path: "/api/connect/exchange", body })).body);
    const { pubkey } = JSON.parse((await ask(server.port, { path: "/api/license/pubkey" })).body);
    expect(bound.license.split(".")).toHaveLength(3);
    await powerCut(disk, server);
    const again = await testServer(directory);
    expect(JSON.parse((await ask(again.port, { path: "/api/license/pubkey" })).body).pubkey).toBe(pubkey);
    expect((await ask(again.port, { path: "/api/license", token: bound.deviceToken })).status).toBe(200);
    expect(rowsOf(directory, "SELECT count(*) AS n FROM devices")).toEqual([{ n: 1 }]);
    await again.end();
  });

  it("keeps what admin commands said they did: a team, a rotated key, a revoked device", async () => {
    const disk = testDisk();
    const directory = join(disk.path, "data");
    const data = await makeData({ directory, devices: 1, keyPem: runKeyPem() });
    const server = await serve(directory);
    expect((await reckon(["team", "create", "Late", "--data", directory])).code).toBe(0);
    expect((await reckon(["device", "revoke", data.devices[0]?.deviceId as string, "--data", directory])).code).toBe(0);
    const rotated = JSON.parse((await reckon(["key", "rotate", "--data", directory, "--json"])).stdout);
    await powerCut(disk, server);
    const again = await testServer(directory);
    expect((await ask(again.port, { path: "/api/license", token: data.devices[0]?.token as string })).status).toBe(401);
    expect(rowsOf(directory, "SELECT name FROM teams WHERE name = 'Late'")).toHaveLength(1);
    const keys = JSON.parse((await reckon(["key", "show", "--data", directory, "--json"])).stdout);
    expect(keys.map((key: { kid: string; status: string }) => [key.kid, key.status])).toContainEqual([
      rotated.kid,
      "active",
    ]);
    expect((await ask(again.port, { path: "/api/license/pubkey" })).status).toBe(200);
    await again.end();
  });

  it("keeps a key file that was put there just before the first start adopted it", async () => {
    const disk = testDisk();
    const directory = join(disk.path, "data");
    await makeData({ directory, devices: 0 });
    // As cp and most configuration tools write: not flushed.
    writeFileSync(join(directory, "signing-key.pem"), runKeyPem(), { mode: 0o600 });
    const server = await serve(directory);
    expect((await ask(server.port, { path: "/api/license/pubkey" })).status).toBe(200);
    await powerCut(disk, server);
    const again = await testServer(directory);
    expect((await ask(again.port, { path: "/api/license/pubkey" })).status).toBe(200);
    await again.end();
  });

  it("keeps a backup that was reported as made", async () => {
    const disk = testDisk();
    const directory = join(disk.path, "data");
    await makeData({ directory, devices: 1, keyPem: runKeyPem() });
    const server = await serve(directory);
    const file = join(disk.path, "reckon-backup.db");
    expect((await reckon(["backup", file, "--data", directory])).code).toBe(0);
    await powerCut(disk, server);
    expect(readdirSync(disk.path)).toContain("reckon-backup.db");
    const checked = await reckon(["restore", file, "--verify", "--data", directory]);
    expect(checked.code, checked.stderr).toBe(0);
  });

  it("keeps a restore that was reported as done, and the database is never absent", async () => {
    const disk = testDisk();
    const directory = join(disk.path, "data");
    await makeData({ directory, devices: 1, keyPem: runKeyPem() });
    const file = join(disk.path, "reckon-backup.db");
    const server = await serve(directory);
    expect((await reckon(["backup", file, "--data", directory])).code).toBe(0);
    await server.end();
    expect((await reckon(["team", "create", "After the backup", "--data", directory])).code).toBe(0);
    expect((await reckon(["restore", file, "--data", directory])).code).toBe(0);
    disk.cutPower();
    disk.restorePower();
    expect(existsSync(join(directory, "reckon.db"))).toBe(true);
    const db = openToRead(directory);
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(db.prepare("SELECT name FROM teams").pluck().all()).toEqual(["Acme"]);
    expect(db.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'backup_files'").pluck().get()).toBe(0);
    db.close();
    expect(readFileSync(join(directory, "signing-key.pem"), "utf8")).toContain("PRIVATE KEY");
    const again = await testServer(directory);
    expect((await ask(again.port, { path: "/api/health" })).status).toBe(200);
    await again.end();
  });

  it("is reported while it lasts: writes answer 503, health is degraded, and nothing crashes", async () => {
    const disk = testDisk();
    const data = await makeData({ directory: join(disk.path, "data"), devices: 1, keyPem: runKeyPem() });
    const server = await testServer(data.directory);
    const token = data.devices[0]?.token as string;
    const send = (seq: number) =>
      ask(server.port, {
        path: "/api/telemetry/ingest",
        token,
        body: JSON.stringify({ entries: [{ seq, payload: {} }] }),
      });
    expect((await send(1)).status).toBe(200);
    disk.cutPower();
    const refused = await send(2);
    expectJsonRefusal(refused, 503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await until("health is degraded", async () => (await ask(server.port, { path: "/api/health" })).status === 503);
    const health = await ask(server.port, { path: "/api/health" });
    expect(JSON.parse(health.body)).toMatchObject({ status: "degraded", db: "down" });
    expect((await ask(server.port, { path: "/openapi.json" })).status).toBe(200);
    // It ends in good order as far as a dead disk lets it: neither a crash by a signal nor a hang.
    expect([0, 1]).toContain((await server.end()).code);
    expect(server.stderr()).not.toMatch(/^\s+at /m);
  });
});
