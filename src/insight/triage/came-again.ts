import { type Core, slot } from "../../core.ts";
import { recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import { rows } from "./rows.ts";

/** A class that was resolved, or snoozed until it comes again, and came again. */
export interface CameAgain {
  readonly teamId: string;
  /** The class: the first 8 hexadecimal digits of its entries' fingerprints. */
  readonly fingerprint: string;
  /** Of the entry that came. */
  readonly title: string;
  readonly repoKey: string;
  readonly entryId: number;
  /** YYYY-MM-DD */
  readonly date: string;
  /** Whose it is; null for nobody's. */
  readonly ownerId: string | null;
}

type Listener = (core: Core, what: CameAgain) => void;

const listeners = slot((): Listener[] => []);

/**
 * Says who else is to hear of what came again, such as notifications. Call from a room's `open`.
 * @param listener called inside the transaction that stores it, once for each time; row changes only, such as `enqueue`
 */
export function onCameAgain(core: Core, listener: Listener): void {
  listeners(core).push(listener);
}

/** Row change: keeps that a class came again, in its timeline and the audit, and lets the listeners know. */
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
  for (const listener of listeners(core)) listener(core, what);
}
