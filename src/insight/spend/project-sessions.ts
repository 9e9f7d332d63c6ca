import type { Core } from "../../core.ts";
import { each, inSlices, type Slices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import { newestDelivery } from "../../log/log.ts";
import type { Projection } from "../../platform/projections/projections.ts";
import { placeOfSession, readMetered, sessionSequence, sessionTwins } from "../../record/traces/traces.ts";
import { applySome, type Changes, emptyOlder, PROJECTIONS } from "./changes.ts";
import { DayChanges } from "./day-changes.ts";
import { sessionKey } from "./dedupe-key.ts";
import { keptDays } from "./kept-days.ts";
import { SessionCosts } from "./price-sessions.ts";
import { believedTime, type Origin, recordCost, recordUsage } from "./record-usage.ts";
import { rows } from "./rows.ts";
import { addSession, reportedOnce } from "./session-reports.ts";
import type { UsageRecord } from "./usage-record.ts";

type MeteredSession = NonNullable<Awaited<ReturnType<typeof readMetered>>>;

/** Calls of several deliveries in one batch at most. */
const MAX_CALLS = 500;
/** For how long reports are gathered in one transaction. */
const GATHER_MS = 10;
/** Calls after which a batch ends, and sessions. */
const ENOUGH_CALLS = 400;
const ENOUGH_SESSIONS = 100;

/** Usage and cost as sessions and their spans report them: a session that changed is read anew. */
export const spendSessionsProjection: Projection = {
  name: PROJECTIONS.sessions,
  newest: newestDelivery,
  async next(core, checkpoint, alone) {
    const yieldNow = cooperative(core.clock);
    // A session that grows while others are read comes twice in a batch: its later state replaces the earlier one here.
    const sessions = new Map<number, ReadSession>();
    let calls = 0;
    let to = checkpoint;
    do {
      const found = sessionSequence.after(core, to);
      if (!found) break;
      const some: ReadSession[] = [];
      for (const id of found.sessionIds) {
        const session = await readMetered(core, id);
        if (session) some.push({ session, reported: await inSlices(reportsOf(session), yieldNow) });
      }
      const more = some.reduce((sum, { session }) => sum + session.calls.length, 0);
      // A delivery that is too large for a batch is one of its own.
      if (to !== checkpoint && calls + more > MAX_CALLS) break;
      for (const one of some) sessions.set(one.session.id, one);
      calls += more;
      to = found.deliveryId;
      await yieldNow();
    } while (!alone && calls < ENOUGH_CALLS && sessions.size < ENOUGH_SESSIONS);
    if (to === checkpoint) return undefined;
    return { to, apply: applyAll(core, [...sessions.values()]) };
  },
  skip: (core, checkpoint) => sessionSequence.after(core, checkpoint)?.deliveryId,
};

/** A session, and what it reports. */
interface ReadSession {
  readonly session: MeteredSession;
  readonly reported: Parameters<typeof addSession>[3];
}

function* reportsOf(session: MeteredSession): Slices<ReadSession["reported"]> {
  return yield* reportedOnce(yield* readSession(session));
}

/**
 * Applies what sessions report, for as long as one transaction may take: what each costs depends on what is known of the same calls. What
 * several tell of one call is applied at once.
 */
function applyAll(core: Core, sessions: readonly ReadSession[]): () => "more" | undefined {
  const changes: Changes = new Map();
  const work = gatherAll(core, changes, sessions);
  return () => {
    if (emptyOlder(core)) return "more";
    const since = performance.now();
    while (!work.next().done) if (performance.now() - since >= GATHER_MS) return "more";
    return applySome(core, changes, since);
  };
}

function* gatherAll(core: Core, changes: Changes, sessions: readonly ReadSession[]): Slices<void> {
  for (const { session, reported } of sessions) {
    yield* addSession(core, changes, session, reported);
    yield* nameCells(core, session);
    for (const one of sessionTwins.unnamedOf(core, session.id)) yield* nameCellsAnew(core, session.teamId, one);
  }
}

/** Names a session's cells anew where its facts changed though the session did not, because another device tells of it. */
export function* nameCellsAnew(
  core: Core,
  teamId: string,
  session: Pick<MeteredSession, "deviceId" | "externalId">,
): Slices<void> {
  const said = placeOfSession(core, session.deviceId, session.externalId);
  if (said) yield* nameCells(core, { teamId, ...session, ...said });
}

/** Gives a session's cells the facts that it says of itself. Its model may have a price where none was known. */
export function* nameCells(
  core: Core,
  session: Pick<MeteredSession, "teamId" | "deviceId" | "externalId" | "branch" | "model" | "agent" | "userEmail">,
): Slices<void> {
  const { teamId, deviceId, externalId, branch, model, agent, userEmail } = session;
  const ofSession = { teamId, deviceId, session: externalId };
  const says = { branch: branch ?? "", model: model ?? "", agent: agent ?? "", user: userEmail ?? "" };
  const sql = rows(core.store);
  for (let after = 0; ; ) {
    const cells = sql.toBeNamed.all({ deviceId, session: externalId, ...says, after });
    const last = cells.at(-1);
    if (!last) return;
    const [days, costs] = [new DayChanges(), new SessionCosts(core)];
    for (const { counts, ownModel, sessionModel, ...cell } of cells) {
      if (!counts) continue;
      keptDays(core).change(teamId, cell.day);
      if (ownModel !== "" || sessionModel === says.model) continue;
      for (const [named, times] of [
        [sessionModel, -1],
        [says.model, 1],
      ] as const) {
        days.add({ ...cell, teamId, model: named }, cell, times);
        costs.add({ ...cell, ...ofSession, model: named }, cell, times);
      }
    }
    costs.flush();
    days.flush(core);
    sql.nameCells.run({ deviceId, session: externalId, ...says, after, upTo: last.id });
    after = last.id;
    yield;
  }
}

/**
 * What a session reports of usage and cost: its model calls, and the whole by its own account where they report none. Whether
 * entries do is known where the two are counted.
 */
export function* readSession(session: MeteredSession): Slices<UsageRecord[]> {
  const { id, teamId, deviceId, repoKey, externalId, calls, usage, costUsd } = session;
  const { startedAt, endedAt, createdAt, updatedAt } = session;
  const originOf = (model: string | null, at: number | null, isOtlp = false): Origin => ({
    source: id,
    isOtlp,
    teamId,
    deviceId,
    repoKey,
    session: externalId,
    // The session's own branch and model are looked up where cells are made: they may change later.
    branch: "",
    model: model ?? "",
    at: believedTime([at, startedAt, endedAt], createdAt, updatedAt),
  });
  const records: UsageRecord[] = [];
  yield* each(calls, ({ model, at, isOtlp, usage: own, costUsd: cost }) => {
    records.push(...recordUsage(originOf(model, at, isOtlp), own, cost));
  });
  const ofWhole = originOf(null, null);
  if (usage && records.length === 0) {
    // A sum of many requests says nothing of the size of each.
    const whole = { ...usage, context: 0 };
    records.push(...recordUsage(ofWhole, whole, null, sessionKey("own-usage", deviceId, externalId)));
  }
  if (costUsd !== null && records.every(({ measures }) => measures.reported === 0))
    records.push(recordCost(ofWhole, costUsd, sessionKey("own-cost", deviceId, externalId)));
  return records;
}
