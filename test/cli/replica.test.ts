import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { rowsOf } from "../faults/support/data.ts";
import { ask } from "../faults/support/http.ts";
import { launch, until, within } from "../faults/support/process.ts";
import { servedData, testServer } from "../faults/support/test.ts";
import { newFolder } from "../support/folder.ts";
import { command, commandJson } from "../support/remote.ts";

const PASSPHRASE = "correct horse battery staple";

const json = (args: readonly string[], input?: string) => commandJson(args, input === undefined ? {} : { input });

const refusal = async (args: readonly string[], input?: string) => {
  const done = await command(args, input === undefined ? {} : { input });
  expect([done.code, done.stdout]).toEqual([1, ""]);
  return done.stderr;
};

/** A data directory whose server ran, with deliveries, and a copy as a replicator leaves one. */
async function replicated(deliveries = 3) {
  const { data, server, token } = await servedData();
  const send = async (seq: number) => {
    const body = JSON.stringify({ repoKey: "r", entries: [{ seq, payload: { seq } }] });
    expect((await ask(server.port, { path: "/api/telemetry/ingest", token, body })).status).toBe(200);
  };
  for (let seq = 1; seq <= deliveries; seq++) await send(seq);
  const replica = join(newFolder(), "replica.db");
  const copy = () => {
    rmSync(replica, { force: true });
    const db = new Sqlite(join(data.directory, "reckon.db"), { readonly: true });
    db.prepare("VACUUM INTO ?").run(replica);
    db.close();
    const made = new Sqlite(replica);
    made.pragma("journal_mode = WAL");
    made.exec("CREATE TABLE IF NOT EXISTS _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
    made.close();
  };
  copy();
  return { ...data, token, server, send, replica, copy };
}

const keysOf = (directory: string) =>
  ["signing-key.pem", "ledger-key.pem"].flatMap((name) => ["--key", join(directory, name)]);

it("restores a replica with the keys that were copied, and the log goes on as another epoch", async () => {
  const { directory, token, server, replica } = await replicated();
  const vkey = JSON.parse((await command(["ledger", "key", "--data", directory, "--json"])).stdout).vkey;
  await server.end("SIGKILL");
  const away = join(newFolder(), "restored");
  expect(await json(["restore", "--from", replica, "--verify", "--data", away])).toMatchObject({
    deliveries: 3,
    wouldRestore: true,
  });
  expect(existsSync(away)).toBe(false);
  for (const [args, reason] of [
    [[], /signing key \S+ is missing: give signing-key\.pem with --key/],
    [["--key", join(directory, "signing-key.pem")], /ledger's key is missing: give ledger-key\.pem.*--new-ledger-key/],
    [["--passphrase-stdin"], /no keys are wrapped in it/],
    [["--key", join(directory, "ledger-checkpoint")], /--key takes a signing-key\.pem or a ledger-key\.pem/],
  ] as const) {
    expect(await refusal(["restore", "--from", replica, "--data", away, ...args], PASSPHRASE)).toMatch(reason);
    expect(readdirSync(away).filter((name) => /\.db|\.pem/.test(name))).toEqual([]);
  }
  const done = await json(["restore", "--from", replica, "--data", away, ...keysOf(directory)]);
  expect(done).toMatchObject({ deliveries: 3, keptAside: null, lostLeaves: null });
  const again = await testServer(away);
  expect((await ask(again.port, { path: "/api/license", token })).status).toBe(200);
  await again.end();
  expect(await json(["ledger", "verify", "--data", away])).toMatchObject({ deliveries: 3, faults: [] });
  expect(await json(["ledger", "key", "--data", away])).toEqual({ vkey });
  expect((await json(["ledger", "checkpoint", "--data", away])).origin).toMatch(/\/2-[0-9a-f]{8}$/);
  expect((await json(["doctor", "--data", away])).filter((one: { status: string }) => one.status === "failed")).toEqual(
    [],
  );
});

it("restores into the directory that lost it, keeps aside what was there and tells what is lost", async () => {
  const { directory, server, send, replica } = await replicated();
  // An open reader keeps what is written meanwhile in the log beside the database.
  const reader = new Sqlite(join(directory, "reckon.db"), { readonly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM deliveries").get();
  await send(4);
  const files = join(newFolder(), "files.db");
  for (const ending of ["", "-wal"]) cpSync(join(directory, `reckon.db${ending}`), files + ending);
  reader.close();
  await server.end();
  const done = await json(["restore", "--from", replica, "--data", directory]);
  expect(done).toMatchObject({ deliveries: 3, lostLeaves: 1 });
  expect(readdirSync(done.keptAside)).toContain("reckon.db");
  expect(rowsOf(directory, "SELECT count(*) AS n FROM telemetry_segments")).toEqual([{ n: 3 }]);
  // Otherwise two logs of one size would be signed under one name.
  expect(await refusal(["ledger", "checkpoint", "--data", directory])).toMatch(/Start the server on it once/);
  expect(await json(["restore", "--from", files, "--data", directory])).toMatchObject({ deliveries: 4 });
});

it("restores a backup as if it were a plain copy, and leaves neither its keys nor their table in the database", async () => {
  const { directory, server } = await replicated();
  await server.end();
  const file = join(newFolder(), "one.backup");
  await json(["backup", file, "--data", directory]);
  const pem = readFileSync(join(directory, "signing-key.pem"), "latin1").split("\n")[5] as string;
  expect(readFileSync(file).includes(pem)).toBe(true);
  const restored = await command(["restore", "--from", file, "--data", directory]);
  expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining("All leaves known here are in it.")]);
  expect(readFileSync(join(directory, "reckon.db")).includes(pem)).toBe(false);
  expect(await json(["backup", `${file}.next`, "--data", directory])).toMatchObject({ keys: 1 });
});

it("counts as lost what the replaced database has and nobody had signed, and what was signed where that is damaged", async () => {
  const { directory, server, send, replica } = await replicated();
  for (const seq of [4, 5]) await send(seq);
  await server.end("SIGKILL");
  const [again, damaged] = ["again", "damaged"].map((name) => join(newFolder(), name)) as [string, string];
  for (const copy of [again, damaged]) cpSync(directory, copy, { recursive: true });
  const signed = Number(readFileSync(join(directory, "ledger-checkpoint"), "utf8").split("\n")[1]);
  const { leaves } = await json(["restore", "--from", replica, "--verify"]);
  const restored = await command(["restore", "--from", replica, "--data", directory]);
  expect(restored.stderr).toContain("Not in it: 2 leaves that were here");
  expect(await json(["restore", "--from", replica, "--data", again])).toMatchObject({ lostLeaves: 2 });
  writeFileSync(join(damaged, "reckon.db"), "no database");
  for (const ending of ["-wal", "-shm"]) rmSync(join(damaged, `reckon.db${ending}`));
  expect(await json(["restore", "--from", replica, "--data", damaged])).toMatchObject({
    lostLeaves: Math.max(0, signed - leaves),
  });
});

it("carries keys under a passphrase, which another key or passphrase does not open", async () => {
  const { directory, server, replica, copy } = await replicated(1);
  const wrap = ["key", "wrap", "--passphrase-stdin", "--data", directory];
  expect(await refusal(wrap, "short")).toMatch(/16 characters/);
  expect(await json(wrap, PASSPHRASE)).toEqual({ wrapped: ["signing-key.pem", "ledger-key.pem"] });
  copy();
  const pem = readFileSync(join(directory, "signing-key.pem"), "utf8");
  expect(readFileSync(replica).includes(pem.slice(100, 140))).toBe(false);
  const away = join(newFolder(), "restored");
  const from = ["restore", "--from", replica, "--data", away, "--passphrase-stdin"];
  expect(await refusal(from, `${PASSPHRASE}.`)).toMatch(/passphrase is not the one/);
  expect(await json(from, `${PASSPHRASE}\n`)).toMatchObject({ deliveries: 1 });
  for (const name of ["signing-key.pem", "ledger-key.pem"])
    expect(readFileSync(join(away, name))).toEqual(readFileSync(join(directory, name)));
  // A key that was made later is not in it, and the doctor says so before anybody needs it.
  expect((await command(["key", "rotate", "--data", directory])).code).toBe(0);
  copy();
  await server.end();
  const late = await refusal([...from.slice(0, -2), join(newFolder(), "late"), "--passphrase-stdin"], PASSPHRASE);
  expect(late).toMatch(/signing key is another/);
  const found = await json(["doctor", "--data", directory]);
  expect(found).toContainEqual(
    expect.objectContaining({ check: "wrapped keys", status: "warning", detail: expect.stringMatching(/key wrap/) }),
  );
});

it("uses another key of the ledger if that is asked for, and never goes back to an earlier one unasked", async () => {
  const { directory, server, replica, copy } = await replicated(1);
  await json(["key", "wrap", "--passphrase-stdin", "--data", directory], PASSPHRASE);
  copy();
  const vkeyOf = async (data: string) => (await json(["ledger", "key", "--data", data])).vkey;
  const before = await vkeyOf(directory);
  const pem = readFileSync(join(directory, "ledger-key.pem"));
  await server.end();
  const wrapped = async () =>
    (await json(["doctor", "--data", directory])).find(({ check }: { check: string }) => check === "wrapped keys");
  expect(await wrapped()).toMatchObject({ status: "ok" });

  const done = await json(["restore", "--from", replica, "--data", directory, "--new-ledger-key"]);
  expect(readFileSync(join(done.keptAside, "ledger-key.pem"))).toEqual(pem);
  await (await testServer(directory)).end();
  const after = await vkeyOf(directory);
  expect(after).not.toBe(before);
  expect(await wrapped()).toMatchObject({ status: "warning", detail: expect.stringContaining("reckon key wrap") });

  copy();
  const away = join(newFolder(), "restored");
  const from = ["restore", "--from", replica, "--data", away];
  expect(await refusal([...from, "--passphrase-stdin"], PASSPHRASE)).toContain(
    `the ledger's key is another than the log's, ${after}: give ledger-key.pem with --key, or --new-ledger-key`,
  );
  await json([...from, ...keysOf(directory)]);
  await (await testServer(away)).end();
  expect(await vkeyOf(away)).toBe(after);
});

it("refuses a replica that is cut off, altered or of another program, and leaves everything as it was", async () => {
  const { directory, server, replica } = await replicated();
  await server.end();
  const bad = join(newFolder(), "bad.db");
  const spoil: Readonly<Record<string, () => void>> = {
    "cut off": () => writeFileSync(bad, readFileSync(replica).subarray(0, 40_000)),
    altered: () => {
      cpSync(replica, bad);
      const db = new Sqlite(bad);
      db.exec("UPDATE deliveries SET items = 9 WHERE id = (SELECT max(id) FROM deliveries)");
      db.close();
    },
    "of another program": () => {
      const db = new Sqlite(bad);
      db.exec("CREATE TABLE t (a)");
      db.close();
    },
  };
  const before = readdirSync(directory).sort();
  for (const [how, make] of Object.entries(spoil)) {
    rmSync(bad, { force: true });
    make();
    expect(await refusal(["restore", "--from", bad, "--data", directory]), how).toMatch(/cannot be restored: /);
    expect(readdirSync(directory).sort(), how).toEqual(before);
    expect(await refusal(["replica", "check", "--from", bad, "--data", directory]), how).toMatch(
      /cannot be restored: /,
    );
    rmSync(join(directory, "last-replica-check.json"));
  }
});

it("checks a replica that a command restores, notes it, and finds one that stopped or is of another log", async () => {
  const { directory, server, send, replica } = await replicated();
  const place = newFolder();
  const check = (...more: string[]) => ["replica", "check", "--restore-to", place, "--data", directory, ...more];
  const note = () => JSON.parse(readFileSync(join(directory, "last-replica-check.json"), "utf8"));
  expect(await command(check())).toMatchObject({
    ...{ code: 2, stdout: "" },
    stderr: expect.stringContaining("say --restore-to DIR -- COMMAND"),
  });
  const first = await command([...check("--json", "--"), "cp", replica, "{}"]);
  expect([first.code, JSON.parse(first.stdout)]).toEqual([0, expect.objectContaining({ deliveries: 3, behind: 0 })]);
  expect(note()).toEqual({ goodAt: expect.any(String), failure: null });
  await send(4);
  const behind = await command([...check("--json", "--"), "cp", replica, "{}"]);
  expect([behind.code, JSON.parse(behind.stdout).behind]).toEqual([0, 1]);
  const { goodAt } = note();
  const stopped = await command([...check("--max-lag", "0s", "--"), "cp", replica, "{}"]);
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/replica stopped: delivery \d+ of 20/)]);
  expect(note()).toEqual({ goodAt, failure: expect.stringContaining("replica stopped") });
  const failed = await command([...check("--"), "sh", "-c", "exit 3 # {}"]);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("sh ended with 3")]);
  const absent = await command([...check("--"), "no-such-program", "{}"]);
  expect([absent.code, absent.stderr]).toEqual([1, expect.stringContaining("no-such-program cannot be run")]);
  expect(readdirSync(place)).toEqual([]);
  const other = await replicated(1);
  const foreign = await command(["replica", "check", "--from", other.replica, "--data", directory]);
  expect([foreign.code, foreign.stderr]).toEqual([1, expect.stringContaining("not the beginning")]);
  // As after a backup was restored: what came since is in the replica alone.
  expect(await refusal(["replica", "check", "--from", replica, "--data", other.directory])).toMatch(
    /has \d+ leaves and the running database \d+: it is of another, or this one went back/,
  );
  await server.end();
});

it("leaves no copy behind when a check is ended, which it notes, or killed", async () => {
  const { directory, replica } = await replicated();
  const place = newFolder();
  const check = ["replica", "check", "--restore-to", place, "--data", directory, "--"];
  const begun = async () => {
    const checking = launch([...check, "sh", "-c", `cp '${replica}' '{}'; while kill -0 $PPID; do sleep 0.05; done`]);
    onTestFinished(() => void checking.child.kill("SIGKILL"));
    // Its own: a copy that was left behind is there already.
    const own = new RegExp(`^replica-check-${checking.child.pid}-\\w+/replica\\.db$`);
    await until("it is restored", () => readdirSync(place, { recursive: true }).some((name) => own.test(`${name}`)));
    return checking;
  };
  const ended = await begun();
  ended.child.kill("SIGTERM");
  expect((await within(ended.exited, "the check to end")).code).toBe(1);
  expect(readdirSync(place)).toEqual([]);
  const note = JSON.parse(readFileSync(join(directory, "last-replica-check.json"), "utf8"));
  expect(note).toEqual({ goodAt: null, failure: "sh ended with SIGTERM" });

  const killed = await begun();
  killed.child.kill("SIGKILL");
  await within(killed.exited, "the check to end");
  const running = await begun();
  expect(readdirSync(place)).toHaveLength(1);
  expect((await command([...check, "cp", replica, "{}"])).code).toBe(0);
  // A check that is still running is left alone.
  expect(readdirSync(place)).toHaveLength(1);
  running.child.kill("SIGTERM");
  await within(running.exited, "the check to end");
  expect(readdirSync(place)).toEqual([]);
});

it("accepts a replica that lacks a team imported a moment ago, and calls it stopped if it lacks what was sent since", async () => {
  const [old, { directory, server, send, replica, copy }] = await Promise.all([replicated(), replicated()]);
  const file = join(newFolder(), "team");
  await json(["team", "move", "Acme", "--to", "https://new.example", "--data", old.directory]);
  await json(["team", "export", "Acme", "--out", file, "--data", old.directory]);
  const bring = () => json(["team", "import", file, "--accept-key", "--name", "Other", "--data", directory]);
  const check = () =>
    command(["replica", "check", "--from", replica, "--max-lag", "0s", "--json", "--data", directory]);
  await bring();
  const well = await check();
  expect([well.code, well.stderr]).toEqual([0, ""]);
  expect(JSON.parse(well.stdout)).toMatchObject({ deliveries: 3, behind: expect.any(Number) });
  await send(4);
  const [sent] = rowsOf(directory, "SELECT max(id) AS id FROM deliveries");
  const stopped = `the replica stopped: delivery ${sent?.id} of `;
  expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining(stopped) });
  copy();
  expect(await check()).toMatchObject({ code: 0 });
  await Promise.all([server.end(), old.server.end()]);
});
