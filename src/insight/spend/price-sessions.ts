import { setImmediate } from "node:timers/promises";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { finish, inSlices, type Slices } from "../../kit/slices.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Job } from "../../platform/jobs/jobs.ts";
import { noteSpent, noteSpentMore, type Spent } from "../sessions/sessions.ts";
import { currentPrices } from "./current-prices.ts";
import type { PriceTable } from "./price-table.ts";
import { type CellRow, type DayOfModel, type OfTeamSession, rows } from "./rows.ts";
import { addMeasures, type Measures, NO_MEASURES, type OfSession, sessionOf } from "./usage-record.ts";

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

/** Cells read in one go, and priced in one transaction: others get their turn between. */
const MAX_CELLS = 500;

/** What a session used in all and what that costs, and in how many cells it stands. */
function* spentOf(
  core: Core,
  table: PriceTable,
  { deviceId, session }: OfSession,
): Slices<{ spent: Spent; cells: number }> {
  let [spent, count] = [NOTHING, 0];
  for (let after = 0; ; ) {
    const cells = rows(core.store).cellsOfSession.all({ deviceId, session, after, limit: MAX_CELLS });
    for (const cell of cells) if (cell.counts) spent = withUsage(spent, table, cell);
    count += cells.length;
    const last = cells.at(-1);
    if (!last || cells.length < MAX_CELLS) return { spent, cells: count };
    yield;
    after = last.id;
  }
}

const note = (core: Core, { teamId, deviceId, session }: OfTeamSession, { spent }: { readonly spent: Spent }) =>
  noteSpent(core, { teamId, deviceId, externalId: session }, spent);

/** The session whose cells are being read in several goes, and whether something was added to them meanwhile. */
const reading = slot(() => ({ name: "", changed: false }));

/** What was added to some cells, gathered by session. */
export class SessionCosts {
  readonly #core: Core;
  readonly #table: PriceTable;
  readonly #sessions = new Map<string, { readonly of: OfTeamSession; spent: Spent }>();
  constructor(core: Core) {
    this.#core = core;
    this.#table = currentPrices(core).table;
  }

  /** @param cell with the model that it counts for @param sum of what was added to it, or with -1 taken from it */
  add(cell: OfTeamSession & DayOfModel, sum: Measures, times: 1 | -1): void {
    if (cell.session === "") return;
    const name = sessionOf(cell);
    const { teamId, deviceId, session } = cell;
    const known = this.#sessions.get(name) ?? { of: { teamId, deviceId, session }, spent: NOTHING };
    const added = times === 1 ? sum : addMeasures(NO_MEASURES, sum, times);
    known.spent = withUsage(known.spent, this.#table, { ...cell, ...added });
    this.#sessions.set(name, known);
  }

  /** Row change: notes them. */
  flush(): void {
    const read = reading(this.#core);
    const { version } = this.#table;
    // Prices may change again before all sessions are priced at these.
    if (this.#sessions.size > 0) rows(this.#core.store).forgetPricing.run(version, begun(version));
    for (const [name, { of, spent }] of this.#sessions) {
      if (name === read.name) read.changed = true;
      const { teamId, deviceId, session } = of;
      noteSpentMore(this.#core, { teamId, deviceId, externalId: session }, spent);
    }
  }
}

/** Stored instead of the prices' version until all sessions are priced at them. */
const begun = (version: string): string => `${version} begun`;

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
  const { table } = currentPrices(core);
  const { version } = table;
  if (sql.pricing.get() === version) return;
  await core.store.write(() => sql.setPricing.run(begun(version)));
  for (let after: OfSession = { deviceId: "", session: "" }; ; ) {
    const { last, long } = await core.store.write(() => priceSome(core, table, after));
    if (long) await priceLong(core, table, long);
    if (!last) break;
    after = last;
    // Prices may change once more meanwhile: the next run sees it.
    await setImmediate();
  }
  await core.store.write(() => sql.endPricing.run(version, begun(version)));
}

/** How far it came. */
interface Priced {
  /** Undefined at the end. */
  readonly last: OfTeamSession | undefined;
  /** The same where it has more cells than are read in one go: it is not priced yet. */
  readonly long?: OfTeamSession;
}

/** Row change: prices some sessions. */
function priceSome(core: Core, table: PriceTable, after: OfSession): Priced {
  const sql = rows(core.store);
  let last: OfTeamSession | undefined;
  for (let [sessions, cells] = [0, 0]; sessions < BATCH && cells < MAX_CELLS; sessions++) {
    last = sql.sessionAfter.get(last ?? after) ?? sql.sessionOfNextDevice.get(last ?? after);
    if (!last) break;
    // Usage without a session is in no session's figure.
    if (last.session === "") continue;
    const read = spentOf(core, table, last).next();
    if (!read.done) return { last, long: last };
    note(core, last, read.value);
    cells += read.value.cells;
  }
  return { last };
}

/** How often a session with many cells is read, where something may be added to it meanwhile. */
const MAX_READS = 5;

/** Prices a session with many cells, which are read in several goes: once more where it changed by then. */
async function priceLong(core: Core, table: PriceTable, session: OfTeamSession): Promise<void> {
  const read = reading(core);
  const yieldNow = cooperative(core.clock);
  for (let reads = 0; reads < MAX_READS; reads++) {
    Object.assign(read, { name: sessionOf(session), changed: false });
    const outside = core.store.outsideVersion();
    const spent = await inSlices(spentOf(core, table, session), yieldNow);
    const isNoted = await core.store.write(() => {
      if (read.changed || core.store.outsideVersion() !== outside) return false;
      note(core, session, spent);
      return true;
    });
    read.name = "";
    if (isNoted) return;
  }
  await core.store.write(() => note(core, session, finish(spentOf(core, table, session))));
}
