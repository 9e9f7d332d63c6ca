import { MINUTE_MS, SECOND_MS } from "../../kit/clock.ts";
import { inSlices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { forgetPacks, packRows } from "./list.ts";
import { foundRemoved, recurrencesRemoved } from "./recurrences.ts";
import { rows } from "./rows.ts";

/** For so long what was found is good: it tells of weeks. */
const KEPT_MS = 10 * MINUTE_MS;

/** Finds what the rules of each published pack ended, so that nobody who asks for a list waits for all of it. */
export const measuring: Job = {
  name: "pack-recurrences",
  everyMs: 5 * SECOND_MS,
  async run(core) {
    const before = foundRemoved(core);
    if (core.clock.monotonic() - before.at < KEPT_MS) return;
    const yieldNow = cooperative(core.clock);
    const found = new Map<number, number | null>();
    for (const row of packRows(core, rows(core.store).published.all()))
      found.set(row.versionId, await inSlices(recurrencesRemoved(core, row), yieldNow));
    Object.assign(before, { byVersion: found, at: core.clock.monotonic() });
    if (found.size > 0) forgetPacks(core);
  },
};
