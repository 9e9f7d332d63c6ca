import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { refuse, stillReading } from "../../platform/http/faults.ts";
import { catchUp, type Projection, refreshWithin, requireCaughtUp } from "../../platform/projections/projections.ts";
import { lastEntry, usageCandidates } from "../../record/telemetry/telemetry.ts";
import { countSessionsAfter, type MeteredSession, readMetered, sessionsAfter } from "../../record/traces/traces.ts";
import { readEntry } from "./read-entry.ts";
import { readSession } from "./read-session.ts";
import { type Changes, changeByEntry, changeBySession, gatherChanges, settle } from "./reconcile.ts";
import { rows } from "./rows.ts";
import type { Told } from "./usage-record.ts";

/** Entries looked at between two turns of others, and at most for one transaction. */
const BATCH_ENTRIES = 100;
const ENTRIES_A_PIECE = 2_000;
/** Usages after which a piece ends: what is stored in one transaction keeps others waiting. */
const ENOUGH_TOLD = 250;
/** Calls of sessions that are settled in one transaction. */
const BATCH_SETTLED = 1_000;

/** Usage and cost as entries of telemetry tell them. */
export const spendEntriesProjection: Projection = {
  name: "spend.entries.2",
  async next(core, position, alone) {
    const yieldNow = cooperative(core.clock);
    const [atOnce, most] = alone ? [1, 1] : [BATCH_ENTRIES, ENTRIES_A_PIECE];
    const told: Told[] = [];
    // Marks say the same however often they are made.
    const marks = new Map<string, Told>();
    let to = position;
    for (let seen = 0; seen < most && told.length < ENOUGH_TOLD; seen += atOnce) {
      const found = usageCandidates(core, to, atOnce);
      if (!found) break;
      to = found.to;
      for (const one of found.entries.flatMap(readEntry))
        if (one.place) told.push(one);
        else marks.set(`${one.teamId}${one.key.toString("latin1")}`, one);
      await yieldNow();
    }
    return to === position ? undefined : { to, apply: () => applyEntries(core, [...told, ...marks.values()]) };
  },
  skip: (core, position) => usageCandidates(core, position, 1)?.to,
};

function applyEntries(core: Core, told: readonly Told[]): void {
  forgetOlder(core);
  const changes = gatherChanges();
  for (const one of told) changeByEntry(changes, one);
  settle(core, changes);
}

/** Usage and cost as sessions and their spans tell them: a session that changed is read anew. */
export const spendSessionsProjection: Projection = {
  name: "spend.sessions.2",
  async next(core, position) {
    const found = sessionsAfter(core, position);
    if (!found) return undefined;
    const sessions: MeteredSession[] = [];
    for (const id of found.sessionIds) {
      const session = await readMetered(core, id);
      if (session) sessions.push(session);
    }
    const to = found.deliveryId;
    const calls = sessions.reduce((sum, session) => sum + session.calls.length, 0);
    if (calls <= BATCH_SETTLED) return { to, apply: () => applySessions(core, sessions) };
    return { to, before: applyInSteps(core, sessions), apply() {} };
  },
  skip: (core, position) => sessionsAfter(core, position)?.deliveryId,
};

/** Both projections fill the same tables: whichever begins first after an upgrade empties them. */
function forgetOlder(core: Core): void {
  const sql = rows(core.store);
  if (sql.retire.run().changes === 0) return;
  sql.dropUsages.run();
  sql.dropCells.run();
}

function applySessions(core: Core, sessions: readonly MeteredSession[]): void {
  const changes = gatherChanges();
  for (const session of sessions) gatherSession(core, changes, session);
  settle(core, changes);
}

function gatherSession(core: Core, changes: Changes, session: MeteredSession): void {
  forgetOlder(core);
  changeBySession(core, changes, session, readSession(session));
  const { deviceId, externalId, branch, model } = session;
  rows(core.store).nameCells.run({ deviceId, session: externalId, branch: branch ?? "", model: model ?? "" });
}

/** The same for sessions of very many calls: settling them at once would keep everybody else waiting. */
function* applyInSteps(core: Core, sessions: readonly MeteredSession[]): Generator<() => void> {
  for (const session of sessions) {
    const changes = gatherChanges();
    yield () => gatherSession(core, changes, session);
    const usages = [...changes.byUsage];
    for (let from = 0; from < usages.length; from += BATCH_SETTLED)
      yield () => settle(core, { byUsage: new Map(usages.slice(from, from + BATCH_SETTLED)) });
  }
}

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
 * @throws Refusal stillReading (503) when that would take long, with the seconds that it will
 */
export async function requireSpend(core: Core): Promise<{ readonly behind?: true }> {
  const seconds = Math.ceil(spendBehind(core));
  if (seconds > CLIENT_WAITS_SECONDS)
    refuse(stillReading, { headers: { "retry-after": String(Math.min(seconds, MAX_RETRY_SECONDS)) } });
  const [byEntries, bySessions] = await Promise.all([
    requireCaughtUp(core, spendEntriesProjection),
    requireCaughtUp(core, spendSessionsProjection),
  ]);
  return { ...byEntries, ...bySessions };
}

/** What is read in a second, at the least. */
const ENTRIES_A_SECOND = 25_000;
const SESSIONS_A_SECOND = 500;
/** Beyond this many sessions it makes no difference how many there are. */
const MAX_SESSIONS = 30_000;

/** How long it takes to read what was delivered since anybody last asked, about, in seconds. Long only after an upgrade. */
function spendBehind(core: Core): number {
  const sql = rows(core.store);
  const position = ({ name }: Projection) => sql.position.get(name) ?? 0;
  const entries = lastEntry(core) - position(spendEntriesProjection);
  const sessions = countSessionsAfter(core, position(spendSessionsProjection), MAX_SESSIONS);
  return entries / ENTRIES_A_SECOND + sessions / SESSIONS_A_SECOND;
}

const PAGE_WAITS_SECONDS = 0.2;

/** For a page that must not be kept waiting: catches up where that is soon done, else what stands is shown. */
export async function freshenSpend(core: Core): Promise<void> {
  if (spendBehind(core) > PAGE_WAITS_SECONDS) return;
  await Promise.all([refreshWithin(core, spendEntriesProjection), refreshWithin(core, spendSessionsProjection)]);
}

/** How much of the entries was read, 0 to 1. */
export function spendProgress(core: Core): number {
  const last = lastEntry(core);
  return last === 0 ? 1 : Math.min(1, (rows(core.store).position.get(spendEntriesProjection.name) ?? 0) / last);
}
