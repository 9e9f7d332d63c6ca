import { vi } from "vitest";
import type { Core } from "../../src/core.ts";

/** Does something for which each step takes long by the clock. @returns how often others had their turn meanwhile, and what came of it */
export async function turnsOfOthers<T>(core: Core, work: () => Promise<T>): Promise<{ turns: number; done: T }> {
  let now = 0;
  const clock = vi.spyOn(core.clock, "monotonic").mockImplementation(() => (now += 20));
  let turns = 0;
  let going = true;
  const others = () => {
    turns++;
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
