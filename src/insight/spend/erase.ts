import type { Core } from "../../core.ts";
import { type EraseStep, portions } from "../../kit/erase-steps.ts";
import type { Slices } from "../../kit/slices.ts";
import { emailKey } from "../../kit/strings.ts";
import { checkpointOf } from "../../platform/projections/projections.ts";
import { lastEntryId, usageCandidates } from "../../record/telemetry/telemetry.ts";
import { sessionState } from "../../record/traces/traces.ts";
import { add, applyChanges, type Changes, withdrawReports } from "./changes.ts";
import { sessionKey } from "./dedupe-key.ts";
import { eraseRows } from "./erase-rows.ts";
import { keptDays } from "./kept-days.ts";
import { spendEntriesProjection } from "./project-entries.ts";
import { nameCells, nameCellsAnew } from "./project-sessions.ts";
import { readEntry } from "./read-entry.ts";
import { addSession } from "./session-reports.ts";
import { type Report, TELEMETRY, type UsageRecord } from "./usage-record.ts";

/** Dedupe keys of one transaction: what counts of each is found anew. */
const BATCH_KEYS = 250;
/** Reports looked at in one go, and entries. */
const BATCH_REPORTS = 2_000;
const BATCH_ENTRIES = 100;
/** Cells looked through in one go. */
const BATCH_CELLS = 5_000;

/** Erases what a trace session reported; what others report of the same usages counts instead, without what it said of itself. */
function* eraseSessionSpend(
  core: Core,
  session: { readonly id: number; readonly teamId: string; readonly deviceId: string; readonly externalId: string },
): Generator<EraseStep> {
  yield* eraseReports(core, session);
  // Cells may stay: telemetry may tell of the session under another repository, or under none.
  yield* inSteps(nameCells(core, { ...session, branch: null, model: null, agent: null, userEmail: null }));
}

function* eraseReports(core: Core, session: { readonly id: number; readonly teamId: string }): Generator<EraseStep> {
  const changes: Changes = new Map();
  yield* inSteps(addSession(core, changes, session, new Map()));
  for (const some of portions([...changes], BATCH_KEYS))
    yield () => {
      applyChanges(core, new Map(some));
      return { usages: some.length };
    };
}

/** Row change: has what a session used count for whose it is, where what said so is gone. */
function putUser(
  core: Core,
  teamId: string,
  session: { readonly deviceId: string; readonly externalId: string },
): void {
  for (const _ of nameCellsAnew(core, teamId, session));
}

function* inSteps(work: Slices<void>): Generator<EraseStep> {
  for (let isDone = false; !isDone; )
    yield () => {
      isDone = work.next().done === true;
      return {};
    };
}

/** Usages that telemetry of some cells reported. */
interface Cells {
  readonly teamId: string;
  readonly deviceId: string;
  /** Null for all. */
  readonly repoKey: string | null;
  /** As its agent named it; null for all. */
  readonly session: string | null;
  /** Entries of later deliveries stay. */
  readonly through: number;
}

/** What entries that stay report under some keys, as far as they were counted already. */
class Left {
  readonly #core: Core;
  readonly #cells: Cells;
  readonly #reports: Map<string, Report[]>;
  /** The last entry of those that go. */
  readonly #last: number;
  #to: number;
  constructor(core: Core, cells: Cells, keys: Iterable<string>) {
    this.#core = core;
    this.#cells = cells;
    this.#reports = new Map([...keys].map((key) => [key, []]));
    this.#last = lastEntryId(core, cells.through);
    // Of a call that was told of in several repositories the best report hid the others, which may be older.
    this.#to = cells.repoKey === null || this.#reports.size === 0 ? this.#last : 0;
  }

  /** Reads on, for a while. @returns whether there may be more */
  read(): boolean {
    const counted = checkpointOf(this.#core, spendEntriesProjection);
    const { deviceId } = this.#cells;
    const found = this.#to < counted ? usageCandidates(this.#core, this.#to, BATCH_ENTRIES, deviceId) : undefined;
    if (!found) return false;
    for (const entry of found.entries)
      if (entry.id <= counted) for (const report of readEntry(entry)) this.#keep(report, entry.id > this.#last);
    this.#to = Math.min(found.to, counted);
    return true;
  }

  /** @param isLater it came after what goes */
  #keep(report: UsageRecord, isLater: boolean): void {
    const { repoKey, session } = this.#cells;
    const { dimensions: of } = report;
    if (!of || (session ?? of.session) !== of.session || (!isLater && of.repoKey === repoKey)) return;
    this.#reports.get(report.key.toString("latin1"))?.push(report);
  }

  under = (key: Buffer): readonly Report[] => this.#reports.get(key.toString("latin1")) ?? [];
}

/** By which keys telemetry reported something of some cells, and which trace sessions did. */
async function reportedIn(core: Core, teamId: string, cellIds: ReadonlySet<number>) {
  const keys = new Map<string, Buffer>();
  const sessions = new Set<number>();
  for await (const { key, source, cellId } of reportsOf(core, teamId)) {
    if (!cellIds.has(cellId)) continue;
    if (source === TELEMETRY) keys.set(key.toString("latin1"), key);
    else if (source > 0) sessions.add(source);
  }
  return { keys, sessions };
}

/** Erases what entries of telemetry reported, and sessions that ran out, as far as cells tell whose they were; and cells that hold nothing then. */
async function* eraseSpend(core: Core, cells: Cells): AsyncGenerator<EraseStep> {
  const sql = eraseRows(core.store);
  const found = sql.cells.all(cells);
  const ids = new Set(found.map(({ id }) => id));
  if (ids.size === 0) return;
  const { teamId } = cells;
  const { keys, sessions: reporters } = await reportedIn(core, teamId, ids);
  // Of sessions that ran out only this is left.
  for (const id of reporters)
    if (sessionState(core, teamId, id) === undefined) yield* eraseReports(core, { id, teamId });
  const left = new Left(core, cells, keys.keys());
  while (left.read()) await new Promise<void>((resolve) => setImmediate(resolve));
  for (const some of portions([...keys.values()], BATCH_KEYS))
    yield () => {
      const changes: Changes = new Map();
      // What was counted since, too: it is withdrawn with the rest.
      while (left.read());
      for (const key of some) withdrawReports(core, changes, teamId, key, ids, left.under(key));
      applyChanges(core, changes);
      return { usages: some.length };
    };
  const sessions = new Set(found.map(({ session }) => session).filter((session) => session !== ""));
  const ofDevice = sql.cells.all({ ...cells, repoKey: null, session: null });
  const sessionOf = new Map(ofDevice.map(({ id, session }) => [id, session]));
  const inUse = new Set<number>();
  const reporting = { "own-usage": new Set<string>(), "own-cost": new Set<string>() };
  for await (const { source, cellId, usages, reported } of reportsOf(core, teamId)) {
    inUse.add(cellId);
    const session = sessionOf.get(cellId);
    if (source !== TELEMETRY || session === undefined) continue;
    if (usages > 0) reporting["own-usage"].add(session);
    if (reported > 0) reporting["own-cost"].add(session);
  }
  yield* eraseMarks(core, cells, sessions, reporting);
  for (const some of portions([...ids].filter((id) => !inUse.has(id))))
    yield () => {
      for (const id of some) sql.dropEmptyCell.run(id);
      return {};
    };
}

/**
 * A session's own account of the whole counts again where entries tell nothing of it any more.
 * @param reporting sessions of which other entries report
 */
function* eraseMarks(
  core: Core,
  { teamId, deviceId }: Cells,
  sessions: ReadonlySet<string>,
  reporting: Readonly<Record<"own-usage" | "own-cost", ReadonlySet<string>>>,
): Generator<EraseStep> {
  for (const what of ["own-usage", "own-cost"] as const)
    for (const some of portions([...sessions], BATCH_KEYS))
      yield () => {
        const changes: Changes = new Map();
        for (const one of some)
          if (!reporting[what].has(one))
            add(changes, teamId, sessionKey(what, deviceId, one), { replaces: TELEMETRY, reports: [] });
        applyChanges(core, changes);
        return {};
      };
}

/** All reports of a team, with turns for others in between. */
async function* reportsOf(core: Core, teamId: string) {
  const sql = eraseRows(core.store);
  let at: ReturnType<typeof sql.reportsAfter.all>[number] | undefined;
  for (;;) {
    const { key = Buffer.alloc(0), source = Number.MIN_SAFE_INTEGER, cellId = 0 } = at ?? {};
    const some = sql.reportsAfter.all({ teamId, key, source, cellId, limit: BATCH_REPORTS });
    yield* some;
    at = some.at(-1);
    if (some.length < BATCH_REPORTS) return;
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/**
 * Erases addresses of somebody where they are left: of sessions that ran out, what they used stays. It counts for whose the device is from
 * then on.
 */
function* eraseUser(core: Core, addresses: readonly string[]): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  const emails = JSON.stringify(addresses.map(emailKey));
  const last = sql.lastCell.get() ?? 0;
  for (let after = 0; after < last; after += BATCH_CELLS)
    yield () => {
      if (sql.dropUser.run(after, after + BATCH_CELLS, emails).changes > 0) keptDays(core).changeAll();
      return {};
    };
}

/** The sessions that a device's figures are of. */
const sessionsOf = (core: Core, deviceId: string): string[] => eraseRows(core.store).sessionsOf.all(deviceId);

/** Erasing figures of spend. */
export const spendErasure = { eraseSessionSpend, eraseSpend, eraseUser, putUser, sessionsOf };
