/**
 * Loaded into a server with `--import`: measures how long its event loop was held up at most, from SIGUSR2 on, and writes it to
 * the file named by this module's `out` parameter when the process ends. In milliseconds: `wall` as others waited, and `cpu`,
 * the processor time of the main thread in one such piece, which does not grow with what else the machine does.
 */
import { writeFileSync } from "node:fs";

const TICK_MS = 2;
const out = new URL(import.meta.url).searchParams.get("out") as string;
const longest = { wall: 0, cpu: 0 };

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

process.once("SIGUSR2", () => {
  let [wall, cpu] = [performance.now(), cpuMs()];
  setInterval(() => {
    const now = [performance.now(), cpuMs()] as const;
    longest.wall = Math.max(longest.wall, now[0] - wall - TICK_MS);
    longest.cpu = Math.max(longest.cpu, now[1] - cpu);
    [wall, cpu] = now;
  }, TICK_MS).unref();
});
process.on("exit", () => writeFileSync(out, JSON.stringify(longest)));
