import { type Core, slot } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { rows } from "./rows.ts";

/** How many go through the files now, which takes minutes where these are large. */
const reclaiming = slot(() => ({ count: 0 }));

/** Gives room back and takes from the files what is left there of what was erased, as far as others let it. @returns whether nothing is */
async function tryReclaim(core: Core): Promise<boolean> {
  const sql = rows(core.store);
  const erased = sql.unreclaimed.all();
  const state = reclaiming(core);
  state.count++;
  const isDone = await core.store.reclaim().finally(() => state.count--);
  if (!isDone) return false;
  await core.store.write(() => {
    for (const { id } of erased) sql.setReclaimed.run(core.clock.now(), id);
  });
  return true;
}

/** The same once something was erased. Where it cannot be done now, a running server does it. */
export async function reclaim(core: Core): Promise<void> {
  if (!(await tryReclaim(core)))
    core.log.warn("write_ahead_log_in_use", {
      effect: "what was erased may stand in the files until whoever reads from it is done; a server tries each minute",
    });
}

/** Takes from the files what an erasure left that was killed at its end, or that somebody read beside. */
export const reclaimJob: Job = {
  name: "reclaim",
  everyMs: MINUTE_MS,
  async run(core) {
    if (reclaiming(core).count === 0 && rows(core.store).unreclaimed.get() !== undefined) await tryReclaim(core);
  },
};
