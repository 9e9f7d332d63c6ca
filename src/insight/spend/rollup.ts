import type { Core } from "../../core.ts";
import { placeOfSession } from "../../record/traces/traces.ts";
import { addFigures, applyChange, type Candidate, type Change } from "./count.ts";
import { type CandidateRow, rows } from "./rows.ts";
import { FIGURES, type Figures, isMessage, NOTHING, type Place } from "./usage-record.ts";

/** A candidate as it is stored. */
export interface Held extends Candidate {
  readonly key: Buffer;
  readonly cellId: number;
}

/** What tells the rows of a team apart. */
export const rowName = ({ key, source, cellId }: Pick<Held, "key" | "source" | "cellId">): string =>
  `${key.toString("latin1")} ${source} ${cellId}`;

/** Cells that a transaction adds to, each written once. */
export class Cells {
  readonly #core: Core;
  readonly #ids = new Map<string, number>();
  readonly #places = new Map<number, Place>();
  readonly #sums = new Map<number, Figures>();
  constructor(core: Core) {
    this.#core = core;
  }

  /** The cell of a place, made where there is none; 0 for no place. */
  idOf(place: Place | null): number {
    if (!place) return 0;
    const name = nameOf(place);
    let id = this.#ids.get(name) ?? rows(this.#core.store).cell.get(place);
    if (id === undefined) {
      // The session may be known before its entries, or come after them: then it names its cells itself.
      const { deviceId, session } = place;
      const said = session === "" ? undefined : placeOfSession(this.#core, deviceId, session);
      const names = { sessionBranch: said?.branch ?? "", sessionModel: said?.model ?? "" };
      id = Number(rows(this.#core.store).insertCell.run({ ...place, ...names }).lastInsertRowid);
    }
    this.#ids.set(name, id);
    return id;
  }

  /** A stored candidate, with its place. */
  read({ key, source, cellId, times, ...row }: CandidateRow): Held {
    const figures = Object.fromEntries(FIGURES.map((name) => [name, row[name]])) as unknown as Figures;
    return { key, source, cellId, times, figures, place: this.#placeOf(cellId) };
  }

  #placeOf(id: number): Place | null {
    if (id === 0) return null;
    let place = this.#places.get(id);
    if (!place) {
      place = rows(this.#core.store).place.get(id) as Place;
      this.#places.set(id, place);
      this.#ids.set(nameOf(place), id);
    }
    return place;
  }

  /** All that is stored under a key. */
  candidates(teamId: string, key: Buffer): Held[] {
    return rows(this.#core.store)
      .candidates.all(teamId, key)
      .map((row) => this.read(row));
  }

  /** What is stored under a key, after changes. */
  changed(held: readonly Held[], key: Buffer, changes: readonly Change[]): Held[] {
    let known: readonly (Candidate | Held)[] = held;
    for (const change of changes) known = applyChange(known, change, isMessage(key));
    return known.map((one) => ({ ...one, key, cellId: this.idOf(one.place) }));
  }

  /** Stores rows in place of others. @returns whether anything changed */
  store(teamId: string, before: readonly Held[], after: readonly Held[]): boolean {
    const sql = rows(this.#core.store);
    // Most often there was nothing, and no names have to be made.
    const gone = new Map(before.map((one) => [rowName(one), one]));
    let changes = 0;
    for (const one of after) {
      const name = gone.size === 0 ? "" : rowName(one);
      const was = gone.get(name);
      gone.delete(name);
      if (was && was.times === one.times && FIGURES.every((figure) => was.figures[figure] === one.figures[figure]))
        continue;
      const { key, source, cellId, times, figures } = one;
      changes += sql.putCandidate.run({ teamId, key, source, cellId, times, ...figures }).changes;
    }
    for (const { key, source, cellId } of gone.values())
      changes += sql.dropCandidate.run(teamId, key, source, cellId).changes;
    return changes > 0;
  }

  add(place: Place, figures: Figures, times: number): void {
    const id = this.idOf(place);
    this.#sums.set(id, addFigures(this.#sums.get(id) ?? NOTHING, figures, times));
  }

  flush(): void {
    for (const [id, figures] of this.#sums)
      if (FIGURES.some((name) => figures[name] !== 0)) rows(this.#core.store).addToCell.run({ id, ...figures });
  }
}

function nameOf({ teamId, day, repoKey, branch, model, deviceId, session, context }: Place): string {
  return JSON.stringify([teamId, day, repoKey, branch, model, deviceId, session, context]);
}
