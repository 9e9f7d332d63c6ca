import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { CURRENT_SCHEMA } from "../../src/platform/store/migrate.ts";
import { JOURNAL, journal } from "../../src/share/erasure/journal.ts";
import { prove } from "../../src/share/proofs/proofs.ts";
import { rowsOf } from "../faults/support/data.ts";
import { serve, startRefused } from "../faults/support/process.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance } from "../support/instance.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { command, commandJson } from "../support/remote.ts";

let data: string;
beforeEach(async () => {
  data = await firstSchemaDirectory();
});

const NOW = CURRENT_SCHEMA.version;
const run = (...args: string[]) => command([...args, "--data", data]);
const digest = (path: string) => createHash("sha256").update(readFileSync(path)).digest("hex");
/** Every file of the directory with the digest of its bytes. */
const state = () =>
  readdirSync(data, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(data, name)).isFile())
    .sort()
    .map((name) => [name, digest(join(data, name))]);
const schemaOf = (path: string) => {
  const db = new Sqlite(path, { readonly: true });
  const version = db.pragma("user_version", { simple: true });
  db.close();
  return version;
};

const json = (...args: string[]) => commandJson([...args, "--data", data]);

describe("on a database of an older schema", () => {
  it("commands that read or write the data refuse in one line, which says how to upgrade, and change no byte", async () => {
    const before = state();
    for (const args of [
      ["team", "list"],
      ["team", "create", "Other"],
      ["device", "list"],
      ["code", "create", "--team", "Acme"],
      ["user", "list"],
      ["license", "mint", "--team", "Acme"],
      ["key", "show"],
      ["key", "rotate"],
      ["spend"],
      ["release", "list"],
      ["policy", "show", "--team", "Acme"],
      ["ledger", "key"],
      ["ledger", "checkpoint"],
      ["ledger", "prove", "delivery:1"],
    ]) {
      const done = await run(...args);
      const says = done.stderr.trim().split("\n");
      expect([args.join(" "), done.code, done.stdout, says.length]).toEqual([args.join(" "), 1, "", 1]);
      expect(says[0]).toMatch(
        new RegExp(`^reckon: .*schema 1.*schema ${NOW}.*"reckon serve --data ${data}".*backup aside`),
      );
      expect([args.join(" "), state()]).toEqual([args.join(" "), before]);
    }
  });

  it("doctor examines all that is there and says that it is older, and changes no byte", async () => {
    const before = state();
    const findings = (await json("doctor")) as { check: string; status: string; detail: string }[];
    expect(state()).toEqual(before);
    const of = (check: string) => findings.find((one) => one.check === check);
    expect(of("schema")).toMatchObject({ status: "warning", detail: expect.stringContaining("reckon serve") });
    expect(of("ledger")).toMatchObject({ status: "ok", detail: "3 deliveries verify" });
    expect(of("erasures")).toMatchObject({ status: "warning", detail: expect.stringContaining("not vacuumed yet") });
    expect(of("signing key")).toMatchObject({ status: "ok" });
    expect(findings.filter(({ status }) => status === "failed")).toEqual([]);
  });

  it("doctor tells of erasures that only the file beside the database knows, and of such a file that cannot be read", async () => {
    const erasures = async () =>
      ((await json("doctor")) as { check: string }[]).find(({ check }) => check === "erasures");
    const target = { kind: "device", deviceId: "dev_06h1nxja5stsse2g13j30v9ccr" } as const;
    const asked = { reason: "they left", requestedBy: "command line", requestedAt: 1 };
    journal(data, [{ id: "era_06h1nzxrjnxpn39kejgw6pcsv0", teamId: null, target, ...asked }]);
    expect(await erasures()).toMatchObject({
      status: "warning",
      detail: expect.stringMatching(/^1 not finished/),
    });
    writeFileSync(join(data, JOURNAL), "{");
    const { code, stdout } = await run("doctor", "--json");
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      expect.arrayContaining([expect.objectContaining({ check: "erasures", status: "failed" })]),
    ]);
  });

  it("ledger verify proves every delivery, finds one that was altered, and changes no byte", async () => {
    const before = state();
    expect(await json("ledger", "verify")).toMatchObject({ deliveries: 3, faults: [], head: { id: 3 } });
    expect(state()).toEqual(before);
    const db = new Sqlite(join(data, "reckon.db"));
    db.exec("UPDATE telemetry_entries SET payload = '{}'");
    db.close();
    const done = await run("ledger", "verify", "--json");
    expect([done.code, JSON.parse(done.stdout).faults]).toMatchObject([1, [{ deliveryId: 1, problem: "content" }]]);
  });

  it("doctor does not move a killed server's write-ahead log into the database", async () => {
    // A second open connection keeps the log from being moved when the first one closes.
    const writer = new Sqlite(join(data, "reckon.db"));
    writer.pragma("wal_autocheckpoint = 0");
    writer.exec("UPDATE teams SET seats = 7");
    const killed = newFolder();
    cpSync(data, killed, { recursive: true });
    writer.close();
    const files = ["reckon.db", "reckon.db-wal"];
    const before = files.map((name) => digest(join(killed, name)));
    expect(statSync(join(killed, "reckon.db-wal")).size).toBeGreaterThan(0);
    for (const args of [["doctor"], ["ledger", "verify"]])
      expect((await command([...args, "--data", killed])).code, args.join(" ")).toBe(0);
    expect((await command(["team", "list", "--data", killed])).code).toBe(1);
    expect(files.map((name) => digest(join(killed, name)))).toEqual(before);
  });

  it("backup makes a file of that schema, which is verified, restored, and upgraded by the next start", async () => {
    const file = join(data, "copy.backup");
    const before = digest(join(data, "reckon.db"));
    expect(await json("backup", file)).toMatchObject({ schema: 1, keys: 1 });
    expect(digest(join(data, "reckon.db"))).toBe(before);
    const sum = digest(file);
    expect(await json("restore", file, "--verify")).toMatchObject({ schema: 1, keys: 1, teams: 1, deliveries: 3 });
    expect([digest(file), digest(join(data, "reckon.db"))]).toEqual([sum, before]);
    const other = join(data, "other");
    const into = (...args: string[]) => command([...args, "--data", other]);
    const said = "erased again when the server starts, but not in the backup that the upgrade puts aside";
    expect(await into("restore", file)).toMatchObject({ code: 0, stderr: expect.stringContaining(said) });
    expect(schemaOf(join(other, "reckon.db"))).toBe(1);
    const restored = digest(join(other, "reckon.db"));
    expect((await into("doctor")).code).toBe(0);
    expect(digest(join(other, "reckon.db"))).toBe(restored);
    expect((await (await serve(other)).end()).code).toBe(0);
    expect(schemaOf(join(other, "reckon.db"))).toBe(NOW);
    expect((await into("ledger", "verify")).code).toBe(0);
  });

  it("restore takes a copy that another program made of it, with the signing key alone, and the next start upgrades that", async () => {
    const directory = join(mkdtempSync(join(tmpdir(), "reckon-older-")), "new");
    onTestFinished(() => rmSync(join(directory, ".."), { recursive: true, force: true }));
    const key = ["--key", join(data, "signing-key.pem")];
    const into = (...args: string[]) =>
      command(["restore", "--from", join(data, "reckon.db"), ...args, "--data", directory], {
        input: "a passphrase that fits",
      });
    expect(await into("--verify")).toMatchObject({ code: 0 });
    expect(await into()).toMatchObject({ code: 1, stderr: expect.stringContaining("give signing-key.pem with --key") });
    expect(await into("--passphrase-stdin")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no keys are wrapped"),
    });
    expect(await into(...key)).toMatchObject({ code: 0, stderr: expect.stringContaining("when the server starts") });
    expect((await (await serve(directory)).end()).code).toBe(0);
    expect(await commandJson(["ledger", "verify", "--data", directory])).toMatchObject({ deliveries: 3, faults: [] });
    expect(rowsOf(directory, "SELECT name FROM teams")).toEqual([{ name: "Acme" }]);
  });

  it("serve upgrades it, and first puts aside a backup that restore takes: database, keys and prices", async () => {
    const ahead = rowsOf(data, "SELECT id, chain_sha256 FROM deliveries");
    cpSync(join(import.meta.dirname, "../support/prices.json"), join(data, "prices.json"));
    const server = await serve(data);
    expect((await server.end()).code).toBe(0);
    expect(schemaOf(join(data, "reckon.db"))).toBe(NOW);
    const [name = "", ...more] = readdirSync(join(data, "backups"));
    expect([name, more]).toEqual([expect.stringMatching(new RegExp(`^before-schema-${NOW}-.*\\.db$`)), []]);
    const copy = join(data, "backups", name);
    const lines = server.stderr().split("\n").filter(Boolean);
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ event: "schema_upgraded", from: 1, to: NOW, backup: copy }),
    );
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(await json("restore", copy, "--verify")).toMatchObject({
      schema: 1,
      keys: 1,
      ownPrices: true,
      teams: 1,
      deliveries: 3,
    });
    const other = join(data, "other");
    expect((await command(["restore", copy, "--data", other])).code).toBe(0);
    expect(rowsOf(other, "SELECT id, chain_sha256 FROM deliveries")).toEqual(ahead);
    for (const one of ["signing-key.pem", "prices.json"])
      expect(readFileSync(join(other, one))).toEqual(readFileSync(join(data, one)));
  });

  it("the upgrade names a table that should not be there, and does not blame the disk", async () => {
    const db = new Sqlite(join(data, "reckon.db"));
    db.exec("CREATE TABLE trace_span_blocks (id INTEGER)");
    db.close();
    const done = await startRefused(data);
    expect([done.code, done.stderr.trim().split("\n").at(-1)]).toEqual([
      1,
      expect.stringMatching(
        /reckon\.db is damaged \(table trace_span_blocks already exists\): restore the newest backup/,
      ),
    ]);
    expect(schemaOf(join(data, "reckon.db"))).toBe(1);
  });

  it("once it is newer than the program, the refusal names the backup that this program can restore", async () => {
    expect((await (await serve(data)).end()).code).toBe(0);
    const [name = ""] = readdirSync(join(data, "backups"));
    const copy = join(data, "backups", name);
    const db = new Sqlite(join(data, "reckon.db"));
    db.pragma("user_version = 99");
    db.close();
    const done = await startRefused(data);
    expect([done.code, done.stderr.trim().split("\n")]).toEqual([
      1,
      [expect.stringContaining(`reckon restore ${copy} --data ${data}`)],
    ]);
    expect((await run("restore", copy)).code).toBe(0);
    expect(existsSync(join(data, "reckon.db"))).toBe(true);
    expect((await (await serve(data)).end()).code).toBe(0);
    expect(schemaOf(join(data, "reckon.db"))).toBe(NOW);
  });
});

it("commands that may make a data directory make a fresh one at once", async () => {
  const fresh = join(data, "fresh");
  expect((await command(["team", "create", "Acme", "--data", fresh])).code).toBe(0);
  expect(schemaOf(join(fresh, "reckon.db"))).toBe(NOW);
});

it("the refusal of a proof for a delivery from before the tree names one that can be proved", async () => {
  const { instance } = await startInstance({ directory: data });
  for (const [kind, delivery] of [
    ["entry", 1],
    ["snapshot", 2],
    ["session", 3],
  ] as const)
    expect(() => prove(instance.core, null, kind, 1)).toThrow(
      new RegExp(`^The ${kind} 1 cannot be proved: it came before.*"delivery ${delivery}" proves when it came`),
    );
  expect(prove(instance.core, null, "delivery", 3)).toContain("index 2\n");
  expect(() => prove(instance.core, null, "session", 2)).toThrow("There is no session 2.");
});
