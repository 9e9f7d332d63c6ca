import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DAY_MS, MINUTE_MS } from "../../../src/kit/clock.ts";
import { startJobs } from "../../../src/platform/jobs/jobs.ts";
import { examine, inspectBackup, scheduledBackups } from "../../../src/share/maintenance/maintenance.ts";
import { backupJob } from "../../../src/share/maintenance/scheduled-backup.ts";
import { newFolder } from "../../support/folder.ts";
import { startInstance, type TestInstance } from "../../support/instance.ts";
import { MAIN } from "../../support/program.ts";

// The backup's process is started as the program itself is.
beforeEach(() => {
  const [, entry] = process.argv;
  process.argv[1] = MAIN;
  onTestFinished(() => {
    process.argv[1] = entry as string;
  });
});

/** Continues although another supervisor of it was stopped. */
const patient = { ...backupJob, everyMs: 1, stop: () => {} };
const settings = { backupEvery: "24h", backupKeep: "2" };
const run = (t: TestInstance) => backupJob.run(t.instance.core);
const folderOf = (t: TestInstance) => join(t.directory, "backups");
const kept = (t: TestInstance) => readdirSync(folderOf(t)).sort();
const name = (day: number, time = "08-00-00-000") => `reckon-2026-11-${day}T${time}Z.db`;

async function delivered(t: TestInstance): Promise<void> {
  const { token } = await t.device();
  const json = { entries: [{ seq: 1, payload: { a: 1 } }] };
  expect((await t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
}

describe("scheduled backups", () => {
  it("are made when they are due, kept as many as asked for, and go on after a restart", async () => {
    const t = await startInstance({ settings });
    await delivered(t);
    const { core } = t.instance;
    const making = run(t);
    // The process is started, and writes nothing before this one gets a turn.
    await expect.poll(() => t.log.some((line) => line.includes("backup_begun")), { interval: 1 }).toBe(true);
    expect(scheduledBackups(core)).toMatchObject({ begunAt: t.clock.now(), kept: [] });
    await making;
    expect(scheduledBackups(core)).toMatchObject({ begunAt: null, kept: [{ at: t.clock.now() }] });
    expect(kept(t)).toEqual([name(21)]);
    const file = join(folderOf(t), name(21));
    expect(inspectBackup(file)).toMatchObject({ teams: 1, deliveries: 1, keys: 1 });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    t.clock.advance(DAY_MS - MINUTE_MS);
    await run(t);
    expect(kept(t)).toEqual([name(21)]);
    t.clock.advance(MINUTE_MS);
    await run(t);
    expect(kept(t)).toEqual([name(21), name(22)]);
    t.clock.advance(DAY_MS / 2);
    await t.close();
    const next = await startInstance({ settings, directory: t.directory, clock: t.clock });
    await run(next);
    expect(kept(t)).toEqual([name(21), name(22)]);
    next.clock.advance(DAY_MS / 2);
    await run(next);
    expect(kept(t)).toEqual([name(22), name(23)]);
    expect(next.log.filter((line) => line.includes("backup_made"))).toHaveLength(1);
    expect(await examine(next.instance.core)).toContainEqual(
      expect.objectContaining({
        check: "backups",
        status: "ok",
        detail: expect.stringMatching(/^2 in .*2026-11-23T08/),
      }),
    );
  });

  it("are not made unless asked for", async () => {
    const t = await startInstance();
    await run(t);
    expect(readdirSync(t.directory)).not.toContain("backups");
  });

  it("that do not verify do not count, remove no earlier one, and are reported until one does", async () => {
    const t = await startInstance({ settings: { ...settings, backupKeep: "1" } });
    await delivered(t);
    await run(t);
    const [{ digest }] = t.rows("SELECT content_sha256 AS digest FROM deliveries");
    const { db } = t.instance.core.store;
    db.prepare("UPDATE deliveries SET content_sha256 = zeroblob(32)").run();
    t.clock.advance(2 * DAY_MS + MINUTE_MS);
    const stop = startJobs(t.instance.core, [{ ...patient, retryMs: 3_600_000 }]);
    await expect.poll(() => t.count("job_failures")).toBe(1);
    await stop();
    expect(t.rows("SELECT job, failures, cause FROM job_failures")).toEqual([
      { job: "backups", failures: 1, cause: expect.stringMatching(/^the backup does not verify: its ledger/) },
    ]);
    expect(kept(t)).toEqual([name(21)]);
    expect(await examine(t.instance.core)).toContainEqual(
      expect.objectContaining({
        check: "backups",
        status: "warning",
        detail: expect.stringContaining("does not verify"),
      }),
    );
    db.prepare("UPDATE deliveries SET content_sha256 = ?").run(digest);
    const again = startJobs(t.instance.core, [patient]);
    await expect.poll(() => t.count("job_failures")).toBe(0);
    await again();
    expect(kept(t)).toEqual([name(23, "08-01-00-000")]);
  });

  it("that the server's end interrupts leave nothing under a final name, and the next start removes the rest", async () => {
    const t = await startInstance({ settings });
    const cut = Promise.resolve(run(t)).catch(String);
    await expect.poll(() => readdirSync(t.directory)).toContain("backups");
    backupJob.stop?.(t.instance.core);
    expect(await cut).toMatch(/SIGTERM|stops/);
    writeFileSync(join(folderOf(t), `${name(20)}.unverified.partial-journal`), "half");
    writeFileSync(join(folderOf(t), `${name(20)}.unverified`), "half");
    writeFileSync(join(folderOf(t), "mine.db"), "whole");
    await t.close();
    const next = await startInstance({ settings, directory: t.directory, clock: t.clock });
    expect(kept(next)).toEqual(["mine.db"]);
    await run(next);
    expect(kept(next)).toEqual(["mine.db", name(21)]);
  });

  it("use a directory that must exist, and neither wait for nor replace backups dated in the future", async () => {
    const folder = newFolder();
    const place = join(folder, "disk");
    const t = await startInstance({ settings: { ...settings, backupDir: place } });
    await expect(run(t)).rejects.toThrow(/disk is no directory: RECKON_BACKUP_DIR/);
    mkdirSync(place);
    writeFileSync(join(place, name(29)), "of a clock that was wrong");
    await run(t);
    expect(readdirSync(place).sort()).toEqual([name(21), name(29)]);
    await run(t);
    expect(readdirSync(place)).toHaveLength(2);
    writeFileSync(join(place, name(30)), "of the same clock");
    t.clock.advance(DAY_MS);
    await run(t);
    expect(readdirSync(place).sort()).toEqual([name(21), name(22)]);
  });

  it("remove none of another database, such as an empty one made while a disk was not mounted", async () => {
    const folder = newFolder();
    const mine = { ...settings, backupKeep: "1", backupDir: folder };
    const t = await startInstance({ settings: mine });
    await delivered(t);
    await run(t);
    const empty = await startInstance({ settings: mine });
    for (const days of [0, 1]) {
      empty.clock.advance(days * DAY_MS);
      await expect(run(empty)).rejects.toThrow(/11-21T.*\.db is of another database, and none is made beside it/);
    }
    expect(inspectBackup(join(folder, name(21)))).toMatchObject({ deliveries: 1 });
    await t.close();
    const again = await startInstance({ settings: mine, directory: t.directory, clock: t.clock });
    again.clock.advance(DAY_MS);
    await run(again);
    expect(readdirSync(folder)).toEqual([name(22)]);
  });
});
