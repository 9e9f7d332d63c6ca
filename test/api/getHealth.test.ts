import { expect, it } from "vitest";
import { startInstance } from "../support/instance.ts";

it("is ok while the database takes writes", async () => {
  const t = await startInstance();
  const answer = await t.get("/api/health");
  expect([answer.status, answer.body]).toEqual([200, { status: "ok", db: "up", ts: "2026-11-21T08:00:00.000Z" }]);
  expect(answer.headers.get("cache-control")).toBe("no-store");
});

it("is degraded while it does not, at once after a failed request, and recovers by itself", async () => {
  const t = await startInstance();
  const { token } = await t.device();
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

it("notices without traffic that writing stopped working", async () => {
  const t = await startInstance();
  expect((await t.get("/api/health")).status).toBe(200);
  t.instance.core.store.db.pragma("query_only = ON");
  t.clock.advance(10_000);
  expect((await t.get("/api/health")).status).toBe(503);
});
