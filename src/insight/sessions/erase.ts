import type { Core } from "../../core.ts";
import { dayNumber } from "../../kit/clock.ts";
import { type EraseStep, MAX_ERASED_ROWS, whileAny } from "../../kit/erase-steps.ts";
import { keepSession, readSaid } from "./follow.ts";
import { keptSums, putSaid, putUser } from "./kept-sums.ts";
import { NO_START, rows } from "./rows.ts";

/** Erases a session's row. Where figures of spend stay, the row keeps the usage, because the session may go on. */
function* eraseSession(core: Core, sessionId: number): Generator<EraseStep> {
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

/** Whether a session has a row. */
const hasSession = (core: Core, sessionId: number): boolean => rows(core.store).isKept.get(sessionId) !== undefined;

/** Counts the failed steps of an exported session that came into the lists by `keepSession`. */
async function* countFailed(core: Core, sessionId: number): AsyncGenerator<EraseStep> {
  const said = await readSaid(core, sessionId);
  yield () => {
    if (said) putSaid(core, said);
    return {};
  };
}

/** Erases rows of a device that stand for sessions known only by what they used, once nothing is left of that. */
const eraseUnused = (core: Core, deviceId: string): Generator<EraseStep> =>
  whileAny("session figures", () => rows(core.store).dropUnused.run(deviceId, MAX_ERASED_ROWS).changes);

/** Erasing the rows of sessions. */
export const sessionErasure = { eraseSession, hasSession, keepSession, countFailed, eraseUnused, putUser };
