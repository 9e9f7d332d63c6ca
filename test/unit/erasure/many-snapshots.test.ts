import { expect, it, vi } from "vitest";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { brainErasure } from "../../../src/record/brain/brain.ts";
import { setRetention } from "../../../src/share/erasure/erasure.ts";
import { runRetention } from "../../../src/share/erasure/nightly.ts";
import { startWithDevice } from "../../support/instance.ts";

/** A machine sent brains for years, and a night looks for those that ran out. */

/** The column values of a table's copied row number `n`. */
const CHANGED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  brain_blobs: { id: "1000 + n", sha256: "randomblob(32)" },
  brain_manifests: {
    id: "1000 + n",
    sha256: "CAST(printf('%032d', n) AS BLOB)",
    entries: `json_array(json_array('a.md', 1000 + n))`,
  },
  deliveries: { id: "1000 + n" },
  brain_snapshots: { id: "1000 + n", version: "1000 + n", delivery_id: "1000 + n" },
};

async function sentOften(often: number) {
  const { t, device } = await startWithDevice();
  const send = async (version: number) => {
    const json = { repoKey: "shop", version, files: [{ path: "a.md", content: `# ${version}` }] };
    expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  };
  await send(1);
  const { db } = t.instance.core.store;
  /** Copies the first row of a table. */
  const copy = (table: string, changed = CHANGED[table] ?? {}, times = changed === CHANGED[table] ? often : 1) => {
    const columns = (db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name);
    db.exec(`WITH RECURSIVE times (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM times WHERE n < ${times})
      INSERT INTO ${table} (${columns}) SELECT ${columns.map((name) => changed[name] ?? `t.${name}`)} FROM (SELECT * FROM ${table} ORDER BY id LIMIT 1) t, times ORDER BY n`);
  };
  return { t, device, send, copy };
}

it("looks at a thousand of them at a time", async () => {
  const { t, device, copy } = await sentOften(5_500);
  for (const table of ["deliveries", "brain_snapshots"]) copy(table);
  const { core } = t.instance;
  const far = Number.MAX_SAFE_INTEGER;
  const portion = { teamId: device.team.id, deviceId: device.deviceId, repoKey: null, until: far, through: 6_000 };
  const stretches = [...brainErasure.snapshotsOfPortion(core, portion, false)];
  expect(stretches.map(({ length }) => length)).toEqual([1_000, 1_000, 1_000, 1_000, 1_000, 1]);
  expect(new Set(stretches.flat().map(({ id }) => id)).size).toBe(5_001);
  // With this clock every piece of work takes long enough to let others in.
  let now = t.clock.monotonic();
  vi.spyOn(t.clock, "monotonic").mockImplementation(() => (now += 10));
  await setRetention(core, device.team.id, "brain", 30, COMMAND_LINE);
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const { transactions } = core.store.stats;
  await runRetention(core, device.team.id);
  clearImmediate(counting);
  expect(turns).toBeGreaterThan(core.store.stats.transactions - transactions + 5);
});

it("removes unused lists and contents of files, many at a time, and keeps those used meanwhile", async () => {
  const { t, device, send, copy } = await sentOften(2_500);
  for (const table of ["brain_blobs", "brain_manifests"]) copy(table);
  const { core } = t.instance;
  core.store.db.exec("UPDATE brain_blobs SET content = 'stays' WHERE id = 1500");
  await send(2);
  let removed = 0;
  for await (const step of brainErasure.eraseUnusedFiles(core, device.team.id)) {
    // A list whose snapshot comes after it was looked at.
    if (t.count("brain_snapshots") === 2) copy("brain_snapshots", { id: "1000", version: "3", manifest_id: "1500" });
    removed += (await core.store.write(step)).files ?? 0;
  }
  expect(removed).toBe(2_499);
  expect(t.rows("SELECT id FROM brain_manifests WHERE id BETWEEN 1000 AND 3500")).toEqual([{ id: 1500 }]);
  const kept = t.rows("SELECT content FROM brain_blobs ORDER BY content").map(({ content }) => content);
  expect(kept).toEqual(["# 1", "# 2", "stays"]);
});
