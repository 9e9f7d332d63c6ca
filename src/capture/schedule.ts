import { MINUTE_MS, SECOND_MS } from "../kit/clock.ts";
import { systemRandom } from "../kit/random.ts";
import type { Capture } from "./state.ts";

/** Tasks that are done at intervals or were put off; one row each. */
export type Task =
  | "server"
  | "telemetry"
  | "traces"
  | "brain"
  | "briefing"
  | "heartbeat"
  | "pulse"
  | "policy"
  | "prune"
  | "rotate"
  | "commits"
  | "nightly";

const FIRST_PAUSE_MS = 5 * SECOND_MS;
const MAX_PAUSE_MS = 60 * MINUTE_MS;
/** How far off the next try of a task may lie: a day, as where the team's tier does not include it, and our own pauses for the server. */
const longestOf = (task: Task) => (task === "server" ? 1.25 * MAX_PAUSE_MS : 25 * 60 * MINUTE_MS);

/** Between 0 and 1. */
export const chanceOf = (): number => systemRandom(4).readUInt32BE() / 2 ** 32;

/** Whether a task may be done now. A time further away than the longest pause counts as past: the clock was set back since. */
export function isDue({ rows, clock }: Capture, task: Task, longestMs = longestOf(task)): boolean {
  const row = rows.schedule.get(task);
  return !row || clock.now() >= row.nextAt || row.nextAt - clock.now() > longestMs;
}

/** Puts a task off; for an interval, or because it cannot be done now. */
export function notBefore({ rows, clock }: Capture, task: Task, inMs: number, reason: string | null = null): void {
  rows.putSchedule.run(task, clock.now() + inMs, 0, reason);
}

/**
 * Puts a task off after a failure: 5 seconds, then twice as long each time, an hour at most, with jitter so that machines that lost
 * their server together do not come back together.
 * @param atLeastMs what the server asked for
 * @returns how long, in milliseconds
 */
export function putOff({ rows, clock }: Capture, task: Task, reason: string, atLeastMs = 0): number {
  const failures = (rows.schedule.get(task)?.failures ?? 0) + 1;
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20), MAX_PAUSE_MS);
  const inMs = Math.max(atLeastMs, Math.round(pause * (0.75 + chanceOf() / 2)));
  rows.putSchedule.run(task, clock.now() + inMs, failures, reason);
  return inMs;
}

/** A task was done: the next failure is its first again. */
export function succeeded({ rows }: Capture, task: Task): void {
  rows.dropSchedule.run(task);
}
