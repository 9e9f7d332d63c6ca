import { type Core, slot } from "../../core.ts";
import { DAY_MS, HOUR_MS } from "../../kit/clock.ts";
import { rows } from "./rows.ts";

/** A server that was away for so long has heard nobody meanwhile, whoever spoke. */
const AWAY_MS = DAY_MS;
const NOTE_EVERY_MS = HOUR_MS;

/** When the server was seen to listen last, and since when it has, as rows beside those of conditions that hold. */
const SEEN = "listening:seen";
const SINCE = "listening:since";

/** When this process noted last that it listens. */
const noted = slot<{ at: number | undefined }>(() => ({ at: undefined }));

/**
 * Notes, once an hour, that the server listens.
 * @returns since when it has, in milliseconds, but for times shorter than a day; 0 where it was never away for longer
 */
export async function listeningSince(core: Core): Promise<number> {
  const now = core.clock.now();
  const mine = noted(core);
  const { at, put } = rows(core.store);
  if (mine.at === undefined || Math.abs(now - mine.at) >= NOTE_EVERY_MS) {
    const seen = at.get(SEEN);
    // A clock that is moved while the process runs is no absence.
    const wasAway = mine.at === undefined && seen !== undefined && now - seen > AWAY_MS;
    await core.store.write(() => {
      if (wasAway) put.run(SINCE, now);
      put.run(SEEN, now);
    });
    mine.at = now;
  }
  return at.get(SINCE) ?? 0;
}
