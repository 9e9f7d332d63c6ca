import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { DataDirectoryError } from "../../../src/kit/errors.ts";
import { generateSigningPem, readSigningKey } from "../../../src/kit/jwt.ts";
import { COMMAND_LINE, recordEvent, SYSTEM } from "../../../src/platform/audit/audit.ts";
import { listKeys, rotateKey } from "../../../src/platform/keys/keys.ts";
import { ensureEpoch } from "../../../src/platform/transparency/open-epoch.ts";
import { transparency } from "../../../src/platform/transparency/room.ts";
import { sealContents } from "../../../src/record/brain/seal.ts";
import { seal as sealEntries } from "../../../src/record/telemetry/seal.ts";
import { seal as sealSpans } from "../../../src/record/traces/seal.ts";
import { carryOut, requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { examine, verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { deliverAll } from "../../support/erasure.ts";
import { newFolder } from "../../support/folder.ts";
import { startInstance, startWithDevice } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";
import { command } from "../../support/remote.ts";

type Key = ReturnType<typeof listKeys>[number];

const SOMETHING_ELSE = ["'x'", "'{}'", "'[1]'", "'null'", "'-1'"];
/** Values that are no count and no instant, and one that is rounded when it is read. */
const NUMBERS = ["-1", "9007199254740993"];

it.each<[table: string, column: string, problem: string, values?: readonly string[]]>([
  ["log_epochs", "data", "chain"],
  ["log_leaves", "sha256", "chain", ["x''", "x'0102'", "zeroblob(5000)"]],
  ["deliveries", "received_at", "chain", NUMBERS],
  ["deliveries", "item_count", "content", [...NUMBERS, "4000000000"]],
  ["trace_sessions", "id", "content", ["9007199254740993"]],
  ["trace_labels", "id", "content", ["9007199254740993"]],
  ["deliveries", "kind", "content"],
  ["deliveries", "moved_from", "chain"],
  ["brain_manifests", "entries", "content"],
  ["erasures", "target", "erasure"],
])(
  "tells of %s whose %s somebody made something else of, instead of ending there",
  async (table, column, problem, values = SOMETHING_ELSE) => {
    const { t, device } = await startWithDevice();
    await deliverAll(t, device, "shop", "marigold");
    await deliverAll(t, device, "till", "crocus");
    const { core } = t.instance;
    await carryOut(core, await requestErasure(core, resolveTarget(core, { repo: "shop" }), "asked for", COMMAND_LINE));
    const problems = () => ledgerFaults(core).map((one) => one.problem);
    expect(problems()).toEqual([]);
    core.store.db.pragma("ignore_check_constraints = ON");
    core.store.db.pragma("foreign_keys = OFF");
    for (const value of values) {
      const where = `rowid = (SELECT max(rowid) FROM ${table})`;
      core.store.db.exec(`CREATE TEMP TABLE kept AS SELECT ${column} AS value FROM ${table} WHERE ${where}`);
      core.store.db.exec(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`);
      expect([value, problems()]).toEqual([value, expect.arrayContaining([problem])]);
      core.store.db.exec(`UPDATE ${table} SET ${column} = (SELECT value FROM kept) WHERE ${where}; DROP TABLE kept`);
    }
  },
);

it("tells of blocks that say they are of something else or hold nothing that is stored, and of texts beside them: an erasure would leave them", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [device, other] = [await t.device(), await t.device()];
  await deliverAll(t, device, "shop", "marigold");
  const files = Array.from({ length: 6 }, (_, i) => ({
    path: `${i}.md`,
    content: `${"marigold ".repeat(20_000)}${i}`,
  }));
  await t.post("/api/brain/ingest", { token: device.token, json: { repoKey: "shop", version: 10, files } });
  t.clock.advance(2 * DAY_MS);
  for (const seal of [sealEntries, sealSpans, sealContents])
    expect(await seal(core, Number.MAX_SAFE_INTEGER)).toBeGreaterThan(0);
  const tables = [
    ...["telemetry_blocks", "trace_span_blocks", "brain_blocks", "brain_blobs"],
    ...["telemetry_segments", "trace_spans"],
  ];
  const theirs = `team_id = '${other.team.id}'`;
  const copyOf = (table: string, columns: string) =>
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM ${table} LIMIT 1`;
  const { db } = core.store;
  db.pragma("foreign_keys = OFF");
  for (const [alter, problem] of [
    [copyOf("telemetry_blocks", "stream_id, content"), "stray"],
    [copyOf("trace_span_blocks", "session_id, first_span, last_span, content"), "stray"],
    ["UPDATE trace_span_blocks SET session_id = session_id + 1", "owner"],
    ["UPDATE trace_span_blocks SET last_span = last_span + 1, first_span = last_span + 1", "owner"],
    [copyOf("brain_blocks", "team_id, content"), "stray"],
    [`UPDATE brain_blocks SET ${theirs}`, "stray"],
    ["UPDATE telemetry_segments SET texts = x'41'", "stray"],
    ["UPDATE trace_spans SET document = '{}' WHERE block_id IS NOT NULL", "stray"],
    ["UPDATE brain_blobs SET content = 'x' WHERE block_id IS NOT NULL", "stray"],
    [`UPDATE brain_blobs SET ${theirs} WHERE id = (SELECT max(id) FROM brain_blobs)`, "content"],
  ] as const) {
    expect(ledgerFaults(core)).toEqual([]);
    for (const table of tables) db.exec(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM main.${table}`);
    db.exec(alter);
    expect([alter, ledgerFaults(core).map((one) => one.problem)]).toEqual([alter, expect.arrayContaining([problem])]);
    for (const one of tables)
      db.exec(`DELETE FROM main.${one}; INSERT INTO main.${one} SELECT * FROM kept_${one}; DROP TABLE kept_${one}`);
  }
});

it("finds a stored hash of 256 leaves that is not theirs", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  await core.store.write(() => {
    for (let i = 0; i < 256; i++)
      recordEvent(core, SYSTEM, { action: "policy.changed", teamId: null, target: { kind: "policy", id: `${i}` } });
  });
  for (const { run } of transparency.jobs ?? []) await run(core);
  expect(t.count("log_subtrees")).toBe(1);
  const faults = () => ledgerFaults(core).map((one) => [one.deliveryId, one.detail]);
  expect(faults()).toEqual([]);
  core.store.db.exec("UPDATE log_subtrees SET sha256 = zeroblob(32)");
  expect(faults()).toEqual([[256, "the subtree that it ends was altered"]]);
});

it("tells of an epoch that no server opened, with which none starts, because it would not know the log's name", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const last = core.store.db.prepare("SELECT max(n) FROM log_leaves").pluck().get() as number;
  for (const data of ["{}", "{"]) {
    core.store.db.prepare("DELETE FROM log_epochs WHERE leaf > ?").run(last);
    core.store.db.prepare("INSERT INTO log_epochs (leaf, data) VALUES (?, ?)").run(last + 1, data);
    expect(ledgerFaults(core)).toMatchObject([{ deliveryId: last + 1, kind: "epoch", problem: "chain" }]);
    await expect(ensureEpoch(core)).rejects.toThrow(
      new DataDirectoryError(
        `the ledger's newest epoch, leaf ${last + 1}, was opened by no server: the database was altered, or is damaged. See what is wrong with "reckon ledger verify", then restore a backup that verifies`,
      ),
    );
  }
});

it("says which signed checkpoint was there to compare with, and when there was none", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  await t.device();
  const verified = () => verifyLedger(core, undefined, () => {});
  expect(verified()).toMatchObject({ signed: 1, faults: [] });
  writeFileSync(join(t.directory, "ledger-checkpoint"), "something else");
  expect(verified()).toMatchObject({ signed: null, faults: [] });
  await t.close();
  writeFileSync(join(t.directory, "ledger-checkpoint"), "something else");
  const { code, stdout } = await command(["ledger", "verify", "--data", t.directory]);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/; head \d+:[0-9a-f]{64}; no checkpoint to compare\n$/)]);
});

it("the doctor names a public half of a signing key, retired ones too, that somebody replaced in the database", async () => {
  const { core } = (await startInstance()).instance;
  const found = async () => (await examine(core)).find(({ check }) => check === "signing key");
  await rotateKey(core, COMMAND_LINE);
  expect(await found()).toMatchObject({ status: "ok" });
  const [newest, retired] = listKeys(core) as [Key, Key];
  const put = core.store.db.prepare<[string, string]>("UPDATE signing_keys SET public_pem = ? WHERE kid = ?");
  for (const [{ kid, publicPem }, other] of [
    [retired, newest.publicPem],
    [newest, "x"],
  ] as const) {
    put.run(other, kid);
    const detail = expect.stringContaining(`public half of key ${kid}`);
    expect(await found()).toMatchObject({ status: "failed", detail });
    put.run(publicPem, kid);
    expect(await found()).toMatchObject({ status: "ok" });
  }
});

it("publishes no key that somebody put into the database as retired, or whose public half was replaced: none signed here", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  await rotateKey(core, COMMAND_LINE);
  const { db } = core.store;
  const served = async () =>
    ((await t.get("/.well-known/jwks.json")).body as { keys: Key[] }).keys.map(({ kid }) => kid);
  const kids = listKeys(core).map(({ kid }) => kid);
  const active = listKeys(core).find(({ retiredAt }) => retiredAt === null)?.kid;
  expect([await served(), ledgerFaults(core)]).toEqual([kids, []]);

  const { kid, publicPem } = await readSigningKey(await generateSigningPem());
  db.prepare(
    "INSERT INTO signing_keys (kid, alg, public_pem, created_at, retired_at) VALUES (?, 'RS256', ?, 1, 2)",
  ).run(kid, publicPem);
  const stray = { deliveryId: 0, kind: "key", problem: "stray", detail: expect.stringContaining(kid) };
  expect(ledgerFaults(core)).toMatchObject([stray]);
  expect(await served()).toEqual(kids);
  expect((await examine(core)).find(({ check }) => check === "signing key")).toMatchObject({ status: "failed" });
  // Nor with an event that is no leaf of the log.
  const told = `INSERT INTO audit_events (at, actor_kind, actor_label, action, detail) VALUES (1, 'command', 'x', 'key.rotated', ?)`;
  db.prepare(told).run(JSON.stringify({ retired: kid }));
  expect(ledgerFaults(core)).toContainEqual(expect.objectContaining(stray));
  // The first schema recorded no events, and its rotations are told by the files that they left.
  const file = join(t.directory, "retired-keys", `${kid}.pem`);
  writeFileSync(file, publicPem);
  expect(ledgerFaults(core)).not.toContainEqual(expect.objectContaining(stray));
  rmSync(file);
  db.exec("DELETE FROM audit_events WHERE leaf IS NULL; DELETE FROM signing_keys WHERE created_at = 1");
  expect([await served(), ledgerFaults(core)]).toEqual([kids, []]);

  db.prepare("UPDATE signing_keys SET public_pem = ? WHERE retired_at IS NULL").run(publicPem);
  expect(await served()).toEqual(kids.filter((one) => one !== active));
  expect(ledgerFaults(core)).toMatchObject([{ kind: "key", problem: "content" }]);
  const copy = join(newFolder(), "copy.db");
  db.prepare("VACUUM INTO ?").run(copy);
  const restored = await command([
    "restore",
    "--from",
    copy,
    "--data",
    newFolder(),
    "--key",
    join(t.directory, "signing-key.pem"),
    "--key",
    join(t.directory, "ledger-key.pem"),
  ]);
  expect(restored).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`the public half of key ${active} was altered`),
  });
});

it("goes on past an import that somebody altered", async () => {
  const { core } = (await startInstance()).instance;
  core.store.db.pragma("foreign_keys = OFF");
  for (const value of SOMETHING_ELSE) {
    core.store.db.exec(
      `DELETE FROM log_imports; INSERT INTO log_imports (leaf, team_id, data) VALUES (99, 'x', ${value})`,
    );
    expect(() => verifyLedger(core, undefined, () => {})).not.toThrow();
  }
});

it("finds a delivery that was moved into another stream, as if it had come from another log", async () => {
  const t = await startInstance();
  await deliverAll(t, await t.device(), "shop", "marigold");
  const { core } = t.instance;
  const faults = () => ledgerFaults(core).map(({ problem, detail }) => [problem, detail]);
  expect(faults()).toEqual([]);
  core.store.db.exec(`UPDATE deliveries SET moved_from = json_object('id', id, 'stream', stream_id, 'previous', previous),
    stream_id = (SELECT min(stream_id) FROM deliveries) WHERE id = (SELECT max(id) FROM deliveries)`);
  expect(faults()).toEqual([["chain", "it claims to come from another log, but no import brought it"]]);
});
