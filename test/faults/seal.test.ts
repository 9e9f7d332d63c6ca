import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { entriesOf } from "../support/entries.ts";
import { startInstance } from "../support/instance.ts";
import { reckon } from "./support/process.ts";

const STREAMS = 5;
const BATCHES = 32;
const BATCH = 100;

/** A directory with enough telemetry for three blocks a stream. */
async function filled(): Promise<string> {
  const t = await startInstance();
  const { token } = await t.device();
  for (let batch = 0; batch < BATCHES; batch++)
    for (let stream = 0; stream < STREAMS; stream++) {
      const entries = Array.from({ length: BATCH }, (_, i) => ({
        seq: batch * BATCH + i + 1,
        payload: { type: "tool", text: `entry ${i} of batch ${batch}`, at: Math.sin(batch * BATCH + i) },
      }));
      const answer = await t.post("/api/telemetry/ingest", { token, json: { repoKey: `repo-${stream}`, entries } });
      expect(answer.status).toBe(200);
    }
  await t.close();
  return t.directory;
}

/** What a directory holds; opening it is the recovery from whatever happened to it. */
function look(directory: string) {
  const db = new Sqlite(join(directory, "reckon.db"));
  try {
    expect(db.pragma("integrity_check", { simple: true })).toBe("ok");
    const twice = "SELECT count(*) FROM telemetry_segments WHERE (texts IS NULL) = (block_id IS NULL)";
    expect(db.prepare(twice).pluck().get()).toBe(0);
    return {
      entries: entriesOf(db),
      blocks: db.prepare("SELECT count(*) FROM telemetry_blocks").pluck().get() as number,
    };
  } finally {
    db.close();
  }
}

it("sealing that is killed again and again loses no entry, and goes on where it was", async () => {
  const directory = await filled();
  const before = look(directory);
  expect(before).toMatchObject({ entries: { length: STREAMS * BATCHES * BATCH }, blocks: 0 });
  let kills = 0;
  for (let done = 0; done < 3 * STREAMS; ) {
    const sealer = spawn(process.execPath, [join(import.meta.dirname, "support/sealer.ts"), directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(sealer, "exit");
    sealer.stdout.once("data", () => setTimeout(() => sealer.kill("SIGKILL"), Math.random() * 25));
    const [code, signal] = await exited;
    if (signal === "SIGKILL") kills++;
    else expect(code).toBe(0);
    const { entries, blocks } = look(directory);
    expect(entries).toEqual(before.entries);
    expect(blocks).toBeGreaterThan(done);
    done = blocks;
  }
  expect(kills).toBeGreaterThan(0);
  const verified = await reckon(["ledger", "verify", "--data", directory]);
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
});
