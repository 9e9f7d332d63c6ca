import type { Core } from "../../core.ts";
import { getTeam } from "../../identity/teams/teams.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { RETENTION_KINDS, type RetentionKind, retentionRows } from "./retention-rows.ts";

/** Retention: for how many days what is kept. Without a rule it is kept for ever. */

export { RETENTION_KINDS, type RetentionKind };

/** What auditors mostly ask for: six months (EU AI Act, articles 19 and 26(6)). Below it people are warned. */
export const ADVISED_DAYS = 183;
export const MAX_DAYS = 36_500;

/** Days by kind; null for ever. */
export type Retention = Readonly<Record<RetentionKind, number | null>>;

/** For how many days a team keeps what; null for ever. */
export function retentionOf(core: Core, teamId: string): Retention {
  const days = new Map(
    retentionRows(core.store)
      .ofTeam.all(teamId)
      .map((rule) => [rule.kind, rule.days]),
  );
  return Object.fromEntries(RETENTION_KINDS.map((kind) => [kind, days.get(kind) ?? null])) as Retention;
}

/**
 * Says for how long a team's records are kept; what is older goes with the team's next run, which begins within a minute where the day had none.
 * @param days 1 to `MAX_DAYS`; null for ever
 * @returns false when it was so already
 * @throws Problem for an unknown team
 */
export function setRetention(
  core: Core,
  team: string,
  kind: RetentionKind,
  days: number | null,
  by: Actor,
): Promise<boolean> {
  const teamId = getTeam(core, team).id;
  return core.store.write(() => {
    const from = retentionOf(core, teamId)[kind];
    if (from === days) return false;
    if (days === null) retentionRows(core.store).drop.run(teamId, kind);
    else retentionRows(core.store).put.run({ teamId, kind, days });
    recordEvent(core, by, {
      action: "retention.set",
      teamId,
      target: { kind: "retention", id: null, label: kind },
      detail: { from: from ?? "forever", to: days ?? "forever" },
    });
    return true;
  });
}
