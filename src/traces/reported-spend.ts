import type { Core } from "../core.ts";
import { browseRows } from "./browse-rows.ts";

/** Sessions looked at, at most: the newest. */
const MOST_SESSIONS = 5_000;

/** What agents themselves said that their sessions cost. */
export interface ReportedSpend {
  readonly usd: number;
  readonly sessions: number;
  /** Of those, the ones that named a cost. */
  readonly priced: number;
}

/**
 * Adds up the `costUsd` that sessions since an instant reported of themselves; nothing is estimated.
 * @param from milliseconds since the epoch
 */
export function reportedSpend(core: Core, teamId: string, from: number): ReportedSpend {
  return browseRows(core.store).reportedCosts.get(teamId, from, MOST_SESSIONS) as ReportedSpend;
}
