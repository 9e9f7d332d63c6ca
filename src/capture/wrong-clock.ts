import { DAY_MS, MINUTE_MS } from "../kit/clock.ts";
import { type Capture, FORGOTTEN, readSetting, SINCE, writeSetting } from "./state.ts";

/** A clock that was set is looked at for so long before anything is forgotten by it. */
const PROVEN_MS = 60 * MINUTE_MS;
/** What is kept for the shortest time is kept for so long. */
const KEEP_MS = 7 * DAY_MS;
/** A setting: when the clock was found to have been set, in milliseconds since the epoch by that clock. */
const SET_AT = "clockSetAt";

/**
 * Whether the clock went on for an hour without being set. A machine that was off for a week cannot tell, so it waits as well. Call once
 * a pass.
 * @param lastPass when the pass before ended, in milliseconds since the epoch
 */
export function isProven(capture: Capture, lastPass: number | undefined): boolean {
  const now = capture.clock.now();
  const wasSet = lastPass !== undefined && (now < lastPass - PROVEN_MS || now > lastPass + KEEP_MS);
  if (wasSet) writeSetting(capture, SET_AT, now);
  return !wasSet && Math.abs(now - (readSetting<number>(capture, SET_AT) ?? 0)) >= PROVEN_MS;
}

/** A setting: while the clock is behind the instant from which on transcripts are read, from when on by that clock. */
const BEHIND_FROM = "behindFrom";

/** The time of what may be recorded, in milliseconds since the epoch. */
export interface Readable {
  readonly since: number;
  /** Whether the clock is behind: what happened later by it is from before it was set back, and not meant. */
  readonly isBehind?: boolean;
}

/**
 * From when on what happened may be recorded; undefined where nobody said. Where the clock was set back behind that, or was ahead when it
 * was said, what happens from now on is meant as well, and nothing from before.
 */
export function readableSince(capture: Capture): Readable | undefined {
  const said = readSetting<number>(capture, SINCE);
  if (said === undefined) return undefined;
  // What was read before this instant may have been forgotten, and would be recorded again.
  const since = Math.max(said, readSetting<number>(capture, FORGOTTEN) ?? 0);
  const now = capture.clock.now();
  const known = readSetting<number>(capture, BEHIND_FROM);
  if (since <= now) {
    if (known !== undefined) capture.rows.dropSetting.run(BEHIND_FROM);
    return { since };
  }
  if (known !== undefined && known <= now) return { since: known, isBehind: true };
  // A session of which no hook rang may have begun before this pass. A second's correction opens no more than a second.
  const from = now - Math.min(PROVEN_MS, since - now);
  writeSetting(capture, BEHIND_FROM, from);
  return { since: from, isBehind: true };
}

/** Whether an instant is one of those. @param now what the clock says; a minute more may be written meanwhile */
export const isReadable = ({ since, isBehind }: Readable, at: number, now: number): boolean =>
  at >= since && !(isBehind && at > now + MINUTE_MS);
