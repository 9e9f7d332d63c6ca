import { renameSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

it("is ok while the database takes writes", async () => {
  const t = await startInstance();
  const answer = await t.get("/api/health");
  expect([answer.status, answer.body]).toEqual([200, { status: "ok", db: "up", ts: "2026-11-21T08:00:00.000Z" }]);
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

it("is degraded while the database takes no writes, at once after a failed request, and recovers by itself", async () => {
  const { t, token } = await startWithDevice();
  const { db } = t.instance.core.store;
  await t.get("/api/health");
  db.pragma("query_only = ON");
  expect((await t.post("/api/telemetry/heartbeat", { token })).status).toBe(503);
  const down = await t.get("/api/health");
  expect([down.status, down.body.status, down.body.db]).toEqual([503, "degraded", "down"]);
  db.pragma("query_only = OFF");
  t.clock.advance(1_000);
  expect((await t.get("/api/health")).status).toBe(200);
});

it("notices without traffic that writes fail", async () => {
  const t = await startInstance();
  expect((await t.get("/api/health")).status).toBe(200);
  t.instance.core.store.db.pragma("query_only = ON");
  t.clock.advance(10_000);
  expect((await t.get("/api/health")).status).toBe(503);
});

it("is degraded at once when the database file is taken away, and until something is stored again, although the file is back", async () => {
  const { t, token } = await startWithDevice();
  const file = join(t.directory, "reckon.db");
  expect((await t.get("/api/health")).status).toBe(200);
  const probed = t.rows("SELECT * FROM health_probes");
  renameSync(file, `${file}.away`);
  t.clock.advance(100);
  const gone = await t.get("/api/health");
  expect([gone.status, gone.body.status, gone.body.db]).toEqual([503, "degraded", "down"]);
  renameSync(`${file}.away`, file);
  t.clock.advance(100);
  expect((await t.get("/api/health")).status).toBe(503);
  expect((await t.post("/api/telemetry/heartbeat", { token })).status).toBe(503);
  expect(t.rows("SELECT * FROM health_probes")).toEqual(probed);
});

/** Takes the write lock as another process would: by a connection of its own. */
function otherWriter(t: TestInstance) {
  const db = new Sqlite(join(t.directory, "reckon.db"));
  onTestFinished(() => void db.close());
  db.exec("BEGIN IMMEDIATE");
  return db;
}

it("is degraded while another process keeps the write lock, says so before a delivery is given up, and recovers", async () => {
  const { t, token } = await startWithDevice();
  await t.get("/api/health");
  // The last write is too old by now to prove anything.
  t.clock.advance(10_000);
  const other = otherWriter(t);
  const delivery = t.post("/api/telemetry/heartbeat", { token });
  const first = await Promise.race([t.get("/api/health"), delivery]);
  expect([first.status, first.body.status, first.body.db]).toEqual([503, "degraded", "down"]);
  expect(other.inTransaction).toBe(true);
  expect((await t.get("/api/health")).status).toBe(503);
  other.exec("ROLLBACK");
  // The delivery waited for the lock as long as ever.
  expect((await delivery).status).toBe(200);
  t.clock.advance(1_000);
  expect((await t.get("/api/health")).body).toMatchObject({ status: "ok", db: "up" });
  expect(t.rows("SELECT probed_at, length(filler) AS filler FROM health_probes")).toEqual([
    { probed_at: t.clock.now(), filler: 0 },
  ]);
});

it("stays ok when another process has the write lock for a moment", async () => {
  const t = await startInstance();
  await t.get("/api/health");
  t.clock.advance(10_000);
  const other = otherWriter(t);
  const asked = t.get("/api/health");
  await new Promise(setImmediate);
  other.exec("COMMIT");
  expect((await asked).status).toBe(200);
});
