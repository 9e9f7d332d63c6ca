import type { Core } from "../../core.ts";
import { causeErasure } from "../../insight/causes/causes.ts";
import { entriesAnew, findDefect } from "../../insight/defects/defects.ts";
import { deriveAll } from "../../insight/derived/derived.ts";
import { eraseFinds } from "../../insight/find/find.ts";
import { sessionViewErasure } from "../../insight/session-views/session-views.ts";
import { sessionErasure } from "../../insight/sessions/sessions.ts";
import { spendErasure } from "../../insight/spend/spend.ts";
import { triageErasure } from "../../insight/triage/triage.ts";
import { type EraseStep, inFew, portions as inPortions, together, whileAny } from "../../kit/erase-steps.ts";
import { StoreUnavailable } from "../../kit/errors.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Portion } from "../../log/log.ts";
import { eraseNotices, eraseNoticesOfPages } from "../../platform/notices/notices.ts";
import { eraseCauses } from "../../platform/projections/projections.ts";
import { brainErasure } from "../../record/brain/brain.ts";
import { erasePulses } from "../../record/pulses/pulses.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { holdRows } from "./hold-rows.ts";

/**
 * What waits to be read, or is being read, would be made of what goes once it is gone; or never, where it is to stay, as figures of spend
 * do when entries run out. What cannot be made keeps nobody from being forgotten.
 */
export const deriveWhatWaits = (core: Core): Promise<void> =>
  deriveAll(core).catch((error: unknown) => {
    if (error instanceof StoreUnavailable) throw error;
  });

/** Erases all that was delivered of some portions, and what was made of it. */
export async function* eraseContent(core: Core, portions: readonly Portion[]): AsyncGenerator<EraseStep> {
  for (const portion of portions) yield* telemetryErasure.eraseEntries(core, portion);
  yield* eraseTraces(core, portions, "goes");
  yield* eraseBrain(core, portions, false);
  await deriveWhatWaits(core);
  const cells = portions.map((portion) => ({ ...portion, session: null }));
  yield* spendErasure.eraseSpend(core, cells);
  yield* traceErasure.markRest(core, portions);
  yield* inFew(besideContent(core, portions));
  yield* whileAny("causes of failures", () => eraseCauses(core));
  for (const teamId of new Set(portions.map((portion) => portion.teamId)))
    yield* brainErasure.eraseUnusedFiles(core, teamId);
}

/** Erases what was told of some portions beside what was delivered. */
function* besideContent(core: Core, portions: readonly Portion[]): Generator<EraseStep> {
  for (const portion of portions) {
    yield* sessionErasure.eraseUnused(core, portion.deviceId);
    yield* whileAny("pulses", () => erasePulses(core, portion));
  }
  for (const some of Map.groupBy(portions, ({ teamId, repoKey }) => `${teamId} ${repoKey}`).values()) {
    const [{ teamId, repoKey }] = some as [Portion];
    const deviceIds = some.map(({ deviceId }) => deviceId);
    const repoKeys =
      repoKey === null ? deviceIds.flatMap((id) => brainErasure.repositoriesOf(core, id, null)) : [repoKey];
    yield* whileAny("notices", () => eraseNotices(core, { teamId, repoKey }, deviceIds, repoKeys));
  }
}

type Session = Parameters<typeof traceErasure.eraseSession>[1];

/** What holds keep. */
export interface Kept {
  session(session: Session): boolean;
  /** Labels of no session. */
  labels(deviceId: string): boolean;
  /** @param sessions that it names, by their agents' ids */
  note(deviceId: string, sessions: readonly string[]): boolean;
}

const NOTHING: Kept = { session: () => false, labels: () => false, note: () => false };

/** Devices whose sessions are looked for, and erased, together: what they competed for is weighed once for all. */
const DEVICES_AT_ONCE = 100;

/** Erases sessions and notes with what was made of them; `markRest` marks their deliveries. @param spend what becomes of the figures that sessions reported */
export async function* eraseTraces(
  core: Core,
  portions: readonly Portion[],
  spend: Spend,
  isKept = NOTHING,
): AsyncGenerator<EraseStep> {
  // What runs out goes by what came last of it.
  const { sessionsOfPortion, sessionsBegunInPortion } = traceErasure;
  const find = spend === "stays" ? sessionsOfPortion : sessionsBegunInPortion;
  const yieldNow = cooperative(core.clock);
  for (const some of inPortions(portions, DEVICES_AT_ONCE)) {
    const found = some.values().flatMap((portion) => find(core, portion));
    const sessions = await whichOf(core, found, (session) => !isKept.session(session));
    yield* eraseEach(core, sessions, (some[0] as Portion).erasureId, spend, isKept);
    for (const portion of some) {
      await yieldNow();
      const { teamId, deviceId } = portion;
      yield* eraseNotes(core, teamId, (onErased) =>
        traceErasure.eraseNotes(core, portion, (sessions) => isKept.note(deviceId, sessions), onErased),
      );
      if (isKept.labels(deviceId)) continue;
      const labels = await whichOf(core, traceErasure.looseLabels(core, portion));
      yield* traceErasure.eraseLabels(core, labels, portion.erasureId);
    }
  }
}

/** Those of what is found that are meant, with others let in. */
export async function whichOf<T>(
  core: Core,
  found: Iterable<readonly T[]>,
  isMeant: (one: T) => boolean = () => true,
): Promise<T[]> {
  const yieldNow = cooperative(core.clock);
  const meant: T[] = [];
  for (const some of found) {
    meant.push(...some.filter(isMeant));
    await yieldNow();
  }
  return meant;
}

/** Erases the notes of a team that name a person, whoever sent them. @param text their e-mail address */
export const eraseNotesNaming = (core: Core, teamId: string, text: string, erasureId: string) =>
  eraseNotes(core, teamId, (onErased) => traceErasure.eraseNotesNaming(core, { teamId, text }, erasureId, onErased));

/** Erases notes, and what they told of sessions that stay. */
async function* eraseNotes(
  core: Core,
  teamId: string,
  stepsOf: (onErased: (sessions: readonly string[], commit: string) => void) => Iterable<EraseStep>,
): AsyncGenerator<EraseStep> {
  const named = new Set<string>();
  yield* stepsOf((sessions, commit) => {
    for (const session of sessions) {
      named.add(session);
      causeErasure.forgetNoted(core, teamId, session, commit);
    }
  });
  yield* causeErasure.eraseNoted(core, teamId, named);
}

/** Sessions that are erased side by side. */
const SIDE_BY_SIDE = 50;

/** Erases sessions, and weighs anew what they competed for; where sessions run out, what was found stays as it is. */
async function* eraseEach(
  core: Core,
  sessions: readonly Session[],
  erasureId: string,
  spend: Spend,
  isKept: Kept,
): AsyncGenerator<EraseStep> {
  if (spend !== "stays") await deriveWhatWaits(core);
  const contested = spend === "stays" ? [] : await causeErasure.contestedBy(core, sessions);
  for (const some of inPortions(sessions, SIDE_BY_SIDE)) {
    const derive = onceFor(() => deriveWhatWaits(core));
    yield* together(some.map((session) => eraseSession(core, session, erasureId, spend, isKept, derive)));
  }
  for (const correlateAnew of contested) await correlateAnew();
}

/** Does something once for all who ask for it at a time: after the last of them. */
function onceFor(work: () => Promise<void>): () => Promise<void> {
  let waiting: Promise<void> | undefined;
  return () => {
    waiting ??= Promise.resolve().then(() => {
      waiting = undefined;
      return work();
    });
    return waiting;
  };
}

async function* eraseSession(
  core: Core,
  session: Session,
  erasureId: string,
  spend: Spend,
  isKept: Kept,
  derive: () => Promise<void>,
): AsyncGenerator<EraseStep> {
  const listed: number[] = [];
  yield* traceErasure.eraseSession(core, session, erasureId, {
    async *erase() {
      await derive();
      yield* derivedOf(core, session, erasureId, spend, isKept);
    },
    isLeft: () => causeErasure.hasEvidence(core, session.id) || sessionErasure.hasSession(core, session.id),
    onUnnamed(unnamed) {
      sessionErasure.putUser(core, unnamed);
      if (spend !== "stays") spendErasure.putUser(core, session.teamId, unnamed);
    },
    onListed({ id }) {
      sessionErasure.keepSession(core, id);
      listed.push(id);
    },
  });
  for (const id of listed) yield* sessionErasure.countFailed(core, id);
}

type Spend = "goes" | "stays";

async function* derivedOf(
  core: Core,
  session: Session,
  erasureId: string,
  spend: Spend,
  isKept: Kept,
): AsyncGenerator<EraseStep> {
  if (spend !== "stays") yield* inFew(spendErasure.eraseSessionSpend(core, session));
  yield* eraseNotes(core, session.teamId, (onErased) =>
    traceErasure.eraseNotesOf(core, session, erasureId, isKept.note, onErased),
  );
  yield* inFew(tracesOf(core, session));
  yield* sessionErasure.eraseSession(core, session.id);
}

function* tracesOf(core: Core, session: Session): Generator<EraseStep> {
  yield* causeErasure.eraseEvidence(core, session.id);
  yield* whileAny("views of sessions", () => sessionViewErasure.ofSession(core, session.id));
  yield () => {
    eraseFinds(core, session);
    holdRows(core.store).forgetSession.run(session.deviceId, session.externalId);
    return {};
  };
}

/** Some sessions of a device. */
interface SomeSessions {
  readonly portion: Portion;
  /** By a session's id. */
  readonly isMeant: (externalId: string) => boolean;
}

/** Erases some sessions of devices, and what entries tell of them. */
export async function* eraseSessions(core: Core, all: readonly SomeSessions[]): AsyncGenerator<EraseStep> {
  const sessions: Session[] = [];
  for (const { portion, isMeant } of all) {
    yield* telemetryErasure.eraseEntries(core, portion, telemetryErasure.ofSession(isMeant));
    const begun = traceErasure.sessionsBegunInPortion(core, portion);
    sessions.push(...(await whichOf(core, begun, ({ externalId }) => isMeant(externalId))));
  }
  for (const [teamId, ofTeam] of Map.groupBy(sessions, (session) => session.teamId)) {
    const pages = ofTeam.map(({ id }) => `/sessions/${id}` as const);
    yield* whileAny("notices", () => eraseNoticesOfPages(core, teamId, pages));
  }
  // Also the spend of sessions that only entries told of. Before the sessions go: afterwards nothing may tell any more that they are meant.
  yield* eraseSpendOf(core, all, sessions);
  yield* eraseEach(core, sessions, all[0]?.portion.erasureId ?? "", "goes", NOTHING);
  yield* eraseSpendOf(core, all, []);
  for (const { portion } of all) yield* sessionErasure.eraseUnused(core, portion.deviceId);
}

/** Erases what some sessions used, as they and entries tell. */
async function* eraseSpendOf(
  core: Core,
  all: readonly SomeSessions[],
  sessions: readonly Session[],
): AsyncGenerator<EraseStep> {
  await deriveWhatWaits(core);
  yield* inFew(sessions.values().flatMap((session) => spendErasure.eraseSessionSpend(core, session)));
  const yieldNow = cooperative(core.clock);
  const cells: Parameters<typeof spendErasure.eraseSpend>[1][number][] = [];
  for (const { portion, isMeant } of all) {
    const known = spendErasure.sessionsOf(core, portion.deviceId).filter(isMeant);
    cells.push(...known.map((session) => ({ ...portion, repoKey: null, session })));
    await yieldNow();
  }
  yield* spendErasure.eraseSpend(core, cells);
}

/** Erases snapshots with the entries that were read of them; their files go with `eraseUnusedFiles`. */
export async function* eraseBrain(
  core: Core,
  portions: readonly Portion[],
  keepCurrent: boolean,
): AsyncGenerator<EraseStep> {
  await deriveWhatWaits(core);
  const yieldNow = cooperative(core.clock);
  const sent = new Map<string, { readonly teamId: string; readonly repoKey: string }>();
  for (const portion of portions) {
    await yieldNow();
    const { teamId, deviceId, erasureId } = portion;
    const snapshots = await whichOf(core, brainErasure.snapshotsOfPortion(core, portion, keepCurrent));
    yield* brainErasure.eraseSnapshots(core, snapshots, erasureId);
    for (const repoKey of brainErasure.repositoriesOf(core, deviceId, portion.repoKey))
      sent.set(`${teamId} ${repoKey}`, { teamId, repoKey });
  }
  if (keepCurrent) return;
  // A repository has one brain, however many devices sent it.
  for (const { teamId, repoKey } of sent.values()) {
    for await (const change of entriesAnew(core, teamId, repoKey))
      yield () => {
        change();
        return {};
      };
    yield* causeErasure.eraseLinksOfGone(core, teamId, repoKey);
    yield* triageErasure.eraseGone(core, teamId, repoKey, (id) => findDefect(core, teamId, id) !== undefined);
  }
}
