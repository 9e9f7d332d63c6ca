import { spawnSync } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isWindows } from "../../src/kit/files.ts";
import { alterEntries } from "../support/entries.ts";
import { command } from "../support/remote.ts";
import { type Data, makeData, removeData, rowsOf } from "./support/data.ts";
import { ask } from "./support/http.ts";
import { type Done, serve, startRefused, until } from "./support/process.ts";
import { copyOf, runKeyPem, servedData, testData, testServer } from "./support/test.ts";

let template: Data;
beforeAll(async () => {
  template = await makeData({ keyPem: runKeyPem() });
  await use(template);
});
afterAll(() => removeData(template.directory));

/** A data directory that a server has worked in: telemetry, brain and traces are stored, everything checkpointed. */
const usedData = () => copyOf(template);

async function use(data: Data): Promise<void> {
  const server = await serve(data.directory);
  const token = data.devices[0]?.token as string;
  const post = async (path: string, body: unknown) =>
    expect((await ask(server.port, { path, token, body: JSON.stringify(body) })).status).toBe(200);
  for (let batch = 0; batch < 5; batch++) {
    const entries = Array.from({ length: 50 }, (_, i) => ({
      seq: batch * 50 + i + 1,
      payload: { type: "tool", text: `entry ${i} `.repeat(20) },
    }));
    await post("/api/telemetry/ingest", { repoKey: "r", entries });
    await post("/api/brain/ingest", {
      repoKey: "r",
      version: batch + 1,
      files: [{ path: "a.md", content: `# State ${batch}\n` }],
    });
    await post("/api/agent-traces/ingest", {
      repoKey: "r",
      sessions: [{ id: `s${batch}`, outcome: "ok", spans: [{ id: "a" }] }],
    });
  }
  expect((await server.end()).code).toBe(0);
}

const databaseOf = (data: Data) => join(data.directory, "reckon.db");

function overwrite(path: string, at: number, bytes: Uint8Array): void {
  const fd = openSync(path, "r+");
  writeSync(fd, bytes, 0, bytes.length, at);
  closeSync(fd);
}

function alter(data: Data, sql: string): void {
  const db = new Sqlite(databaseOf(data));
  db.pragma("foreign_keys = OFF");
  alterEntries(db, sql);
  db.close();
}

const start = (data: Data) => startRefused(data.directory);

/** A start that was refused in one line, which says what to do. */
function expectRefused(done: Done, says: RegExp): void {
  expect(done.stdout, "it started").toBe("");
  expect(done.code, done.stderr).toBe(1);
  expect(done.stderr.trim().split("\n"), done.stderr).toHaveLength(1);
  expect(done.stderr).toMatch(/^reckon: /);
  expect(done.stderr).toMatch(says);
}

const PAGE = 4096;

describe("a damaged database", () => {
  it("is refused at start with a line that names reckon restore, wherever its structure is hit", async () => {
    const data = usedData();
    const path = databaseOf(data);
    const sound = readFileSync(path);
    const rootOf = (name: string) =>
      rowsOf(data.directory, "SELECT rootpage AS page FROM sqlite_schema WHERE name = ?", name)[0].page as number;
    const entries = rootOf("telemetry_segments");
    const index = rootOf("telemetry_segments_by_seq");
    const hits: readonly (readonly [what: string, at: number, bytes: Uint8Array])[] = [
      ["the magic string", 3, Buffer.from("x")],
      ["the page size", 16, Buffer.from([0x00, 0x03])],
      ["the schema format", 44, Buffer.from([0xff, 0xff, 0xff, 0xff])],
      ["the root of the schema", 100, Buffer.alloc(PAGE - 100)],
      ["the root of a table", (entries - 1) * PAGE, Buffer.alloc(PAGE)],
      ["the root of an index", (index - 1) * PAGE, Buffer.alloc(PAGE)],
      ["the cell count of a page", (entries - 1) * PAGE + 3, Buffer.from([0xff, 0xff])],
      ["a child pointer", (entries - 1) * PAGE + 8, Buffer.from([0x7f, 0xff, 0xff, 0xff])],
      [
        "a page of noise",
        (entries - 1) * PAGE,
        Buffer.from(Array.from({ length: PAGE }, (_, i) => (i * 197 + 13) % 256)),
      ],
    ];
    for (const [what, at, bytes] of hits) {
      writeFileSync(path, sound);
      overwrite(path, at, bytes);
      const done = await start(data);
      expect(done.code, what).toBe(1);
      expectRefused(done, /damaged.*reckon restore/);
      if (!/root|noise/.test(what)) continue;
      const doctor = await command(["doctor", "--data", data.directory]);
      expect(doctor.code, what).toBe(1);
      expect(doctor.stdout + doctor.stderr, what).toMatch(/reckon restore/);
    }
    // The damaged file is still there, untouched, for whoever wants to rescue what is in it.
    expect(readFileSync(path).subarray((entries - 1) * PAGE, entries * PAGE)).toEqual(
      (hits.at(-1) as (typeof hits)[number])[2],
    );
  });

  it("is called damaged by the doctor, the ledger's verification and a backup, whatever table is hit", async () => {
    const data = usedData();
    const path = databaseOf(data);
    const sound = readFileSync(path);
    const roots = rowsOf(
      data.directory,
      `SELECT name, rootpage AS page FROM sqlite_schema
       WHERE name IN ('deliveries', 'delivery_items', 'telemetry_segments', 'trace_sessions', 'trace_spans', 'brain_snapshots', 'defect_files')`,
    ) as { name: string; page: number }[];
    expect(roots).toHaveLength(7);
    for (const { name, page } of roots) {
      writeFileSync(path, sound);
      overwrite(path, (page - 1) * PAGE, Buffer.alloc(40, 0xff));
      const copy = join(data.directory, "copy.db");
      const [doctor, verify, backup] = await Promise.all(
        [["doctor"], ["ledger", "verify"], ["backup", copy]].map((words) =>
          command([...words, "--data", data.directory]),
        ),
      );
      // Nothing is left that would pass for a backup.
      expect([backup?.code, backup?.stderr, existsSync(copy)], name).toEqual([
        1,
        expect.stringMatching(/the database .* is damaged .*reckon restore FILE/),
        false,
      ]);
      expect([doctor?.code, doctor?.stdout], name).toEqual([
        1,
        expect.stringMatching(/^structure\tfailed\tthe database .* is damaged .*reckon restore FILE/),
      ]);
      if (name === "defect_files") expect(verify?.code).toBe(0);
      else
        expect([verify?.code, verify?.stderr], name).toEqual([
          1,
          expect.stringMatching(/^reckon: the database .* is damaged .*reckon restore FILE/),
        ]);
    }
  });

  it("is refused when the file was cut off, to half or to nothing, beside a signing key that says it was in use", async () => {
    const data = usedData();
    const size = statSync(databaseOf(data)).size;
    truncateSync(databaseOf(data), Math.floor(size / 2 / PAGE) * PAGE);
    expectRefused(await start(data), /damaged.*reckon restore/);
    truncateSync(databaseOf(data), 0);
    // An empty file is how a failed copy or a crashed file system leaves it: starting afresh would hide the loss.
    expectRefused(await start(data), /reckon restore/);
    expect(statSync(databaseOf(data)).size).toBe(0);
  });

  it("that is gone leaves no write-ahead log that would change the backup in its place", async () => {
    const data = usedData();
    const file = join(data.directory, "good.db");
    expect((await command(["backup", file, "--data", data.directory])).code).toBe(0);
    const server = await testServer(data.directory);
    const token = data.devices[0]?.token as string;
    const body = JSON.stringify({ repoKey: "r", entries: [{ seq: 251, payload: { type: "later" } }] });
    expect((await ask(server.port, { path: "/api/telemetry/ingest", token, body })).status).toBe(200);
    await server.end("SIGKILL");
    rmSync(databaseOf(data));
    expect((await command(["restore", file, "--data", data.directory])).code).toBe(0);
    expect(rowsOf(data.directory, "SELECT max(seq) AS last FROM telemetry_entries")).toEqual([{ last: 250 }]);
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });

  it("that is gone beside a key and retired keys is not silently replaced by an empty one", async () => {
    const data = usedData();
    expect((await command(["key", "rotate", "--data", data.directory])).code).toBe(0);
    rmSync(databaseOf(data));
    expectRefused(await start(data), /reckon restore/);
    expect(existsSync(databaseOf(data))).toBe(false);
  });
});

const noStrace =
  process.platform !== "linux" || spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status !== 0
    ? "strace is not installed or not allowed"
    : undefined;
if (noStrace) console.log(`tests of a disk that does not answer are skipped: ${noStrace}`);

/** Lets the reads of a file fail, from the n-th on. */
const unreadable = (path: string, from: number) => [
  ...["strace", "-f", "-qq", "-o", "/dev/null", "-P", path],
  ...["-e", "trace=pread64", "-e", `inject=pread64:error=EIO:when=${from}+`],
];

describe.skipIf(noStrace)("a disk that does not answer", () => {
  it("is named at the start, without a word of damage, and the database is served once it answers", async () => {
    const data = usedData();
    const path = databaseOf(data);
    for (const from of [1, 3, 10, 40]) {
      const done = await startRefused(data.directory, { under: unreadable(path, from) });
      expectRefused(done, /the disk answered an I\/O error for the database .*reckon\.db \(.+\)/);
      expect(done.stderr).toContain("which does not say that it is damaged");
      expect(done.stderr).not.toContain("*** in database");
    }
    const server = await testServer(data.directory);
    expect((await ask(server.port, { path: "/api/health" })).status).toBe(200);
  });
});

describe("an altered ledger", () => {
  const verify = async (data: Data) => {
    const done = await command(["ledger", "verify", "--json", "--data", data.directory]);
    return { code: done.code, faults: JSON.parse(done.stdout).faults as { deliveryId: number; problem: string }[] };
  };

  it("verifies while nobody touched it", async () => {
    const data = usedData();
    expect(await verify(data)).toEqual({ code: 0, faults: [] });
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });

  const TAMPERED: readonly (readonly [what: string, sql: string, deliveries: string])[] = [
    [
      "an altered payload",
      "UPDATE telemetry_entries SET payload = replace(payload, 'tool', 'fool') WHERE seq = 70",
      "SELECT delivery_id AS id FROM telemetry_entries WHERE seq = 70",
    ],
    [
      "a deleted entry",
      "DELETE FROM telemetry_entries WHERE seq = 120",
      "SELECT delivery_id AS id FROM telemetry_entries WHERE seq = 119",
    ],
    [
      "an added entry",
      "INSERT INTO telemetry_entries (stream_id, seq, delivery_id, payload) SELECT stream_id, 9999, delivery_id, '{}' FROM telemetry_entries WHERE seq = 250",
      "SELECT delivery_id AS id FROM telemetry_entries WHERE seq = 250",
    ],
    [
      "an altered client timestamp",
      "UPDATE telemetry_entries SET client_timestamp = '2026-01-01T00:00:00Z' WHERE seq = 5",
      "SELECT delivery_id AS id FROM telemetry_entries WHERE seq = 5",
    ],
    [
      "an altered brain file",
      "UPDATE brain_blobs SET content = 'other' WHERE content LIKE '%State 2%'",
      "SELECT delivery_id AS id FROM brain_snapshots WHERE version = 3",
    ],
    [
      "a brain file whose hash was altered with it",
      "UPDATE brain_blobs SET content = '', sha256 = X'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' WHERE content LIKE '%State 2%'",
      "SELECT delivery_id AS id FROM brain_snapshots WHERE version = 3",
    ],
    [
      "a brain snapshot pointed at another state",
      "UPDATE brain_snapshots SET manifest_id = (SELECT min(id) FROM brain_manifests) WHERE version = 4",
      "SELECT delivery_id AS id FROM brain_snapshots WHERE version = 4",
    ],
    ["a delivery's date", "UPDATE deliveries SET received_at = received_at - 1 WHERE id = 6", "SELECT 6 AS id"],
    ["a delivery's device", "UPDATE deliveries SET device_id = 'dev_other' WHERE id = 6", "SELECT 6 AS id"],
    ["a deleted delivery", "DELETE FROM deliveries WHERE id = 6", "SELECT 6 AS id"],
  ];
  it.each(TAMPERED)("shows %s, naming the delivery", async (what, sql, deliveries) => {
    const data = usedData();
    const [{ id }] = rowsOf(data.directory, deliveries) as [{ id: number }];
    alter(data, sql);
    const found = await verify(data);
    expect(found.code).toBe(1);
    expect(found.faults.map((fault) => fault.deliveryId)).toContain(id);
    if (!what.startsWith("a deleted")) return;
    const doctor = await command(["doctor", "--data", data.directory]);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^ledger\tfailed/m);
    if (what === "a deleted entry") return;
    expect(doctor.stdout).toMatch(
      /^references\tfailed\t.*rows refer.*, such as one of \w+\): restore the newest backup/m,
    );
  });

  it("shows deliveries that were cut off at the end, and a rewritten past, to whoever noted the head", async () => {
    const data = usedData();
    const { head } = JSON.parse((await command(["ledger", "verify", "--json", "--data", data.directory])).stdout);
    const anchor = `${head.id}:${head.chainSha256}`;
    expect((await command(["ledger", "verify", "--anchor", anchor, "--data", data.directory])).code).toBe(0);
    // Cut off cleanly, contents and all: only the noted head shows it, and the signed checkpoint beside the database.
    const [{ last }] = rowsOf(data.directory, "SELECT max(id) AS last FROM deliveries") as [{ last: number }];
    alter(
      data,
      `DELETE FROM telemetry_entries WHERE delivery_id = ${last}; DELETE FROM brain_snapshots WHERE delivery_id = ${last};
      DELETE FROM trace_spans WHERE delivery_id = ${last}; DELETE FROM trace_sessions WHERE delivery_id = ${last};
      DELETE FROM deliveries WHERE id = ${last}; DELETE FROM audit_events WHERE leaf > ${last}; DELETE FROM log_leaves WHERE n >= ${last}`,
    );
    rmSync(join(data.directory, "ledger-checkpoint"), { force: true });
    const cut = await command(["ledger", "verify", "--anchor", anchor, "--data", data.directory]);
    expect(cut.code).toBe(1);
    expect(cut.stdout).toContain("anchor");
  });

  it("shows evidence of a rollback that was altered or removed", async () => {
    const data = usedData();
    const server = await serve(data.directory);
    const reply = await ask(server.port, {
      path: "/api/telemetry/ingest",
      token: data.devices[0]?.token as string,
      body: JSON.stringify({ repoKey: "r", entries: [{ seq: 7, payload: { type: "other history" } }] }),
    });
    expect(JSON.parse(reply.body).flagged).toBe("rollback");
    await server.end();
    expect((await verify(data)).code).toBe(0);
    alter(data, "DELETE FROM telemetry_conflicts");
    const found = await verify(data);
    expect(found.code).toBe(1);
    expect(found.faults).toHaveLength(1);
  });
});

describe("a data directory with wrong contents", () => {
  it.skipIf(isWindows)("with a device where a file belongs is refused by name, by servers and commands", async () => {
    for (const name of ["erasures.json", "signing-key.pem", "ledger-key.pem", "prices.json"]) {
      const data = usedData();
      const path = join(data.directory, name);
      rmSync(path, { force: true });
      // It is never read to its end.
      symlinkSync("/dev/zero", path);
      expectRefused(await start(data), new RegExp(`${name} is a device or a pipe, not a file: take it away`));
      const { code, stderr } = await command(["team", "list", "--data", data.directory]);
      expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(`${path} is a device or a pipe`)]);
    }
  });

  it.skipIf(isWindows)("is used beside links of somebody else's, wherever those lead", async () => {
    const data = usedData();
    symlinkSync("/dev/zero", join(data.directory, "other.json"));
    // Nobody comes to its end, as to that of one into a folder that the server may not enter.
    symlinkSync("tls.pem", join(data.directory, "tls.pem"));
    const { code, stderr } = await command(["team", "list", "--data", data.directory]);
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("without its signing key is refused, told what to restore, and given no new key", async () => {
    const data = usedData();
    const key = join(data.directory, "signing-key.pem");
    renameSync(key, `${key}.gone`);
    expectRefused(await start(data), /signing key .* is missing.*reckon restore/);
    expect(existsSync(key)).toBe(false);
    for (const args of [
      ["key", "show"],
      ["key", "export"],
      ["key", "rotate"],
      ["license", "mint", "--team", "Acme"],
    ]) {
      expect((await command([...args, "--data", data.directory])).code, args.join(" ")).toBe(1);
      expect(existsSync(key), args.join(" ")).toBe(false);
    }
    const doctor = await command(["doctor", "--data", data.directory]);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toMatch(/^signing key\tfailed/m);
    // Put back, all is well.
    renameSync(`${key}.gone`, key);
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });

  it("without the log's key, or with another, makes the doctor say so before a server signs with a new one", async () => {
    const data = usedData();
    const key = join(data.directory, "ledger-key.pem");
    const own = readFileSync(key);
    const doctor = async () => {
      const { code, stdout } = await command(["doctor", "--data", data.directory]);
      return [code, /^ledger key\t(.*)$/m.exec(stdout)?.[1]];
    };
    expect(await doctor()).toEqual([0, expect.stringMatching(/^ok/)]);
    rmSync(key);
    expect(await doctor()).toEqual([
      1,
      expect.stringMatching(/^failed.*is missing: put back the file from your backup/),
    ]);
    const other = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
    for (const [content, reason] of [
      [other, /^failed.*is another than the log's/],
      ["not a key", /^failed.*is no Ed25519 key/],
    ] as const) {
      writeFileSync(key, content);
      expect(await doctor()).toEqual([1, expect.stringMatching(reason)]);
    }
    writeFileSync(key, own);
    expect(await doctor()).toEqual([0, expect.stringMatching(/^ok/)]);
  });

  it("with another key, an empty one, or something that is no key, is refused without touching it", async () => {
    const data = usedData();
    const key = join(data.directory, "signing-key.pem");
    const own = readFileSync(key, "utf8");
    const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
      type: "pkcs8",
      format: "pem",
    }) as string;
    for (const content of [other, "", "not a key", own.slice(0, 300)]) {
      writeFileSync(key, content);
      expectRefused(await start(data), /signing key .*reckon restore/);
      expect(readFileSync(key, "utf8")).toBe(content);
    }
  });

  it("of a newer program is refused, and nothing in it is changed", async () => {
    const data = usedData();
    alter(data, "PRAGMA user_version = 99");
    const before = readFileSync(databaseOf(data));
    expectRefused(await start(data), /newer Reckon.*schema 99.*reckon restore/);
    expect((await command(["team", "list", "--data", data.directory])).code).toBe(1);
    expect(readFileSync(databaseOf(data)).equals(before)).toBe(true);
  });

  it("of another program is refused, and nothing in it is changed", async () => {
    const data = await testData({ devices: 0 });
    for (const name of readdirSync(data.directory)) rmSync(join(data.directory, name));
    const db = new Sqlite(databaseOf(data));
    db.exec("CREATE TABLE photos (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO photos VALUES (1, 'holiday')");
    db.close();
    for (const version of [0, 1, 7]) {
      const foreign = new Sqlite(databaseOf(data));
      foreign.pragma(`user_version = ${version}`);
      foreign.close();
      expectRefused(await start(data), /another program/);
      expect(rowsOf(data.directory, "SELECT name FROM sqlite_schema")).toEqual([{ name: "photos" }]);
    }
    writeFileSync(databaseOf(data), "This is a text file.\n".repeat(1_000));
    expectRefused(await start(data), /damaged|another program/);
  });

  it("takes no backup that is damaged, foreign, a plain copy, or absent, and stays as it was", async () => {
    const data = usedData();
    const file = join(data.directory, "good.db");
    expect((await command(["backup", file, "--data", data.directory])).code).toBe(0);
    const good = readFileSync(file);
    const bad = join(data.directory, "bad.db");
    const before = readFileSync(databaseOf(data));
    const db = new Sqlite(file, { readonly: true });
    const index = db
      .prepare<[], number>("SELECT rootpage FROM sqlite_schema WHERE name = 'telemetry_segments_by_seq'")
      .pluck()
      .get() as number;
    db.close();
    const wrong: readonly (readonly [what: string, content: Buffer, says?: RegExp])[] = [
      ["cut off", good.subarray(0, good.length - PAGE * 3)],
      ["a zeroed page", Buffer.concat([good.subarray(0, PAGE * 4), Buffer.alloc(PAGE), good.subarray(PAGE * 5)])],
      [
        "the root of an index",
        Buffer.concat([good.subarray(0, PAGE * (index - 1)), Buffer.alloc(PAGE), good.subarray(PAGE * index)]),
        /cannot be restored: it is damaged \(.*page \d+/,
      ],
      ["a plain copy", before],
      ["empty", Buffer.alloc(0)],
      ["text", Buffer.from("hello")],
    ];
    for (const [what, content, says = /./] of wrong) {
      writeFileSync(bad, content);
      for (const more of [[], ["--verify"]]) {
        const done = await command(["restore", bad, ...more, "--data", data.directory]);
        expect(done.code, what).toBe(1);
        expect(done.stderr.trim().split("\n"), what).toEqual([expect.stringMatching(says)]);
      }
      expect(readFileSync(databaseOf(data)).equals(before), what).toBe(true);
    }
    expect((await command(["restore", join(data.directory, "absent.db"), "--data", data.directory])).code).toBe(1);
    expect((await command(["doctor", "--data", data.directory])).code).toBe(0);
  });
});

describe("a database that is taken away under a running server", () => {
  it.each(["removed", "replaced by a copy"])(
    "and %s is noticed: nothing is acknowledged into a file that is no longer there",
    async (how) => {
      const { data, server, token } = await servedData();
      let seq = 0;
      const send = () =>
        ask(server.port, {
          path: "/api/telemetry/ingest",
          token,
          body: JSON.stringify({ entries: [{ seq: ++seq, payload: {} }] }),
        });
      expect((await send()).status).toBe(200);
      // As a restore by hand does, or a clean-up of the wrong directory.
      copyFileSync(databaseOf(data), join(data.directory, "copy"));
      rmSync(databaseOf(data));
      if (how === "replaced by a copy") renameSync(join(data.directory, "copy"), databaseOf(data));
      await until("writes are refused", async () => (await send()).status === 503, 15_000);
      await until(
        "health is degraded",
        async () => (await ask(server.port, { path: "/api/health" })).status === 503,
        15_000,
      );
    },
  );
});
