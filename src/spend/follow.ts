import type { Core } from "../core.ts";
import { catchUp, type Derivation } from "../derive/derive.ts";
import { breather } from "../kit/breathe.ts";
import { StoreUnavailable } from "../kit/unavailable.ts";
import { meteredEntries } from "../telemetry/telemetry.ts";
import { type MeteredSession, readMetered, sessionsAfter } from "../traces/traces.ts";
import { readEntry } from "./read-entry.ts";
import { readSession } from "./read-session.ts";
import { rows } from "./rows.ts";
import { changeByEntry, changeBySession, gatherChanges, settle } from "./settle.ts";
import type { Told } from "./told.ts";

/** Entries looked at between two turns of others, and at most for one transaction. */
const ENTRIES_AT_ONCE = 100;
const ENTRIES_A_PIECE = 2_000;
/** Usages after which a piece ends: what is stored in one transaction keeps others waiting. */
const ENOUGH_TOLD = 250;

/** Usage and cost as entries of telemetry tell them. */
export const spendEntriesDerivation: Derivation = {
  name: "spend.entries",
  async next(core, position) {
    const breathe = breather(core.clock);
    const told: Told[] = [];
    // Marks say the same however often they are made.
    const marks = new Map<string, Told>();
    let to = position;
    for (let seen = 0; seen < ENTRIES_A_PIECE && told.length < ENOUGH_TOLD; seen += ENTRIES_AT_ONCE) {
      const found = meteredEntries(core, to, ENTRIES_AT_ONCE);
      if (!found) break;
      to = found.to;
      for (const one of found.entries.flatMap(readEntry))
        if (one.place) told.push(one);
        else marks.set(`${one.teamId}${one.key.toString("latin1")}`, one);
      await breathe();
    }
    return to === position ? undefined : { to, apply: () => applyEntries(core, [...told, ...marks.values()]) };
  },
};

function applyEntries(core: Core, told: readonly Told[]): void {
  const changes = gatherChanges();
  for (const one of told) changeByEntry(changes, one);
  settle(core, changes);
}

/** Usage and cost as sessions and their spans tell them: a session that changed is read anew. */
export const spendSessionsDerivation: Derivation = {
  name: "spend.sessions",
  async next(core, position) {
    const found = sessionsAfter(core, position);
    if (!found) return undefined;
    const sessions: MeteredSession[] = [];
    for (const id of found.sessionIds) {
      const session = await readMetered(core, id);
      if (session) sessions.push(session);
    }
    return { to: found.deliveryId, apply: () => applySessions(core, sessions) };
  },
};

function applySessions(core: Core, sessions: readonly MeteredSession[]): void {
  const changes = gatherChanges();
  for (const session of sessions) {
    changeBySession(core, changes, session, readSession(session));
    const { deviceId, externalId, branch, model } = session;
    rows(core.store).nameCells.run({ deviceId, session: externalId, branch: branch ?? "", model: model ?? "" });
  }
  settle(core, changes);
}

/** Brings what is known of spend up to what was delivered. While nothing can be stored, what stands is good enough to be read. */
export async function catchUpSpend(core: Core): Promise<void> {
  try {
    await Promise.all([catchUp(core, spendEntriesDerivation), catchUp(core, spendSessionsDerivation)]);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    core.log.warn("spend_behind", { cause: String(error.cause) });
  }
}

/** Entries that a page waits for; more are only to be read once, after an upgrade. */
const SOON_READ = 5_000;

/** For a page that must not be kept waiting: catches up where that is soon done, else what stands is shown. */
export async function freshenSpend(core: Core): Promise<void> {
  const behind =
    (rows(core.store).lastEntry.get() ?? 0) - (rows(core.store).position.get(spendEntriesDerivation.name) ?? 0);
  if (behind <= SOON_READ) await catchUpSpend(core);
}

/** How much of the entries was read, 0 to 1. */
export function spendProgress(core: Core): number {
  const last = rows(core.store).lastEntry.get() ?? 0;
  return last === 0 ? 1 : Math.min(1, (rows(core.store).position.get(spendEntriesDerivation.name) ?? 0) / last);
}
