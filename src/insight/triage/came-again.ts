import { type Core, slot } from "../../core.ts";
import { recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import { enqueue, type QueuedJob } from "../../platform/jobs/jobs.ts";
import { rows } from "./rows.ts";

/** A class that was resolved, or snoozed until it comes again, and came again. */
export interface CameAgain {
  readonly teamId: string;
  /** The class: the first 8 hexadecimal digits of its entries' fingerprints. */
  readonly fingerprint: string;
  /** The entry that came; what it says may be erased by the time that somebody hears of it. */
  readonly entryId: number;
  readonly repoKey: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** Whose it is; null for nobody's. */
  readonly ownerId: string | null;
}

type Listener = (core: Core, what: CameAgain) => void | Promise<void>;

const listeners = slot((): Listener[] => []);

/**
 * Says who else is to hear of what came again, such as notifications. Call from a room's `open`.
 * @param listener called once it is stored, by a job: again when it fails, and now and then when the process ended meanwhile
 */
export function onCameAgain(core: Core, listener: Listener): void {
  listeners(core).push(listener);
}

/** Queued with what came, so that whichever process stored it, the server's listeners hear of it. */
export const cameAgainJob: QueuedJob = {
  name: "error-came-again",
  async handle(core, what) {
    for (const listener of listeners(core)) await listener(core, what as CameAgain);
  },
};

/** Row change: keeps that a class came again, in its timeline and the audit, and queues that the listeners hear of it. */
export function recordCameAgain(core: Core, what: CameAgain): void {
  const { teamId, fingerprint, entryId, date } = what;
  rows(core.store).insertEvent.run({
    ...{ teamId, class: fingerprint, entryId: 0, at: core.clock.now(), kind: "came-again" },
    ...{ actorKind: SYSTEM.kind, actorId: SYSTEM.id, actorLabel: SYSTEM.label, otherId: String(entryId), body: date },
  });
  recordEvent(core, SYSTEM, {
    action: "error.came_again",
    teamId,
    target: { kind: "error", id: fingerprint, label: fingerprint },
    detail: { entry: entryId, date },
  });
  enqueue(core, cameAgainJob, what);
}
