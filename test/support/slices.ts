import type { Core } from "../../src/core.ts";

/**
 * Counts how often others have their turn while something is done of which each look at the clock finds a slice of time used up.
 * @param work is handed an instance with such a clock
 */
export async function turnsDuring<R>(
  core: Core,
  work: (core: Core) => Promise<R>,
): Promise<{ turns: number; result: R }> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  let at = 0;
  const clock = { now: core.clock.now, monotonic: () => (at += 10) };
  const result = await work({ ...core, clock }).finally(() => {
    isDone = true;
  });
  return { turns, result };
}
