import { cpSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { examine } from "../../src/share/maintenance/maintenance.ts";
import { withDirectory } from "../faults/support/data.ts";
import { alterEntries } from "../support/entries.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, type TestDevice } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";
import { command } from "../support/remote.ts";

/** A directory in which two teams and three devices delivered everything that can be delivered. Numbers are of deliveries. */
async function delivered(): Promise<string> {
  const t = await startInstance();
  const [acme, other] = [await t.team({ name: "Acme" }), await t.team({ name: "Other" })];
  const [ada, bob, eve] = [await t.device(acme), await t.device(acme), await t.device(other)];
  const deliver = async ({ token }: TestDevice, path: string, json: object) =>
    expect((await t.post(path, { token, json })).status).toBe(200);
  const telemetry = (device: TestDevice, repoKey: string, ...seqs: number[]) =>
    deliver(device, "/api/telemetry/ingest", {
      repoKey,
      entries: seqs.map((seq) => ({ seq, payload: { seq, of: device.deviceId } })),
    });
  const brain = (device: TestDevice, repoKey: string, version: number) =>
    deliver(device, "/api/brain/ingest", {
      repoKey,
      version,
      files: [{ path: "a.md", content: `# ${repoKey} ${version}` }],
    });
  const traces = (device: TestDevice, repoKey: string, id: string, ...spans: string[]) =>
    deliver(device, "/api/agent-traces/ingest", {
      repoKey,
      sessions: [{ id, outcome: "ok", spans: spans.map((one) => ({ id: one })) }],
      labels: [{ sessionId: id, name: "review", value: spans.length }],
    });
  await telemetry(ada, "shop", 1, 2, 3); // 1
  await telemetry(ada, "shop", 4, 5); // 2
  await telemetry(ada, "till", 1); // 3
  await telemetry(bob, "shop", 1, 2); // 4
  await telemetry(eve, "shop", 1); // 5
  await deliver(ada, "/api/telemetry/ingest", {
    repoKey: "shop",
    entries: [{ seq: 2, payload: { other: "history" } }],
  }); // 6
  await brain(ada, "shop", 1); // 7
  await brain(bob, "shop", 1); // 8
  await brain(ada, "shop", 2); // 9
  await brain(ada, "till", 1); // 10
  await brain(eve, "shop", 1); // 11
  await traces(ada, "shop", "s1", "a"); // 12
  await traces(ada, "shop", "s1", "a", "b"); // 13
  await traces(bob, "shop", "s2", "a"); // 14
  await traces(eve, "shop", "s3", "a"); // 15
  await deliver(ada, "/api/agent-traces/ingest", { sessions: [{ id: "s1", outcome: "failed", spans: [] }] }); // 16
  await telemetry(ada, "shop", 6); // 17
  await t.close();
  const directory = newFolder();
  cpSync(t.directory, directory, { recursive: true });
  return directory;
}

function firstDelivery(directory: string): number {
  const db = new Sqlite(join(directory, "reckon.db"), { readonly: true });
  const first = db.prepare("SELECT min(id) FROM deliveries").pluck().get() as number;
  db.close();
  return first;
}

const ofDevice = (name: string) =>
  `(SELECT device_id FROM deliveries WHERE id = #${{ ada: 1, bob: 4, eve: 5 }[name] ?? 0})`;
const forged = (deliveryId: number) =>
  `INSERT INTO telemetry_entries (stream_id, seq, delivery_id, payload) SELECT stream_id, 99, #${deliveryId}, '{}' FROM telemetry_entries WHERE id = 1;
   UPDATE telemetry_streams SET max_seq = 99 WHERE id = (SELECT stream_id FROM telemetry_entries WHERE id = 1)`;

/** SQL in which `#n` stands for the n-th delivery, from 1 on; 0 and numbers after the last are of none. */
function numbered(sql: string, first: number): string {
  return sql.replace(/#(\d+)/g, (_, place) => `${at(Number(place), first)}`);
}
const at = (place: number, first: number) => (place > 0 && place < 99 ? first + place - 1 : place);

/** Changes made with SQL, each with the faults that show it as [delivery, problem]. */
const DONE: readonly (readonly [what: string, sql: string, faults: readonly (readonly [number, string])[]])[] = [
  ["an entry forged under no delivery", forged(0), [[0, "stray"]]],
  ["an entry forged under a delivery to come", forged(99), [[99, "stray"]]],
  ["an entry forged under an old delivery", forged(2), [[2, "stray"]]],
  ["an entry forged under a brain delivery", forged(9), [[9, "stray"]]],
  [
    "an entry given to another delivery",
    "UPDATE telemetry_entries SET delivery_id = #17 WHERE id = 2",
    [
      [1, "content"],
      [17, "stray"],
    ],
  ],
  [
    "evidence of a conflict forged under no delivery",
    "INSERT INTO telemetry_conflicts (stream_id, seq, delivery_id, payload, content_sha256) SELECT stream_id, 3, 0, '{}', x'00' FROM telemetry_conflicts",
    [[0, "stray"]],
  ],
  [
    "a telemetry stream given to another device",
    `UPDATE telemetry_streams SET device_id = ${ofDevice("bob")} WHERE device_id = ${ofDevice("ada")} AND repo_key = 'till'`,
    [[3, "owner"]],
  ],
  [
    "a telemetry stream given to another repository",
    "UPDATE telemetry_streams SET repo_key = 'elsewhere' WHERE repo_key = 'till'",
    [[3, "owner"]],
  ],
  [
    "a telemetry stream given to another team",
    "UPDATE telemetry_streams SET team_id = (SELECT team_id FROM deliveries WHERE id = #5) WHERE repo_key = 'till'",
    [[3, "owner"]],
  ],
  [
    "an entry moved to another stream",
    "UPDATE telemetry_entries SET stream_id = (SELECT id FROM telemetry_streams WHERE repo_key = 'till'), seq = 3 WHERE delivery_id = #1 AND seq = 3",
    [
      [1, "owner"],
      [1, "newest"],
    ],
  ],
  [
    "a stream whose highest number was lowered, so that it could be told anew",
    "UPDATE telemetry_streams SET max_seq = 1 WHERE id = (SELECT stream_id FROM telemetry_entries WHERE id = 1)",
    [[17, "newest"]],
  ],
  [
    "a brain snapshot forged under no delivery",
    "INSERT INTO brain_snapshots (stream_id, team_id, repo_key, version, manifest_id, delivery_id, accepted, gap, redaction_hits) SELECT stream_id, team_id, repo_key, 9, manifest_id, 0, 0, 0, 0 FROM brain_snapshots WHERE delivery_id = #10",
    [[0, "stray"]],
  ],
  [
    "a second brain snapshot under one delivery",
    "INSERT INTO brain_snapshots (stream_id, team_id, repo_key, version, manifest_id, delivery_id, accepted, gap, redaction_hits) SELECT stream_id, team_id, repo_key, 9, manifest_id, delivery_id, 0, 0, 0 FROM brain_snapshots WHERE delivery_id = #11",
    [[11, "stray"]],
  ],
  [
    "a brain snapshot moved to another repository",
    "UPDATE brain_snapshots SET repo_key = 'elsewhere' WHERE delivery_id = #7",
    [
      [7, "owner"],
      [7, "newest"],
    ],
  ],
  [
    "a brain stream given to another device",
    `UPDATE brain_streams SET device_id = ${ofDevice("bob")} WHERE repo_key = 'till'`,
    [[10, "owner"]],
  ],
  ["a brain snapshot taken out", "DELETE FROM brain_snapshots WHERE delivery_id = #7", [[7, "content"]]],
  [
    "the manifest of two brain snapshots taken out",
    "DELETE FROM brain_manifests WHERE id = (SELECT manifest_id FROM brain_snapshots WHERE delivery_id = #7)",
    [
      [7, "content"],
      [8, "content"],
    ],
  ],
  [
    "an old brain snapshot made the current one",
    "UPDATE brain_currents SET snapshot_id = (SELECT id FROM brain_snapshots WHERE delivery_id = #7) WHERE snapshot_id = (SELECT id FROM brain_snapshots WHERE delivery_id = #9)",
    [[9, "newest"]],
  ],
  ["a repository without its current brain", "DELETE FROM brain_currents WHERE repo_key = 'till'", [[10, "newest"]]],
  [
    "a brain stream whose last version was lowered",
    "UPDATE brain_streams SET last_version = 1 WHERE last_version = 2",
    [[9, "newest"]],
  ],
  [
    "a session given to another device",
    `UPDATE trace_sessions SET device_id = ${ofDevice("bob")} WHERE external_id = 's1'`,
    [
      [12, "owner"],
      [13, "owner"],
      [16, "owner"],
    ],
  ],
  [
    "a session given to another repository",
    "UPDATE trace_sessions SET repo_key = 'elsewhere' WHERE external_id = 's2'",
    [[14, "owner"]],
  ],
  [
    "a session given to another team",
    "UPDATE trace_sessions SET team_id = (SELECT team_id FROM deliveries WHERE id = #5) WHERE external_id = 's2'",
    [[14, "owner"]],
  ],
  [
    "a span moved to another device's session",
    "UPDATE trace_spans SET session_id = (SELECT id FROM trace_sessions WHERE external_id = 's2') WHERE external_id = 'b'",
    [
      [13, "content"],
      [13, "owner"],
    ],
  ],
  [
    "a span forged under no delivery",
    "UPDATE trace_spans SET delivery_id = #0 WHERE external_id = 'b'",
    [
      [0, "stray"],
      [13, "content"],
    ],
  ],
  [
    "a session taken out, its spans left",
    "DELETE FROM trace_sessions WHERE external_id = 's3'",
    [
      [15, "content"],
      [15, "stray"],
    ],
  ],
  [
    "an altered span",
    `UPDATE trace_spans SET document = '{"id":"b","tool":"rm"}' WHERE external_id = 'b'`,
    [[13, "content"]],
  ],
  [
    "an altered session",
    `UPDATE trace_sessions SET document = replace(document, 'failed', 'ok') WHERE external_id = 's1'`,
    [[16, "content"]],
  ],
  [
    "a session taken out with all that belongs to it, though its device delivered others later",
    `DELETE FROM trace_spans WHERE session_id = (SELECT id FROM trace_sessions WHERE external_id = 's1');
     DELETE FROM trace_labels WHERE session_id = 's1'; DELETE FROM trace_sessions WHERE external_id = 's1'`,
    [
      [12, "content"],
      [13, "content"],
      [16, "content"],
    ],
  ],
  ["a delivery's facts altered", "UPDATE deliveries SET received_at = received_at - 1 WHERE id = #4", [[4, "chain"]]],
  [
    "a delivery's row taken out with all it brought",
    `DELETE FROM deliveries WHERE id = #10; DELETE FROM brain_snapshots WHERE delivery_id = #10;
     DELETE FROM brain_currents WHERE repo_key = 'till'; DELETE FROM brain_streams WHERE repo_key = 'till'`,
    [[10, "chain"]],
  ],
  ["a leaf taken out", "DELETE FROM log_leaves WHERE n = #17", [[17, "chain"]]],
  [
    "the last session of a device taken out with all that belongs to it",
    "DELETE FROM trace_spans WHERE delivery_id = #15; DELETE FROM trace_labels WHERE delivery_id = #15; DELETE FROM trace_sessions WHERE delivery_id = #15",
    [[15, "content"]],
  ],
  [
    "an altered label",
    "UPDATE trace_labels SET document = replace(document, '\"value\":1', '\"value\":9') WHERE delivery_id = #14",
    [[14, "content"]],
  ],
  // Rows that claim to be from before there was a tree.
  [
    "a session forged beside what its delivery brought",
    `INSERT INTO trace_sessions (team_id, device_id, repo_key, external_id, outcome, document, delivery_id, created_at, updated_at)
     SELECT team_id, device_id, repo_key, 'forged', 'completed', '{"id":"forged","outcome":"completed"}', delivery_id, 1, 1
     FROM trace_sessions WHERE external_id = 's1'`,
    [[16, "stray"]],
  ],
  [
    "a span forged beside what its delivery brought",
    `INSERT INTO trace_spans (session_id, external_id, document, delivery_id, signs)
     SELECT session_id, 'forged', '{"id":"forged"}', delivery_id, 0 FROM trace_spans WHERE external_id = 'b'`,
    [[13, "stray"]],
  ],
  [
    "a forged event of the audit",
    `INSERT INTO audit_events (at, team_id, actor_kind, actor_label, action, detail)
     SELECT at, team_id, 'system', 'x', 'team.created', '{}' FROM audit_events WHERE team_id IS NOT NULL LIMIT 1`,
    [[0, "stray"]],
  ],
  // Columns that lists and pages show without reading the document.
  [
    "how a session ended, shown otherwise",
    "UPDATE trace_sessions SET outcome = 'completed' WHERE external_id = 's1'",
    [[16, "content"]],
  ],
  [
    "a session taken out of every list",
    "UPDATE trace_sessions SET exported = 2 WHERE external_id = 's1'",
    [[16, "content"]],
  ],
  ["a span's name, shown otherwise", "UPDATE trace_spans SET name = 'ls' WHERE external_id = 'b'", [[13, "content"]]],
  ["a label shown at another span", "UPDATE trace_labels SET span_id = 'z' WHERE delivery_id = #14", [[14, "content"]]],
  // Unreadable data stops neither the proof nor the doctor halfway.
  [
    "a brain's list of files, made unreadable",
    "UPDATE brain_manifests SET entries = '[[1' WHERE id = (SELECT manifest_id FROM brain_snapshots WHERE delivery_id = #10)",
    [[10, "content"]],
  ],
  [
    "where a delivery moved from, made unreadable",
    "UPDATE deliveries SET moved_from = '1', received_at = received_at - 1 WHERE id = #4",
    [[4, "chain"]],
  ],
  [
    "a label given to another repository",
    "UPDATE trace_labels SET repo_key = 'elsewhere' WHERE delivery_id = #14",
    [[14, "owner"]],
  ],
  [
    "a brain's stream given to another team",
    `UPDATE brain_streams SET team_id = (SELECT team_id FROM deliveries WHERE id = #5)
     WHERE id = (SELECT stream_id FROM brain_snapshots WHERE delivery_id = #10)`,
    [[10, "owner"]],
  ],
  [
    "a brain given to another team with all that belongs to it but its files",
    ["brain_streams:stream_id", "brain_manifests:manifest_id", "brain_snapshots:id"]
      .map((one) => one.split(":"))
      .map(
        ([table, named]) => `UPDATE ${table} SET team_id = (SELECT team_id FROM deliveries WHERE id = #5)
         WHERE id = (SELECT ${named} FROM brain_snapshots WHERE delivery_id = #10)`,
      )
      .join(";"),
    [
      [10, "content"],
      [10, "owner"],
      [10, "newest"],
    ],
  ],
  [
    "a device's row taken out",
    "DELETE FROM devices WHERE id = (SELECT device_id FROM deliveries WHERE id = #5)",
    [
      [5, "owner"],
      [11, "owner"],
      [15, "owner"],
    ],
  ],
  [
    "the next delivery of a stream, to follow an older one",
    "UPDATE delivery_streams SET last = #1 WHERE last = #17",
    [[17, "newest"]],
  ],
  [
    "deliveries of a stream, to go on as another device's",
    `UPDATE delivery_streams SET device_id = ${ofDevice("eve")} WHERE last = #3`,
    [[3, "newest"]],
  ],
  ["a stream of deliveries taken out", "DELETE FROM delivery_streams WHERE last = #3", [[3, "newest"]]],
  ["a brain's gap, not shown", "UPDATE brain_snapshots SET gap = 1 WHERE delivery_id = #9", [[9, "content"]]],
  [
    "a brain's file, shown as withheld",
    `UPDATE brain_blobs SET withheld_sha256 = zeroblob(32)
     WHERE id = (SELECT entries ->> '$[0][1]' FROM brain_manifests WHERE id = (SELECT manifest_id FROM brain_snapshots WHERE delivery_id = #10))`,
    [[10, "content"]],
  ],
  [
    "a device given to another team",
    `UPDATE devices SET team_id = (SELECT team_id FROM deliveries WHERE id = #1) WHERE id = ${ofDevice("eve")}`,
    [
      [5, "owner"],
      [11, "owner"],
      [15, "owner"],
    ],
  ],
];

it("the ledger and the doctor name what was forged, given to another owner, taken out or made the newest", async () => {
  const sound = await delivered();
  const look = (directory: string) =>
    withDirectory(directory, async (core) => ({
      faults: ledgerFaults(core),
      doctor: (await examine(core)).find(({ check }) => check === "ledger"),
    }));
  expect(await look(sound)).toEqual({
    faults: [],
    doctor: { check: "ledger", status: "ok", detail: "17 deliveries verify" },
  });
  const first = firstDelivery(sound);
  for (const [what, sql, expected] of DONE) {
    const directory = newFolder();
    cpSync(sound, directory, { recursive: true });
    const db = new Sqlite(join(directory, "reckon.db"));
    db.pragma("foreign_keys = OFF");
    alterEntries(db, numbered(sql, first));
    db.close();
    const { faults, doctor } = await look(directory);
    const numberedFaults = expected.map(([place, problem]) => [at(place, first), problem]);
    expect([what, faults.map(({ deliveryId, problem }) => [deliveryId, problem])]).toEqual([what, numberedFaults]);
    expect([what, doctor?.status, doctor?.detail]).toEqual([
      what,
      "failed",
      expect.stringContaining(faults[0]?.detail ?? ""),
    ]);
  }
});

it("forged entries, of no delivery or of one to come, stop neither the proof nor the doctor halfway", async () => {
  const directory = await delivered();
  const db = new Sqlite(join(directory, "reckon.db"));
  for (const deliveryId of [0, 99])
    alterEntries(db, numbered(forged(deliveryId), 0).replace("99", String(900 + deliveryId)));
  db.close();
  const proof = await command(["ledger", "verify", "--data", directory]);
  expect([proof.code, proof.stderr]).toEqual([1, ""]);
  expect(proof.stdout.split("\n")).toEqual([
    expect.stringMatching(/^0\ttelemetry\t\tstray\tentry \d+ came with no telemetry delivery$/),
    expect.stringMatching(/^99\ttelemetry\t\tstray\t/),
    expect.stringMatching(/^99\ttelemetry\t\tnewest\t/),
    "",
  ]);
  const doctor = await command(["doctor", "--data", directory]);
  expect([doctor.code, doctor.stderr]).toEqual([1, ""]);
  expect(doctor.stdout).toMatch(/^ledger\tfailed\t\d+ faults in 17 deliveries/m);
});

it("an event of the audit that was altered or taken out is named, and so is a log that is not the one that was signed", async () => {
  const sound = await delivered();
  const faultsAfter = async (sql: string) => {
    const directory = newFolder();
    cpSync(sound, directory, { recursive: true });
    const db = new Sqlite(join(directory, "reckon.db"));
    db.pragma("foreign_keys = OFF");
    alterEntries(db, sql);
    db.close();
    return withDirectory(directory, async (core) => ledgerFaults(core));
  };
  const db = new Sqlite(join(sound, "reckon.db"), { readonly: true });
  const events = db.prepare("SELECT leaf FROM audit_events ORDER BY leaf").pluck().all() as number[];
  const last = db.prepare("SELECT max(n) FROM log_leaves").pluck().get() as number;
  db.close();
  expect(events.length).toBeGreaterThan(2);

  for (const forged of [
    ...["at = at + 1", "team_id = NULL", "actor_kind = 'system'", "actor_id = 'user_x'", "actor_label = 'Mallory'"],
    ...["action = 'code.revoked'", "target_kind = 'code'", "target_id = 'x'", "target_label = 'x'", "ip = '192.0.2.9'"],
    `detail = '{"x":1}'`,
  ]) {
    const altered = await faultsAfter(`UPDATE audit_events SET ${forged} WHERE leaf = ${events[1]}`);
    expect([forged, altered.map(({ deliveryId }) => deliveryId)]).toEqual([forged, [events[1]]]);
    expect(altered).toMatchObject([{ problem: "chain", detail: "the event was altered" }]);
  }
  const relabelled = await faultsAfter("UPDATE devices SET label = 'somebody-else'");
  expect(relabelled.length).toBeGreaterThan(0);
  expect(new Set(relabelled.map(({ kind, problem, detail }) => `${kind} ${problem}: ${detail}`))).toEqual(
    new Set(["event owner: its device has another name now"]),
  );
  const emptied = await faultsAfter("DELETE FROM audit_events");
  expect(emptied.map(({ deliveryId, problem }) => [deliveryId, problem])).toEqual(
    events.map((leaf) => [leaf, "chain"]),
  );

  // Everything after the first telemetry delivery cut off, with no trace of it left in the tables.
  const tables = ["telemetry_conflicts", "brain_snapshots", "trace_sessions", "trace_spans", "trace_labels"];
  const first = firstDelivery(sound);
  const cut = await faultsAfter(
    `${tables.map((table) => `DELETE FROM ${table}`).join(";")}; DELETE FROM telemetry_entries WHERE delivery_id > ${first};
     DELETE FROM telemetry_streams WHERE id <> 1; UPDATE telemetry_streams SET max_seq = 3;
     DELETE FROM brain_currents; DELETE FROM brain_streams; DELETE FROM deliveries WHERE id > ${first};
     DELETE FROM delivery_streams WHERE id <> 1; UPDATE delivery_streams SET last = ${first};
     DELETE FROM log_leaves WHERE n > ${first}`,
  );
  expect(cut).toMatchObject([
    { deliveryId: last, problem: "chain", detail: `the log was signed with ${last} leaves and has ${first}` },
  ]);

  const forgedLeaf = await faultsAfter(
    `UPDATE deliveries SET received_at = received_at - 1 WHERE id = ${first};
     UPDATE log_leaves SET sha256 = zeroblob(32) WHERE n = ${first}`,
  );
  expect(forgedLeaf.map(({ deliveryId, detail }) => [deliveryId, detail])).toContainEqual([
    last,
    "the log up to it is not the one that was signed",
  ]);
});

it("refuses a size that a number cannot hold exactly", async () => {
  const since = ["--since", "9007199254740993"];
  const done = await command(["ledger", "checkpoint", ...since, "--data", newFolder()]);
  expect([done.code, done.stdout]).toEqual([2, ""]);
  expect(done.stderr).toContain("It must be a whole number.");
});

it("proves a session by its agent's id for it, and says whose it may be where several have it", async () => {
  const t = await startInstance({ settings: { port: "0" } });
  await t.instance.listen();
  const [acme, other] = [await t.team({ name: "Acme" }), await t.team({ name: "Other" })];
  const deliver = async ({ token }: TestDevice, id: string) =>
    expect(
      (await t.post("/api/agent-traces/ingest", { token, json: { sessions: [{ id, outcome: "ok", spans: [] }] } }))
        .status,
    ).toBe(200);
  const prove = (...args: string[]) => command(["ledger", "prove", ...args, "--json", "--data", t.directory]);
  const proved = async (...args: string[]) => {
    const { code, stdout, stderr } = await prove(...args);
    expect([args, code, stderr]).toEqual([args, 0, expect.stringContaining("reckon ledger check")]);
    return JSON.parse(stdout);
  };
  const ada = await t.device(acme);
  await deliver(ada, "run: 7 of 9");
  const first = { kind: "session", id: 1, file: null, proof: expect.stringContaining("c2sp.org/tlog-proof@v1") };
  expect(await proved("session:run: 7 of 9")).toEqual(first);
  expect(await proved("session", "run: 7 of 9")).toEqual(first);
  expect(await proved("session:1")).toEqual(first);
  const verified = () => command(["ledger", "verify", "--data", t.directory]);
  expect((await verified()).stdout).toMatch(/^1 delivery verifies; head /);
  await deliver(await t.device(other), "run: 7 of 9");
  expect((await verified()).stdout).toMatch(/^2 deliveries verify; head /);
  const several = await prove("session:run: 7 of 9");
  expect([several.code, several.stdout, several.stderr]).toEqual([
    1,
    "",
    "reckon: Several have a session run: 7 of 9: give its number, one of 1 of Acme, 2 of Other, or --team.\n",
  ]);
  expect(await proved("session:run: 7 of 9", "--team", "Other")).toMatchObject({ id: 2 });
  for (const args of [["session:2"], ["session:run: 8"], ["delivery:2"]]) {
    const missing = await prove(...args, "--team", "Acme");
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/^reckon: There is no (?:session|delivery) /),
    ]);
  }
});
