import type { Core } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { browseRows, type SessionListRow } from "./browse-rows.ts";

/** For how long a session without an end is taken for running once nothing more came of it. */
const RUNNING_MS = 15 * MINUTE_MS;

const runs = ({ clock }: Core, { endedAt, updatedAt }: Pick<SessionListRow, "endedAt" | "updatedAt">): boolean =>
  endedAt === null && clock.now() - updatedAt < RUNNING_MS;

/** Whether the agent is still at a session, as far as one can tell; and at which of some, by their numbers. */
export const runningSessions = {
  runs,
  among: (core: Core, ids: readonly number[]): ReadonlySet<number> =>
    new Set(
      browseRows(core.store)
        .endless.all(JSON.stringify(ids))
        .flatMap((row) => (runs(core, row) ? row.id : [])),
    ),
};
