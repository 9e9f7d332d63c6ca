import type { Core } from "../../core.ts";
import type { Change } from "./count.ts";
import { type Share, sharesOf, type Witness } from "./dedupe.ts";
import { type Cells, type Held, rowName } from "./rollup.ts";
import { rows } from "./rows.ts";
import { type Figures, LIKENESS_ENDS, likenessOf, type Place, witnessKey } from "./usage-record.ts";

/**
 * Up to so many different tellings with equal figures in one session are matched with each other. Sessions hold a handful; what
 * made up more would be read anew with each that follows, so beyond it every telling counts for itself.
 */
export const MAX_MATCHED = 64;

/** A row that changes, and by how often it is told. `row.times` is what is stored, where that was looked up already. */
interface Touched {
  readonly row: Held;
  readonly isRead: boolean;
  by: number;
}

/** Usages of equal figures in one session. */
interface Alike {
  readonly teamId: string;
  readonly likeness: Buffer;
  readonly touched: Map<string, Touched>;
}

/** What was told without an id. Changes are gathered; settling them reads no more than they touch and `MOST_MATCHED` rows. */
export class AlikeUsages {
  readonly #core: Core;
  readonly #cells: Cells;
  readonly #all = new Map<string, Alike>();
  constructor(core: Core, cells: Cells) {
    this.#core = core;
    this.#cells = cells;
  }

  change(teamId: string, key: Buffer, changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.kind === "session")
        for (const row of rows(this.#core.store).candidatesFrom.all(teamId, key, change.source))
          this.#touch(teamId, this.#cells.read(row), true).by = -row.times;
      for (const { source, place, figures } of change.kind === "session" ? change.told : [change.told])
        this.#at(teamId, key, source, place, figures).by++;
    }
  }

  /** A message that one side alone told. @param times 1, or -1 when it no longer did */
  witness(teamId: string, { of, source, place, figures }: Witness, times: 1 | -1): void {
    this.#at(teamId, witnessKey(of.place, of.figures, figures), source, place, figures).by += times;
  }

  settle(): void {
    for (const alike of this.#all.values()) this.#settle(alike);
    this.#all.clear();
  }

  #at(teamId: string, key: Buffer, source: number, place: Place | null, figures: Figures): Touched {
    return this.#touch(teamId, { key, source, cellId: this.#cells.idOf(place), place, figures, times: 0 }, false);
  }

  #touch(teamId: string, row: Held, isRead: boolean): Touched {
    const { touched } = this.#of(teamId, row.key);
    const name = rowName(row);
    let one = touched.get(name);
    if (!one) {
      one = { row, isRead, by: 0 };
      touched.set(name, one);
    }
    return one;
  }

  #of(teamId: string, key: Buffer): Alike {
    const likeness = likenessOf(key);
    const name = `${teamId}${likeness.toString("latin1")}`;
    let one = this.#all.get(name);
    if (!one) {
      one = { teamId, likeness, touched: new Map() };
      this.#all.set(name, one);
    }
    return one;
  }

  #settle({ teamId, likeness, touched }: Alike): void {
    const changed = [...touched.values()].filter(({ by }) => by !== 0);
    if (changed.length === 0) return;
    const [first, last] = LIKENESS_ENDS.map((end) => Buffer.concat([likeness, end])) as [Buffer, Buffer];
    const enough = MAX_MATCHED + changed.length + 1;
    const held = rows(this.#core.store).firstWithin.all(teamId, first, last, enough);
    // So many that the others need not be known: there were too many to be matched, and there still are.
    const isMany = held.length === enough;
    const all = isMany ? [] : held.map((row) => this.#cells.read(row));
    const known = new Map(all.map((row) => [rowName(row), row]));
    const timesOf = ({ row: { key, source, cellId, times }, isRead }: Touched, name: string): number => {
      if (isRead) return times;
      if (!isMany) return known.get(name)?.times ?? 0;
      return rows(this.#core.store).candidate.get(teamId, key, source, cellId)?.times ?? 0;
    };
    const [before, after]: [Held[], Held[]] = [[], []];
    for (const one of changed) {
      const name = rowName(one.row);
      const times = timesOf(one, name);
      if (times > 0) before.push({ ...one.row, times });
      if (times + one.by > 0) after.push({ ...one.row, times: times + one.by });
      known.delete(name);
    }
    this.#count(isMany ? eachForItself(before) : sharesAmong(all), -1);
    this.#count(isMany ? eachForItself(after) : sharesAmong([...known.values(), ...after]), 1);
    this.#cells.store(teamId, before, after);
  }

  #count(shares: readonly Share[], sign: 1 | -1): void {
    for (const { place, figures, times } of shares) this.#cells.add(place, figures, sign * times);
  }
}

const sharesAmong = (rows: readonly Held[]): Share[] =>
  rows.length > MAX_MATCHED ? eachForItself(rows) : sharesOf(rows);

/** Messages are counted where they are known. */
const eachForItself = (rows: readonly Held[]): Share[] =>
  rows.flatMap(({ source, place, figures, times }) => (source >= 0 && place ? [{ place, figures, times }] : []));
