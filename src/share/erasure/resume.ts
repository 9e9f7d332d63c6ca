import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { leafOfAct } from "../../platform/audit/audit.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { cutShort, unlessCutShort } from "./cut-short.ts";
import { carryOut, readOpen } from "./erasures.ts";
import type { Erasure } from "./journal.ts";
import { rows } from "./rows.ts";

/** Going on with what is on record and not done. Holds do not keep what was erased before. */

async function goOn(core: Core, erasure: Erasure): Promise<void> {
  // The process that took it may go on with it, too, and be done by now.
  if (rows(core.store).erasure.get(erasure.id)?.completedAt !== null) return;
  const named = { id: erasure.id, kind: erasure.target.kind };
  core.log.info("erasure_goes_on", named);
  await carryOut(core, erasure);
  core.log.info("erased", named);
}

/** @returns the erasures that were carried out @throws StoreUnavailable */
export async function resumeErasures(core: Core): Promise<readonly Erasure[]> {
  const open = await readOpen(core);
  for (const erasure of open) await goOn(core, erasure);
  return open;
}

/** Erasures that an earlier process left half done, oldest first. Those requested since the start are carried out by the process that took them. */
const leftOpen = slot((): Erasure[] => []);

/**
 * Part of starting: what a restored copy brought back is gone before anybody is answered. What was cut short takes minutes where it is
 * much, and goes beside requests, as it did when it began.
 * @throws StoreUnavailable
 */
export async function resumeAtStart(core: Core): Promise<void> {
  for (const erasure of await readOpen(core))
    if (leafOfAct(core, "erasure.replayed", erasure.id) === undefined) leftOpen(core).push(erasure);
    else await goOn(core, erasure);
}

/** Goes on with what was cut short. */
export const resumingJob: Job = {
  name: "erasures cut short",
  everyMs: SECOND_MS,
  stop: cutShort,
  run: (core) =>
    unlessCutShort(core, async () => {
      const open = leftOpen(core);
      for (let next = open[0]; next; next = open[0]) {
        await goOn(core, next);
        open.shift();
      }
    }),
};
