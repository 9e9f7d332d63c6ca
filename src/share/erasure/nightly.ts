import type { Core } from "../../core.ts";
import { deviceIdsOf } from "../../identity/devices/devices.ts";
import { memberIds, membershipsOf } from "../../identity/members/members.ts";
import { eraseOldSessions } from "../../identity/web-sessions/web-sessions.ts";
import { eraseDeviceReads, eraseOldReads } from "../../insight/ask/ask.ts";
import { sessionViewErasure } from "../../insight/session-views/session-views.ts";
import { DAY_MS, dayNumber, MINUTE_MS } from "../../kit/clock.ts";
import { type EraseStep, inFew, whileAny } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Portion, timedWalk } from "../../log/log.ts";
import { eraseOldEvents, SYSTEM } from "../../platform/audit/audit.ts";
import { type Job, lookAtClock } from "../../platform/jobs/jobs.ts";
import { brainErasure } from "../../record/brain/brain.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { deriveWhatWaits, eraseBrain, eraseTraces, type Kept } from "./content-steps.ts";
import { cutShort, unlessCutShort } from "./cut-short.ts";
import { type Counts, countsOf, inSteps, recordErasure } from "./erasures.ts";
import { heldOf } from "./holds.ts";
import { reclaim } from "./reclaim.ts";
import { RETENTION_KINDS, type Retention, type RetentionKind, retentionOf } from "./retention.ts";
import { retentionRows } from "./retention-rows.ts";
import { rows } from "./rows.ts";

/** How often it is looked whether a night has come: a server that was off catches up after its start. */
const LOOK_EVERY_MS = MINUTE_MS;
/** Lets what was kept for long enough go, once a day (UTC) and team. */
export const retentionJob: Job = {
  name: "retention",
  everyMs: LOOK_EVERY_MS,
  stop: cutShort,
  run: (core) => unlessCutShort(core, () => runDue(core)),
};

async function runDue(core: Core): Promise<void> {
  const rules = retentionRows(core.store).all.all();
  // One that was cut short is ended, though everything is kept for ever since.
  const unfinished = rows(core.store)
    .unfinished.all()
    .filter(({ kind }) => kind === "retention");
  const teamIds = new Set([...rules, ...unfinished].flatMap(({ teamId }) => teamId ?? []));
  // A clock that was set, or that nobody saw go on since the day before, is looked at for an hour: gone is gone.
  const proven = lookAtClock(core) === "proven";
  for (const teamId of teamIds) if (isDue(core, teamId, proven)) await runRetention(core, teamId);
}

function isDue(core: Core, teamId: string, proven: boolean): boolean {
  const last = rows(core.store).lastRetention.get({ teamId, now: core.clock.now() });
  const days = last ? dayNumber(core.clock.now()) - dayNumber(last.requestedAt) : Number.POSITIVE_INFINITY;
  return (last?.completedAt === null || days > 0) && (days <= 1 || proven);
}

/**
 * Erases what a team's retention does not keep any longer; a hold keeps it all the same. One that was cut short is gone on with.
 * @returns what went, by name
 * @throws StoreUnavailable
 */
export async function runRetention(core: Core, teamId: string): Promise<Counts> {
  const sql = rows(core.store);
  const retention = retentionOf(core, teamId);
  const now = core.clock.now();
  const last = sql.lastRetention.get({ teamId, now });
  const open = last?.completedAt === null ? last.id : undefined;
  // Nights on which nothing runs out share rows, or there would be one a night for ever.
  const spare = open ? undefined : sql.spareRetention.get({ teamId, now });
  const id = open ?? spare ?? newId("era", core.clock, core.random);
  const rules = RETENTION_KINDS.filter((kind) => retention[kind] !== null)
    .map((kind) => `${kind} ${retention[kind]} days`)
    .join(", ");
  // Where nothing runs out any more, what went did so by the rules that were.
  const reason = rules || (last?.reason ?? "");
  const run = { id, kind: "retention", teamId, target: "{}", reason } as const;
  await core.store.write(() =>
    id === spare
      ? sql.runAgain.run({ id, reason, requestedAt: now })
      : sql.insert.run({ ...run, requestedBy: SYSTEM.label, requestedAt: now }),
  );
  // The event at the end says what went. The one at the beginning is for the time between: it accounts for what is gone by then.
  const onFirst = () => recordErasure(core, SYSTEM, "retention.begun", run);
  await inSteps(core, id, stepsOf(core, teamId, retention, { now, erasureId: id }), undefined, onFirst);
  const counts = await core.store.write(() => {
    const went = countsOf(core, id);
    sql.complete.run({ id, at: core.clock.now(), before: null });
    if (Object.keys(went).length > 0) recordErasure(core, SYSTEM, "retention.run", { ...run, counts: went });
    return went;
  });
  if (Object.keys(counts).length > 0) await reclaim(core);
  return counts;
}

interface Run {
  readonly now: number;
  readonly erasureId: string;
}

async function* stepsOf(core: Core, teamId: string, retention: Retention, run: Run): AsyncGenerator<EraseStep> {
  const { all, team } = heldOf(core, teamId);
  if (team) return;
  const known = new Set(all.map(({ id }) => id));
  const isAnyNew = () => heldOf(core, teamId).all.some(({ id }) => !known.has(id));
  for (const kind of RETENTION_KINDS) {
    const days = retention[kind];
    if (days === null) continue;
    for await (const step of stepsOfKind(core, teamId, kind, run.now - days * DAY_MS, run)) {
      // A hold placed during the run ends it, at the latest within the step's transaction; the next run respects it.
      if (isAnyNew()) return;
      yield () => (isAnyNew() ? {} : step());
    }
  }
}

async function* stepsOfKind(
  core: Core,
  teamId: string,
  kind: RetentionKind,
  until: number,
  run: Run,
): AsyncGenerator<EraseStep> {
  const through = await timedWalk.lastUpTo(core, teamId, until);
  const portions = deviceIdsOf(core, { teamId }).map(
    (deviceId): Portion => ({ teamId, deviceId, repoKey: null, until, through, erasureId: run.erasureId }),
  );
  const { devices, isSession, ofNote } = heldOf(core, teamId);
  const isKept: Kept = {
    session: ({ deviceId, externalId }) => isSession(deviceId, externalId),
    labels: (deviceId) => devices.has(deviceId),
    note: (deviceId, sessions) => ofNote(deviceId, sessions) !== undefined,
  };
  const free = portions.filter(({ deviceId }) => !devices.has(deviceId));
  // There may be tens of thousands of devices, such as machines of one job, and most have nothing to erase.
  const yieldNow = cooperative(core.clock);
  if (kind === "telemetry") {
    await deriveWhatWaits(core);
    for (const portion of free) {
      await yieldNow();
      yield* telemetryErasure.eraseEntries(core, portion);
    }
  }
  if (kind === "traces") {
    yield* eraseTraces(core, portions, "stays", isKept);
    yield* traceErasure.markRest(core, portions);
  }
  if (kind === "brain") {
    yield* eraseBrain(core, free, true);
    yield* brainErasure.eraseUnusedFiles(core, teamId);
  }
  if (kind === "reads") yield* inFew(ofDevices(core, free, until));
  if (kind === "audit") yield* eraseOldEvents(core, teamId, until, { id: run.erasureId, kind: "retention" });
  if (kind === "reads" || kind === "web-sessions") yield* inFew(ofPeople(core, teamId, kind, run.now));
}

/**
 * Erases reads of devices and views of their sessions. To be run by `inFew`: most devices have nothing to erase, and a transaction for each
 * would take all night.
 */
function* ofDevices(core: Core, portions: readonly Portion[], until: number): Generator<EraseStep> {
  for (const { deviceId } of portions) {
    yield* whileAny("reads", () => eraseDeviceReads(core, deviceId, until));
    yield* whileAny("views of sessions", () => sessionViewErasure.ofDevice(core, deviceId, until));
  }
}

/** People are in several teams at times: what is theirs goes once none of these keeps it. */
function* ofPeople(core: Core, teamId: string, kind: "reads" | "web-sessions", now: number): Generator<EraseStep> {
  const remove = kind === "reads" ? eraseOldReads : eraseOldSessions;
  for (const userId of memberIds(core, teamId)) {
    const teams = membershipsOf(core, userId);
    const days = teams.map(({ id }) => (heldOf(core, id).team ? null : retentionOf(core, id)[kind]));
    const longest = days.reduce<number>((most, one) => Math.max(most, one ?? Number.POSITIVE_INFINITY), 0);
    if (Number.isFinite(longest)) yield* whileAny(kind, () => remove(core, userId, now - longest * DAY_MS));
  }
}

/** The last nightly run of each team that has a rule, for the doctor and the page. */
export function lastRuns(core: Core): { teamId: string; at: number; completedAt: number | null; counts: Counts }[] {
  const teamIds = new Set(
    retentionRows(core.store)
      .all.all()
      .map(({ teamId }) => teamId),
  );
  return [...teamIds].flatMap((teamId) => {
    const last = rows(core.store).lastRetention.get({ teamId, now: core.clock.now() });
    if (!last) return [];
    return { teamId, at: last.requestedAt, completedAt: last.completedAt, counts: JSON.parse(last.counts) as Counts };
  });
}
