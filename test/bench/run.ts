/**
 * Measures Reckon against floors and aims, all in one run, so that only ratios and bounds matter and not the machine.
 *
 *   node test/bench/run.ts [--quick] [--only NAME] [--entries N] [--json FILE] [--profile DIRECTORY]
 */
import { closeSync, fdatasyncSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureAttacks } from "./attacks.ts";
import { measureCapture } from "./capture.ts";
import { measureCorrelation } from "./correlate.ts";
import { measureDays } from "./days.ts";
import { measureGrowth } from "./growth.ts";
import { measureHealth } from "./health.ts";
import { measureIngest } from "./ingest.ts";
import { measureLedger } from "./ledger.ts";
import { measureOtlp } from "./otlp.ts";
import { measurePages } from "./pages.ts";
import { measureRedaction } from "./redaction.ts";
import { measureSearch } from "./search.ts";
import { cleanUp, newDirectory, type Program, profiledReckon, RECKON, ROOT } from "./servers.ts";
import { measureSize } from "./size.ts";
import { measureSizing } from "./sizing.ts";
import { measureSnapshots } from "./snapshot.ts";
import { measureStalls } from "./stalls.ts";
import { measureStart } from "./start.ts";
import { type Judged, judge, type Note, quantile, type Report, render } from "./table.ts";

const USAGE = `Measures Reckon against the least that could do the same job.

  npm run bench -- [--quick] [--only NAME] [--entries N] [--json FILE] [--profile DIRECTORY]

  --quick    a few minutes; figures are rougher
  --only     one of: start, health, ingest, otlp, growth, size, sizing, ledger, search, snapshot, correlate, stalls, attacks, redaction,
             days, pages, capture
  --entries  how many sizing fills a database with; default: 400000, with --quick 40000
  --json     where the results go as JSON; default: dist/bench.json
  --profile  leave a CPU profile of each Reckon under load in this directory (slower; the aims then mean little)
`;

export interface Settings {
  readonly quick: boolean;
  /** How many entries sizing fills a database with; by quick where it is not said. */
  readonly entries: number | undefined;
  /** How the Reckon under load is started. */
  readonly reckon: Program;
}

type Scenario = (settings: Settings, report: Report) => Promise<void>;

/** Starting comes first: a parent that holds little memory starts children fastest. */
const SCENARIOS: Record<string, Scenario> = {
  start: measureStart,
  health: measureHealth,
  ingest: measureIngest,
  otlp: measureOtlp,
  growth: measureGrowth,
  size: measureSize,
  sizing: measureSizing,
  ledger: measureLedger,
  search: measureSearch,
  snapshot: measureSnapshots,
  correlate: measureCorrelation,
  stalls: measureStalls,
  attacks: measureAttacks,
  redaction: measureRedaction,
  days: measureDays,
  pages: measurePages,
  capture: measureCapture,
};

/** What a durable write costs here, which bounds what group commit can reach. */
function syncMilliseconds(): number {
  const fd = openSync(join(newDirectory(), "sync"), "w");
  const block = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 50 }, () => {
    writeSync(fd, block);
    const began = performance.now();
    fdatasyncSync(fd);
    return performance.now() - began;
  });
  closeSync(fd);
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      entries: { type: "string" },
      json: { type: "string", default: join(ROOT, "dist/bench.json") },
      profile: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const chosen = Object.entries(SCENARIOS).filter(([name]) => values.only === undefined || name === values.only);
  if (chosen.length === 0) throw new Error(`--only takes one of ${Object.keys(SCENARIOS).join(", ")}`);
  const results: Judged[] = [];
  const notes: Note[] = [];
  const machine = {
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    fdatasyncMilliseconds: syncMilliseconds(),
  };
  const entries = values.entries === undefined ? undefined : Number(values.entries);
  const settings = {
    quick: values.quick,
    entries,
    reckon: values.profile ? profiledReckon(resolve(values.profile)) : RECKON,
  };
  const began = performance.now();
  for (const [name, measure] of chosen) {
    process.stderr.write(`${name} …\n`);
    await measure(settings, {
      result: (result) => results.push(judge(result)),
      note: (scenario, says) => notes.push({ scenario, says }),
    });
  }
  const seconds = Math.round((performance.now() - began) / 1000);
  const title = `${machine.cores} × ${machine.cpu}, Node ${machine.node}, fdatasync ${machine.fdatasyncMilliseconds.toFixed(2)} ms, ${seconds} s`;
  process.stdout.write(`${title}\n\n${render(results, notes)}\n`);
  mkdirSync(dirname(resolve(values.json)), { recursive: true });
  const document = { at: new Date().toISOString(), quick: values.quick, seconds, machine, results, notes };
  writeFileSync(values.json, `${JSON.stringify(document, null, 2)}\n`);
}

process.on("exit", cleanUp);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(130));
try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${(error as Error).stack}\n`);
  process.exitCode = 1;
}
