import { DAY_MS } from "../../../kit/clock.ts";

/** Working days that the demo team's work takes: five weeks. */
export const WORKDAYS = 24;

const isWeekend = (day: number) => [0, 6].includes(new Date(day).getUTCDay());

/**
 * The UTC midnight before a working day.
 * @param on working days before the start; 0 is the day of the start itself, whichever it is
 */
export function workday(startAt: number, on: number): number {
  let day = startAt - (startAt % DAY_MS);
  for (let left = on; left > 0; left--)
    do day -= DAY_MS;
    while (isWeekend(day));
  return day;
}

/** Something that happened in the demo team's past. */
export interface DemoEvent {
  readonly at: number;
  readonly happen: () => Promise<unknown>;
}

/** Sends a body to the API as a device does. @throws Error when it is refused, because then the demo data is wrong */
export type Send = (device: number, path: string, body: object) => Promise<void>;
