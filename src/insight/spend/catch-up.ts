import type { Core } from "../../core.ts";
import { fail } from "../../kit/problem.ts";
import {
  catchUp,
  checkpointOf,
  refreshWithin,
  requireCaughtUp,
  stillReading,
} from "../../platform/projections/projections.ts";
import { lastEntryId } from "../../record/telemetry/telemetry.ts";
import { sessionCounts } from "../../record/traces/traces.ts";
import { spendEntriesProjection } from "./project-entries.ts";
import { spendSessionsProjection } from "./project-sessions.ts";

/** Brings what is known of spend up to what was delivered. @throws StoreUnavailable while nothing can be stored */
export async function catchUpSpend(core: Core): Promise<void> {
  await Promise.all([catchUp(core, spendEntriesProjection), catchUp(core, spendSessionsProjection)]);
}

/** A client would rather ask again than wait for longer, or take half a sum for the whole. */
const CLIENT_WAITS_SECONDS = 3;
const MAX_RETRY_SECONDS = 60;

/**
 * The same for a reply.
 * @returns nothing; or that the reply is behind, while nothing can be stored
 * @throws Problem stillReading (503) when that would take long, with the seconds that it will
 */
export async function requireSpend(core: Core): Promise<{ readonly behind?: true }> {
  const seconds = Math.ceil(secondsBehind(core));
  if (seconds > CLIENT_WAITS_SECONDS) fail(stillReading, { retryAfterSeconds: Math.min(seconds, MAX_RETRY_SECONDS) });
  const [ofEntries, ofSessions] = await Promise.all([
    requireCaughtUp(core, spendEntriesProjection),
    requireCaughtUp(core, spendSessionsProjection),
  ]);
  return { ...ofEntries, ...ofSessions };
}

/** What is read in a second, at the least. */
const ENTRIES_A_SECOND = 25_000;
const SESSIONS_A_SECOND = 500;
/** Beyond this many sessions it makes no difference how many there are. */
const MAX_SESSIONS = 30_000;

/** How long it takes to read what was delivered since anybody last asked, about. Long only after an upgrade. */
function secondsBehind(core: Core): number {
  const entries = lastEntryId(core) - checkpointOf(core, spendEntriesProjection);
  const sessions = sessionCounts.after(core, checkpointOf(core, spendSessionsProjection), MAX_SESSIONS);
  return entries / ENTRIES_A_SECOND + sessions / SESSIONS_A_SECOND;
}

const PAGE_WAITS_SECONDS = 0.2;

/** For a page that must not be kept waiting: catches up where that is soon done, else what stands is shown. */
export async function freshenSpend(core: Core): Promise<void> {
  if (secondsBehind(core) > PAGE_WAITS_SECONDS) return;
  await Promise.all([refreshWithin(core, spendEntriesProjection), refreshWithin(core, spendSessionsProjection)]);
}

/** How much of the entries was read, 0 to 1. */
export function spendProgress(core: Core): number {
  const last = lastEntryId(core);
  return last === 0 ? 1 : Math.min(1, checkpointOf(core, spendEntriesProjection) / last);
}
