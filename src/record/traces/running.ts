import type { Core } from "../../core.ts";
import { MINUTE_MS } from "../../kit/clock.ts";
import { browseRows, type SessionListRow } from "./browse-rows.ts";

/** A session without an end that changed after this instant is taken for running. Milliseconds since the epoch. */
const lately = ({ clock }: Core): number => clock.now() - 15 * MINUTE_MS;

/** Whether the agent is still at a session, as far as one can tell; and at which of some, by their numbers. */
export const runningSessions = {
  runs: (core: Core, { endedAt, updatedAt }: Pick<SessionListRow, "endedAt" | "updatedAt">): boolean =>
    endedAt === null && updatedAt > lately(core),
  among: (core: Core, ids: readonly number[]): ReadonlySet<number> =>
    new Set(browseRows(core.store).running.all(JSON.stringify(ids), lately(core))),
};
