import type { Core } from "../../core.ts";
import { AlikeUsages } from "./alike.ts";
import { applyChange, type Candidate, type Change, ownCounted, sameRow } from "./count.ts";
import { Messages } from "./messages.ts";
import { Cells, type Held } from "./rollup.ts";
import { rows } from "./rows.ts";
import { FIGURES, isLike, isLink, isMessage, type Told } from "./usage-record.ts";

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
    const change = { kind: "session", source, told: [first, ...more].map((each) => candidate(each, source)) } as const;
    const before = (held.get(one) ?? []).map((row) => cells.read(row));
    // A growing session tells again and again what it told before.
    if (!(isLike(first.key) ? tellsAsOften(cells, before, change.told) : tellsTheSame(first.key, before, change)))
      of(changes, teamId, first.key).push(change);
  }
}

/** By cell: a session may tell the same figures very often. */
function tellsAsOften(cells: Cells, before: readonly Held[], told: readonly Candidate[]): boolean {
  const times = new Map<number, number>();
  for (const { place } of told) times.set(cells.idOf(place), (times.get(cells.idOf(place)) ?? 0) + 1);
  return times.size === before.length && before.every((row) => times.get(row.cellId) === row.times);
}

function tellsTheSame(key: Buffer, before: readonly Held[], change: Change): boolean {
  const next = applyChange([], change, isMessage(key));
  return (
    next.length === before.length && next.every((each) => before.some((row) => sameRow(each, row) && isSame(each, row)))
  );
}

const isSame = (a: Candidate, b: Candidate): boolean =>
  a.times === b.times && FIGURES.every((name) => a.figures[name] === b.figures[name]);

/** Makes the changes: usages are known anew, and cells hold what counts of them. Call inside a transaction. */
export function settle(core: Core, { byUsage }: Changes): void {
  const cells = new Cells(core);
  const alike = new AlikeUsages(core, cells);
  const messages = new Messages(core, cells, alike);
  for (const { teamId, key, changes } of byUsage.values())
    if (isLike(key)) alike.change(teamId, key, changes);
    else if (isLink(key)) messages.link(teamId, key, changes);
    else if (isMessage(key)) messages.change(teamId, key, changes);
    else settleOwn(cells, teamId, key, changes);
  // Last: messages say whether what was told without an id is theirs.
  alike.settle();
  cells.flush();
}

/** What a session says of itself as a whole. */
function settleOwn(cells: Cells, teamId: string, key: Buffer, changes: readonly Change[]): void {
  const held = cells.candidates(teamId, key);
  const next = cells.changed(held, key, changes);
  for (const { place, figures, times } of ownCounted(held)) if (place) cells.add(place, figures, -times);
  for (const { place, figures, times } of ownCounted(next)) if (place) cells.add(place, figures, times);
  cells.store(teamId, held, next);
}
