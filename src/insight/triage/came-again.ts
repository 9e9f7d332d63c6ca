import type { Core } from "../../core.ts";
import { recordEvent, SYSTEM } from "../../platform/audit/audit.ts";
import { notify } from "../../platform/notices/notices.ts";
import { rows } from "./rows.ts";

/** A class that was resolved, or snoozed until it comes again, and came again. */
interface CameAgain {
  readonly teamId: string;
  /** The class: the first 8 hexadecimal digits of its entries' fingerprints. */
  readonly fingerprint: string;
  /** The entry that came; what it says may be erased by the time that somebody hears of it. */
  readonly entryId: number;
  readonly repoKey: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** Of the entry. */
  readonly title: string;
}

/**
 * Row change: keeps that a class came again, in its timeline and the audit.
 * @param isTold whether it is noted for whoever wants to hear of it, too
 */
export function recordCameAgain(core: Core, what: CameAgain, isTold: boolean): void {
  const { teamId, fingerprint, entryId, date, title, repoKey } = what;
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
  if (!isTold) return;
  notify(core, {
    type: "error.reopened",
    teamId,
    path: `/errors/classes/${fingerprint}`,
    data: { fingerprint, title, repo: repoKey },
    repoKey,
  });
}
