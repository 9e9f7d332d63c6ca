import { expect, it } from "vitest";
import { renameDevice } from "../../../src/identity/devices/devices.ts";
import { sha256Hex } from "../../../src/kit/hash.ts";
import { itemUnder } from "../../../src/kit/items.ts";
import { deliveryErasure } from "../../../src/log/log.ts";
import { COMMAND_LINE, recordEvent, SYSTEM } from "../../../src/platform/audit/audit.ts";
import { eventText } from "../../../src/platform/audit/leaf.ts";
import { parsePolicy, setPolicy } from "../../../src/record/policy/policy.ts";
import { pack, unpack } from "../../../src/record/telemetry/packed.ts";
import { type Entry, entryText, erasedEntry } from "../../../src/record/telemetry/rules.ts";
import { spanText } from "../../../src/record/traces/item-texts.ts";
import { carryOut, requestErasure, resolveTarget, setRetention } from "../../../src/share/erasure/erasure.ts";
import { retentionJob } from "../../../src/share/erasure/nightly.ts";
import { deliverAll, eraseNow, personWith } from "../../support/erasure.ts";
import { noteOf } from "../../support/git-ai.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

/** Somebody who can write the database marks things as erased that no erasure took. */

const DAY = 86_400_000;
const faults = (t: TestInstance) =>
  ledgerFaults(t.instance.core).map(({ deliveryId, problem }) => [deliveryId, problem]);
const leafOf = (t: TestInstance, action: string): number =>
  t.rows("SELECT leaf FROM audit_events WHERE action = ? ORDER BY id DESC LIMIT 1", action)[0].leaf;

const FORGED = ["audit_events", "erased_events", "erasures", "deliveries", "delivery_items"];

/** The faults that verifying finds after a change, which is then undone. */
function faultsAfter(t: TestInstance, forge: () => void) {
  const { db } = t.instance.core.store;
  db.pragma("foreign_keys = OFF");
  for (const table of FORGED) db.exec(`CREATE TEMP TABLE kept_${table} AS SELECT * FROM main.${table}`);
  forge();
  const found = faults(t);
  for (const table of FORGED)
    db.exec(
      `DELETE FROM main.${table}; INSERT INTO main.${table} SELECT * FROM kept_${table}; DROP TABLE kept_${table}`,
    );
  db.pragma("foreign_keys = ON");
  expect(faults(t)).toEqual([]);
  return found;
}

const ROW = `at, team_id AS teamId, actor_kind AS actorKind, actor_id AS actorId, actor_label AS actorLabel, action, target_kind AS targetKind,
  target_id AS targetId, target_label AS targetLabel, ip, detail, item_key AS itemKey`;

/** Removes an event and marks it as erased, of its team or of another. */
function removeEvent(t: TestInstance, leaf: number, team: string | null = null): void {
  t.rows(
    "INSERT INTO erased_events (leaf, team_id, at) SELECT leaf, coalesce(?, team_id), 1 FROM audit_events WHERE leaf = ? RETURNING leaf",
    ...[team, leaf],
  );
  t.rows("DELETE FROM audit_events WHERE leaf = ? RETURNING id", leaf);
}

/** Changes an event and notes that names were taken out of it. @param key as is left of those that they were */
function alterEvent(t: TestInstance, leaf: number, key: Buffer | null = null): void {
  const [row] = t.rows(`SELECT ${ROW} FROM audit_events WHERE leaf = ?`, leaf);
  t.rows(
    "UPDATE audit_events SET item_sha256 = ?, item_key = ?, actor_label = 'somebody else' WHERE leaf = ? RETURNING id",
    ...[itemUnder(row.itemKey, 0, eventText(row)), key, leaf],
  );
}

/** Two devices that delivered, one of them of somebody who renamed the other. */
async function team() {
  const t = await startInstance();
  const acme = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(acme), await t.device(acme)];
  const { id } = await personWith(t, mine, "zinnia@example.com");
  const by = { kind: "user", id, label: "zinnia@example.com", ip: "192.0.2.77" } as const;
  await renameDevice(t.instance.core, acme.id, other.deviceId, "the tall one", by);
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, other, "till", "lavender");
  const delivery = (kind: string, device = other): number =>
    t.rows("SELECT id FROM deliveries WHERE kind = ? AND device_id = ? ORDER BY id", kind, device.deviceId)[0].id;
  return { t, acme, mine, other, delivery };
}

/** Marks a delivery as erased, with its items. */
function eraseEntries(t: TestInstance, delivery: number, erasureId: string): void {
  t.rows(
    "UPDATE deliveries SET erased_by = ?, erased_items = items, item_key = NULL WHERE id = ? RETURNING id",
    ...[erasureId, delivery],
  );
}

const insertErasure = (t: TestInstance, id: string, kind: string, teamId: string | null, target: object) =>
  t.rows(
    `INSERT INTO erasures (id, kind, team_id, target, reason, requested_by, requested_at, completed_at) VALUES (?, ?, ?, ?, 'traces 1 days, telemetry 1 days', '', 1, 1)
     RETURNING id`,
    ...[id, kind, teamId, JSON.stringify(target)],
  );

it("events that are gone, or altered, where nothing was ever erased", async () => {
  const { t, acme } = await team();
  await setPolicy(t.instance.core, acme.id, parsePolicy('{"captureMode":"full"}'), COMMAND_LINE);
  const leaf = leafOf(t, "policy.changed");
  expect(faultsAfter(t, () => removeEvent(t, leaf))).toEqual([[leaf, "erasure"]]);
  for (const key of [null, Buffer.alloc(32, 1)])
    expect(faultsAfter(t, () => alterEvent(t, leaf, key))).toEqual([[leaf, "erasure"]]);
});

it("events that are altered beside those that names were taken out of, before and after", async () => {
  const { t, other } = await team();
  await eraseNow(t.instance.core, { person: "zinnia@example.com" });
  expect(faults(t)).toEqual([]);
  const renamed = leafOf(t, "device.renamed");
  const [{ key }] = t.rows("SELECT item_key AS key FROM audit_events WHERE leaf = ?", renamed);
  const connected = leafOf(t, "device.connected");
  for (const forged of [null, key])
    expect(faultsAfter(t, () => alterEvent(t, connected, forged))).toEqual([[connected, "erasure"]]);
  // What remained of it is changed further.
  const change = () =>
    t.rows("UPDATE audit_events SET target_label = 'the small one' WHERE leaf = ? RETURNING id", renamed);
  expect(faultsAfter(t, change)).toContainEqual([renamed, "erasure"]);
  const forget = () => t.rows("UPDATE audit_events SET item_key = NULL WHERE leaf = ? RETURNING id", renamed);
  expect(faultsAfter(t, forget)).toEqual([[renamed, "erasure"]]);
  // The erasure's own event is gone.
  const told = leafOf(t, "names.erased");
  expect(faultsAfter(t, () => removeEvent(t, told)).length).toBeGreaterThan(1);
  // Another erasure reaches the rest.
  await eraseNow(t.instance.core, { device: other.deviceId });
  expect(faults(t)).toEqual([]);
});

it("an event, or a delivery, that is noted among those that retention let go", async () => {
  const { t, acme, delivery } = await team();
  const before = t.rows("SELECT id FROM audit_events WHERE team_id = ?", acme.id).length;
  t.clock.advance(60 * DAY);
  await setRetention(t.instance.core, "Acme", "audit", 30, COMMAND_LINE);
  await retentionJob.run(t.instance.core);
  expect(t.count("erased_events")).toBe(before);
  expect(faults(t)).toEqual([]);
  const set = leafOf(t, "retention.set");
  expect(faultsAfter(t, () => removeEvent(t, set)).length).toBeGreaterThan(0);
  // An earlier event without a team, made to look like this team's.
  const created = t.rows("SELECT min(leaf) AS leaf FROM audit_events WHERE team_id IS NULL")[0].leaf;
  expect(faultsAfter(t, () => removeEvent(t, created, acme.id)).length).toBeGreaterThan(0);
  const telemetry = delivery("telemetry");
  const asEvent = () => {
    t.rows("INSERT INTO erased_events (leaf, team_id, at) VALUES (?, ?, 1) RETURNING leaf", telemetry, acme.id);
    t.rows("DELETE FROM deliveries WHERE id = ? RETURNING id", telemetry);
  };
  expect(faultsAfter(t, asEvent).map(([, problem]) => problem)).toContain("erasure");
  // The event that reports it is gone as well, so no retention could have removed it.
  const all = () => {
    for (const action of ["events.erased", "retention.begun", "retention.run"]) removeEvent(t, leafOf(t, action));
  };
  expect(faultsAfter(t, all).map(([, problem]) => problem)).toContain("erasure");
  for (let night = 0; night < 3; night++) {
    t.clock.advance(31 * DAY);
    await renameDevice(
      t.instance.core,
      acme.id,
      t.rows("SELECT id FROM devices")[0].id,
      `night ${night}`,
      COMMAND_LINE,
    );
    await retentionJob.run(t.instance.core);
    expect(faults(t)).toEqual([]);
  }
  expect(t.count("erased_events")).toBeGreaterThan(before + 3);
});

it("a delivery that is erased by nothing that the log tells of, or by what does not reach it", async () => {
  const { t, acme, mine, other, delivery } = await team();
  await eraseNow(t.instance.core, { device: mine.deviceId });
  expect(faults(t)).toEqual([]);
  const [{ id: real }] = t.rows("SELECT id FROM erasures");
  const deliveries = [delivery("telemetry"), delivery("traces")];
  for (const id of deliveries) {
    const problems = (forge: () => void) => faultsAfter(t, forge).filter(([of]) => of === id);
    expect(problems(() => eraseEntries(t, id, "era_none"))).toContainEqual([id, "erasure"]);
    for (const [kind, target] of [
      ["retention", {}],
      ["device", { kind: "device", deviceId: other.deviceId }],
      ["person", { kind: "person", personId: "usr_1", deviceIds: [other.deviceId] }],
    ] as const)
      for (const teamId of [null, acme.id]) {
        const forge = () => {
          insertErasure(t, "era_forged", kind, teamId, target);
          eraseEntries(t, id, "era_forged");
        };
        expect(problems(forge)).toContainEqual([id, "erasure"]);
      }
    expect(problems(() => eraseEntries(t, id, real))).toContainEqual([id, "erasure"]);
    // As if it had brought notes of commits, which go with whatever they name.
    const asNotes = () => {
      t.rows("UPDATE deliveries SET mode = 'notes' WHERE id = ? RETURNING id", id);
      eraseEntries(t, id, real);
    };
    expect(problems(asNotes)).toContainEqual([id, "erasure"]);
    const retarget = () => {
      t.rows("UPDATE erasures SET target = replace(target, ?, ?) RETURNING id", mine.deviceId, other.deviceId);
      eraseEntries(t, id, real);
    };
    expect(problems(retarget)).toContainEqual([id, "erasure"]);
  }
});

it("a delivery that came after the erasure was done, or is too young for retention", async () => {
  const { t, other, delivery } = await team();
  const { core } = t.instance;
  const requested = await requestErasure(
    core,
    resolveTarget(core, { repo: "shop", team: "Acme" }),
    "they wanted it",
    COMMAND_LINE,
  );
  const real = requested.id;
  await deliverAll(t, other, "shop", "peony", 1);
  await carryOut(core, requested);
  for (const kind of ["telemetry", "brain"]) {
    const [{ id }] = t.rows("SELECT max(id) AS id FROM deliveries WHERE kind = ?", kind);
    expect(faultsAfter(t, () => eraseEntries(t, id, real))).toContainEqual([id, "erasure"]);
  }
  await deliverAll(t, other, "shop", "tulip", 5);
  const late = t.rows("SELECT max(id) AS id FROM deliveries WHERE kind = 'telemetry'")[0].id;
  expect(faultsAfter(t, () => eraseEntries(t, late, real))).toContainEqual([late, "erasure"]);
  t.clock.advance(60 * DAY);
  await deliverAll(t, other, "till", "crocus", 10);
  const young = t.rows("SELECT max(id) AS id FROM deliveries WHERE kind = 'telemetry'")[0].id;
  for (const kind of ["telemetry", "traces"] as const)
    await setRetention(t.instance.core, "Acme", kind, 30, COMMAND_LINE);
  await retentionJob.run(t.instance.core);
  expect(faults(t)).toEqual([]);
  const [{ run }] = t.rows("SELECT id AS run FROM erasures WHERE kind = 'retention'");
  expect(t.rows("SELECT erased_by AS by FROM deliveries WHERE id = ?", delivery("telemetry"))).toEqual([{ by: run }]);
  expect(faultsAfter(t, () => eraseEntries(t, young, run))).toContainEqual([young, "erasure"]);
  const brain = delivery("brain");
  expect(faultsAfter(t, () => eraseEntries(t, brain, run))).toContainEqual([brain, "erasure"]);
});

it("accepts erasures whose own events ran out since, and nothing that came after them", async () => {
  const { t, mine, other } = await team();
  const { core } = t.instance;
  const sessions = ["s-1", "s-2"].map((id) => ({ id, outcome: "ok", spans: [{ id: "a", name: id }] }));
  const traced = await t.post("/api/agent-traces/ingest", { token: other.token, json: { repoKey: "till", sessions } });
  expect(traced.status).toBe(200);
  const entries = ["s-1", "s-2"].map((id) => ({
    commit_sha: sha256Hex(id).slice(0, 40),
    content: noteOf({ files: { "src/a.ts": { "s_1::t_1": "1-2" } }, sessions: { s_1: id } }),
  }));
  const noted = await t.post("/adapters/git-ai/worker/notes/upload", { token: other.token, json: { entries } });
  expect(noted.body).toEqual({ success_count: 2, failure_count: 0 });
  // One session of a remaining delivery is erased, with its note.
  await eraseNow(core, { session: "s-1" });
  await eraseNow(core, { device: mine.deviceId });
  const [{ id: real }] = t.rows("SELECT id FROM erasures WHERE kind = 'device'");
  t.clock.advance(60 * DAY);
  await setRetention(core, "Acme", "audit", 30, COMMAND_LINE);
  await retentionJob.run(core);
  expect(t.rows("SELECT 1 FROM audit_events WHERE target_id = ?", real)).toEqual([]);
  expect(t.rows("SELECT erased_by IS NULL AS whole FROM deliveries WHERE item_salts IS NOT NULL")).toEqual([
    { whole: 0 },
    { whole: 1 },
  ]);
  expect(faults(t)).toEqual([]);
  await deliverAll(t, other, "till", "crocus", 10);
  const [{ id: late }] = t.rows("SELECT max(id) AS id FROM deliveries WHERE kind = 'telemetry'");
  expect(faultsAfter(t, () => eraseEntries(t, late, real))).toContainEqual([late, "erasure"]);
});

it("items that are gone, and noted as if they had been erased or replaced", async () => {
  const { t, delivery } = await team();
  const note = (id: number, item: number, text: string) => {
    const [{ key }] = t.rows("SELECT item_key AS key FROM deliveries WHERE id = ?", id);
    const insert = "INSERT INTO delivery_items (delivery_id, item, sha256) VALUES (?, ?, ?) RETURNING item";
    t.rows(insert, id, item, itemUnder(key, item, text));
  };
  const telemetry = delivery("telemetry");
  const [segment] = t.rows("SELECT first_id AS id, texts FROM telemetry_segments WHERE delivery_id = ?", telemetry);
  const entries = unpack(segment.texts);
  note(telemetry, 2, entryText(entries[1] as Entry));
  const { texts } = pack(entries.map((entry, i) => (i === 1 ? erasedEntry(entry.seq) : entry)));
  const put = "UPDATE telemetry_segments SET texts = ?, bytes = ? WHERE first_id = ? RETURNING 1";
  t.rows(put, texts, texts.length, segment.id);
  const brain = delivery("brain");
  const [{ id: manifest }] = t.rows("SELECT manifest_id AS id FROM brain_snapshots WHERE delivery_id = ?", brain);
  const [{ entries: list }] = t.rows("SELECT entries FROM brain_manifests WHERE id = ?", manifest);
  const [kept, gone] = JSON.parse(list);
  const [{ sha256 }] = t.rows("SELECT sha256 FROM brain_blobs WHERE id = ?", gone[1]);
  note(brain, 3, `${gone[0]}\0${sha256.toString("hex")}`);
  t.rows("UPDATE brain_manifests SET entries = ? WHERE id = ? RETURNING id", JSON.stringify([kept]), manifest);
  const traces = delivery("traces");
  const [span] = t.rows(
    "SELECT id, item, external_id AS name, document FROM trace_spans WHERE delivery_id = ?",
    traces,
  );
  note(traces, span.item, spanText("lavender-s1", span.name, span.document));
  t.rows("DELETE FROM trace_spans WHERE id = ? RETURNING id", span.id);
  expect(faults(t).filter(([, problem]) => problem === "content")).toEqual(
    [telemetry, brain, traces].map((id) => [id, "content"]),
  );
});

it("what of a delivery is forgotten where no erasure reaches it, though more of its device came since", async () => {
  const { t, mine, other, delivery } = await team();
  await deliverAll(t, other, "till", "lavender", 10);
  await eraseNow(t.instance.core, { device: mine.deviceId });
  const traces = delivery("traces");
  const [span] = t.rows(
    "SELECT id, item, external_id AS name, document FROM trace_spans WHERE delivery_id = ?",
    traces,
  );
  const forget = () =>
    deliveryErasure.forgetItems(
      t.instance.core,
      traces,
      new Map([[span.item, spanText("lavender-s1", span.name, span.document)]]),
    );
  expect(faultsAfter(t, forget)).toContainEqual([traces, "erasure"]);
});

it("accepts what earlier versions erased without stating it, and states it in the next night", async () => {
  const { t, acme } = await team();
  const { core } = t.instance;
  const tell = (action: string, kind: string, teamId: string | null, detail: object = {}) =>
    core.store.write(() =>
      recordEvent(core, SYSTEM, {
        ...{ action, teamId, target: { kind: "erasure", id: `era_${kind}`, label: kind } },
        detail: { reason: "audit 30 days", ...detail },
      }),
    );
  const [renamed, connected] = [leafOf(t, "device.renamed"), leafOf(t, "device.connected")];
  const created = leafOf(t, "code.created");
  await tell("erasure.requested", "person", null);
  alterEvent(t, renamed);
  await tell("erasure.completed", "person", null);
  removeEvent(t, created);
  await tell("retention.run", "retention", acme.id, { counts: { events: 1 } });
  expect(faults(t)).toEqual([]);
  await setRetention(core, "Acme", "audit", 30, COMMAND_LINE);
  const set = leafOf(t, "retention.set");
  expect(faultsAfter(t, () => alterEvent(t, set))).toEqual([[set, "erasure"]]);
  expect(faultsAfter(t, () => removeEvent(t, set))).toEqual([[set, "erasure"]]);
  t.clock.advance(3_600_000);
  await retentionJob.run(core);
  expect(leafOf(t, "events.erased")).toBeGreaterThan(set);
  expect(faults(t)).toEqual([]);
  expect(faultsAfter(t, () => removeEvent(t, connected)).map(([, problem]) => problem)).toContain("erasure");
});
