import { type Core, slot } from "../../core.ts";
import { DAY_MS, MINUTE_MS } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { leafOfAct } from "../../platform/audit/audit.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { whichOf } from "./content-steps.ts";
import { cutShort, unlessCutShort } from "./cut-short.ts";
import { carryOut, erasuresDoneSince } from "./erasures.ts";
import type { Erasure } from "./journal.ts";
import { EVERYTHING, portionsOf } from "./targets.ts";

/** Machines keep for a week what they sent. */
const KEPT_MS = 8 * DAY_MS;

/** Erasures of sessions that a restored backup knew nothing of: machines send it again what it lacks, and with that what was erased. */
const ofRestored = slot((core) =>
  erasuresDoneSince(core, core.clock.now() - KEPT_MS).filter(
    ({ id, target }) => target.kind === "session" && leafOfAct(core, "erasure.replayed", id) !== undefined,
  ),
);

/** Looks for them, which may take a walk through the audit. */
export const watchRefilled = (core: Core): unknown => ofRestored(core);

async function isThere(core: Core, { id, target }: Erasure): Promise<boolean> {
  const isMeant = (session: string) => target.kind === "session" && sha256Hex(session) === target.sessionSha256;
  for (const portion of await portionsOf(core, target, EVERYTHING, id)) {
    const begun = traceErasure.sessionsBegunInPortion(core, portion);
    if ((await whichOf(core, begun, ({ externalId }) => isMeant(externalId))).length > 0) return true;
  }
  return false;
}

/** Erases again what machines send to a restored server although it was erased. */
export const refilledJob: Job = {
  name: "erasures after a restore",
  everyMs: MINUTE_MS,
  stop: cutShort,
  run: (core) =>
    unlessCutShort(core, async () => {
      for (const erasure of ofRestored(core)) if (await isThere(core, erasure)) await carryOut(core, erasure);
    }),
};
