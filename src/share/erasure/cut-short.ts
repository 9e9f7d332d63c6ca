import { type Core, slot } from "../../core.ts";

/** Erasures take minutes. They stop after the current step when the instance stops, and the next process goes on with them. */

const stopping = slot(() => ({ now: false }));

/** Ends what is being erased, after the step in work. */
export function cutShort(core: Core): void {
  stopping(core).now = true;
}

/** @throws when the instance stops */
export function requireGoing(core: Core): void {
  if (stopping(core).now) throw new Error("the instance stops");
}

/** Runs what erases; that it is cut short, there or in what it waits for, is no failure. */
export const unlessCutShort = (core: Core, run: () => Promise<void>): Promise<void> =>
  run().catch((error: unknown) => {
    if (!stopping(core).now) throw error;
  });
