/**
 * Loaded into a server with `--import`: measures the longest time its event loop was held up, from SIGUSR2 on, and writes it in
 * milliseconds to the file named by this module's `out` parameter when the process ends.
 */
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 2;
const out = new URL(import.meta.url).searchParams.get("out") as string;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
process.once("SIGUSR2", () => delays.enable());
process.on("exit", () => writeFileSync(out, String(Math.max(0, delays.max / 1e6 - RESOLUTION_MS))));
