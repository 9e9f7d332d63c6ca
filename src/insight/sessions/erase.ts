import type { Core } from "../../core.ts";
import { type EraseStep, MAX_ERASED_ROWS, once, whileAny } from "../../kit/erase-steps.ts";
import { rows } from "./rows.ts";

/** Erases a session's row. */
const eraseSession = (core: Core, sessionId: number): Generator<EraseStep> =>
  once("sessions", () => {
    rows(core.store).drop.run(sessionId);
    return 0;
  });

/** Erases rows of a device that stand for sessions known only by what they used, once nothing is left of that. */
const eraseUnused = (core: Core, deviceId: string): Generator<EraseStep> =>
  whileAny("session figures", () => rows(core.store).dropUnused.run(deviceId, MAX_ERASED_ROWS).changes);

/** Erasing the rows of sessions. */
export const sessionErasure = { eraseSession, eraseUnused };
