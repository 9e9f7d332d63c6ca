import { type Core, slot } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { draw, type Quota } from "../../kit/buckets.ts";
import { fail, rateLimited } from "../../kit/problem.ts";

/*
 * Wrong user codes that are tolerated (RFC 8628 section 5.1). A code is one of 20^8 = 2.56e10. A person may enter 10 wrong ones at once and
 * 2 a minute after them, 2,890 in a day: against 100 codes that wait all day, one chance in 89,000. All people at one address together have
 * 100 and 20 a minute, 28,900 in a day: one in 8,900. A person without a wrong entry is not held up by the others at the address, which
 * adds one guess for each account; accounts are made by invitation. A hit lets a stranger's tool act as the guesser, never the other way
 * round.
 */
const OF_PERSON: Quota = { count: 10, seconds: 5 * 60 };
/** An office behind one address. */
const OF_ADDRESS: Quota = { count: 100, seconds: 5 * 60 };
/** People, and addresses, remembered at most. */
const MAX = 10_000;

/** When the bucket of each is full again, monotonic milliseconds. */
type FullAt = Map<string, number>;

const people = slot((): FullAt => new Map());
const addresses = slot((): FullAt => new Map());

/**
 * Makes people who guess user codes wait. Only wrong entries count: call this before an entry is looked at, and the function that it
 * returns once the entry turned out to be nobody's code.
 * @param userId who enters
 * @param ip from where
 * @throws Problem 429 when there were too many wrong entries; right ones are then refused as well, or guessing would go on
 */
export function guardUserCode(core: Core, userId: string, ip: string): () => void {
  const now = core.clock.monotonic();
  const address = quotaKey(ip);
  const own = draw(people(core).get(userId), now, OF_PERSON).decision;
  const shared = draw(addresses(core).get(address), now, OF_ADDRESS).decision;
  const clean = own.remaining === OF_PERSON.count - 1;
  const refused = own.allowed ? (shared.allowed || clean ? undefined : shared) : own;
  if (refused) {
    const { retryAfterSeconds: seconds } = refused;
    fail(rateLimited, {
      message: `There were too many wrong codes. Try again in ${waitText(seconds)}.`,
      retryAfterSeconds: seconds,
    });
  }
  return () => {
    count(core, people(core), userId, OF_PERSON);
    count(core, addresses(core), address, OF_ADDRESS);
  };
}

function count(core: Core, fullAt: FullAt, key: string, quota: Quota): void {
  const before = fullAt.get(key);
  fullAt.delete(key);
  // Re-inserting keeps the map in order of last use: the front has waited longest.
  if (fullAt.size >= MAX) fullAt.delete(fullAt.keys().next().value as string);
  fullAt.set(key, draw(before, core.clock.monotonic(), quota).fullAt);
}

const waitText = (seconds: number) => (seconds === 1 ? "a second" : `${seconds} seconds`);
