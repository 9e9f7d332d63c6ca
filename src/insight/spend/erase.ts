import { setImmediate } from "node:timers/promises";
import type { Core } from "../../core.ts";
import { type EraseStep, portions } from "../../kit/erase-steps.ts";
import type { Slices } from "../../kit/slices.ts";
import { emailKey } from "../../kit/strings.ts";
import { cooperative } from "../../kit/yield.ts";
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
import { type OfSession, type Report, sessionOf, TELEMETRY, type UsageRecord } from "./usage-record.ts";

/** Dedupe keys of one transaction: for each it is found anew which report counts. */
const BATCH_KEYS = 250;
/** Keys that are kept in memory while entries are read for what they report under them. */
const MAX_KEYS = 100_000;
/** Reports looked at in one go, and entries. */
const BATCH_REPORTS = 2_000;
const BATCH_ENTRIES = 100;
/** Cells looked through in one go. */
const BATCH_CELLS = 5_000;

/** Erases what a trace session reported. Other reports of the same usages count instead, without the facts that the session said of itself. */
function* eraseSessionSpend(
  core: Core,
  session: { readonly id: number; readonly teamId: string; readonly deviceId: string; readonly externalId: string },
): Generator<EraseStep> {
  yield* eraseReports(core, session);
  yield* inSteps(unnameCells(core, session));
}

/** Cells may stay: telemetry may tell of the session under another repository, or under none. */
function* unnameCells(core: Core, session: Parameters<typeof eraseSessionSpend>[1]): Slices<void> {
  // Where another erasure took it meanwhile, and it came again, its cells are those of the new one.
  if (sessionState(core, session.teamId, session.id) === undefined) return;
  yield* nameCells(core, { ...session, branch: null, model: null, agent: null, userEmail: null });
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

/** Row change: names the cells of a session anew, where the record that said whose it is was erased. */
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

/** What the remaining entries report under some keys, as far as they were counted already. */
class Left {
  readonly #core: Core;
  readonly #cells: ReadonlyMap<string, readonly Cells[]>;
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #reports = new Map<string, Report[]>();
  /** The last of the entries that go. */
  readonly #last: number;
  #to: number;
  /** @param cells by device, all up to one delivery */
  constructor(
    core: Core,
    cells: ReadonlyMap<string, readonly Cells[]>,
    through: number,
    keys: ReadonlyMap<string, Buffer>,
  ) {
    this.#core = core;
    this.#cells = cells;
    this.#keys = keys;
    this.#last = lastEntryId(core, through);
    // A call may have been reported in several repositories. Only the best report counts, so older ones must be read again, from the start.
    const isWhole = cells.values().every((some) => some.every(({ repoKey }) => repoKey === null));
    this.#to = isWhole || keys.size === 0 ? this.#last : 0;
  }

  /** Reads on, for a while. @returns whether there may be more */
  read(): boolean {
    const counted = checkpointOf(this.#core, spendEntriesProjection);
    const found = this.#to < counted ? usageCandidates(this.#core, this.#to, BATCH_ENTRIES, this.#cells) : undefined;
    if (!found) return false;
    for (const entry of found.entries)
      if (entry.id <= counted) for (const report of readEntry(entry)) this.#keep(report, entry.id > this.#last);
    this.#to = Math.min(found.to, counted);
    return true;
  }

  /** @param isLater whether it came after what goes */
  #keep(report: UsageRecord, isLater: boolean): void {
    const { dimensions: of } = report;
    if (!of) return;
    const cells = this.#cells.get(of.deviceId)?.filter(({ session }) => (session ?? of.session) === of.session) ?? [];
    if (cells.length === 0 || (!isLater && cells.some(({ repoKey }) => of.repoKey === repoKey))) return;
    const key = report.key.toString("latin1");
    if (!this.#keys.has(key)) return;
    this.#reports.getOrInsert(key, []).push(report);
  }

  under = (key: Buffer): readonly Report[] => this.#reports.get(key.toString("latin1")) ?? [];
}

/**
 * Erases what entries of telemetry reported, and sessions that ran out, as far as cells tell whose they were; then cells that hold nothing.
 * All reports of a team are walked twice, however many devices the cells are of.
 */
async function* eraseSpend(core: Core, all: readonly Cells[]): AsyncGenerator<EraseStep> {
  for (const some of Map.groupBy(all, ({ teamId, through }) => `${teamId} ${through}`).values())
    yield* eraseOfTeam(core, some, some[0] as Cells);
}

async function* eraseOfTeam(core: Core, all: readonly Cells[], { teamId, through }: Cells): AsyncGenerator<EraseStep> {
  const byDevice = Map.groupBy(all, ({ deviceId }) => deviceId);
  const yieldNow = cooperative(core.clock);
  const ids = new Set<number>();
  const sessions = new Map<string, OfSession>();
  const sql = eraseRows(core.store);
  for (const cells of all) {
    for (const { id, session } of sql.cells.all(cells)) {
      ids.add(id);
      const of = { deviceId: cells.deviceId, session };
      if (session !== "") sessions.set(sessionOf(of), of);
    }
    await yieldNow();
  }
  if (ids.size === 0) return;
  for await (const { keys, reporters } of reportedIn(core, teamId, ids)) {
    // This is all that is left of sessions that ran out.
    for (const id of reporters)
      if (sessionState(core, teamId, id) === undefined) yield* eraseReports(core, { id, teamId });
    const left = new Left(core, byDevice, through, keys);
    while (left.read()) await setImmediate();
    for (const some of portions([...keys.values()], BATCH_KEYS))
      yield () => {
        const changes: Changes = new Map();
        // Includes what was counted since: it is withdrawn with the rest.
        while (left.read());
        for (const key of some) withdrawReports(core, changes, teamId, key, ids, left.under(key));
        applyChanges(core, changes);
        return { usages: some.length };
      };
  }
  const { inUse, reporting } = await reportedStill(core, teamId, [...byDevice.keys()], sessions);
  yield* eraseMarks(core, teamId, sessions, reporting);
  for (const some of portions([...ids]))
    yield () => {
      for (const id of some) if (!inUse.has(id)) sql.dropEmptyCell.run(id);
      return {};
    };
}

/**
 * The keys under which telemetry reported something in some cells, and the trace sessions that did; as many at a time as are kept in
 * memory.
 */
async function* reportedIn(core: Core, teamId: string, cellIds: ReadonlySet<number>) {
  let keys = new Map<string, Buffer>();
  let reporters = new Set<number>();
  for await (const { key, source, cellId } of reportsOf(core, teamId)) {
    if (!cellIds.has(cellId)) continue;
    if (source === TELEMETRY) keys.set(key.toString("latin1"), key);
    else if (source > 0) reporters.add(source);
    if (keys.size < MAX_KEYS) continue;
    yield { keys, reporters };
    [keys, reporters] = [new Map(), new Set()];
  }
  yield { keys, reporters };
}

/** What entries still report of. */
type Reporting = Readonly<Record<"own-usage" | "own-cost", ReadonlySet<string>>>;

/** The cells that still have reports, and which of some sessions entries still report of, by device and name. */
async function reportedStill(
  core: Core,
  teamId: string,
  deviceIds: readonly string[],
  sessions: ReadonlyMap<string, OfSession>,
) {
  const yieldNow = cooperative(core.clock);
  const sessionOfCell = new Map<number, string>();
  for (const deviceId of deviceIds) {
    for (const { id, session } of eraseRows(core.store).cells.all({ teamId, deviceId, repoKey: null, session: null })) {
      const name = sessionOf({ deviceId, session });
      if (sessions.has(name)) sessionOfCell.set(id, name);
    }
    await yieldNow();
  }
  const inUse = new Set<number>();
  const reporting = { "own-usage": new Set<string>(), "own-cost": new Set<string>() };
  for await (const { source, cellId, usages, reported } of reportsOf(core, teamId)) {
    inUse.add(cellId);
    const session = sessionOfCell.get(cellId);
    if (source !== TELEMETRY || session === undefined) continue;
    if (usages > 0) reporting["own-usage"].add(session);
    if (reported > 0) reporting["own-cost"].add(session);
  }
  return { inUse, reporting };
}

/** A session's own account of the whole counts again where entries tell nothing of it any more. */
function* eraseMarks(
  core: Core,
  teamId: string,
  sessions: ReadonlyMap<string, OfSession>,
  reporting: Reporting,
): Generator<EraseStep> {
  for (const what of ["own-usage", "own-cost"] as const)
    for (const some of portions([...sessions], BATCH_KEYS))
      yield () => {
        const changes: Changes = new Map();
        for (const [name, { deviceId, session }] of some)
          if (!reporting[what].has(name))
            add(changes, teamId, sessionKey(what, deviceId, session), { replaces: TELEMETRY, reports: [] });
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
    await setImmediate();
  }
}

/**
 * Erases somebody's addresses from the figures of sessions that ran out, where they are left. The usage stays, and counts for the device's
 * owner from then on.
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

/** The sessions in a device's figures. */
const sessionsOf = (core: Core, deviceId: string): string[] => eraseRows(core.store).sessionsOf.all(deviceId);

/** Erasing figures of spend. */
export const spendErasure = { eraseSessionSpend, eraseSpend, eraseUser, putUser, sessionsOf };
