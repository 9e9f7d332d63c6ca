import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { command } from "../support/remote.ts";
import { removeData, rowsOf } from "./support/data.ts";
import { ask } from "./support/http.ts";
import { launch, type Running, reckon, until, within } from "./support/process.ts";
import { runKeyPem, servedData, testData, testServer } from "./support/test.ts";

const get = async (server: Running, path: string, token?: string) =>
  ask(server.port, { path, ...(token ? { token } : {}) });

describe("a place where no folder can be made", () => {
  it.skipIf(process.platform !== "linux")("is refused at once, and nothing waits for it", async () => {
    const directory = "/proc/reckon/data";
    for (const line of [
      ["serve", "--port", "0"],
      ["team", "create", "Acme"],
      ["dev", "--port", "0"],
    ]) {
      const { code, stderr, stdout } = await reckon([...line, "--data", directory]);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining("/proc/reckon")]);
    }
  });

  it("is named where a file stands in its way", async () => {
    const { code, stderr } = await reckon(["team", "create", "Acme", "--data", join(process.execPath, "data")]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`reckon: ${process.execPath} is a file`)]);
  });
});

describe("two servers on one data directory", () => {
  it("the second exits 75 in one line that names the first, and the first serves on", async () => {
    const { data, server } = await servedData();
    const second = await reckon(["serve", "--data", data.directory, "--port", "0"]);
    expect(second.code).toBe(75);
    expect(second.stderr.trim().split("\n")).toHaveLength(1);
    expect(second.stderr).toContain(`process ${server.pid}`);
    expect(second.stderr).toContain(server.url);
    expect(second.stdout).toBe("");
    expect((await get(server, "/api/health")).status).toBe(200);
  });

  it("a directory whose server was killed is free at once, and its note misleads nobody", async () => {
    const data = await testData();
    const first = await testServer(data.directory);
    await first.end("SIGKILL");
    expect(readdirSync(data.directory)).toContain("server.json");
    const second = await testServer(data.directory);
    expect((await get(second, "/api/health")).status).toBe(200);
    expect((await second.end()).code).toBe(0);
    expect(JSON.parse(readFileSync(join(data.directory, "server.json"), "utf8"))).toEqual({});
  });

  it("of four that start at once on a new directory one serves and three exit 75", async () => {
    const directory = mkdtempSync(join(tmpdir(), "reckon-fault-"));
    onTestFinished(() => removeData(directory));
    writeFileSync(join(directory, "signing-key.pem"), runKeyPem(), { mode: 0o600 });
    const all = Array.from({ length: 4 }, () => launch(["serve", "--data", directory, "--port", "0"]));
    onTestFinished(() => {
      for (const { child } of all) child.kill("SIGKILL");
    });
    await until("three ended and one listens", () => {
      const ended = all.filter(({ child }) => child.exitCode !== null);
      return ended.length >= 3 && all.some(({ stdout }) => stdout().includes("listening on"));
    });
    expect(all.map(({ child }) => child.exitCode).sort()).toEqual([75, 75, 75, null].sort());
    expect(all.filter(({ stdout }) => stdout().includes("listening on"))).toHaveLength(1);
  });

  it("admin commands that meet on a new directory all succeed", async () => {
    const directory = mkdtempSync(join(tmpdir(), "reckon-fault-"));
    onTestFinished(() => removeData(directory));
    const made = await Promise.all(
      Array.from({ length: 5 }, (_, i) => reckon(["team", "create", `Team ${i}`, "--data", directory])),
    );
    expect(made.map(({ code, stderr }) => `${code} ${stderr.replace(/^Next: .*\n/, "")}`)).toEqual(Array(5).fill("0 "));
    expect(rowsOf(directory, "SELECT count(*) AS n FROM teams")).toEqual([{ n: 5 }]);
  });

  it("a restore is refused with 75 while a server runs, and changes nothing", async () => {
    const { data, server } = await servedData();
    const file = join(data.directory, "copy.db");
    expect((await command(["backup", file, "--data", data.directory])).code).toBe(0);
    const before = readdirSync(data.directory);
    expect((await reckon(["restore", file, "--data", data.directory])).code).toBe(75);
    expect(readdirSync(data.directory)).toEqual(before);
    expect((await get(server, "/api/license", data.devices[0]?.token)).status).toBe(200);
  });
});

describe("admin commands beside a running server", () => {
  it("take effect without a restart: suspension, tier, subscription", async () => {
    const { data, server, token } = await servedData();
    const set = async (...change: string[]) => {
      const done = await command(["team", "set", "Acme", ...change, "--data", data.directory]);
      expect(done.code, done.stderr).toBe(0);
    };
    // What another process changed is seen within 25 ms, and a command in this one takes less.
    const license = async () => (await get(server, "/api/license", token)).status;
    expect(await license()).toBe(200);
    await set("--suspended", "true");
    await expect.poll(license).toBe(403);
    await set("--suspended", "false", "--subscription", "canceled");
    await expect.poll(license).toBe(402);
    await set("--subscription", "active", "--tier", "starter");
    await expect.poll(license).toBe(200);
    const gated = await ask(server.port, {
      path: "/api/brain/ingest",
      token,
      body: JSON.stringify({ version: 1, files: [] }),
    });
    expect(gated.status).toBe(402);
  });

  it("take effect without a restart: a new code, a revoked device", async () => {
    const { data, server } = await servedData();
    const { code } = JSON.parse(
      (await command(["code", "create", "--team", "Acme", "--json", "--data", data.directory])).stdout,
    );
    const exchanged = await ask(server.port, {
      path: "/api/connect/exchange",
      body: JSON.stringify({ code, consent: { version: "1" } }),
    });
    expect(exchanged.status).toBe(200);
    const { deviceToken, deviceId } = JSON.parse(exchanged.body);
    expect((await get(server, "/api/policy", deviceToken)).status).toBe(200);
    expect((await command(["device", "revoke", deviceId, "--data", data.directory])).code).toBe(0);
    await expect.poll(async () => (await get(server, "/api/policy", deviceToken)).status).toBe(401);
  });

  it("take effect without a restart: a rotated key, with the old one still published", async () => {
    const { data, server, token } = await servedData();
    const pubkey = async () => JSON.parse((await get(server, "/api/license/pubkey")).body).pubkey as string;
    const kidOf = async () => {
      const { license } = JSON.parse((await get(server, "/api/license", token)).body);
      return JSON.parse(Buffer.from(license.split(".")[0], "base64url").toString()).kid as string;
    };
    const [oldKey, oldKid] = [await pubkey(), await kidOf()];
    const rotated = await command(["key", "rotate", "--json", "--data", data.directory]);
    const { kid } = JSON.parse(rotated.stdout);
    expect(await pubkey()).not.toBe(oldKey);
    expect(await kidOf()).toBe(kid);
    const { keys } = JSON.parse((await get(server, "/.well-known/jwks.json")).body);
    expect(keys.map((key: { kid: string }) => key.kid).sort()).toEqual([kid, oldKid].sort());
  });

  it("rotate a key three times while its public half is asked for all the time, without an error on either side", async () => {
    const { data, server } = await servedData();
    let asking = true;
    const statuses = new Set<number>();
    const askers = Array.from({ length: 4 }, async () => {
      while (asking) statuses.add((await get(server, "/api/license/pubkey")).status);
    });
    for (let i = 0; i < 3; i++) {
      const done = await reckon(["key", "rotate", "--data", data.directory]);
      expect(done.code, done.stderr).toBe(0);
    }
    asking = false;
    await Promise.all(askers);
    expect([...statuses]).toEqual([200]);
    expect((await server.end()).code).toBe(0);
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });

  it("wait their turn while another process writes, and the server answers reads meanwhile", async () => {
    const { data, server, token } = await servedData();
    const other = new Sqlite(join(data.directory, "reckon.db"));
    other.exec("BEGIN IMMEDIATE");
    let isAnswered = false;
    const stored = ask(server.port, {
      path: "/api/telemetry/ingest",
      token,
      body: JSON.stringify({ entries: [{ seq: 1, payload: {} }] }),
    }).finally(() => {
      isAnswered = true;
    });
    // Writes wait for the lock; what needs none must not wait with them.
    const policy = await ask(server.port, { path: "/api/policy", token });
    const isFirst = !isAnswered;
    other.exec("COMMIT");
    other.close();
    expect([policy.status, isFirst]).toEqual([200, true]);
    expect([200, 503]).toContain((await within(stored, "the write")).status);
  });

  it("log a write-ahead log that a long reader keeps from shrinking", async () => {
    const { data, server } = await servedData({ env: { RECKON_MAX_WAL_BYTES: "500000" } });
    const reader = new Sqlite(join(data.directory, "reckon.db"), { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM teams").get();
    for (let seq = 1; seq < 20; seq++) {
      const body = JSON.stringify({ entries: [{ seq, payload: { pad: "x".repeat(60_000) } }] });
      expect(
        (await ask(server.port, { path: "/api/telemetry/ingest", token: data.devices[0]?.token as string, body }))
          .status,
      ).toBe(200);
    }
    await until("it is logged", () => server.stderr().includes("wal_over_ceiling"));
    reader.exec("COMMIT");
    reader.close();
    expect((await server.end()).code).toBe(0);
    expect(server.stderr().match(/wal_over_ceiling/g)).toHaveLength(1);
  });
});
