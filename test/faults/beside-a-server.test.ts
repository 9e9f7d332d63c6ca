import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { BESIDE } from "../../src/platform/store/store.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { exportTeam } from "../../src/share/moves/moves.ts";
import { newFolder } from "../support/folder.ts";
import { command } from "../support/remote.ts";
import { withDirectory } from "./support/data.ts";
import { testData, testServer } from "./support/test.ts";

/**
 * Long reads see the database as of one instant, while the server goes on: it takes deliveries, and once a second it puts the
 * checkpoint that it signed beside the database.
 */

/** A server, and a function that makes it take and sign a delivery while this process is blocked. */
async function serverThatGoesOn() {
  const { directory, devices } = await testData();
  const { url } = await testServer(directory);
  const headers = { authorization: `Bearer ${devices[0]?.token}`, "content-type": "application/json" };
  const bodyOf = (seq: number) => JSON.stringify({ repoKey: "engine", entries: [{ seq, payload: { type: "tool" } }] });
  const ingest = `${url}/api/telemetry/ingest`;
  const deliver = async (seq: number) =>
    expect((await fetch(ingest, { method: "POST", headers, body: bodyOf(seq) })).status).toBe(200);
  const signed = () => readFileSync(join(directory, BESIDE.checkpoint), "utf8");
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const goOn = (seq: number) => {
    const before = signed();
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    execFileSync("curl", ["-sS", "--fail-with-body", ingest, ...sent, "-d", bodyOf(seq)]);
    while (signed() === before) Atomics.wait(nobody, 0, 0, 20);
  };
  return { directory, deliver, goOn };
}

it("verifies the log as it was signed before, and calls nothing a fault that was signed meanwhile", async () => {
  const { directory, deliver, goOn } = await serverThatGoesOn();
  // Progress is told only after this many.
  for (let seq = 1; seq <= 100; seq++) await deliver(seq);
  let meanwhile = 0;
  const report = await withDirectory(directory, async (core) =>
    verifyLedger(core, undefined, () => {
      meanwhile++;
      goOn(100 + meanwhile);
    }),
  );
  expect(meanwhile).toBeGreaterThan(0);
  expect(report).toMatchObject({ deliveries: 100, faults: [] });
});

it("exports a team as of one instant, whatever is signed meanwhile", async () => {
  const { directory, deliver, goOn } = await serverThatGoesOn();
  await deliver(1);
  let meanwhile = 0;
  const out = join(newFolder(), "team");
  const exported = await withDirectory(directory, (core) =>
    exportTeam(core, "Acme", out, () => meanwhile++ || goOn(2), COMMAND_LINE),
  );
  expect(meanwhile).toBeGreaterThan(0);
  expect(exported.deliveries).toBe(1);
  const { directory: other } = await testData();
  const checked = await command(["team", "import", out, "--accept-key", "--dry-run", "--json", "--data", other]);
  expect([checked.code, JSON.parse(checked.stdout)]).toEqual([0, expect.objectContaining({ deliveries: 1 })]);
});
