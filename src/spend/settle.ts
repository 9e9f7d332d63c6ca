import type { Core } from "../core.ts";
import { Cells, type Held } from "./cells.ts";
import { applyChange, bestOf, type Candidate, type Change, ownCounted, sameRow } from "./count.ts";
import { type Share, sharesOf, witnessesOf } from "./liken.ts";
import { rows } from "./rows.ts";
import { FIGURES, isLike, isMessage, LIKENESS_ENDS, likenessOf, type Place, type Told, witnessKey } from "./told.ts";

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
  const cells = new Cells(core);
  const told = Map.groupBy(all, ({ key }) => name(key));
  const held = Map.groupBy(rows(core.store).ofSession.all(source, teamId), ({ key }) => name(key));
  for (const [one, [row]] of held)
    if (row && !told.has(one)) of(changes, teamId, row.key).push({ kind: "session", source, told: [] });
  for (const [one, [first, ...more]] of told) {
    if (!first) continue;
    const change: Change = { kind: "session", source, told: [first, ...more].map((each) => candidate(each, source)) };
    const next = applyChange([], change, isMessage(first.key));
    const before = (held.get(one) ?? []).map((row) => cells.read(row));
    // A growing session tells again and again what it told before.
    if (
      next.length !== before.length ||
      !next.every((each) => before.some((row) => sameRow(each, row) && isSame(each, row)))
    )
      of(changes, teamId, first.key).push(change);
  }
}

/** Usages of equal figures in one session, with what changes of them. */
interface Alike {
  readonly teamId: string;
  readonly likeness: Buffer;
  readonly told: { readonly key: Buffer; readonly changes: readonly Change[] }[];
  /** Of messages that are told, or no longer told, with these figures. */
  readonly gone: Held[];
  readonly come: Held[];
}

/** Makes the changes: usages are known anew, and cells hold what counts of them. Call inside a transaction. */
export function settle(core: Core, { byUsage }: Changes): void {
  new Settlement(core).make(byUsage.values());
}

class Settlement {
  readonly #core: Core;
  readonly #cells: Cells;
  readonly #alike = new Map<string, Alike>();
  constructor(core: Core) {
    this.#core = core;
    this.#cells = new Cells(core);
  }

  make(usages: Iterable<{ readonly teamId: string; readonly key: Buffer; readonly changes: readonly Change[] }>): void {
    for (const { teamId, key, changes } of usages)
      if (isLike(key)) this.#of(teamId, key).told.push({ key, changes });
      else this.#settleOne(teamId, key, changes);
    // Last: messages say whether what was told without an id is theirs.
    for (const alike of this.#alike.values()) this.#settleAlike(alike);
    this.#cells.flush();
  }

  #of(teamId: string, key: Buffer): Alike {
    const likeness = likenessOf(key);
    const name = `${teamId}${likeness.toString("latin1")}`;
    let one = this.#alike.get(name);
    if (!one) {
      one = { teamId, likeness, told: [], gone: [], come: [] };
      this.#alike.set(name, one);
    }
    return one;
  }

  /** A message, or what a session says of itself as a whole. */
  #settleOne(teamId: string, key: Buffer, changes: readonly Change[]): void {
    const message = isMessage(key);
    const held = rows(this.#core.store)
      .candidates.all(teamId, key)
      .map((row) => this.#cells.read(row));
    const next = this.#changed(key, held, changes, message);
    const counted = (of: readonly Held[]) =>
      message ? [bestOf(of)].filter((one) => one !== undefined) : ownCounted(of);
    this.#count(sharesOfAll(counted(held)), sharesOfAll(counted(next)));
    this.#store(teamId, held, next);
    if (!message) return;
    const [gone, come] = [this.#witnesses(key, held), this.#witnesses(key, next)];
    for (const one of gone)
      if (!come.some((other) => isRow(one, other) && isSame(one, other))) this.#of(teamId, one.key).gone.push(one);
    for (const one of come)
      if (!gone.some((other) => isRow(one, other) && isSame(one, other))) this.#of(teamId, one.key).come.push(one);
  }

  #witnesses(message: Buffer, candidates: readonly Held[]): Held[] {
    return witnessesOf(candidates, bestOf(candidates)).map(({ of, ...one }) => ({
      ...one,
      key: witnessKey(message, of.place, of.figures),
      cellId: this.#cells.idOf(one.place),
    }));
  }

  #settleAlike({ teamId, likeness, told, gone, come }: Alike): void {
    const [first, last] = LIKENESS_ENDS.map((end) => Buffer.concat([likeness, end])) as [Buffer, Buffer];
    const held = rows(this.#core.store)
      .alike.all(teamId, first, last)
      .map((row) => this.#cells.read(row));
    const next = [
      ...held.filter((one) => !gone.some((other) => isRow(one, other)) && !told.some(({ key }) => key.equals(one.key))),
      ...come,
    ];
    for (const { key, changes } of told) {
      const of = held.filter((one) => one.key.equals(key));
      next.push(...this.#changed(key, of, changes, false));
    }
    this.#count(sharesOf(held), sharesOf(next));
    this.#store(teamId, held, next);
  }

  #changed(key: Buffer, held: readonly Held[], changes: readonly Change[], message: boolean): Held[] {
    let known: readonly (Candidate | Held)[] = held;
    for (const change of changes) known = applyChange(known, change, message);
    return known.map((one) => ({ ...one, key, cellId: this.#cells.idOf(one.place) }));
  }

  #count(before: readonly Share[], after: readonly Share[]): void {
    for (const { place, figures, times } of before) this.#cells.add(place, figures, -times);
    for (const { place, figures, times } of after) this.#cells.add(place, figures, times);
  }

  #store(teamId: string, held: readonly Held[], next: readonly Held[]): void {
    const sql = rows(this.#core.store);
    for (const one of held)
      if (!next.some((other) => isRow(one, other))) sql.dropCandidate.run(teamId, one.key, one.source, one.cellId);
    for (const one of next) {
      const before = held.find((other) => isRow(one, other));
      if (before && isSame(before, one)) continue;
      const { key, source, cellId, times, figures } = one;
      sql.putCandidate.run({ teamId, key, source, cellId, times, ...figures });
    }
  }
}

const sharesOfAll = (counted: readonly Candidate[]): Share[] =>
  counted.map(({ place, figures, times }) => ({ place: place as Place, figures, times }));

const isRow = (a: Held, b: Held): boolean => a.source === b.source && a.cellId === b.cellId && a.key.equals(b.key);
const isSame = (a: Candidate, b: Candidate): boolean =>
  a.times === b.times && FIGURES.every((name) => a.figures[name] === b.figures[name]);
