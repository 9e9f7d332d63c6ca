import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/kit/clock.ts";
import { databasePath, openStore } from "../../src/platform/store/store.ts";
import { pack } from "../../src/record/telemetry/packed.ts";
import { requestBytes } from "./load.ts";
import type { Settings } from "./run.ts";
import {
  bindDevices,
  firstAnswer,
  newDirectory,
  type Program,
  pause,
  RECKON,
  ROOT,
  removeDirectory,
} from "./servers.ts";
import { figure, median, type Report } from "./table.ts";
import { randomOf, telemetryPayload, Vocabulary } from "./text.ts";

const BYTES = 1_000_000_000;
const STREAM_ENTRIES = 50_000;
const SEGMENT_ENTRIES = 100;
const SAMPLES = 500;

/** From starting the process to its first answer, and the memory it then holds. */
export async function measureStart({ quick }: Settings, report: Report): Promise<void> {
  const executable = join(ROOT, "dist/reckon");
  const built = existsSync(executable);
  const program: Program = built ? { file: executable, args: ["serve"] } : RECKON;
  report.note("start", built ? "measured on dist/reckon" : "there is no dist/reckon: measured on src/main.ts");
  const empty: number[] = [];
  const resident: number[] = [];
  for (let i = 0; i < (quick ? 4 : 8); i++) {
    const directory = newDirectory();
    const { milliseconds, residentMb } = await startOnce(program, directory, i > 0 && i < 4);
    removeDirectory(directory);
    // The first one fills the page cache.
    if (i === 0) continue;
    empty.push(milliseconds);
    if (residentMb !== undefined) resident.push(residentMb);
  }
  report.result({ scenario: "start, empty directory", unit: "ms", ours: empty, aim: { below: 300 } });
  report.result({ scenario: "memory at rest", unit: "MB", ours: resident, aim: { below: 150 } });
  report.note("start", `bare node:http takes ${figure(await bareStart(quick ? 3 : 5))} ms to its first answer`);
  const directory = newDirectory();
  await fill(directory);
  const full: number[] = [];
  for (let i = 0; i < (quick ? 3 : 6); i++) {
    const { milliseconds } = await startOnce(program, directory, false);
    if (i > 0) full.push(milliseconds);
  }
  report.result({ scenario: "start, 1 GB database", unit: "ms", ours: full, aim: { below: 1_000 } });
  report.note(
    "start",
    `the large database has ${figure(statSync(databasePath(directory)).size / 1e6)} MB, in the page cache`,
  );
  removeDirectory(directory);
}

async function startOnce(
  program: Program,
  directory: string,
  weigh: boolean,
): Promise<{ milliseconds: number; residentMb?: number }> {
  const args = (port: number) => ["--data", directory, "--port", String(port)];
  const { milliseconds, server } = await firstAnswer(program, args, requestBytes({ path: "/api/health" }));
  try {
    if (!weigh) return { milliseconds };
    // A signing key is made beside serving; afterwards the server is at rest.
    await pause(2_000);
    return { milliseconds, residentMb: server.residentMb() };
  } finally {
    await server.stop();
  }
}

async function bareStart(rounds: number): Promise<number> {
  const script = `require("node:http").createServer((_, reply) => reply.setHeader("content-length", 2).end("{}")).listen(process.argv[1], "127.0.0.1")`;
  const program = { file: process.execPath, args: ["-e", script] };
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const { milliseconds, server } = await firstAnswer(program, (port) => [String(port)], requestBytes({ path: "/" }));
    await server.stop();
    times.push(milliseconds);
  }
  return median(times);
}

/** Fills a database of the real schema with telemetry entries up to its size; through SQL alone, as it is not what is measured. */
async function fill(directory: string): Promise<void> {
  await bindDevices(directory, 1);
  const store = openStore(directory, { now: systemClock.now });
  const { db } = store;
  // Nothing here need survive a power cut, and a write-ahead log would hold it all a second time.
  if (db.pragma("journal_mode = DELETE", { simple: true }) !== "delete") throw new Error("the database is in use");
  db.pragma("synchronous = OFF");
  const words = new Vocabulary(1_000);
  const next = randomOf(1);
  const samples = Array.from({ length: SAMPLES }, () => JSON.stringify(telemetryPayload(words, next)));
  const addStream = db.prepare(
    `INSERT INTO telemetry_streams (id, team_id, device_id, repo_key, max_seq, entry_count, conflict_count, created_at, updated_at)
     SELECT ?, team_id, id, 'github.com/acme/service-' || ?, ${STREAM_ENTRIES}, ${STREAM_ENTRIES}, 0, 0, 0 FROM devices LIMIT 1`,
  );
  const addSegment = db.prepare(
    `INSERT INTO telemetry_segments (stream_id, first_seq, last_seq, entries, delivery_id, bytes, texts, first_id)
     SELECT ?, ?, ?, ${SEGMENT_ENTRIES}, 1, ?, ?, coalesce(max(first_id), 0) + ${SEGMENT_ENTRIES} FROM telemetry_segments`,
  );
  const bytes = () =>
    Number(db.pragma("page_count", { simple: true })) * Number(db.pragma("page_size", { simple: true }));
  const MAX_STREAMS = 100;
  for (let stream = 1; bytes() < BYTES && stream < MAX_STREAMS; stream++) {
    addStream.run(stream, stream);
    for (let seq = 1; seq <= STREAM_ENTRIES; seq += SEGMENT_ENTRIES) {
      const entries = Array.from({ length: SEGMENT_ENTRIES }, (_, i) => ({
        seq: seq + i,
        clientTimestamp: "2026-11-21T08:00:00.000Z",
        payload: samples[(seq + i) % SAMPLES] as string,
      }));
      const { texts } = pack(entries);
      addSegment.run(stream, seq, seq + SEGMENT_ENTRIES - 1, texts.length, texts);
    }
    // Lets a signal through.
    await pause(0);
  }
  if (bytes() < BYTES) throw new Error(`${MAX_STREAMS} streams have only ${bytes()} bytes`);
  db.pragma("synchronous = FULL");
  db.pragma("journal_mode = WAL");
  store.close();
}
