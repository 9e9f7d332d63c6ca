import type { Core } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { noteSpent, noteSpentMore, type Spent } from "../sessions/sessions.ts";
import { currentPrices } from "./current-prices.ts";
import type { PriceTable } from "./price-table.ts";
import { type CellRow, type DayOfModel, type OfTeamSession, rows } from "./rows.ts";
import { addMeasures, type Measures, NO_MEASURES, sessionOf } from "./usage-record.ts";

/** What sessions cost, kept beside them so that lists can be ordered by it: with each usage that is counted, and when prices change. */

const NOTHING: Spent = { tokens: 0, unpriced: 0, pico: 0n };

/** Tokens and their cost added to others. */
function withUsage(
  { tokens, unpriced, pico }: Spent,
  table: PriceTable,
  cell: Omit<CellRow, "usages" | "reported" | "reportedNano">,
): Spent {
  const used = cell.input + cell.output + cell.cacheWrite + cell.cacheWrite1h + cell.cacheRead;
  const cost = table.cost(cell.model, cell.day, cell.context, cell);
  return { tokens: tokens + used, unpriced: unpriced + (cost === undefined ? used : 0), pico: pico + (cost ?? 0n) };
}

/** Row change: notes what some sessions used in all and what that costs. */
function priceSessions(core: Core, sessions: Iterable<OfTeamSession>): void {
  const { table } = currentPrices(core);
  for (const { teamId, deviceId, session } of sessions) {
    const cells = rows(core.store).cellsOfSession.all(deviceId, session);
    const spent = cells.reduce((sum, cell) => withUsage(sum, table, cell), NOTHING);
    noteSpent(core, { teamId, deviceId, externalId: session }, spent);
  }
}

/** What was added to some cells, gathered by session. */
export class SessionCosts {
  readonly #core: Core;
  readonly #sessions = new Map<string, { readonly of: OfTeamSession; spent: Spent }>();
  constructor(core: Core) {
    this.#core = core;
  }

  /** @param cell with the model that it counts for @param sum of what was added to it, or with -1 taken from it */
  add(cell: OfTeamSession & DayOfModel, sum: Measures, times: 1 | -1): void {
    if (cell.session === "") return;
    const name = sessionOf(cell);
    const { teamId, deviceId, session } = cell;
    const known = this.#sessions.get(name) ?? { of: { teamId, deviceId, session }, spent: NOTHING };
    const added = times === 1 ? sum : addMeasures(NO_MEASURES, sum, times);
    known.spent = withUsage(known.spent, currentPrices(this.#core).table, { ...cell, ...added });
    this.#sessions.set(name, known);
  }

  /** Row change: notes them. */
  flush(): void {
    for (const { of, spent } of this.#sessions.values()) {
      const { teamId, deviceId, session } = of;
      noteSpentMore(this.#core, { teamId, deviceId, externalId: session }, spent);
    }
  }
}

/** Sessions priced in one transaction. */
const BATCH = 100;

/** Prices all sessions anew once prices changed, a few at a time. */
export const repricing: Job = {
  name: "spend-repricing",
  everyMs: 5 * SECOND_MS,
  run: reprice,
};

/** Brings what is kept of sessions' costs to the prices of the moment; it does nothing while they are the same. */
export async function reprice(core: Core): Promise<void> {
  const sql = rows(core.store);
  const { version } = currentPrices(core).table;
  if (sql.pricing.get() === version) return;
  for (let after = { deviceId: "", session: "" }; ; ) {
    const sessions = sql.sessionsAfter.all({ ...after, limit: BATCH });
    await core.store.write(() =>
      priceSessions(
        core,
        sessions.filter(({ session }) => session !== ""),
      ),
    );
    const last = sessions.at(-1);
    if (!last || sessions.length < BATCH) break;
    after = last;
    // Prices may have changed once more meanwhile: the next run sees it.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  await core.store.write(() => sql.setPricing.run(version));
}
