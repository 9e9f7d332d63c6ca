/**
 * How long the server takes for each page of the dashboard, and how large it is, for a team of 200 people with 1,000,000 entries,
 * 50,000 sessions and 2,000 errors.
 * Run alone: `node test/bench/pages.ts [DIRECTORY] [PATH…]`; a directory that was filled is asked again, and pages may be named.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { databasePath } from "../../src/platform/store/store.ts";
import { type Filled, FULL, openFilled, type Size } from "./pages-data.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory } from "./servers.ts";
import { figure, quantile, type Report } from "./table.ts";

const QUICK: Size = { people: 40, entries: 50_000, sessions: 2_500, errors: 200 };
const ROUNDS = 40;
const AIM = { milliseconds: 50, bytes: 60_000 };

/** Pages that a team's people open daily, and those behind them. */
const PAGES = [
  "/overview",
  "/overview?days=7",
  "/overview?days=90",
  "/sessions",
  "/sessions?outcome=failure",
  "/sessions?from=2026-11-20&to=2026-11-20",
  "/sessions/SESSION",
  "/errors",
  "/errors/ERROR",
  "/spend",
  "/spend?days=90",
  "/brain",
  "/devices",
  "/telemetry",
  "/telemetry/streams",
  "/audit",
  "/people",
  "/policy",
  "/search?q=dep",
  "/search?q=rollback",
  "/search.json?q=dep",
  "/search.json?q=rollback",
];

interface Page {
  readonly path: string;
  readonly status: number;
  /** Milliseconds of processor time of the thread that answers: what else the machine does hardly counts. */
  readonly p50: number;
  readonly p95: number;
  /** As gzip packs them, as a proxy does. */
  readonly bytes: number;
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;

async function askPage({ instance, cookie }: Filled, path: string): Promise<Page> {
  const times: number[] = [];
  let last = { status: 0, body: "" };
  // The first few wait for indexes to be built and code to be compiled.
  for (let i = -5; i < ROUNDS; i++) {
    const began = process.threadCpuUsage();
    const reply = await instance.fetch(new Request(`http://127.0.0.1${path}`, { headers: { cookie } }));
    last = { status: reply.status, body: await reply.text() };
    if (i >= 0) times.push(milliseconds(process.threadCpuUsage(began)));
  }
  times.sort((a, b) => a - b);
  const bytes = gzipSync(last.body).byteLength;
  return { path, status: last.status, p50: quantile(times, 0.5), p95: quantile(times, 0.95), bytes };
}

function named(path: string, { instance }: Filled): string {
  const one = (sql: string) => String(instance.core.store.db.prepare(sql).pluck().get());
  return path
    .replace("SESSION", () => one("SELECT id FROM trace_sessions ORDER BY id DESC LIMIT 1"))
    .replace("ERROR", () => one("SELECT id FROM defects ORDER BY id DESC LIMIT 1"));
}

export async function measurePages({ quick }: Pick<Settings, "quick">, report: Report): Promise<void> {
  const directory = newDirectory();
  const filled = await openFilled(directory, quick ? QUICK : FULL, true);
  for (const path of PAGES) {
    const { p50, p95, bytes } = await askPage(filled, named(path, filled));
    report.result({ scenario: `page ${path}, p95`, unit: "ms", ours: [p95], aim: { below: AIM.milliseconds } });
    report.result({ scenario: `page ${path}, compressed`, unit: "bytes", ours: [bytes], aim: { below: AIM.bytes } });
    report.note(`page ${path}`, `p50 ${figure(p50)} ms`);
  }
  await filled.instance.close();
  removeDirectory(directory);
}

if (process.argv[1] === import.meta.filename) {
  const [given, ...paths] = process.argv.slice(2);
  const directory = given === undefined ? newDirectory() : resolve(given);
  const began = performance.now();
  const filled = await openFilled(directory, process.env.QUICK ? QUICK : FULL, !existsSync(databasePath(directory)));
  console.log(`ready in ${figure((performance.now() - began) / 1000)} s`);
  for (const path of paths.length > 0 ? paths : PAGES) {
    const { status, p50, p95, bytes } = await askPage(filled, named(path, filled));
    const isOver = p95 >= AIM.milliseconds || bytes >= AIM.bytes || status !== 200;
    console.log(
      `${isOver ? "!" : " "} ${path.padEnd(44)} ${status}  p50 ${figure(p50)} ms  p95 ${figure(p95)} ms  ${bytes} bytes`,
    );
  }
  await filled.instance.close();
  if (given === undefined) removeDirectory(directory);
}
