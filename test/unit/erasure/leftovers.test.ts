import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { HOUR_MS } from "../../../src/kit/clock.ts";
import { sha256Hex } from "../../../src/kit/hash.ts";
import { reclaimJob } from "../../../src/share/erasure/reclaim.ts";
import { examineErasures } from "../../../src/share/maintenance/findings.ts";
import { deliverAll, eraseNow, filesWith } from "../../support/erasure.ts";
import { startInstance, startWithDevice } from "../../support/instance.ts";

it("leaves nothing of removed rows in pages from which SQLite had moved them, and keeps other rows whole", async () => {
  const t = await startInstance();
  const { store } = t.instance.core;
  const add = (word: string, from: number) =>
    store.write(() => {
      const insert = store.db.prepare("INSERT INTO moved VALUES (?, ?, ?)");
      for (let i = from; i < from + 300; i++) insert.run(sha256Hex(`${i}`), word, `${word} ${i} `.repeat(1 + (i % 30)));
    });
  await store.write(() =>
    store.db.exec("CREATE TABLE moved (key TEXT PRIMARY KEY, word TEXT, text TEXT) STRICT, WITHOUT ROWID"),
  );
  for (const [i, word] of ["lavender", "marigold", "peony"].entries()) await add(word, i * 300);
  await store.write(() => store.db.exec("UPDATE moved SET text = text || text"));
  const others = () => t.rows("SELECT * FROM moved WHERE word <> 'marigold' ORDER BY key");
  const before = others();
  await store.write(() => store.db.exec("DELETE FROM moved WHERE word = 'marigold'"));
  store.checkpoint();
  // SQLite overwrites a removed row where it lies, but not where it lay before.
  expect(filesWith(t.directory, "marigold")).toContain("reckon.db");
  expect(await store.reclaim()).toBe(true);
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect([others(), store.db.pragma("integrity_check", { simple: true })]).toEqual([before, "ok"]);
  // Nor does a later write bring back pages that were held in memory.
  await add("rosemary", 900);
  store.checkpoint();
  expect(filesWith(t.directory, "marigold")).toEqual([]);
});

it("cleans the files once a long reader is done, and the doctor says so meanwhile", async () => {
  const { t, core, device } = await startWithDevice();
  await deliverAll(t, device, "shop", "marigold");
  // Litestream keeps a reader open in this way.
  const reader = new Sqlite(join(t.directory, "reckon.db"));
  reader.exec("BEGIN; SELECT count(*) FROM teams");
  await eraseNow(core, { device: device.deviceId });
  expect(filesWith(t.directory, "marigold")).not.toEqual([]);
  expect(examineErasures(core).status).toBe("ok");
  t.clock.advance(HOUR_MS);
  expect(examineErasures(core)).toMatchObject({ status: "warning", detail: expect.stringContaining("reckon.db-wal") });
  reader.exec("COMMIT");
  await reclaimJob.run(core);
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(examineErasures(core).status).toBe("ok");
  expect(t.rows("SELECT count(*) AS n FROM erasures WHERE reclaimed_at IS NULL")).toEqual([{ n: 0 }]);
  reader.close();
});

it("moves the log step by step while it gives room back, so that nobody waits for all of it at once", async () => {
  const { store } = (await startInstance()).instance.core;
  await store.write(() => store.db.exec("CREATE TABLE filled (id INTEGER PRIMARY KEY, text TEXT) STRICT"));
  const fill = () =>
    store.write(() =>
      store.db.exec(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
         INSERT INTO filled (text) SELECT hex(zeroblob(1900)) FROM n`,
      ),
    );
  await fill();
  await fill();
  await store.write(() => store.db.exec("DELETE FROM filled WHERE id <= 6000"));
  const pages = store.db.prepare<[], { log: number; checkpointed: number }>("PRAGMA wal_checkpoint(NOOP)");
  const waiting = () => {
    const { log = 0, checkpointed = 0 } = pages.get() ?? {};
    return log - checkpointed;
  };
  store.checkpoint();
  let [most, isDone] = [0, false];
  const done = store.reclaim().finally(() => {
    isDone = true;
  });
  while (!isDone) {
    most = Math.max(most, waiting());
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([await done, store.db.pragma("freelist_count", { simple: true })]).toEqual([true, 0]);
  // 6,000 pages are moved in all, 500 at a time.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThan(2_000);
});
