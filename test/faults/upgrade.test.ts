import { randomBytes } from "node:crypto";
import { cpSync, readdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { CURRENT_SCHEMA } from "../../src/platform/store/migrate.ts";
import { entriesOf } from "../support/entries.ts";
import { firstSchemaDirectory } from "../support/older.ts";
import { command } from "../support/remote.ts";
import { openToRead, rowsOf } from "./support/data.ts";
import { mountTmpfs, noMounts } from "./support/disk.ts";
import { launch, serve, startRefused, within } from "./support/process.ts";

function schemaOf(directory: string): number {
  const db = openToRead(directory);
  try {
    return db.pragma("user_version", { simple: true }) as number;
  } finally {
    db.close();
  }
}

describe.skipIf(noMounts)("an upgrade without room for what it takes", () => {
  it("is refused in one line that says how much, makes no backup, leaves the database as it was, and goes on when there is room", async () => {
    const mount = mountTmpfs("16m");
    onTestFinished(() => mount.unmount());
    const directory = join(mount.path, "data");
    cpSync(await firstSchemaDirectory(), directory, { recursive: true });
    const db = new Sqlite(join(directory, "reckon.db"));
    db.prepare("UPDATE policies SET document = ?").run(" ".repeat(4 << 20));
    db.exec("INSERT INTO policies SELECT 99, id, zeroblob(0) || hex(zeroblob(1 << 20)), 0 FROM teams");
    db.close();
    const ballast = join(mount.path, "ballast");
    // Enough for a start, not enough for a copy.
    const room = statSync(join(directory, "reckon.db")).size / 2;
    writeFileSync(ballast, Buffer.alloc((16 << 20) - statSync(join(directory, "reckon.db")).size - room));
    const done = await startRefused(directory);
    expect([done.code, done.stdout]).toEqual([1, ""]);
    const lines = done.stderr
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("{"));
    const needed = expect.stringMatching(
      /^reckon: an upgrade of .* takes up to \d+ MiB of free space, .* \d+ MiB are free: nothing/,
    );
    expect(lines).toEqual([needed]);
    expect([readdirSync(directory).includes("backups"), schemaOf(directory)]).toEqual([false, 1]);
    expect((await command(["doctor", "--data", directory])).code).toBe(0);
    truncateSync(ballast);
    expect((await (await serve(directory)).end()).code).toBe(0);
    expect([readdirSync(join(directory, "backups")).length, schemaOf(directory)]).toEqual([1, CURRENT_SCHEMA.version]);
  });
});

describe("an upgrade that is killed in its middle", () => {
  it("leaves the database as it was and no backup for each try, and the next start does all of it", async () => {
    const directory = await firstSchemaDirectory();
    const db = new Sqlite(join(directory, "reckon.db"));
    // As many rows as it takes until an upgrade tells its progress.
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
      INSERT INTO telemetry_entries SELECT id + i, stream_id, i, delivery_id, NULL, payload FROM telemetry_entries, n WHERE id = 1`);
    const entries = db.prepare("SELECT count(*) FROM telemetry_entries").pluck().get();
    db.close();
    const backups = () => readdirSync(join(directory, "backups"));
    for (const _ of [1, 2]) {
      const server = launch(["serve", "--data", directory, "--port", "0"]);
      server.child.stderr?.on("data", () => {
        if (server.stderr().includes("schema_upgrade_progress")) server.child.kill("SIGKILL");
      });
      expect((await within(server.exited, "the upgrade to be killed")).signal).toBe("SIGKILL");
      expect([schemaOf(directory), backups()]).toEqual([1, [expect.stringMatching(/^before-schema-.*\.partial$/)]]);
    }
    expect((await (await serve(directory)).end()).code).toBe(0);
    const upgraded = openToRead(directory);
    expect(upgraded.prepare("SELECT sum(entries) FROM telemetry_segments").pluck().get()).toBe(entries);
    upgraded.close();
    expect([schemaOf(directory), backups()]).toEqual([
      CURRENT_SCHEMA.version,
      [expect.stringMatching(/^before-schema-.*\.db$/)],
    ]);
  });
});

describe.skipIf(noMounts)("an upgrade whose disk would fill up in its middle", () => {
  it("is refused in one line, leaves the database as it was, and loses nothing once there is room", async () => {
    const mount = mountTmpfs("64m");
    onTestFinished(() => mount.unmount());
    const directory = join(mount.path, "data");
    const said = randomBytes(3_000).toString("base64");
    const batches = Array.from({ length: 10 }, (_, batch) => ({
      repoKey: "r",
      entries: Array.from({ length: 100 }, (_, i) => ({ seq: 2 + batch * 100 + i, payload: { said, batch, i } })),
    }));
    cpSync(await firstSchemaDirectory(batches), directory, { recursive: true });
    const { size } = statSync(join(directory, "reckon.db"));
    const before = rowsOf(directory, "SELECT stream_id, seq, payload FROM telemetry_entries ORDER BY id");
    // Room for the backup, and for half of what the steps write.
    mount.remount(`size=${Math.ceil((2.3 * size) / 4096) * 4096}`);
    const done = await startRefused(directory);
    expect([done.code, done.stdout]).toEqual([1, ""]);
    const lines = done.stderr
      .trim()
      .split("\n")
      .filter((line) => !line.startsWith("{"));
    expect(lines).toEqual([expect.stringMatching(/^reckon: .*free/)]);
    expect([readdirSync(directory).includes("backups"), schemaOf(directory)]).toEqual([false, 1]);
    expect(rowsOf(directory, "SELECT stream_id, seq, payload FROM telemetry_entries ORDER BY id")).toEqual(before);
    mount.remount("size=64m");
    const server = await serve(directory);
    expect((await server.end()).code).toBe(0);
    expect(schemaOf(directory)).toBe(CURRENT_SCHEMA.version);
    const db = openToRead(directory);
    const after = entriesOf(db).map(([, stream_id, seq, , , payload]) => ({ stream_id, seq, payload }));
    db.close();
    expect(after).toEqual(before);
    expect((await command(["ledger", "verify", "--data", directory])).code).toBe(0);
  });
});
