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
  for (const portion of portions) {
    yield* telemetryErasure.eraseEntries(core, portion);
    yield* eraseTraces(core, portion, "goes");
    yield* eraseBrain(core, portion, false);
    await deriveWhatWaits(core);
    yield* spendErasure.eraseSpend(core, { ...portion, session: null });
  }
  yield* traceErasure.markRest(core, portions);
  yield* inFew(besideContent(core, portions));
  yield* whileAny("causes of failures", () => eraseCauses(core));
  for (const teamId of new Set(portions.map((portion) => portion.teamId)))
    yield* brainErasure.eraseUnusedFiles(core, teamId);
}

/** Erases what was told of some portions beside what was delivered. */
function* besideContent(core: Core, portions: readonly Portion[]): Generator<EraseStep> {
  for (const portion of portions) {
    const { deviceId, repoKey } = portion;
    yield* sessionErasure.eraseUnused(core, deviceId);
    yield* whileAny("pulses", () => erasePulses(core, portion));
    const repoKeys = repoKey === null ? brainErasure.repositoriesOf(core, deviceId, null) : [repoKey];
    yield* whileAny("notices", () => eraseNotices(core, portion, repoKeys));
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

/** Erases sessions and notes with what was made of them; `markRest` marks their deliveries. @param spend what becomes of the figures that sessions reported */
export async function* eraseTraces(
  core: Core,
  portion: Portion,
  spend: "goes" | "stays",
  isKept = NOTHING,
): AsyncGenerator<EraseStep> {
  // What runs out goes by what came last of it.
  const { sessionsOfPortion, sessionsBegunInPortion } = traceErasure;
  const found = (spend === "stays" ? sessionsOfPortion : sessionsBegunInPortion)(core, portion);
  const sessions = await whichOf(core, found, (session) => !isKept.session(session));
  yield* eraseEach(core, sessions, portion.erasureId, spend, isKept);
  yield* eraseNotes(core, portion.teamId, (onErased) =>
    traceErasure.eraseNotes(core, portion, (sessions) => isKept.note(portion.deviceId, sessions), onErased),
  );
  if (!isKept.labels(portion.deviceId)) yield* traceErasure.eraseLooseLabels(core, portion);
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

function eraseSession(
  core: Core,
  session: Session,
  erasureId: string,
  spend: Spend,
  isKept: Kept,
  derive: () => Promise<void>,
): AsyncGenerator<EraseStep> {
  const derived = async function* (): AsyncGenerator<EraseStep> {
    await derive();
    yield* derivedOf(core, session, erasureId, spend, isKept);
  };
  return traceErasure.eraseSession(core, session, erasureId, derived, (unnamed) => {
    sessionErasure.putUser(core, unnamed);
    if (spend !== "stays") spendErasure.putUser(core, session.teamId, unnamed);
  });
}

/** A portion is also what telemetry reported of a session in it: with the rest of its device that goes once for all. */
type Spend = Portion | "goes" | "stays";

async function* derivedOf(
  core: Core,
  session: Session,
  erasureId: string,
  spend: Spend,
  isKept: Kept,
): AsyncGenerator<EraseStep> {
  if (spend !== "stays") yield* inFew(spendErasure.eraseSessionSpend(core, session));
  if (typeof spend === "object")
    yield* spendErasure.eraseSpend(core, { ...spend, repoKey: null, session: session.externalId });
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

/** Erases some sessions of a device, and what entries tell of them. @param isMeant by a session's id */
export async function* eraseSessions(
  core: Core,
  portion: Portion,
  isMeant: (externalId: string) => boolean,
): AsyncGenerator<EraseStep> {
  yield* telemetryErasure.eraseEntries(core, portion, telemetryErasure.ofSession(isMeant));
  const begun = traceErasure.sessionsBegunInPortion(core, portion);
  const sessions = await whichOf(core, begun, ({ externalId }) => isMeant(externalId));
  const pages = sessions.map(({ id }) => `/sessions/${id}` as const);
  yield* whileAny("notices", () => eraseNoticesOfPages(core, portion.teamId, pages));
  yield* eraseEach(core, sessions, portion.erasureId, portion, NOTHING);
  // And what those used of which entries alone told.
  await deriveWhatWaits(core);
  for (const session of spendErasure.sessionsOf(core, portion.deviceId).filter(isMeant))
    yield* spendErasure.eraseSpend(core, { ...portion, repoKey: null, session });
  yield* sessionErasure.eraseUnused(core, portion.deviceId);
}

/** Erases snapshots with the entries that were read of them; their files go with `eraseUnusedFiles`. */
export async function* eraseBrain(core: Core, portion: Portion, keepCurrent: boolean): AsyncGenerator<EraseStep> {
  const { teamId, deviceId, erasureId } = portion;
  await deriveWhatWaits(core);
  const snapshots = await whichOf(core, brainErasure.snapshotsOfPortion(core, portion, keepCurrent));
  yield* brainErasure.eraseSnapshots(core, snapshots, erasureId);
  if (keepCurrent) return;
  for (const repoKey of brainErasure.repositoriesOf(core, deviceId, portion.repoKey)) {
    for await (const change of entriesAnew(core, teamId, repoKey))
      yield () => {
        change();
        return {};
      };
    yield* causeErasure.eraseLinksOfGone(core, teamId, repoKey);
    yield* triageErasure.eraseGone(core, teamId, repoKey, (id) => findDefect(core, teamId, id) !== undefined);
  }
}
