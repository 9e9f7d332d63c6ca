import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/platform/store/store.ts";
import { fillDirectly } from "./held.ts";
import { requestBytes } from "./load.ts";
import type { Settings } from "./run.ts";
import { firstAnswer, newDirectory, type Program, pause, RECKON, ROOT, removeDirectory } from "./servers.ts";
import { figure, median, type Report } from "./table.ts";

const BYTES = 1_000_000_000;

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
  await fillDirectly(directory, ({ bytes }) => bytes >= BYTES);
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
