import { expect, it } from "vitest";
import { startWithDevice } from "../support/instance.ts";

it("disconnect revokes the binding and keeps what the device sent", async () => {
  const { t, device } = await startWithDevice();
  await t.post("/api/telemetry/ingest", { token: device.token, json: { entries: [{ seq: 1, payload: {} }] } });
  const answer = await t.post("/api/connect/disconnect", { token: device.token });
  expect([answer.status, answer.body]).toEqual([200, { ok: true, revoked: true }]);
  expect(t.rows("SELECT revoked_at FROM devices")[0].revoked_at).toBe(t.clock.now());
  expect(t.count("telemetry_entries")).toBe(1);
  expect((await t.post("/api/connect/disconnect", { token: device.token })).status).toBe(401);
});

it("disconnect of one device leaves the team's others bound", async () => {
  const { t, device: one } = await startWithDevice();
  const two = await t.device(one.team);
  await t.post("/api/connect/disconnect", { token: one.token });
  expect((await t.get("/api/policy", { token: two.token })).status).toBe(200);
});
