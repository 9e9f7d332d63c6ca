import { expect, it } from "vitest";
import { carryOut, requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { deliverAll, filesWith, personWith } from "../../support/erasure.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";

const erase = async (t: TestInstance, request: Parameters<typeof resolveTarget>[1]) => {
  const { core } = t.instance;
  return carryOut(core, await requestErasure(core, resolveTarget(core, request), "asked for"));
};
const faults = (t: TestInstance) => verifyLedger(t.instance.core, undefined, () => {}).faults;

it("erases what a device sent, from every file, and nothing of others", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(team), await t.device(team)];
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, mine, "shop", "marigold", 10);
  await deliverAll(t, other, "till", "lavender");
  await t.instance.core.store.reclaim();
  expect(filesWith(t.directory, "marigold")).not.toEqual([]);
  const counts = await erase(t, { device: mine.deviceId });
  expect(counts).toMatchObject({ sessions: 2, spans: 2, labels: 3, snapshots: 2, devices: 1 });
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(filesWith(t.directory, "lavender")).toEqual(["reckon.db"]);
  expect(faults(t)).toEqual([]);
});
