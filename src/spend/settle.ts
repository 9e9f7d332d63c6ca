import type { Core } from "../core.ts";
import { placeOfSession } from "../traces/traces.ts";
import { addFigures, applyChange, type Candidate, type Change, countedOf, sameRow } from "./count.ts";
import { type CandidateRow, rows } from "./rows.ts";
import { FIGURES, type Figures, isMessage, NOTHING, type Place, type Told } from "./told.ts";

/** Changes to what is known of usages, gathered before they are made. */
export interface Changes {
  readonly byUsage: Map<string, { readonly teamId: string; readonly key: Buffer; readonly changes: Change[] }>;
}

export const gatherChanges = (): Changes => ({ byUsage: new Map() });

function of({ byUsage }: Changes, teamId: string, key: Buffer): Change[] {
  const name = `${teamId}${key.toString("latin1")}`;
  let one = byUsage.get(name);
  if (!one) {
    one = { teamId, key, changes: [] };
    byUsage.set(name, one);
  }
  return one.changes;
}

const candidate = ({ place, figures }: Told, source: number): Candidate => ({ source, place, times: 1, figures });

/** An entry told a usage. */
export function changeByEntry(changes: Changes, told: Told): void {
  of(changes, told.teamId, told.key).push({ kind: "entry", told: candidate(told, 0) });
}

/** A session tells these usages, and none of the others that it told before. */
export function changeBySession(
  core: Core,
  changes: Changes,
  session: { readonly id: number; readonly teamId: string },
  all: readonly Told[],
): void {
  const { id: source, teamId } = session;
  const name = (key: Buffer) => key.toString("latin1");
  const told = Map.groupBy(all, ({ key }) => name(key));
  const held = Map.groupBy(rows(core.store).ofSession.all(source, teamId), ({ key }) => name(key));
  for (const [one, [row]] of held)
    if (row && !told.has(one)) of(changes, teamId, row.key).push({ kind: "session", source, told: [] });
  for (const [one, [first, ...more]] of told) {
    if (!first) continue;
    const change: Change = { kind: "session", source, told: [first, ...more].map((each) => candidate(each, source)) };
    const next = applyChange([], change, isMessage(first.key));
    const before = (held.get(one) ?? []).map((row) => readHeld(teamId, row));
    // A growing session tells again and again what it told before.
    if (
      next.length !== before.length ||
      !next.every((each) => before.some((row) => sameRow(each, row) && isSame(each, row)))
    )
      of(changes, teamId, first.key).push(change);
  }
}

/** A candidate as it is stored. */
interface Held extends Candidate {
  readonly cellId: number;
  readonly counted: boolean;
}

/** Makes the changes: usages are known anew, and cells hold what counts of them. Call inside a transaction. */
export function settle(core: Core, { byUsage }: Changes): void {
  const cells = new Cells(core);
  for (const { teamId, key, changes } of byUsage.values()) settleUsage(core, cells, teamId, key, changes);
  cells.flush();
}

function settleUsage(core: Core, cells: Cells, teamId: string, key: Buffer, changes: readonly Change[]): void {
  const sql = rows(core.store);
  const message = isMessage(key);
  const held = sql.candidates.all(teamId, key).map((row) => readHeld(teamId, row));
  let known: readonly Candidate[] = held;
  for (const change of changes) known = applyChange(known, change, message);
  const counted = countedOf(known, message);
  const next = known.map((one) => ({
    ...one,
    cellId: "cellId" in one ? (one.cellId as number) : cells.idOf(one.place),
    counted: counted.has(one),
  }));
  for (const one of held) {
    const same = next.find(({ source, cellId }) => source === one.source && cellId === one.cellId);
    if (same && isUnchanged(one, same)) continue;
    if (one.counted) cells.add(one.cellId, one.figures, -1);
    if (!same) sql.dropCandidate.run(teamId, key, one.source, one.cellId);
  }
  for (const one of next) {
    const before = held.find(({ source, cellId }) => source === one.source && cellId === one.cellId);
    if (before && isUnchanged(before, one)) continue;
    if (one.counted) cells.add(one.cellId, one.figures, 1);
    const { source, cellId, times, figures } = one;
    sql.putCandidate.run({ teamId, key, source, cellId, times, counted: one.counted ? 1 : 0, ...figures });
  }
}

function readHeld(teamId: string, row: CandidateRow): Held {
  const { source, cellId, times, counted, day, repoKey, branch, model, deviceId, session, context, ...rest } = row;
  const figures = Object.fromEntries(FIGURES.map((name) => [name, rest[name]])) as unknown as Figures;
  const place = day === null ? null : { teamId, day, repoKey, branch, model, deviceId, session, context };
  return { source, cellId, times, counted: counted === 1, place, figures };
}

const isSame = (a: Candidate, b: Candidate): boolean =>
  a.times === b.times && FIGURES.every((name) => a.figures[name] === b.figures[name]);
const isUnchanged = (a: Held, b: Held): boolean => a.counted === b.counted && isSame(a, b);

/** Cells that a transaction adds to, each written once. */
class Cells {
  readonly #core: Core;
  readonly #ids = new Map<string, number>();
  readonly #sums = new Map<number, Figures>();
  constructor(core: Core) {
    this.#core = core;
  }

  /** The cell of a place, made where there is none; 0 for no place. */
  idOf(place: Place | null): number {
    if (!place) return 0;
    const { teamId, day, repoKey, branch, model, deviceId, session, context } = place;
    const name = JSON.stringify([teamId, day, repoKey, branch, model, deviceId, session, context]);
    let id = this.#ids.get(name) ?? rows(this.#core.store).cell.get(place);
    if (id === undefined) {
      // The session may be known before its entries, or come after them: then it names its cells itself.
      const said = session === "" ? undefined : placeOfSession(this.#core, deviceId, session);
      const names = { sessionBranch: said?.branch ?? "", sessionModel: said?.model ?? "" };
      id = Number(rows(this.#core.store).insertCell.run({ ...place, ...names }).lastInsertRowid);
    }
    this.#ids.set(name, id);
    return id;
  }

  add(cellId: number, figures: Figures, sign: 1 | -1): void {
    if (cellId !== 0) this.#sums.set(cellId, addFigures(this.#sums.get(cellId) ?? NOTHING, figures, sign));
  }

  flush(): void {
    for (const [id, figures] of this.#sums)
      if (FIGURES.some((name) => figures[name] !== 0)) rows(this.#core.store).addToCell.run({ id, ...figures });
  }
}
