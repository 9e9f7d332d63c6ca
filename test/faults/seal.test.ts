import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, it, onTestFinished } from "vitest";
import { contentsOf, entriesOf, spansOf } from "../support/entries.ts";
import { startWithDevice } from "../support/instance.ts";
import { command } from "../support/remote.ts";
import { mountDisk, noPowerCut } from "./support/disk.ts";

const STREAMS = 5;
const BATCHES = 32;
const BATCH = 100;
const SESSIONS = 2;
const SPANS = 150;
const VERSIONS = 9;
/** Blocks that a sealer may make after its first. */
const BLOCKS_MORE = 5;

/** A directory with enough telemetry for three blocks a stream, spans for three a session, and contents of brains for two. */
async function filled(): Promise<string> {
  const { t, token } = await startWithDevice();
  for (let batch = 0; batch < BATCHES; batch++)
    for (let stream = 0; stream < STREAMS; stream++) {
      const entries = Array.from({ length: BATCH }, (_, i) => ({
        seq: batch * BATCH + i + 1,
        payload: { type: "tool", text: `entry ${i} of batch ${batch}`, at: Math.sin(batch * BATCH + i) },
      }));
      const answer = await t.post("/api/telemetry/ingest", { token, json: { repoKey: `repo-${stream}`, entries } });
      expect(answer.status).toBe(200);
    }
  for (let session = 0; session < SESSIONS; session++) {
    const spans = Array.from({ length: SPANS }, (_, i) => ({
      id: `${i}`,
      text: `${i} of ${session}, Grüße`.repeat(30),
    }));
    const sessions = [{ id: `session-${session}`, outcome: "ok", spans }];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { sessions } })).status).toBe(200);
  }
  for (let version = 1; version <= VERSIONS; version++) {
    const content = `# Grüße\n\n${`a line of the brain of ${version}\n`.repeat(10_000)}`;
    const json = { version, files: [{ path: "long.md", content }] };
    expect((await t.post("/api/brain/ingest", { token, json })).status).toBe(200);
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
    const countOf = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
    return {
      entries: [...entriesOf(db), ...spansOf(db), ...contentsOf(db)],
      blocks: countOf("telemetry_blocks") + countOf("trace_span_blocks") + countOf("brain_blocks"),
    };
  } finally {
    db.close();
  }
}

/**
 * Seals again and again until most is sealed, each time stopped in the middle.
 * @param stop kills the sealer's process, and maybe more than that
 * @param afterwards makes the directory readable again
 */
async function sealInterrupted(
  directory: string,
  before: unknown[],
  stop: (sealer: ChildProcess) => void,
  afterwards = () => {},
) {
  let stopped = 0;
  for (let done = 0; done < 3 * STREAMS; ) {
    const sealer = spawn(process.execPath, [join(import.meta.dirname, "support/sealer.ts"), directory], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const exited = once(sealer, "exit");
    // It may end before it reads.
    sealer.stdin.on("error", () => {});
    sealer.stdout.once("data", () => {
      // No more than it can be stopped in, however late that is.
      sealer.stdin.write("go on\n".repeat(BLOCKS_MORE));
      setTimeout(() => stop(sealer), Math.random() * 25);
    });
    const [code, signal] = await exited;
    if (signal === "SIGKILL") stopped++;
    else expect(code).toBe(0);
    afterwards();
    const { entries, blocks } = look(directory);
    expect(entries).toEqual(before);
    expect(blocks).toBeGreaterThan(done);
    done = blocks;
  }
  expect(stopped).toBeGreaterThan(0);
  const verified = await command(["ledger", "verify", "--data", directory]);
  expect([verified.code, verified.stderr]).toEqual([0, ""]);
}

it("sealing that is killed again and again loses no entry, no span and no content of a brain, and goes on where it was", async () => {
  const directory = await filled();
  const { entries, blocks } = look(directory);
  expect([entries.length, blocks]).toEqual([STREAMS * BATCHES * BATCH + SESSIONS * SPANS + VERSIONS, 0]);
  await sealInterrupted(directory, entries, (sealer) => sealer.kill("SIGKILL"));
});

it.skipIf(noPowerCut)(
  "sealing whose power is cut again and again loses no entry, no span and no content of a brain, and goes on where it was",
  async () => {
    const disk = mountDisk(128);
    onTestFinished(() => disk.remove());
    const directory = join(disk.path, "data");
    cpSync(await filled(), directory, { recursive: true });
    const { entries } = look(directory);
    // Everything that was stored so far is on the disk.
    disk.flush();
    let isCut = false;
    const cut = (sealer: ChildProcess) => {
      if (sealer.exitCode !== null) return;
      // Cutting takes longer than sealing does, so the sealer stands still meanwhile.
      sealer.kill("SIGSTOP");
      disk.cutPower(sealer.pid as number);
      sealer.kill("SIGKILL");
      isCut = true;
    };
    await sealInterrupted(directory, entries, cut, () => {
      if (isCut) disk.restorePower();
      isCut = false;
    });
  },
  120_000,
);
