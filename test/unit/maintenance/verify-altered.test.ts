import { expect, it } from "vitest";
import { carryOut, requestErasure, resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { verifyLedger } from "../../../src/share/maintenance/maintenance.ts";
import { deliverAll } from "../../support/erasure.ts";
import { startInstance } from "../../support/instance.ts";

const SOMETHING_ELSE = ["'x'", "'{}'", "'[1]'", "'null'", "'-1'"];

it.each([
  ["log_epochs", "data", "chain"],
  ["deliveries", "kind", "content"],
  ["deliveries", "moved_from", "chain"],
  ["brain_manifests", "entries", "content"],
  ["erasures", "target", "erasure"],
])("tells of %s whose %s somebody made something else of, instead of ending there", async (table, column, problem) => {
  const t = await startInstance();
  const device = await t.device();
  await deliverAll(t, device, "shop", "marigold");
  await deliverAll(t, device, "till", "crocus");
  const { core } = t.instance;
  await carryOut(core, await requestErasure(core, resolveTarget(core, { repo: "shop" }), "asked for"));
  const problems = () => verifyLedger(core, undefined, () => {}).faults.map((one) => one.problem);
  expect(problems()).toEqual([]);
  core.store.db.pragma("ignore_check_constraints = ON");
  for (const value of SOMETHING_ELSE) {
    const where = `rowid = (SELECT max(rowid) FROM ${table})`;
    core.store.db.exec(`CREATE TEMP TABLE kept AS SELECT ${column} AS value FROM ${table} WHERE ${where}`);
    core.store.db.exec(`UPDATE ${table} SET ${column} = ${value} WHERE ${where}`);
    expect([value, problems()]).toEqual([value, expect.arrayContaining([problem])]);
    core.store.db.exec(`UPDATE ${table} SET ${column} = (SELECT value FROM kept) WHERE ${where}; DROP TABLE kept`);
  }
});

it("tells of a delivery that was put into another stream, as if it had come from another log", async () => {
  const t = await startInstance();
  await deliverAll(t, await t.device(), "shop", "marigold");
  const { core } = t.instance;
  const faults = () => verifyLedger(core, undefined, () => {}).faults.map(({ problem, detail }) => [problem, detail]);
  expect(faults()).toEqual([]);
  core.store.db.exec(`UPDATE deliveries SET moved_from = json_object('id', id, 'stream', stream_id, 'previous', previous),
    stream_id = (SELECT min(stream_id) FROM deliveries) WHERE id = (SELECT max(id) FROM deliveries)`);
  expect(faults()).toEqual([["chain", "it is said to have come from another log, and no import brought it"]]);
});
