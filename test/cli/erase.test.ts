import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { rowsOf, withDirectory } from "../faults/support/data.ts";
import { mountDisk, noPowerCut } from "../faults/support/disk.ts";
import { launch, until } from "../faults/support/process.ts";
import { testData, testServer } from "../faults/support/test.ts";
import { makeAccount } from "../support/accounts.ts";
import { deliverAll, filesWith } from "../support/erasure.ts";
import { startInstance } from "../support/instance.ts";
import { command } from "../support/remote.ts";

async function run(data: string, ...args: string[]) {
  const done = await command([...args, "--data", data, "--json"]);
  return { ...done, result: done.code === 0 ? JSON.parse(done.stdout) : undefined };
}

/** A directory with two devices' deliveries, which no server has open. */
async function directory() {
  const t = await startInstance();
  // The commands and servers that follow go by the machine's clock, by which credentials would have expired.
  t.clock.jump(Date.now() - t.clock.now());
  const team = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(team), await t.device(team)];
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, other, "till", "lavender");
  await t.close();
  return { data: t.directory, team, mine, other };
}

it("tells what would go and what holds copies, asks, erases, and the ledger still verifies", async () => {
  const { data, mine } = await directory();
  expect((await run(data, "backup", join(data, "backups.db"))).code).toBe(0);
  const erase = ["erase", "--device", mine.deviceId, "--reason", "they left"];
  const { result: plan } = await run(data, ...erase, "--dry-run");
  expect(plan).toMatchObject({
    erased: false,
    counts: { entries: 3, sessions: 1, spans: 1, labels: 2, snapshots: 1, notes: 1 },
    devices: [mine.deviceId],
  });
  expect(plan.copies.join()).toMatch(/kept elsewhere.*exported/);
  const { result: ofSession } = await run(data, ...erase, "--session", "marigold-s1", "--dry-run");
  expect(ofSession).toMatchObject({ counts: { entries: 3, sessions: 1, snapshots: 0 }, devices: [] });
  expect(rowsOf(data, "SELECT count(*) AS n FROM erasures")).toEqual([{ n: 0 }]);
  const unasked = await run(data, ...erase);
  expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining("--dry-run")]);
  const { result: done } = await run(data, ...erase, "--yes");
  expect(done).toMatchObject({ erased: true, counts: { entries: 3, sessions: 1, snapshots: 1 } });
  // A backup is a copy, and stays.
  expect(filesWith(data, "marigold")).toEqual(["backups.db"]);
  expect((await run(data, "ledger", "verify")).result).toMatchObject({ deliveries: 8, erased: 4, faults: [] });
  expect((await run(data, "doctor")).result).toContainEqual(
    expect.objectContaining({ check: "erasures", status: "ok" }),
  );
  const restored = await run(data, "restore", join(data, "backups.db"));
  expect(restored.result).toMatchObject({ erasedAgain: 1 });
  rmSync(join(data, "backups.db"));
  rmSync(join(data, "backups"), { recursive: true });
  expect(filesWith(data, "marigold")).toEqual([]);
});

it("erases beside a running server, which stops showing it, and from every file", async () => {
  const { data, mine, other } = await directory();
  const server = await testServer(data);
  const search = async (word: string) => {
    const asked = await fetch(`http://127.0.0.1:${server.port}/api/brain/search?q=${word}`, {
      headers: { authorization: `Bearer ${other.token}` },
    });
    return ((await asked.json()) as { total: number }).total;
  };
  expect([await search("marigold"), await search("lavender")]).toEqual([expect.any(Number), expect.any(Number)]);
  expect(await search("marigold")).toBeGreaterThan(0);
  expect((await run(data, "erase", "--device", mine.deviceId, "--reason", "x", "--yes")).code).toBe(0);
  expect(filesWith(data, "marigold")).toEqual([]);
  expect([await search("marigold"), (await search("lavender")) > 0]).toEqual([0, true]);
  await server.end();
  expect(filesWith(data, "marigold")).toEqual([]);
});

it("demands one target and a reason", async () => {
  const { data } = await directory();
  for (const wrong of [
    ["erase", "--reason", "x"],
    ["erase", "--device", "d"],
    ["erase", "--device", "d", "--person", "p", "--reason", "x"],
    // A person is erased in every team, so whoever names one means something less.
    ["erase", "--person", "p", "--team", "Acme", "--reason", "x", "--yes"],
    ["hold", "place", "--reason", "x"],
    ["retention", "set", "--team", "Acme", "--kind", "everything", "--days", "3"],
    ["retention", "set", "--team", "Acme", "--kind", "brain", "--days", "0"],
  ])
    expect([wrong.join(" "), (await run(data, ...wrong)).code]).toEqual([wrong.join(" "), 2]);
  for (const unknown of [
    ["erase", "--device", "dev_x", "--reason", "x", "--yes"],
    ["erase", "--session", "none", "--reason", "x", "--yes"],
    ["erase", "--entry", "999", "--reason", "x", "--yes"],
    ["hold", "release", "hold_x"],
  ])
    expect([unknown.join(" "), (await run(data, ...unknown)).code]).toEqual([unknown.join(" "), 1]);
  // A mistyped name must not read as if something were gone.
  const planned = await command(["erase", "--repo", "shpo", "--reason", "x", "--dry-run", "--data", data]);
  expect([planned.code, planned.stdout]).toEqual([0, expect.stringContaining("Nothing was recorded of it.")]);
  // Of a person the account goes, too.
  const person = ["user", "create", "ada@example.com", "--password-stdin", "--data", data];
  await command(person, { input: "correct horse battery" });
  const account = await command(["erase", "--person", "ada@example.com", "--reason", "x", "--dry-run", "--data", data]);
  expect(account.stdout).toContain("With the account: name, sign-ins, tokens");
  expect(account.stdout).not.toContain("Nothing was recorded");
  const mistyped = await command(["erase", "--repo", "shpo", "--reason", "x", "--yes", "--data", data]);
  expect(mistyped).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^erased \(.*\); nothing was recorded of it\n$/),
  });
});

it("places and releases holds, which erase names, and sets retention, warning below half a year", async () => {
  const { data, mine } = await directory();
  const { result: hold } = await run(data, "hold", "place", "--device", mine.deviceId, "--reason", "a claim");
  const refused = await run(data, "erase", "--repo", "shop", "--reason", "x", "--yes");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(hold.holdId)]);
  expect((await run(data, "hold", "release", hold.holdId)).result).toMatchObject({ releasedAt: expect.any(String) });
  expect((await run(data, "hold", "list")).result).toMatchObject([{ kind: "device", reason: "a claim" }]);
  const short = await run(data, "retention", "set", "--team", "Acme", "--kind", "traces", "--days", "90");
  expect([short.result, short.stderr]).toEqual([
    expect.objectContaining({ kind: "traces", days: 90, changed: true }),
    expect.stringContaining("183"),
  ]);
  const setBrain = () => run(data, "retention", "set", "--team", "Acme", "--kind", "brain", "--days", "400");
  expect((await setBrain()).stderr).toMatch(/^What is older is removed for good, .*\n$/);
  expect((await setBrain()).stderr, "it was so already").toBe("");
  expect((await run(data, "retention", "list")).result).toMatchObject([
    { name: "Acme", keeps: { traces: 90, brain: 400, audit: "forever" }, lastRun: null },
  ]);
  expect((await run(data, "retention", "set", "--team", "Acme", "--kind", "brain", "--days", "forever")).code).toBe(0);
  expect((await run(data, "retention", "list", "--team", "Acme")).result[0].keeps.brain).toBe("forever");
});

const BATCHES = 150;

/** A directory with so much of one device that erasing it takes a while. */
async function large(): Promise<{ readonly data: string; readonly erase: readonly string[] }> {
  const { directory: data, devices } = await testData();
  const { deviceId, token } = devices[0] as { deviceId: string; token: string };
  const server = await testServer(data, { env: { RECKON_LIMIT_TELEMETRY: "off" } });
  for (let batch = 0; batch < BATCHES; batch++) {
    const entries = Array.from({ length: 500 }, (_, i) => ({
      seq: batch * 500 + i + 1,
      payload: { text: `marigold ${batch}` },
    }));
    const sent = await fetch(`http://127.0.0.1:${server.port}/api/telemetry/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ repoKey: "r", entries }),
    });
    expect(sent.status).toBe(200);
  }
  await server.end();
  return { data, erase: ["erase", "--device", deviceId, "--reason", "x", "--yes"] };
}

const gone = (data: string) =>
  rowsOf(data, "SELECT count(*) AS n FROM deliveries WHERE erased_by IS NOT NULL")[0].n as number;

/** Lets an erasure come half through and then count for ever, however fast it is. @returns lets the next one go on */
function haltHalfway(data: string): () => void {
  const exec = (sql: string) => new Sqlite(join(data, "reckon.db")).exec(sql).close();
  exec(`CREATE TRIGGER halted AFTER UPDATE OF erased_by ON deliveries
    WHEN (SELECT count(*) FROM deliveries WHERE erased_by IS NOT NULL) > ${BATCHES / 2}
    BEGIN SELECT count(*) FROM (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n); END`);
  return () => exec("DROP TRIGGER halted");
}

async function expectErased(data: string): Promise<void> {
  expect(filesWith(data, "marigold")).toEqual([]);
  expect((await run(data, "ledger", "verify")).result).toMatchObject({
    ...{ deliveries: BATCHES, erased: BATCHES, faults: [] },
  });
}

/** Starts a server, which goes on beside requests, and ends it once nothing is left to be erased. */
async function startAndFinish(data: string): Promise<void> {
  const server = await testServer(data);
  const left = () =>
    rowsOf(data, "SELECT count(*) AS n FROM erasures WHERE completed_at IS NULL OR reclaimed_at IS NULL")[0].n;
  await until("all is erased", () => left() === 0);
  await server.end();
}

it("an erasure that was killed is finished by the next start", async () => {
  const { data, erase } = await large();
  const goOn = haltHalfway(data);
  const erasing = launch([...erase, "--data", data]);
  await until("something is erased", () => gone(data) > 0);
  erasing.child.kill("SIGKILL");
  await erasing.exited;
  goOn();
  expect(rowsOf(data, "SELECT completed_at FROM erasures")).toEqual([{ completed_at: null }]);
  expect(gone(data)).toBeLessThan(BATCHES);
  await startAndFinish(data);
  await expectErased(data);
}, 120_000);

describe.skipIf(noPowerCut)("a power cut", () => {
  it("in the middle of an erasure: the next start finishes it; after its end: it stays erased", async () => {
    const { data: made, erase } = await large();
    for (const isWhole of [false, true]) {
      const disk = mountDisk(256);
      onTestFinished(() => disk.remove());
      const data = join(disk.path, "data");
      cpSync(made, data, { recursive: true });
      disk.flush();
      const erasing = launch([...erase, "--data", data]);
      if (isWhole) expect((await erasing.exited).code).toBe(0);
      else await until("something is erased", () => gone(data) > 0);
      disk.cutPower(...(isWhole ? [] : [erasing.child.pid as number]));
      erasing.child.kill("SIGKILL");
      await erasing.exited;
      disk.restorePower();
      if (isWhole) expect(filesWith(data, "marigold")).toEqual([]);
      else {
        expect(rowsOf(data, "SELECT completed_at FROM erasures")).toEqual([{ completed_at: null }]);
        await startAndFinish(data);
      }
      await expectErased(data);
    }
  }, 120_000);
});

it("a database file of an older version is vacuumed by the next start, so that text removed from it is gone", async () => {
  const { directory: data } = await testData();
  const db = new Sqlite(join(data, "reckon.db"));
  db.pragma("secure_delete = OFF");
  db.pragma("auto_vacuum = NONE");
  db.exec("VACUUM");
  db.exec(
    "CREATE TABLE _scratch (text TEXT); INSERT INTO _scratch VALUES ('marigold'); DELETE FROM _scratch; DROP TABLE _scratch",
  );
  db.close();
  expect(filesWith(data, "marigold")).not.toEqual([]);
  const findings = (await run(data, "doctor")).result as { check: string; status: string }[];
  expect(findings.find(({ check }) => check === "erasures")?.status).toBe("warning");
  await withDirectory(data, async () => {});
  await (await testServer(data)).end();
  expect(filesWith(data, "marigold")).toEqual([]);
  const after = new Sqlite(join(data, "reckon.db"), { readonly: true });
  expect(after.pragma("auto_vacuum", { simple: true })).toBe(2);
  after.close();
});

it("verifies the ledger once a person was erased, with the server gone", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const { id } = await makeAccount(t.instance.core, {
    email: "ada@example.com",
    team: { id: team.id, role: "member" },
  });
  const device = await t.device(team);
  await assignDevice(t.instance.core, device.deviceId, id, COMMAND_LINE);
  await deliverAll(t, device, "shop", "marigold");
  await t.close();
  expect((await run(t.directory, "erase", "--person", id, "--reason", "x", "--yes")).code).toBe(0);
  const verified = await run(t.directory, "ledger", "verify");
  expect([verified.stderr, verified.result]).toMatchObject(["", { deliveries: 4, erased: 4, faults: [] }]);
});
