import { createHash, verify } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leafHash, rootOf } from "../../src/kit/merkle.ts";
import { checkBundle } from "../../src/kit/transparency/check.ts";
import { checkpointText, openCheckpoint } from "../../src/kit/transparency/checkpoint.ts";
import { parseVkey } from "../../src/kit/transparency/note.ts";
import { proveDelivery } from "../../src/log/log.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { transparency } from "../../src/platform/transparency/room.ts";
import { carryOut, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { backup, restore, verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { prove } from "../../src/share/proofs/prove.ts";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

const text = async (t: TestInstance, path: string) => (await t.call("GET", path)).text;
const logKey = async (t: TestInstance) => parseVkey((await text(t, "/ledger/key")).trim());

it("gives each delivery that changed anything a receipt, which proves to its sender that it was taken", async () => {
  const { t, token } = await startWithDevice();
  const key = await logKey(t);
  const sent = [
    ["/api/telemetry/ingest", { repoKey: "r", entries: [{ seq: 1, payload: { a: "password=hunter2hunter2" } }] }],
    ["/api/brain/ingest", { repoKey: "r", version: 1, files: [{ path: "a.md", content: "# A" }] }],
    ["/api/agent-traces/ingest", { repoKey: "r", sessions: [{ id: "s", outcome: "ok", spans: [{ id: "a" }] }] }],
  ] as const;
  for (const [path, json] of sent) {
    const answer = await t.post(path, { token, json });
    const [index, size, ...encoded] = (answer.headers.get("reckon-receipt") as string).split(".");
    const [leaf, root, signature, salt] = encoded.map((part) => Buffer.from(part, "base64url")) as Buffer[];
    expect(encoded).toHaveLength(4);
    const signed = checkpointText({ origin: `${key.name}/1`, size: Number(size), root: root as Buffer });
    expect(verify(null, Buffer.from(signed), key.publicKey, signature as Buffer)).toBe(true);
    const text = proveDelivery(t.instance.core, Number(index) + 1, new Map(), [])?.leaf as string;
    expect(leafHash(Buffer.from(text))).toEqual(leaf);
    const digest = createHash("sha256")
      .update(salt as Buffer)
      .update(JSON.stringify(json))
      .digest("hex");
    // To the letter: a leaf that is written differently would not be found in the tree again.
    const [row] = t.rows(
      `SELECT json_object('v', 2, 'kind', kind, 'team', team_id, 'device', device_id, 'stream', stream_id, 'previous', previous,
         'at', received_at, 'count', items, 'redacted', redacted, 'flagged', flagged, 'captureMode', capture_mode, 'withheld', withheld,
         'itemCount', item_count, 'items', lower(hex(content_sha256)), 'sent', ?) AS leaf FROM deliveries WHERE id = ?`,
      digest,
      Number(index) + 1,
    );
    expect(text).toBe(row.leaf);
    // The salt is not kept, so nobody can test guesses of the body against its digest.
    const dump = JSON.stringify(t.rows("SELECT * FROM deliveries"));
    expect(dump).not.toContain((salt as Buffer).toString("hex"));
    const again = await t.post(path, { token, json });
    expect([again.status, again.headers.get("reckon-receipt")]).toEqual([200, null]);
  }
});

it("serves a checkpoint and tiles from which anybody can compute the root", async () => {
  const { t, token } = await startWithDevice();
  for (let seq = 1; seq <= 300; seq++)
    await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq, payload: {} }] } });
  const { size, root, origin } = openCheckpoint(await text(t, "/ledger/checkpoint"), await logKey(t));
  expect(origin).toMatch(/\/ledger\/[0-9a-f]{16}\/1$/);
  expect(size).toBe(t.count("log_leaves"));
  const tile = async (path: string) => {
    const answer = await t.instance.fetch(new Request(`http://localhost/ledger/tile/${path}`));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/octet-stream"]);
    const bytes = Buffer.from(await answer.arrayBuffer());
    return Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(i * 32, (i + 1) * 32));
  };
  const leaves = [...(await tile("0/000")), ...(await tile(`0/001.p/${size - 256}`))];
  expect(leaves.map((one) => one.toString("hex"))).toEqual(
    t.rows("SELECT lower(hex(sha256)) AS hash FROM log_leaves ORDER BY n").map(({ hash }) => hash),
  );
  expect(rootOf(leaves)).toEqual(root);
  expect(await tile("1/000.p/1")).toEqual([rootOf(leaves.slice(0, 256))]);
  // As clients write it that are generated.
  expect(await tile("1%2F000.p%2f1")).toEqual(await tile("1/000.p/1"));
  for (const absent of [
    "0/002",
    "0/001",
    `0/001.p/${size - 255}`,
    "1/000",
    "2/000.p/1",
    "64/000",
    "0/x001/000",
    "x",
    "0/000.p/0",
  ])
    expect([absent, (await t.call("GET", `/ledger/tile/${absent}`)).status]).toEqual([absent, 404]);

  // Of complete blocks the next start reads their roots alone.
  const blocks = async (of: TestInstance) => {
    for (const { run } of transparency.jobs ?? []) await run(of.instance.core);
    return of.rows("SELECT n, sha256 FROM log_subtrees");
  };
  const stored = await blocks(t);
  expect(stored).toEqual([{ n: 0, sha256: rootOf(leaves.slice(0, 256)) }]);
  await t.close();
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  await again.post("/api/telemetry/ingest", { token, json: { entries: [{ seq: 301, payload: {} }] } });
  const hashes = again.rows("SELECT sha256 FROM log_leaves ORDER BY n").map(({ sha256 }) => sha256);
  expect(openCheckpoint(await text(again, "/ledger/checkpoint"), await logKey(again))).toMatchObject({
    size: size + 1,
    root: rootOf(hashes),
  });
  const whole = await again.instance.fetch(new Request("http://localhost/ledger/tile/0/000"));
  expect(Buffer.from(await whole.arrayBuffer())).toEqual(Buffer.concat(hashes.slice(0, 256)));
  expect(await blocks(again)).toEqual(stored);
});

it("proves a team's records to the team's devices, and nothing to another team's", async () => {
  const t = await startInstance();
  const [ada, eve] = [await t.device(), await t.device()];
  await t.post("/api/telemetry/ingest", {
    token: ada.token,
    json: { repoKey: "shop", entries: [1, 2, 3].map((seq) => ({ seq, payload: { seq, text: `prompt ${seq}` } })) },
  });
  await t.post("/api/brain/ingest", {
    token: ada.token,
    json: { repoKey: "shop", version: 4, files: [{ path: "a.md", content: "# A" }] },
  });
  for (const spans of [[{ id: "a" }], [{ id: "a", tool: "rm" }, { id: "b" }]])
    await t.post("/api/agent-traces/ingest", {
      token: ada.token,
      json: { repoKey: "shop", sessions: [{ id: "s", outcome: "ok", spans }], labels: [{ sessionId: "s", name: "n" }] },
    });
  const key = await logKey(t);
  const proof = (token: string, kind: string, id: number) =>
    t.call("GET", `/ledger/proof?${new URLSearchParams({ kind, id: `${id}` })}`, { token });
  const proved = async (kind: string, id: number) => {
    const { status, text } = await proof(ada.token, kind, id);
    expect([kind, status]).toEqual([kind, 200]);
    return checkBundle(text, key, []);
  };
  const entry = await proved("entry", 2);
  expect(entry).toMatchObject({ proven: true });
  expect(JSON.stringify(entry)).toContain("prompt 2");
  expect(JSON.stringify(entry)).not.toContain("prompt 1");
  const snapshot = JSON.stringify(await proved("snapshot", 1));
  expect(snapshot).toContain("4 accepted");
  expect(snapshot).toContain(createHash("sha256").update("# A").digest("hex"));
  const session = JSON.stringify(await proved("session", 1));
  for (const part of ["rm", '\\"b\\"', "shop"]) expect(session).toContain(part);
  await proved("delivery", t.rows("SELECT min(id) AS id FROM deliveries")[0]?.id as number);

  for (const [kind, id] of [
    ["entry", 2],
    ["snapshot", 1],
    ["session", 1],
  ] as const) {
    expect((await proof(eve.token, kind, id)).status).toBe(404);
    expect((await proof(ada.token, kind, 99)).status).toBe(404);
  }
  const [event] = t.rows("SELECT leaf FROM audit_events WHERE team_id IS NOT NULL ORDER BY leaf");
  expect((await proof(eve.token, "event", event?.leaf as number)).status).toBe(404);

  t.instance.core.store.db.exec("UPDATE trace_spans SET document = '{}' WHERE external_id = 'b'");
  const altered = await proof(ada.token, "session", 1);
  expect([altered.status, altered.body]).toMatchObject([409, { error: expect.anything() }]);

  // What is another team's is not even read: how long that takes would tell how much it is.
  t.instance.core.store.db.exec("PRAGMA foreign_keys = OFF; DROP TABLE trace_spans");
  expect([(await proof(eve.token, "session", 1)).status, (await proof(ada.token, "session", 1)).status]).toEqual([
    404, 500,
  ]);
});

it("proves a snapshot with the largest number of files", async () => {
  const { t, token } = await startWithDevice();
  const files = Array.from({ length: t.instance.core.config.maxBrainFiles }, (_, i) => ({
    path: `${i}.md`,
    content: "",
  }));
  expect((await t.post("/api/brain/ingest", { token, json: { version: 1, files } })).status).toBe(200);
  const proof = prove(t.instance.core, null, "snapshot", 1);
  expect(checkBundle(proof, await logKey(t), [])).toMatchObject({ proven: true });
});

it("proves the rest of a delivery after an erasure, and keeps nothing to guess the erased text by", async () => {
  const { t, token } = await startWithDevice();
  const entries = ["yes", "no"].map((text, i) => ({ seq: i + 1, payload: { text } }));
  await t.post("/api/telemetry/ingest", { token, json: { repoKey: "r", entries } });
  const key = await logKey(t);
  const proof = (id: number) => t.call("GET", `/ledger/proof?kind=entry&id=${id}`, { token });
  const before = checkBundle((await proof(1)).text, key, []);
  expect(before.proven).toBe(true);
  const { core } = t.instance;
  await carryOut(core, await requestErasure(core, resolveTarget(core, { entry: "1" }), "asked for", COMMAND_LINE));
  expect((await proof(1)).status).toBe(409);
  const left = checkBundle((await proof(2)).text, key, []);
  expect([left.proven, left.bundle?.items[1]?.text]).toEqual([true, '2\0\0{"text":"no"}\0']);
  expect(verifyLedger(core, undefined, () => {})).toMatchObject({ faults: [], erased: 1 });
  // The hash is still there; without its salt it says nothing of the three letters.
  const [row] = t.rows("SELECT item_key, item_salts FROM deliveries");
  const salt = before.bundle?.items[1]?.salt as Buffer;
  expect([row.item_key, row.item_salts.includes(salt), row.item_salts.subarray(16, 32)]).toEqual([
    null,
    false,
    Buffer.alloc(16),
  ]);
});

it("goes on under another name when the database is not the one that signed last", async () => {
  const first = await startInstance();
  const key = await logKey(first);
  const { directory } = first;
  const again = async () => {
    const t = await startInstance({ directory });
    const note = await text(t, "/ledger/checkpoint");
    const size = t.count("log_leaves");
    const epochs = t.rows("SELECT data FROM log_epochs ORDER BY leaf").map(({ data }) => JSON.parse(data as string));
    await t.close();
    return { note, size, epochs };
  };
  await first.close();
  expect((await again()).note).toContain(`${key.name}/1\n`);
  rmSync(join(directory, "ledger-checkpoint"));
  const { note, size, epochs } = await again();
  const { origin } = epochs[1];
  expect(openCheckpoint(note, key)).toMatchObject({ origin, size });
  expect(epochs[1]).toMatchObject({ epoch: 2, previous: { origin: `${key.name}/1`, size: size - 1 } });
  const t = await startInstance({ directory });
  for (const [leaf, epoch] of [
    [1, 1],
    [size, 2],
  ] as const) {
    const { proven, bundle } = checkBundle(prove(t.instance.core, null, "event", leaf), key, []);
    expect([proven, JSON.parse(bundle?.leaf ?? "{}")]).toMatchObject([true, { kind: "epoch", epoch }]);
  }
  await t.close();
  expect(origin).toMatch(/\/2-[0-9a-f]{8}$/);
  expect((await again()).note).toContain(`${origin}\n`);
});

it("goes on under a name never used before, each time the same backup is restored", async () => {
  const first = await startInstance();
  const { directory } = first;
  const file = join(directory, "a-backup");
  const key = await logKey(first);
  const { token } = await first.device();
  await backup(first.instance.core, file);
  await first.close();
  const names = new Set<string>();
  for (const text of ["daisy", "poppy", "tulip"]) {
    restore(file, directory, text);
    const t = await startInstance({ directory });
    await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq: 1, payload: { text } }] } });
    const { origin } = openCheckpoint(await t.call("GET", "/ledger/checkpoint", {}).then((reply) => reply.text), key);
    // Devices compare this name with the last one; when it differs, they send again what is missing.
    expect((await t.get("/api/policy", { token })).headers.get("reckon-log")).toBe(origin);
    names.add(origin);
    await t.close();
  }
  expect(names.size).toBe(3);
});
