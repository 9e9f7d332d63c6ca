import { type Core, slot } from "../../core.ts";
import { FairWait, payerAt } from "../../kit/fair-wait.ts";

/** Answers that one issuer is asked about at the same time, and answers that wait for that. */
const MAX_AT_ONCE = 20;
const MAX_WAITING = 1_000;
const CROWDED = "Too many people are signing in at the moment. Try again in a few seconds.";

interface Line {
  running: number;
  readonly waiting: FairWait;
}

const byIssuer = slot((): Map<string, Line> => new Map());

/**
 * Asks an issuer in turn: anybody can come back with a false code, and the issuer is asked about each. Many addresses of one sender get no
 * more turns than one.
 * @throws Problem 503 when too many wait already, or somebody with fewer waiting takes the place
 */
export async function inTurn<T>(core: Core, issuerId: string, ip: string, ask: () => Promise<T>): Promise<T> {
  const issuers = byIssuer(core);
  const line = issuers.getOrInsertComputed(issuerId, () => ({
    running: 0,
    waiting: new FairWait(MAX_WAITING, CROWDED),
  }));
  if (line.running >= MAX_AT_ONCE) await line.waiting.turn(payerAt(ip));
  else line.running++;
  try {
    return await ask();
  } finally {
    // The next one takes the place of the finished one.
    if (!line.waiting.next() && --line.running === 0) issuers.delete(issuerId);
  }
}
