import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { isWindows } from "../../src/kit/files.ts";
import { rowsOf } from "../faults/support/data.ts";
import { ask } from "../faults/support/http.ts";
import { launch, serve, until, within } from "../faults/support/process.ts";
import { copyOf, testData, testServer } from "../faults/support/test.ts";
import { newFolder } from "../support/folder.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { command, commandJson } from "../support/remote.ts";

const PRICES = readFileSync(join(import.meta.dirname, "../support/prices.json"), "utf8");
const OTHER_PRICES = PRICES.replace('"input": 1', '"input": 9');

const json = (data: string, ...args: string[]) => commandJson([...args, "--data", data]);

async function finding(data: string, check: string) {
  const found = (await json(data, "doctor")) as { check: string; status: string; detail: string }[];
  return found.find((one) => one.check === check);
}

it("a restore says of an empty file that it is empty, and leaves the directory as it was", async () => {
  const folder = newFolder();
  const file = join(folder, "cut-off.db");
  writeFileSync(file, "");
  const done = await command(["restore", file, "--data", join(folder, "data")]);
  expect([done.code, done.stderr]).toEqual([1, expect.stringContaining(`${file} is empty`)]);
  expect(existsSync(join(folder, "data"))).toBe(false);
});

it.skipIf(isWindows)(
  "a restore reads no device, nor keeps a copy of one, where a file of the directory belongs",
  async () => {
    const { directory } = await testData();
    const file = join(newFolder(), "copy.backup");
    await json(directory, "backup", file);
    for (const name of ["reckon.db", "signing-key.pem", "prices.json"]) {
      const path = join(directory, name);
      const kept = existsSync(path) ? readFileSync(path) : undefined;
      rmSync(path, { force: true });
      symlinkSync("/dev/null", path);
      const before = readdirSync(directory);
      for (const args of [
        ["restore", file],
        ["restore", "--from", file],
        ["ledger", "verify"],
      ]) {
        const done = await command([...args, "--data", directory]);
        expect([name, done.code, done.stderr]).toEqual([
          name,
          1,
          expect.stringContaining(`${path} is a device or a pipe`),
        ]);
      }
      expect(readdirSync(directory)).toEqual(before);
      rmSync(path);
      if (kept) writeFileSync(path, kept);
    }
  },
);

it("a restore says that what was revoked since the backup works again", async () => {
  const { directory } = await testData();
  const { id } = await json(directory, "api-token", "create", "--name", "report", "--all-teams");
  const state = async () => (await json(directory, "api-token", "list"))[0].status;
  const file = join(directory, "copy.backup");
  await json(directory, "backup", file);
  await json(directory, "api-token", "revoke", id);
  expect(await state()).toBe("revoked");
  const done = await command(["restore", file, "--data", directory]);
  expect([done.code, done.stderr]).toEqual([0, expect.stringMatching(/revoked.* since is as it was/)]);
  expect(await state()).toBe("active");
});

it("a restore names the teams that moved since the backup, which would be served again", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  await json(directory, "backup", file);
  await json(directory, "team", "move", "Acme", "--to", "https://new.example");
  const after = join(directory, "after.backup");
  await json(directory, "backup", after);
  expect(await json(directory, "restore", after)).toMatchObject({ servedAgain: [] });
  const done = await command(["restore", file, "--data", directory]);
  expect([done.code, done.stderr]).toEqual([0, expect.stringMatching(/"Acme" moved to https:\/\/new\.example since/)]);
});

it("a restore names the holds that were placed since the backup, which it loses", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  const place = (reason: string) => json(directory, "hold", "place", "--team", "Acme", "--reason", reason);
  await place("claim 1");
  await json(directory, "backup", file);
  const { holdId: released } = await place("claim 2");
  await json(directory, "hold", "release", released);
  const { holdId, teamId } = await place("claim 3");
  const after = join(directory, "after.backup");
  await json(directory, "backup", after);
  expect(await json(directory, "restore", after)).toMatchObject({ holdsGone: [] });
  const done = await command(["restore", file, "--data", directory]);
  expect([done.code, done.stderr]).toEqual([
    0,
    expect.stringContaining(`The hold ${holdId} of the team ${teamId} (claim 3)`),
  ]);
  expect(done.stderr).not.toMatch(/claim [12]/);
  const copied = await json(directory, "restore", "--from", after);
  expect(copied).toMatchObject({ holdsGone: [] });
  expect(await json(directory, "restore", "--from", file)).toMatchObject({
    holdsGone: [{ id: holdId, kind: "team", teamId, reason: "claim 3" }],
  });
});

it("a restore names the keys that signed since the backup, but none of a server that only made way for it", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  await json(directory, "key", "show");
  await json(directory, "backup", file);
  const { kid } = await json(directory, "key", "rotate");
  const done = await command(["restore", file, "--data", directory]);
  expect([done.code, done.stderr]).toEqual([0, expect.stringMatching(new RegExp(`key ${kid} is gone.*Rotate anew`))]);
  const fresh = join(directory, "fresh");
  await json(fresh, "team", "create", "Other");
  await json(fresh, "key", "show");
  expect(await json(fresh, "restore", file)).toMatchObject({ keysGone: [] });
});

it("a restore takes only files of ours from a backup, readable by their owner alone, and leaves no key in the database", async () => {
  const { directory } = await testData();
  const file = join(newFolder(), "copy.backup");
  await json(directory, "backup", file);
  // Somebody else may have made or changed it.
  const db = new Sqlite(file);
  for (const name of ["../out.pem", "retired-keys/../../out.pem", "ledger-checkpoint", "notes.txt"])
    db.prepare("INSERT INTO backup_files VALUES (?, 'x')").run(name);
  db.close();
  chmodSync(file, 0o644);
  const pem = readFileSync(join(directory, "signing-key.pem"), "latin1").split("\n")[5] as string;
  expect(readFileSync(file).includes(pem)).toBe(true);
  const parent = newFolder();
  const fresh = join(parent, "data");
  await json(fresh, "restore", file);
  expect([readdirSync(parent), readdirSync(fresh).filter((name) => /out|checkpoint|notes/.test(name))]).toEqual([
    ["data"],
    [],
  ]);
  expect(readFileSync(join(fresh, "reckon.db")).includes(pem)).toBe(false);
  expect(statSync(join(fresh, "reckon.db")).mode & 0o777).toBe(0o600);
});

describe("own prices", () => {
  it("are in a backup, and a restore brings them back and keeps aside those that it replaces", async () => {
    const { directory } = await testData();
    const prices = join(directory, "prices.json");
    writeFileSync(prices, PRICES);
    const file = join(directory, "copy.backup");
    expect(await json(directory, "backup", file)).toMatchObject({ keys: 1 });
    expect(await json(directory, "restore", file, "--verify")).toMatchObject({ keys: 1, ownPrices: true });
    writeFileSync(prices, OTHER_PRICES);
    const { keptAside, pricesStay } = await json(directory, "restore", file);
    expect(readFileSync(prices, "utf8")).toBe(PRICES);
    expect(readFileSync(join(keptAside, "prices.json"), "utf8")).toBe(OTHER_PRICES);
    expect(pricesStay).toBe(false);
  });

  it("stay, and that is said, when the backup has none", async () => {
    const { directory } = await testData();
    const file = join(directory, "copy.backup");
    await json(directory, "backup", file);
    expect(await json(directory, "restore", file, "--verify")).toMatchObject({ ownPrices: false });
    writeFileSync(join(directory, "prices.json"), PRICES);
    const done = await command(["restore", file, "--data", directory]);
    expect([done.code, done.stderr]).toEqual([0, expect.stringContaining("prices.json: the one that is there stays")]);
    expect(readFileSync(join(directory, "prices.json"), "utf8")).toBe(PRICES);
  });

  it("that cannot be read are reported by the doctor", async () => {
    const { directory } = await testData();
    expect(await finding(directory, "prices")).toMatchObject({
      status: "ok",
      detail: expect.stringContaining("built-in"),
    });
    writeFileSync(join(directory, "prices.json"), PRICES);
    expect(await finding(directory, "prices")).toMatchObject({ status: "ok", detail: "prices.json of 2026-11-01" });
    writeFileSync(join(directory, "prices.json"), "{");
    expect(await finding(directory, "prices")).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(/prices\.json is not JSON.*the file is not used$/),
    });
  });
});

describe("a copy of the database that was made otherwise", () => {
  const WAYS: readonly (readonly [how: string, copy: (from: string, to: string) => Promise<unknown>])[] = [
    [
      "SQLite's own backup, beside a running server",
      async (from, to) => {
        const db = new Sqlite(join(from, "reckon.db"), { readonly: true });
        await db.backup(to);
        db.close();
      },
    ],
    [
      "a replica, with the tables that a replicator makes for itself",
      async (from, to) => {
        const db = new Sqlite(join(from, "reckon.db"), { readonly: true });
        db.prepare("VACUUM INTO ?").run(to);
        db.close();
        const copy = new Sqlite(to);
        copy.pragma("journal_mode = WAL");
        copy.exec("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
        copy.exec("CREATE TABLE _litestream_lock (id INTEGER)");
        copy.close();
      },
    ],
    [
      "its files, after the server was killed",
      async (from, to) => {
        cpSync(join(from, "reckon.db"), to);
        cpSync(join(from, "reckon.db-wal"), `${to}-wal`);
      },
    ],
  ];
  it.each(WAYS)("is refused by restore, which says what to do, and serves once that is done: %s", async (how, copy) => {
    const { directory, devices } = await testData();
    const token = devices[0]?.token as string;
    const server = await testServer(directory);
    const entries = [{ seq: 1, payload: { a: 1 } }];
    const body = JSON.stringify({ repoKey: "r", entries });
    expect((await ask(server.port, { path: "/api/telemetry/ingest", token, body })).status).toBe(200);
    if (how.includes("killed")) await server.end("SIGKILL");
    const file = join(directory, "copy.db");
    await copy(directory, file);
    if (!how.includes("killed")) await server.end();
    const anchor = (await json(directory, "ledger", "verify")).head;

    const refused = await command(["restore", file, "--data", directory]);
    expect([refused.code, refused.stderr.trim().split("\n").length]).toEqual([1, 1]);
    expect(refused.stderr).toMatch(
      /not made by "reckon backup".*reckon restore --from FILE --key signing-key\.pem --key ledger-key\.pem/,
    );

    const restored = newFolder();
    for (const ending of ["", "-wal"])
      if (existsSync(file + ending)) cpSync(file + ending, join(restored, `reckon.db${ending}`));
    const keyless = await command(["doctor", "--data", restored]);
    expect([keyless.code, keyless.stdout]).toEqual([1, expect.stringMatching(/^signing key\tfailed/m)]);
    for (const name of ["signing-key.pem", "ledger-key.pem"]) cpSync(join(directory, name), join(restored, name));
    expect(await finding(restored, "ledger")).toMatchObject({ status: "ok", detail: "1 delivery verifies" });
    const proof = ["ledger", "verify", "--anchor", `${anchor.id}:${anchor.chainSha256}`];
    expect(await json(restored, ...proof)).toMatchObject({ deliveries: 1, faults: [] });
    const again = await testServer(restored);
    expect((await ask(again.port, { path: "/api/license", token })).status).toBe(200);
    expect((await ask(again.port, { path: "/api/telemetry/ingest", token, body })).status).toBe(200);
    await again.end();
    expect(rowsOf(restored, "SELECT count(*) AS n FROM telemetry_entries")).toEqual([{ n: 1 }]);
  });
});

it("a backup tells its size, and names the directory that it cannot be put in", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  const done = await command(["backup", file, "--data", directory]);
  expect([done.code, done.stdout]).toEqual([
    0,
    expect.stringMatching(/^\S+copy\.backup \(\d+ bytes, schema \d+, 1 key\)\n$/),
  ]);
  const missing = join(directory, "no", "such");
  const refused = await command(["backup", join(missing, "x.db"), "--data", directory]);
  expect([refused.code, refused.stdout, refused.stderr]).toEqual([
    1,
    "",
    `reckon: ${missing} is no directory, so nothing can be put there\n`,
  ]);
  expect(readdirSync(directory)).not.toContain("no");
});

it("a backup that is only verified is called restorable in the last line, and nothing is changed", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  await json(directory, "backup", file);
  const before = readdirSync(directory);
  const done = await command(["restore", file, "--verify", "--data", directory]);
  // It is said once, because a terminal shows both streams.
  expect([done.code, done.stdout.trimEnd().split("\n").at(-1), done.stderr]).toEqual([0, "It would restore.", ""]);
  expect(await json(directory, "restore", file, "--verify")).toMatchObject({ wouldRestore: true, keys: 1 });
  expect(readdirSync(directory)).toEqual(before);
});

it("a backup that is only verified has its ledger verified, and one that somebody altered fails", async () => {
  const { directory } = await testData();
  const file = join(directory, "copy.backup");
  await json(directory, "backup", file);
  const { head } = await json(directory, "ledger", "verify");
  expect(await json(directory, "restore", file, "--verify")).toMatchObject({
    leaves: head.id,
    root: head.chainSha256,
  });
  const db = new Sqlite(file);
  expect(db.prepare("UPDATE audit_events SET actor_label = 'somebody' WHERE id = 1").run().changes).toBe(1);
  db.close();
  const done = await command(["restore", file, "--verify", "--data", directory]);
  expect([done.code, done.stdout, done.stderr]).toEqual([
    1,
    "",
    expect.stringContaining(`${file} cannot be restored: its ledger does not verify: 1 fault, such as chain`),
  ]);
});

describe("installers", () => {
  it("that are being copied are not reported; a copy that was killed is a finding, and gone with the next start", async () => {
    const { directory } = await testData();
    const releases = join(directory, "releases");
    const installer = join(directory, "Setup.exe");
    writeFileSync(installer, "");
    // A hole, which takes no room and seconds to copy: there is time to stop that in the middle.
    truncateSync(installer, 2 ** 31);
    const args = ["release", "add", "--platform", "win32", "--version", "1.0.0", "--file", installer];
    const copying = launch([...args, "--data", directory]);
    onTestFinished(() => void copying.child.kill("SIGKILL"));
    const partial = `.incoming-${copying.child.pid}`;
    await until("the copy has begun", () => existsSync(join(releases, partial)));
    copying.child.kill("SIGSTOP");
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
    copying.child.kill("SIGKILL");
    expect((await within(copying.exited, "the copy to end")).signal).toBe("SIGKILL");
    expect(readdirSync(releases)).toEqual([partial]);
    expect(await finding(directory, "installers")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining(partial),
    });
    expect(readdirSync(releases)).toEqual([partial]);
    await (await serve(directory)).end();
    expect(readdirSync(releases)).toEqual([]);
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
  });

  it("whose file is gone are named by the doctor, as by the list", async () => {
    const { directory } = await testData();
    writeFileSync(join(directory, "Setup.exe"), "an installer");
    const add = ["release", "add", "--platform", "win32", "--version", "1.2.0", "--file", join(directory, "Setup.exe")];
    await json(directory, ...add);
    expect(await finding(directory, "installers")).toMatchObject({ status: "ok" });
    rmSync(join(directory, "releases"), { recursive: true });
    expect(await finding(directory, "installers")).toMatchObject({
      status: "warning",
      detail: expect.stringContaining("win32 1.2.0 is missing"),
    });
    expect(await finding(await firstSchemaDirectory(), "installers")).toMatchObject({ status: "ok" });
  });
});

it.skipIf(process.platform !== "linux")("a backup that fails leaves nothing behind", async () => {
  const data = copyOf(await testData());
  const folder = join(data.directory, "out");
  mkdirSync(folder);
  // Reading a file that can be opened but not read fails when the database is already copied.
  mkdirSync(join(data.directory, "retired-keys"));
  execFileSync("ln", ["-s", "/proc/self/mem", join(data.directory, "retired-keys/odd.pem")]);
  const done = await command(["backup", join(folder, "copy"), "--data", data.directory]);
  expect([done.code, readdirSync(folder)]).toEqual([1, []]);
});
