import type { Core } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import type { ReadyEntry } from "./prepare.ts";
import { rows } from "./rows.ts";

/** For how long an entry that comes again is known: exporters try for minutes, collectors with a queue for days. */
const KNOWN_MS = 7 * DAY_MS;
const BATCH = 1_000;

/** The entries that did not come before; notes them as having come. Call inside a transaction. */
export function takeNew(core: Core, entries: readonly ReadyEntry[], now: number): ReadyEntry[] {
  const { note } = rows(core.store);
  return entries.filter(({ key }) => note.run(Buffer.from(key, "hex"), now).changes > 0);
}

/** Forgets what came so long ago that it will not come again. */
export const forgetJob: Job = {
  name: "otlp.forget",
  everyMs: 60 * MINUTE_MS,
  needsClock: true,
  async run(core) {
    for (;;) {
      const until = core.clock.now() - KNOWN_MS;
      const { changes } = await core.store.write(() => rows(core.store).forget.run(until, BATCH));
      if (changes < BATCH) return;
    }
  },
};
