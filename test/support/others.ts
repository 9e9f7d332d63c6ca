import { vi } from "vitest";
import type { Core } from "../../src/core.ts";

/**
 * Does something for which each step takes long by the clock. @returns how often others had their turn between two of its looks at the
 * clock, and what came of it: while it waits for a thread or the disk, others have as many turns as time allows
 */
export async function turnsOfOthers<T>(core: Core, work: () => Promise<T>): Promise<{ turns: number; done: T }> {
  let [now, seen, turns] = [0, 0, 0];
  const clock = vi.spyOn(core.clock, "monotonic").mockImplementation(() => (now += 20));
  let going = true;
  const others = () => {
    if (now > seen) turns++;
    seen = now;
    if (going) setImmediate(others);
  };
  others();
  try {
    return { done: await work(), turns };
  } finally {
    going = false;
    clock.mockRestore();
  }
}
