import { onTestFinished, vi } from "vitest";

/**
 * Stops the clock that says when a step has taken long enough, until the test ends: what is done in steps then takes as many as there is
 * to do, on a machine that others keep busy as well.
 */
export function stopTime(): void {
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockReturnValue(now);
  onTestFinished(() => clock.mockRestore());
}
