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
