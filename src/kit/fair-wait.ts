import { blocksOf } from "./address.ts";
import { FairQueue, type Payer } from "./fair-queue.ts";
import { Problem, unavailable } from "./problem.ts";

interface Waiting {
  readonly go: () => void;
  readonly giveUp: (why: Problem) => void;
}

/** The payer of requests from an address: many addresses of one site, or of one provider, do not make many payers. */
export function payerAt(ip: string): Payer {
  const { provider, site } = blocksOf(ip);
  return { team: provider, credential: site };
}

/**
 * Callers that wait for their turn, a bounded number. When it is reached, a payer with fewer waiting displaces a caller of the payer with
 * most.
 */
export class FairWait {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #most: number;
  readonly #message: string;

  /** @param most callers that wait at the same time @param message for those that are refused */
  constructor(most: number, message: string) {
    this.#most = most;
    this.#message = message;
  }

  /** Settles when it is the payer's turn. @throws Problem 503 when too many wait already, or another takes the place */
  async turn(payer: Payer): Promise<void> {
    if (this.#waiting.length >= this.#most) {
      const displaced = this.#waiting.displaceFor(payer);
      if (!displaced) throw this.#refusal();
      displaced.giveUp(this.#refusal());
    }
    await new Promise<void>((go, giveUp) => this.#waiting.push(payer, { go, giveUp }));
  }

  /** Gives the next one its turn. @returns whether anybody waited */
  next(): boolean {
    const waiting = this.#waiting.shift();
    waiting?.go();
    return waiting !== undefined;
  }

  #refusal(): Problem {
    return new Problem(unavailable, { message: this.#message, retryAfterSeconds: 5 });
  }
}
