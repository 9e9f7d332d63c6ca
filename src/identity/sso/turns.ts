import { type Core, slot } from "../../core.ts";
import { blocksOf } from "../../kit/address.ts";
import { FairQueue } from "../../kit/fair-queue.ts";
import { Problem, unavailable } from "../../kit/problem.ts";

/** Answers about which one issuer is asked at the same time, and those that wait for that. */
const MAX_AT_ONCE = 20;
const MAX_WAITING = 1_000;

interface Waiting {
  readonly go: () => void;
  readonly giveUp: (why: Problem) => void;
}

interface Line {
  running: number;
  readonly waiting: FairQueue<Waiting>;
}

const byIssuer = slot((): Map<string, Line> => new Map());

const refused = () =>
  new Problem(unavailable, {
    message: "Too many people are signing in at the moment. Try again in a few seconds.",
    retryAfterSeconds: 5,
  });

/**
 * Asks an issuer in turn: anybody can come back with a false code, and it is asked about each. Whoever comes from many addresses has no
 * more turns than others.
 * @throws Problem 503 when too many wait already, or who has fewer waiting takes the place
 */
export async function inTurn<T>(core: Core, issuerId: string, ip: string, ask: () => Promise<T>): Promise<T> {
  const issuers = byIssuer(core);
  const state = issuers.get(issuerId) ?? { running: 0, waiting: new FairQueue<Waiting>() };
  issuers.set(issuerId, state);
  if (state.running >= MAX_AT_ONCE) await turnOf(state, ip);
  else state.running++;
  try {
    return await ask();
  } finally {
    const next = state.waiting.shift();
    // Who is next has the place of who is done.
    if (next) next.go();
    else if (--state.running === 0) issuers.delete(issuerId);
  }
}

function turnOf({ waiting }: Line, ip: string): Promise<void> {
  const { provider, site } = blocksOf(ip);
  const payer = { team: provider, credential: site };
  if (waiting.length >= MAX_WAITING) {
    const displaced = waiting.displaceFor(payer);
    if (!displaced) throw refused();
    displaced.giveUp(refused());
  }
  return new Promise((go, giveUp) => waiting.push(payer, { go, giveUp }));
}
