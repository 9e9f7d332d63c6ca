import type { Core } from "../../core.ts";
import { dayNumber } from "../../kit/clock.ts";
import { type EraseStep, MAX_ERASED_ROWS, whileAny } from "../../kit/erase-steps.ts";
import { sessionTwins } from "../../record/traces/traces.ts";
import { readSaid } from "./follow.ts";
import { keptSums, putSaid, putUser } from "./kept-sums.ts";
import { NO_START, rows } from "./rows.ts";

/**
 * Erases a session's row. Where figures of spend stay, the row keeps the usage, because the session may go on. An exported telling of it
 * that stood in no list is shown in its place.
 */
async function* eraseSession(core: Core, sessionId: number): AsyncGenerator<EraseStep> {
  const shown = sessionTwins.isOnlyWhole(core, sessionId) ? sessionTwins.exportedOf(core, sessionId) : [];
  for (const { id } of shown) {
    const said = await readSaid(core, id);
    yield () => {
      if (said) putSaid(core, { ...said, sessionId: id });
      return {};
    };
  }
  yield () => {
    const sql = rows(core.store);
    const gone = sql.ofSession.get(sessionId);
    if (!gone) return {};
    const { teamId, deviceId, externalId, startedAt } = gone;
    keptSums(core).change(teamId, dayNumber(startedAt));
    sql.hide.run({ teamId, deviceId, externalId, noStart: NO_START });
    sql.dropIfUnused.run(deviceId, externalId);
    return {};
  };
}

/** Erases rows of a device that stand for sessions known only by what they used, once nothing is left of that. */
const eraseUnused = (core: Core, deviceId: string): Generator<EraseStep> =>
  whileAny("session figures", () => rows(core.store).dropUnused.run(deviceId, MAX_ERASED_ROWS).changes);

/** Erasing the rows of sessions. */
export const sessionErasure = { eraseSession, eraseUnused, putUser };
