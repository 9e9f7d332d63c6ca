import { DAY_MS, dateOfDay } from "../../kit/clock.ts";

/** Folders of days. What is dated before 1970, or not at all, has one, and what is dated from 2100 on: so that there are only so many. */

const MIN_DAY = -1;
const MAX_DAY = Date.UTC(2100, 0, 1) / DAY_MS;
/** Further than any number of a day: what has no start is kept far before all that has one. */
const BEYOND = 200_000_000;

/** The folder of a day, in days since the epoch: YYYY-MM-DD. */
export const folderOf = (day: number): string => dateOfDay(Math.max(MIN_DAY, Math.min(day, MAX_DAY)));

/** The first and the last day that lie in a folder. */
export function daysIn(folder: string): { readonly first: number; readonly last: number } {
  const day = Date.parse(folder) / DAY_MS;
  return { first: day <= MIN_DAY ? -BEYOND : day, last: day >= MAX_DAY ? BEYOND : day };
}

/** The folders of what is found day by day. @param nextDay the first day from one on that there is anything of */
export function* foldersOf(nextDay: (from: number) => number | undefined): Generator<string> {
  for (let from = -BEYOND; ; ) {
    const day = nextDay(from);
    if (day === undefined) return;
    const folder = folderOf(day);
    yield folder;
    from = daysIn(folder).last + 1;
  }
}
