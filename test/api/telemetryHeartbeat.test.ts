import { expect, it } from "vitest";
import { startWithDevice } from "../support/instance.ts";

it("notes when the device was last heard of and answers the time", async () => {
  const { t, token } = await startWithDevice();
  t.clock.advance(5_000);
  const answer = await t.post("/api/telemetry/heartbeat", { token });
  expect([answer.status, answer.body]).toEqual([200, { ok: true, at: "2026-11-21T08:00:05.000Z" }]);
  expect(t.rows("SELECT last_seen_at FROM devices")[0].last_seen_at).toBe(t.clock.now());
});
