import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeFileAtomically } from "../../src/kit/files.ts";
import { newFolder } from "../support/folder.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { command } from "../support/remote.ts";
import { makeData, rowsOf } from "./support/data.ts";
import { type Mount, mountTmpfs, noMounts } from "./support/disk.ts";
import { ask, type RawReply } from "./support/http.ts";
import { reckon, startRefused, until } from "./support/process.ts";
import { expectJsonRefusal, runKeyPem, servedData, testData, testServer } from "./support/test.ts";

if (noMounts) console.log(`disk tests are skipped: ${noMounts}`);

function testMount(size: string): Mount {
  const mount = mountTmpfs(size);
  onTestFinished(() => mount.unmount());
  return mount;
}

/**
 * Fills a file system to its last byte. It writes until nothing more fits rather than as much as is said to be free: a
 * server that runs on it takes space in between.
 * @returns what empties it again
 */
function fill(mount: Mount): () => void {
  const ballast = join(mount.path, "ballast");
  const file = openSync(ballast, "w");
  for (let size = 1 << 20; size >= 1; ) {
    try {
      writeSync(file, Buffer.alloc(size));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      size >>= 1;
    }
  }
  closeSync(file);
  return () => rmSync(ballast);
}

const ANOTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
/** Commands as another user need root, and a program that everybody can read. */
const noOtherUser = spawnSync("setpriv", [...ANOTHER_USER.slice(1), "test", "-r", import.meta.filename]).status !== 0;
if (noOtherUser)
  console.log("the test of a directory of another user is skipped: it needs root and a checkout that all may read");

const paths = { telemetry: "/api/telemetry/ingest", brain: "/api/brain/ingest", traces: "/api/agent-traces/ingest" };

describe.skipIf(noMounts)("a full disk", () => {
  it("gets no scheduled backup, and the reason is told, while the server goes on", async () => {
    const mount = testMount("16m");
    const data = await testData({ devices: 1 });
    const server = await testServer(data.directory, {
      env: { RECKON_BACKUP_EVERY: "24h", RECKON_BACKUP_DIR: mount.path },
    });
    await until("it is refused", () => rowsOf(data.directory, "SELECT 1 FROM job_failures").length === 1, 120_000);
    expect(rowsOf(data.directory, "SELECT job, cause FROM job_failures")).toEqual([
      { job: "backups", cause: expect.stringMatching(/has 16 MiB free and a backup needs 1\d\d MiB: free some/) },
    ]);
    expect(readdirSync(mount.path)).toEqual([]);
    expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
  });

  it("is named as the reason why a lake stops, which goes on by itself once there is room", async () => {
    const mount = testMount("16m");
    const data = await testData({ devices: 1 });
    const empty = fill(mount);
    await testServer(data.directory, { env: { RECKON_LAKE: mount.path, RECKON_LAKE_EVERY: "1s" } });
    const failures = () => rowsOf(data.directory, "SELECT cause FROM job_failures WHERE job = 'lake'");
    await until("it fails", () => failures().length === 1, 60_000);
    expect(failures()).toEqual([{ cause: expect.stringContaining(`${mount.path} has too little free space`) }]);
    empty();
    await until("it goes on", () => failures().length === 0 && readdirSync(mount.path).includes("devices"), 60_000);
  });

  it("answers writes with 503 and Retry-After, goes on reading, is degraded, and recovers by itself", async () => {
    const mount = testMount("16m");
    const data = await makeData({ directory: join(mount.path, "data"), devices: 1, codes: 9, keyPem: runKeyPem() });
    const server = await testServer(data.directory);
    const token = data.devices[0]?.token as string;
    const bodies: Record<keyof typeof paths, (n: number) => unknown> = {
      telemetry: (n) => ({ entries: [{ seq: n, payload: { pad: "x".repeat(40_000) } }] }),
      brain: (n) => ({ version: n, files: [{ path: "a.md", content: `# ${n}\n${"word ".repeat(8_000)}` }] }),
      traces: (n) => ({ sessions: [{ id: `s${n}`, outcome: "ok", spans: [{ pad: "x".repeat(40_000) }] }] }),
    };
    const send = (kind: keyof typeof paths, n: number) =>
      ask(server.port, { path: paths[kind], token, body: JSON.stringify(bodies[kind](n)) });
    for (const kind of ["telemetry", "brain", "traces"] as const) expect((await send(kind, 1)).status).toBe(200);
    const empty = fill(mount);
    // Space that is preallocated may still take a few; what is acknowledged then counts.
    let last = 2;
    const fillUp = () =>
      until("telemetry is refused", async () => {
        const reply = await send("telemetry", last);
        if (reply.status === 200) {
          last++;
          return false;
        }
        expectJsonRefusal(reply, 503);
        expect(Object.keys(JSON.parse(reply.body))).toEqual(["error"]);
        expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
        return true;
      });
    await fillUp();
    // A checkpoint meanwhile frees a little space.
    const refused = (what: string, once: () => Promise<RawReply>, taken: () => void) =>
      until(`${what} is refused`, async () => {
        const reply = await once();
        if (reply.status !== 200) {
          expectJsonRefusal(reply, 503);
          return true;
        }
        taken();
        await fillUp();
        return false;
      });
    for (const kind of ["brain", "traces"] as const) {
      let n = 2;
      await refused(
        kind,
        () => send(kind, n),
        () => n++,
      );
    }
    let code = 0;
    const exchange = () =>
      ask(server.port, {
        path: "/api/connect/exchange",
        body: JSON.stringify({ code: data.codes[code], consent: { version: "1" } }),
      });
    await refused("a device", exchange, () => code++);
    for (let i = 0; i < 2; i++)
      await until("health says so", async () => {
        const health = await ask(server.port, { path: "/api/health" });
        if (health.status === 200) {
          await fillUp();
          return false;
        }
        expect(health.status).toBe(503);
        expect(JSON.parse(health.body)).toMatchObject({ status: "degraded", db: "down" });
        expect(Number(health.headers.get("retry-after"))).toBeGreaterThan(0);
        return true;
      });
    // Reads need no space.
    expect((await ask(server.port, { path: "/api/license", token })).status).toBe(200);
    expect((await ask(server.port, { path: "/api/policy", token })).status).toBe(200);
    const found = await ask(server.port, { path: "/api/brain/search?q=word", token });
    expect(JSON.parse(found.body).total).toBeGreaterThan(0);

    empty();
    // Nobody restarts anything and nobody writes: health finds out by itself.
    await until("health is ok", async () => (await ask(server.port, { path: "/api/health" })).status === 200);
    const resent = await send("telemetry", last);
    expect(JSON.parse(resent.body)).toMatchObject({ accepted: 1, maxSeq: last, flagged: null });
    const seqs = rowsOf(data.directory, "SELECT seq FROM telemetry_entries ORDER BY seq").map((row) => row.seq);
    expect(seqs).toEqual(Array.from({ length: last }, (_, i) => i + 1));
    const exchanged = await exchange();
    expect(exchanged.status, exchanged.body).toBe(200);
    expect((await server.end()).code).toBe(0);
    expect((await command(["ledger", "verify", "--data", data.directory])).code).toBe(0);
    expect(server.stderr()).toMatch(/"event":"store_unavailable"/);
    expect(server.stderr()).toMatch(/"event":"store_recovered"/);
  });

  it("is named where it has no room for a backup, and nothing is left on it", async () => {
    const mount = testMount("16m");
    const data = await testData({ devices: 1 });
    fill(mount);
    const { code, stderr } = await reckon(["backup", join(mount.path, "one.db"), "--data", data.directory]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${mount.path} has too little free space`)]);
    expect(readdirSync(mount.path)).toEqual(["ballast"]);
  });

  it("is named where it has no room for an export or another file, and nothing is left on it", async () => {
    const mount = testMount("16m");
    const { data, server } = await servedData();
    await server.end();
    fill(mount);
    const run = async (...args: string[]) => {
      const { code, stderr } = await reckon([...args, "--out", join(mount.path, "out"), "--data", data.directory]);
      expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining(mount.path)]);
      expect(stderr).toMatch(/too little free space: (?!the lake)|no space is left/);
      expect([args, readdirSync(mount.path)]).toEqual([args, ["ballast"]]);
    };
    await run("export", "--team", "Acme");
    await run("export", "--format", "parquet");
    await run("team", "export", "Acme");
    await run("license", "mint", "--team", "Acme");
  });

  it("is named by a command that finds no room in the data directory", async () => {
    const mount = testMount("16m");
    const data = await makeData({ directory: join(mount.path, "data"), devices: 1, keyPem: runKeyPem() });
    fill(mount);
    const ballast = join(mount.path, "ballast");
    // Enough to open the database, and no more.
    truncateSync(ballast, statSync(ballast).size - 40_960);
    const { code, stderr } = await reckon([
      "hold",
      "place",
      "--team",
      "Acme",
      "--reason",
      "x".repeat(500),
      "--data",
      data.directory,
    ]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${data.directory}: the store could not take the write`),
    ]);
  });

  it("leaves an erasure to the next start of the server, and tells that to whoever asked for it", async () => {
    const mount = testMount("32m");
    const data = await makeData({ directory: join(mount.path, "data"), devices: 1, keyPem: runKeyPem() });
    const server = await testServer(data.directory);
    const token = data.devices[0]?.token as string;
    const entries = Array.from({ length: 50 }, (_, i) => ({ seq: i + 1, payload: { i, pad: "x".repeat(60_000) } }));
    const body = JSON.stringify({ repoKey: "shop", entries });
    expect((await ask(server.port, { path: paths.telemetry, token, body })).status).toBe(200);
    expect((await server.end()).code).toBe(0);
    const empty = fill(mount);
    const ballast = join(mount.path, "ballast");
    // Enough to record the request.
    truncateSync(ballast, statSync(ballast).size - 400_000);
    const asked = await reckon(["erase", "--repo", "shop", "--reason", "x", "--yes", "--data", data.directory]);
    expect([asked.code, asked.stderr]).toEqual([1, expect.stringMatching(/era_\w+ is on record.*next start/)]);
    const done = () => rowsOf(data.directory, "SELECT completed_at IS NOT NULL AS done FROM erasures");
    expect(done()).toEqual([{ done: 0 }]);
    empty();
    const next = await testServer(data.directory);
    // It goes on beside requests.
    await expect.poll(done).toEqual([{ done: 1 }]);
    await next.end();
    expect(rowsOf(data.directory, "SELECT erased_items AS n FROM deliveries")).toEqual([{ n: 50 }]);
  });

  it("keeps no half of an export, which would pass for a whole one and stand in the way of the next", async () => {
    const mount = testMount("16m");
    const data = await testData({ devices: 1 });
    const out = join(mount.path, "tables");
    const run = () => reckon(["export", "--format", "parquet", "--out", out, "--data", data.directory]);
    const empty = fill(mount);
    expect((await run()).code).toBe(1);
    expect(readdirSync(mount.path)).toEqual(["ballast"]);
    empty();
    // What a killed export left does not stand in the way.
    mkdirSync(`${out}.partial/devices`, { recursive: true });
    expect((await run()).code).toBe(0);
    expect(readdirSync(mount.path)).toEqual(["tables"]);
    expect(readdirSync(out)).toEqual(["devices"]);
  });

  it("refuses a start and an admin command with one clear line and exit code 1", async () => {
    const mount = testMount("16m");
    const data = await makeData({ directory: join(mount.path, "data"), devices: 1, keyPem: runKeyPem() });
    fill(mount);
    const done = await reckon(["team", "create", "New", "--data", data.directory]);
    expect(done.code).toBe(1);
    expectOneLine(done.stderr, data.directory);
    const started = await startRefused(join(mount.path, "other"));
    expect(started.code).toBe(1);
    expectOneLine(started.stderr, join(mount.path, "other"));
  });
});

describe.skipIf(noMounts)("a disk that is too small for a restore", () => {
  it("is named, and nothing is left on it of what did not fit", async () => {
    const mount = testMount("16m");
    const directory = join(mount.path, "data");
    await makeData({ directory, devices: 1, keyPem: runKeyPem() });
    const folder = newFolder();
    const backup = join(folder, "one.db");
    expect((await command(["backup", backup, "--data", directory])).code).toBe(0);
    writeFileSync(join(directory, "prices.json"), " ".repeat(4 << 20));
    const before = [...readdirSync(directory), "backups", "serve.lock"];
    const size = statSync(backup).size;
    fill(mount);
    // No room in turn to claim the directory, to copy the backup, to make a database of it, and to keep aside what is there.
    for (const room of [0, size >> 1, size + (size >> 3), 4 * size]) {
      if (room > 0) truncateSync(join(mount.path, "ballast"), statSync(join(mount.path, "ballast")).size - room);
      const { code, stderr } = await reckon(["restore", backup, "--data", directory]);
      expect([room, code, stderr]).toEqual([
        room,
        1,
        expect.stringContaining(`${directory} has too little free space`),
      ]);
      expect(readdirSync(directory).filter((name) => !before.includes(name))).toEqual([]);
      expect(readdirSync(directory, { recursive: true }).filter((name) => `${name}`.includes("replaced"))).toEqual([]);
      fill(mount);
    }
    // In an empty directory a restore needs no more room than the new database.
    truncateSync(join(mount.path, "ballast"), statSync(join(mount.path, "ballast")).size - size - (size >> 2));
    const fresh = await reckon(["restore", backup, "--data", join(mount.path, "fresh")]);
    expect([fresh.code, fresh.stderr]).toEqual([0, expect.stringContaining("Whatever was revoked")]);
    fill(mount);
    // The same holds for other files that are written there.
    const path = join(directory, "signing-key.pem");
    expect(() => writeFileAtomically(path, "x".repeat(100_000), true)).toThrow(
      expect.objectContaining({ code: "ENOSPC", path }),
    );
    expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

/** The entries of a directory that do not belong to a user. */
const ownersBut = (directory: string, uid: number) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(
    (name) => statSync(join(directory, name)).uid !== uid,
  );

/** A refusal that an operator can act upon: one line that names the directory and says what to check. */
function expectOneLine(stderr: string, directory: string): void {
  const lines = stderr.trim().split("\n");
  expect(lines, stderr).toHaveLength(1);
  expect(lines[0]).toMatch(/^reckon: /);
  expect(lines[0]).toContain(directory);
  expect(lines[0]).toMatch(/free space|permission|read-only|cannot be written|is a file/);
}

describe.skipIf(noMounts)("a read-only file system", () => {
  it("refuses the start and admin commands with one clear line and exit code 1", async () => {
    const mount = testMount("16m");
    const data = await makeData({ directory: join(mount.path, "data"), devices: 1, keyPem: runKeyPem() });
    mount.remount("ro");
    const served = await startRefused(data.directory);
    expect(served.code, served.stderr).toBe(1);
    expectOneLine(served.stderr, data.directory);
    for (const args of [
      ["team", "create", "New"],
      ["key", "rotate"],
      ["code", "create", "--team", "Acme"],
    ]) {
      const done = await reckon([...args, "--data", data.directory]);
      expect(done.code, done.stderr).toBe(1);
      expectOneLine(done.stderr, data.directory);
    }
    // A copy on a read-only file system, such as a snapshot, is not called unsound for that.
    const copy = join(data.directory, "reckon.db");
    const looked = await reckon(["restore", "--from", copy, "--verify"]);
    expect([looked.code, looked.stderr]).toEqual([1, expect.stringMatching(/cannot be opened.*folder that can be/)]);
    const away = testMount("16m");
    expect((await reckon(["restore", "--from", copy, "--data", join(away.path, "data")])).code).toBe(0);
    const fresh = await startRefused(join(mount.path, "fresh"));
    expect(fresh.code).toBe(1);
    expectOneLine(fresh.stderr, join(mount.path, "fresh"));
  });
});

describe("a data directory that cannot be used", () => {
  it("is refused with one clear line and exit code 1: a file in its place, a database that is a folder", async () => {
    const data = await testData({ devices: 0 });
    const file = join(data.directory, "a-file");
    writeFileSync(file, "");
    mkdirSync(join(data.directory, "folder", "reckon.db"), { recursive: true });
    for (const directory of [file, join(data.directory, "folder")]) {
      const done = await startRefused(directory);
      expect(done.code, done.stderr).toBe(1);
      expectOneLine(done.stderr, directory);
    }
  });

  it.skipIf(noOtherUser)("is refused with one clear line when its owner is another user", async () => {
    const data = await testData();
    chmodSync(data.directory, 0o700);
    const done = await startRefused(data.directory, {
      under: ANOTHER_USER,
    });
    expect(done.code, done.stderr).toBe(1);
    expectOneLine(done.stderr, data.directory);
    // A user without permission is told so, and not that there is nothing to see.
    for (const args of [["team", "list"], ["doctor"], ["backup", join(tmpdir(), "reckon-never.db")]]) {
      const looked = await reckon([...args, "--data", data.directory], { under: ANOTHER_USER });
      expect([args, looked.code, looked.stderr]).toEqual([args, 1, expect.stringContaining("permission denied")]);
      expectOneLine(looked.stderr, data.directory);
    }
  });

  it.skipIf(noOtherUser)("stays its owner's after root ran the first command on it", async () => {
    const place = newFolder();
    chmodSync(place, 0o755);
    mkdirSync(join(place, "mine"), { mode: 0o700 });
    chownSync(join(place, "mine"), 65_534, 65_534);
    for (const directory of [join(place, "mine"), join(place, "mine", "deeper")]) {
      const made = await reckon(["team", "create", "Acme", "--data", directory]);
      expect([made.code, made.stderr]).toEqual([0, made.stderr]);
      await (await testServer(directory, { under: ANOTHER_USER })).end();
    }
  });

  it.skipIf(noOtherUser)("stays its owner's after root ran the server on it, which upgraded its files", async () => {
    const directory = join(mkdtempSync(join(tmpdir(), "reckon-place-")), "data");
    onTestFinished(() => rmSync(dirname(directory), { recursive: true }));
    chmodSync(dirname(directory), 0o755);
    cpSync(await firstSchemaDirectory(), directory, { recursive: true });
    spawnSync("chown", ["-R", "65534:65534", directory]);
    for (const signal of ["SIGKILL", "SIGTERM"] as const) await (await testServer(directory)).end(signal);
    expect(ownersBut(directory, 65_534)).toEqual([]);
    expect((await (await testServer(directory, { under: ANOTHER_USER })).end()).code).toBe(0);
  });

  it.skipIf(noOtherUser)("is still its owner's after commands that root ran on it", async () => {
    const data = await testData();
    spawnSync("chown", ["-R", "65534:65534", data.directory]);
    const place = newFolder();
    const backup = join(place, "one.db");
    const installer = ["--platform", "win32", "--version", "1.0.0", "--file", import.meta.filename];
    const start = () => testServer(data.directory, { under: ANOTHER_USER });
    const asRoot = async (...args: string[]) => {
      const { code, stderr } = await reckon([...args, "--data", data.directory]);
      expect([args[0], code, stderr]).toEqual([args[0], 0, stderr]);
    };
    const server = await start();
    await asRoot("backup", backup);
    await asRoot("erase", "--repo", "shop", "--reason", "asked for", "--yes");
    await asRoot("key", "rotate");
    await asRoot("release", "add", ...installer);
    await server.end();
    const again = await start();
    expect(await ask(again.port, { path: "/api/download/latest?platform=win32" })).toMatchObject({ status: 200 });
    await again.end();
    await asRoot("restore", backup);
    await (await start()).end();
    expect(ownersBut(data.directory, 65_534)).toEqual([]);
  });

  it.skipIf(noOtherUser)("has the place of a backup named where that cannot be written", async () => {
    const data = await testData();
    const place = newFolder();
    chmodSync(place, 0o755);
    spawnSync("chown", ["-R", "65534:65534", data.directory]);
    const done = await reckon(["backup", join(place, "b.db"), "--data", data.directory], { under: ANOTHER_USER });
    expect([done.code, done.stderr]).toEqual([1, `reckon: ${place}: that is not permitted\n`]);
  });
});
