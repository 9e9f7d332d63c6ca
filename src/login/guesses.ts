import type { Core } from "../core.ts";
import { draw } from "../kit/buckets.ts";
import { Complaint } from "../kit/complaint.ts";
import { perOwner } from "../kit/memo.ts";

/** Wrong user codes somebody may enter (RFC 8628 section 5.1). */
const WRONG = { count: 10, seconds: 5 * 60 };
/** People and addresses remembered at most. */
const MOST = 10_000;

/** When each one's bucket is full again, monotonic milliseconds. */
const buckets = perOwner((_core: Core) => new Map<string, number>());

/**
 * Makes whoever guesses user codes wait. Only wrong entries count, so call this before an entry is looked at, and what it
 * returns once the entry turned out to be no pending code.
 * @param key who enters: a person's id or an address
 * @throws Complaint 429 when there were too many wrong entries; right ones are then refused as well, or guessing would go on
 */
export function guardUserCode(core: Core, key: string): () => void {
  const now = core.clock.monotonic();
  const held = buckets(core);
  const { decision } = draw(held.get(key), now, WRONG);
  if (!decision.allowed)
    throw new Complaint(`There were too many wrong codes. Try again in ${waitText(decision.retryAfterSeconds)}.`, 429);
  return () => {
    const before = held.get(key);
    held.delete(key);
    // Re-inserting keeps the map in order of last use: the front has waited longest.
    if (held.size >= MOST) held.delete(held.keys().next().value as string);
    held.set(key, draw(before, core.clock.monotonic(), WRONG).fullAt);
  };
}

const waitText = (seconds: number) => (seconds === 1 ? "a second" : `${seconds} seconds`);
