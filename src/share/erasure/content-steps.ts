import type { Core } from "../../core.ts";
import { causeErasure } from "../../insight/causes/causes.ts";
import { entriesAnew } from "../../insight/defects/defects.ts";
import { sessionErasure } from "../../insight/sessions/sessions.ts";
import { spendErasure } from "../../insight/spend/spend.ts";
import { type EraseStep, whileAny } from "../../kit/erase-steps.ts";
import type { Portion } from "../../log/log.ts";
import { eraseCauses } from "../../platform/projections/projections.ts";
import { brainErasure } from "../../record/brain/brain.ts";
import { erasePulses } from "../../record/pulses/pulses.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { holdRows } from "./hold-rows.ts";
import { digestOf } from "./targets.ts";

/** Erases all that was delivered of some portions, and what was made of it. */
export async function* eraseContent(core: Core, portions: readonly Portion[]): AsyncGenerator<EraseStep> {
  for (const portion of portions) {
    yield* telemetryErasure.eraseEntries(core, portion);
    yield* eraseTraces(core, portion, "goes");
    yield* eraseBrain(core, portion, false);
    yield* spendErasure.eraseSpend(core, { ...portion, session: null });
    yield* sessionErasure.eraseUnused(core, portion.deviceId);
    yield* whileAny("pulses", () => erasePulses(core, portion));
  }
  yield* whileAny("causes of failures", () => eraseCauses(core));
  for (const teamId of new Set(portions.map((portion) => portion.teamId)))
    yield* brainErasure.eraseUnusedFiles(core, teamId);
}

type Session = ReturnType<typeof traceErasure.sessionsOfPortion>[number];

/** Erases sessions with what was made of them. @param spend what becomes of the figures that they reported */
export async function* eraseTraces(
  core: Core,
  portion: Portion,
  spend: "goes" | "stays",
  isKept: (session: Session) => boolean = () => false,
): AsyncGenerator<EraseStep> {
  for (const session of traceErasure.sessionsOfPortion(core, portion))
    if (!isKept(session)) yield* eraseSession(core, session, portion.erasureId, spend);
  yield* traceErasure.eraseRemains(core, portion);
}

function eraseSession(core: Core, session: Session, erasureId: string, spend: Spend): AsyncGenerator<EraseStep> {
  return traceErasure.eraseSession(core, session, erasureId, derivedOf(core, session, spend));
}

/** `all` is also what telemetry reported of a session: with the rest of its device that goes once for all. */
type Spend = "all" | "goes" | "stays";

async function* derivedOf(core: Core, session: Session, spend: Spend): AsyncGenerator<EraseStep> {
  if (spend !== "stays") yield* spendErasure.eraseSessionSpend(core, session);
  if (spend === "all") yield* spendErasure.eraseSpend(core, { ...session, repoKey: null, session: session.externalId });
  yield* causeErasure.eraseEvidence(core, session.id);
  yield* sessionErasure.eraseSession(core, session.id);
  yield () => {
    holdRows(core.store).forgetSession.run(session.deviceId, session.externalId);
    return {};
  };
}

/** Erases one session of a device, and what entries tell of it. @param sha256 of the session's id, in hexadecimal digits */
export async function* eraseOneSession(core: Core, portion: Portion, sha256: string): AsyncGenerator<EraseStep> {
  const isOfSession = telemetryErasure.ofSession((externalId) => digestOf(externalId) === sha256);
  yield* telemetryErasure.eraseEntries(core, portion, isOfSession);
  for (const session of traceErasure.sessionsOfPortion(core, portion))
    if (digestOf(session.externalId) === sha256) yield* eraseSession(core, session, portion.erasureId, "all");
}

/** Erases snapshots with the entries that were read of them; their files go with `eraseUnusedFiles`. */
export async function* eraseBrain(core: Core, portion: Portion, keepCurrent: boolean): AsyncGenerator<EraseStep> {
  const { teamId, deviceId, erasureId } = portion;
  const snapshots = brainErasure.snapshotsOfPortion(core, portion, keepCurrent);
  yield* brainErasure.eraseSnapshots(core, snapshots, erasureId);
  if (keepCurrent) return;
  for (const repoKey of brainErasure.repositoriesOf(core, deviceId, portion.repoKey)) {
    for await (const change of entriesAnew(core, teamId, repoKey))
      yield () => {
        change();
        return {};
      };
    yield* causeErasure.eraseLinksOfGone(core, teamId, repoKey);
  }
}
