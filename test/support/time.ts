import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock that limits how long a step takes, until the test ends. Work in steps then takes as many as the work alone needs, on a
 * busy machine, too.
 */
export function stopTime(): void {
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now);
  onTestFinished(() => clock.mockRestore());
}

/** Less is lost among what the runtime does by itself. */
const LEAST_MS = 20;

/**
 * Processor time that work takes, in milliseconds, to be compared with that of more or less of it in the same run: so a test says the same
 * on a slow machine and on a busy one. The first of two also pays for compiling what both do.
 * @returns at least 20
 */
export async function processorMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return Math.max(LEAST_MS, (user + system) / 1_000);
}
