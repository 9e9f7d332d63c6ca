import type { Core } from "../../core.ts";
import { outcomeKind } from "../../formats/outcomes.ts";
import { countMembers } from "../../formats/session.ts";
import { cooperative } from "../../kit/yield.ts";
import { checkpointOf, type RowChange, refreshWithin } from "../../platform/projections/projections.ts";
import {
  readSessionSource,
  type SessionSource,
  sessionCounts,
  sessionSequence,
  sessionTwins,
} from "../../record/traces/traces.ts";
import { putSaid, putUser } from "./kept-sums.ts";
import { NO_START, rows, type SaidRow } from "./rows.ts";

/** Keeps the rows of sessions like the sessions themselves. */
export const sessionsProjection = sessionSequence.projection("sessions", changesOf);

/** A page waits for no more sessions than this: more are to be read only after an upgrade. */
const SOON_READ = 100;

/** For a page: reads what was delivered since anybody last looked, unless that takes long. */
export async function freshenSessions(core: Core): Promise<void> {
  const behind = sessionCounts.after(core, checkpointOf(core, sessionsProjection), SOON_READ + 1);
  if (behind > 0 && behind <= SOON_READ) await refreshWithin(core, sessionsProjection);
}

async function* changesOf(core: Core, sessionIds: readonly number[]): AsyncGenerator<RowChange> {
  const yieldNow = cooperative(core.clock);
  for (const id of sessionIds.flatMap((each) => [each, ...sessionTwins.exportedOf(core, each).map((one) => one.id)])) {
    await yieldNow();
    const said = await readSaid(core, id);
    if (said) yield () => putSaid(core, said);
    for (const one of sessionTwins.unnamedOf(core, id)) yield () => putUser(core, one);
  }
}

/** What a session's document says of it; undefined where there is no such session. */
export async function readSaid(core: Core, id: number): Promise<SaidRow | undefined> {
  const source = readSessionSource(core, id);
  return source && saidOf(source, await sessionCounts.failedSpans(core, id));
}

function saidOf(source: SessionSource, failedSteps: number): SaidRow {
  const { id, teamId, deviceId, externalId, repoKey, branch, agent, model, outcome, startedAt, endedAt, userEmail } =
    source;
  const { firstPrompt, commits } = countMembers(source.document);
  const lasted = startedAt !== null && endedAt !== null && endedAt >= startedAt;
  return {
    ...{ teamId, deviceId, externalId, repoKey, outcome, failedSteps, commits },
    sessionId: id,
    branch: branch ?? "",
    agent: agent ?? "",
    model: model ?? "",
    userEmail: userEmail ?? "",
    result: outcomeKind(outcome),
    title: firstPrompt,
    startedAt: startedAt ?? NO_START,
    duration: lasted ? endedAt - startedAt : -1,
  };
}

/** Row change: keeps a session that no projection has come to yet, so that something can be said of it. */
export function keepSession(core: Core, id: number): void {
  if (rows(core.store).isKept.get(id)) return;
  const source = readSessionSource(core, id);
  if (source) putSaid(core, saidOf(source, 0));
}
