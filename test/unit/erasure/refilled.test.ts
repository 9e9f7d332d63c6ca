import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { DAY_MS } from "../../../src/kit/clock.ts";
import { refilledJob } from "../../../src/share/erasure/refilled.ts";
import { backup, restore } from "../../../src/share/maintenance/maintenance.ts";
import { deliverAll, eraseNow, filesWith } from "../../support/erasure.ts";
import { startInstance, startWithDevice, type TestInstance } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

it("erases a session again that a machine sends to a restored server, which knew neither it nor its erasure", async () => {
  const { t, device } = await startWithDevice();
  const file = join(t.directory, "..", `reckon-${randomUUID()}.backup`);
  await backup(t.instance.core, file);
  const send = async (to: TestInstance, seq: number, text: string) => {
    const { token } = device;
    const entries = [{ seq, payload: { type: "prompt", text, sessionId: text } }];
    await to.post("/api/telemetry/ingest", { token, json: { entries } });
    const sessions = [{ id: text, outcome: "ok", prompts: [{ text }], spans: [{ id: "a", name: text }] }];
    await to.post("/api/agent-traces/ingest", { token, json: { sessions } });
  };
  await send(t, 1, "marigold");
  const { core } = t.instance;
  await eraseNow(core, { session: "marigold" });
  await t.close();
  restore(file, t.directory, "then");
  rmSync(file);
  rmSync(join(t.directory, "backups"), { recursive: true });
  // The capture client may send at any time, also after the server was started again.
  await (await startInstance({ directory: t.directory, clock: t.clock })).close();
  t.clock.advance(3 * DAY_MS);
  const again = await startInstance({ directory: t.directory, clock: t.clock });
  await send(again, 1, "marigold");
  await send(again, 2, "lavender");
  await again.instance.settle();
  await refilledJob.run(again.instance.core);
  expect(filesWith(again.directory, "marigold")).toEqual([]);
  expect(again.rows("SELECT external_id AS session FROM trace_sessions")).toEqual([{ session: "lavender" }]);
  expect(ledgerFaults(again.instance.core)).toEqual([]);
  await again.close();
});

it("lets a session that was erased go on where nothing was restored", async () => {
  const { t, device } = await startWithDevice();
  await deliverAll(t, device, "shop", "marigold");
  const { core } = t.instance;
  await eraseNow(core, { session: "marigold-s1" });
  await deliverAll(t, device, "shop", "marigold", 1);
  await refilledJob.run(core);
  expect(t.rows("SELECT external_id AS session FROM trace_sessions")).toEqual([{ session: "marigold-s1" }]);
});
