import { expect, it } from "vitest";
import { findDevice } from "../../../src/identity/devices/principals.ts";
import { deliveryItems } from "../../../src/kit/items.ts";
import { Intake } from "../../../src/record/intake/intake.ts";
import { digestOfSent } from "../../../src/record/sent-body/sent-body.ts";
import { startWithDevice } from "../../support/instance.ts";

it("stores nothing of a device whose binding ended while its body was arriving", async () => {
  const { t, core, token } = await startWithDevice();
  const principal = findDevice(core, token);
  if (!principal) throw new Error("no device");
  const ready = { captureMode: "full", repoKey: "r", sent: digestOfSent("{}") } as const;
  const record = () => {
    const intake = new Intake({ core, principal }, "telemetry", ready);
    const facts = { mode: null, items: 0, redacted: 0, flagged: null, withheld: 0 };
    return intake.store(() => intake.record({ ...facts, content: deliveryItems("r", null, []) }));
  };
  await record();
  expect(t.count("deliveries")).toBe(1);
  const { status } = await t.post("/api/connect/disconnect", { token, json: {} });
  expect(status).toBe(200);
  await expect(record()).rejects.toMatchObject({ row: { status: 401 } });
  expect(t.count("deliveries")).toBe(1);
});
