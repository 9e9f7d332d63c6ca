import type { Core } from "../../core.ts";
import { outcomeKind } from "../../formats/outcomes.ts";
import { countMembers } from "../../formats/session.ts";
import { cooperative } from "../../kit/yield.ts";
import {
  checkpointOf,
  inBatches,
  type Projection,
  type RowChange,
  refreshWithin,
} from "../../platform/projections/projections.ts";
import { readSessionSource, type SessionSource, sessionCounts, sessionsAfter } from "../../record/traces/traces.ts";
import { NO_START, rows, type SaidRow } from "./rows.ts";

/** Keeps the rows of sessions like the sessions themselves, a delivery at a time. */
export const sessionsProjection: Projection = {
  name: "sessions",
  next(core, checkpoint) {
    const delivery = sessionsAfter(core, checkpoint);
    if (!delivery) return undefined;
    const { deliveryId, sessionIds } = delivery;
    return { to: deliveryId, before: inBatches(changesOf(core, sessionIds)), apply: () => {} };
  },
  skip: (core, checkpoint) => sessionsAfter(core, checkpoint)?.deliveryId,
};

/** More are not waited for: so many are there to read only after an upgrade. */
const SOON_READ = 100;

/** For a page: reads what was delivered since anybody last looked, unless that takes long. */
export async function freshenSessions(core: Core): Promise<void> {
  const behind = sessionCounts.after(core, checkpointOf(core, sessionsProjection), SOON_READ + 1);
  if (behind > 0 && behind <= SOON_READ) await refreshWithin(core, sessionsProjection);
}

async function* changesOf(core: Core, sessionIds: readonly number[]): AsyncGenerator<RowChange> {
  const yieldNow = cooperative(core.clock);
  for (const id of sessionIds) {
    await yieldNow();
    const source = readSessionSource(core, id);
    if (!source) continue;
    const said = saidOf(source, await sessionCounts.failedSpans(core, id));
    yield () => rows(core.store).putSaid.run(said);
  }
}

function saidOf(source: SessionSource, failedSteps: number): SaidRow {
  const { id, teamId, deviceId, externalId, repoKey, branch, agent, model, outcome, startedAt, endedAt } = source;
  const { firstPrompt, commits } = countMembers(source.document);
  const lasted = startedAt !== null && endedAt !== null && endedAt >= startedAt;
  return {
    ...{ teamId, deviceId, externalId, repoKey, outcome, failedSteps, commits },
    sessionId: id,
    branch: branch ?? "",
    agent: agent ?? "",
    model: model ?? "",
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
  if (source) rows(core.store).putSaid.run(saidOf(source, 0));
}
