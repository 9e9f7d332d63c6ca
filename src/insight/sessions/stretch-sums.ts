import type { Core } from "../../core.ts";
import { DAY_MS, dayNumber } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { stretchOf } from "../../kit/kept-by-day.ts";
import { cooperative } from "../../kit/yield.ts";
import { keptSums } from "./kept-sums.ts";
import { listRows, type Narrowed, type SumRow } from "./list-rows.ts";

/** What the sessions that a filter leaves come to, by stretches of the days on which they began. */

interface StretchSums {
  /** Starts: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly sums: SumRow;
}

/** Whether all that a filter leaves is of devices that sent few sessions: then these are looked at and no others. */
export const isOfFew = (core: Core, { deviceIds }: Pick<Narrowed, "deviceIds">): boolean =>
  deviceIds !== null && listRows(core.store).areFew.get(deviceIds) === 1;

/** Sums by the days on which sessions began, a stretch at a time; sums of stretches in which nothing changed are kept. */
export function* sumsByStretch(core: Core, narrowed: Narrowed): Generator<StretchSums> {
  const { nextStart, sums, sumsFiltered, sumsOfFew, sumsOfRepo, sumsOfRepoFiltered } = listRows(core.store);
  const { teamId, from, to, ...filters } = narrowed;
  if (isOfFew(core, narrowed)) return yield { from, to, sums: sumsOfFew.get(narrowed) as SumRow };
  const { repoKey, ...others } = filters;
  const filtered = Object.values(others).some((value) => value !== null);
  const [plain, narrow] = repoKey === null ? [sums, sumsFiltered] : [sumsOfRepo, sumsOfRepoFiltered];
  const statement = filtered ? narrow : plain;
  const next = (start: number) => nextStart.get(teamId, start, to) ?? undefined;
  for (let start = next(from); start !== undefined; ) {
    const days = stretchOf(dayNumber(start), [dayNumber(from), dayNumber(to - 1)]);
    const end = (days[1] + 1) * DAY_MS;
    // A range that begins or ends within a day has kept sums of its own.
    const range = { from: Math.max(from, days[0] * DAY_MS), to: Math.min(to, end) };
    const cut = [range.from - days[0] * DAY_MS, end - range.to];
    const name = sha256Hex(JSON.stringify([filters, cut])).slice(0, 32);
    const compute = () => statement.get({ ...narrowed, ...range }) as SumRow;
    yield { ...range, sums: keptSums(core).get(core.store.outsideVersion(), teamId, days, name, compute) };
    start = end < to ? next(end) : undefined;
  }
}

/** The same filter, narrowed to the stretches in which it leaves anything; undefined where there are none. */
export async function whereAny(core: Core, narrowed: Narrowed): Promise<Narrowed | undefined> {
  const yieldNow = cooperative(core.clock);
  let any: Narrowed | undefined;
  for (const { from, to, sums } of sumsByStretch(core, narrowed)) {
    if (sums.sessions > 0) any = { ...narrowed, from: any?.from ?? from, to };
    await yieldNow();
  }
  return any;
}
