import { readConfig } from "../../src/config.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { silentLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { openStore } from "../../src/platform/store/store.ts";
import { verifyLedger } from "../../src/share/maintenance/maintenance.ts";
import { DELIVERY_ENTRIES, deliverEntries } from "./held.ts";
import { requestBytes, requireSuccess, Wire } from "./load.ts";
import type { Settings } from "./run.ts";
import { countRows, newDirectory, removeDirectory, startReckon } from "./servers.ts";
import { figure, median, quantile, type Report } from "./table.ts";
import { randomOf } from "./text.ts";

const MILLION = 1_000_000;
const PROOFS = 300;

/** How long it takes to prove that everything is there, and that one thing is. */
export async function measureLedger({ quick, reckon }: Settings, report: Report): Promise<void> {
  const count = quick ? 192_000 : 992_000;
  const directory = newDirectory();
  const { tokens } = await deliverEntries(directory, reckon, count);
  const runs = Array.from({ length: quick ? 3 : 5 }, () => verifyOnce(directory));
  const scaled = (seconds: number) => (seconds * MILLION) / count;
  report.result({
    scenario: "ledger verify, a million entries",
    unit: "s",
    ours: runs.map(({ wall }) => scaled(wall)),
    aim: { below: 4 },
  });
  report.note(
    "ledger verify",
    `scaled from ${figure(count)} entries in deliveries of ${DELIVERY_ENTRIES}; ` +
      `${figure(scaled(median(runs.map(({ cpu }) => cpu))))} s of processor time`,
  );
  const server = await startReckon(directory, reckon);
  const wire = await Wire.open(server.address);
  const next = randomOf(9);
  const times: number[] = [];
  const before = server.cpuSeconds();
  for (let i = 0; i < PROOFS; i++) {
    const id = 1 + Math.floor(next() * count);
    // Any device of the team may ask.
    const request = requestBytes({ path: `/ledger/proof?kind=entry&id=${id}`, token: tokens[0] as string });
    const began = performance.now();
    requireSuccess(await wire.ask(request));
    times.push(performance.now() - began);
  }
  const after = server.cpuSeconds();
  wire.close();
  await server.stop();
  report.result({ scenario: "proof of one entry", unit: "ms", ours: times, aim: { below: 5 } });
  const sorted = times.toSorted((a, b) => a - b);
  const leaves = countRows(directory, "SELECT count(*) FROM log_leaves");
  report.note(
    "proof of one entry",
    `${PROOFS} at random, one after another, in a log of ${figure(leaves)} leaves; p99 ${figure(quantile(sorted, 0.99))} ms` +
      (before === undefined || after === undefined
        ? ""
        : `, ${figure(((after - before) * 1000) / PROOFS)} ms of processor time each`),
  );
  removeDirectory(directory);
}

/** @returns seconds */
function verifyOnce(directory: string): { wall: number; cpu: number } {
  const store = openStore(directory, { create: false, now: systemClock.now });
  try {
    const config = readConfig({ data: directory }, {});
    const core = { config, clock: systemClock, random: systemRandom, log: silentLog, store, state: new Map() };
    const cpu = process.cpuUsage();
    const began = performance.now();
    const { faults } = verifyLedger(core, undefined, () => {});
    if (faults.length > 0) throw new Error(`the ledger does not verify: ${faults[0]?.detail}`);
    const { user, system } = process.cpuUsage(cpu);
    return { wall: (performance.now() - began) / 1000, cpu: (user + system) / 1e6 };
  } finally {
    store.close();
  }
}
