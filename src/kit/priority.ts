import { constants, getPriority, setPriority } from "node:os";

/** Lets other programs have the processor first, for a process that nobody waits for. A priority that is lower already stays. */
export function giveWay(): void {
  try {
    setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // Where lowering it is forbidden, as in many services, the work is done all the same.
  }
}
