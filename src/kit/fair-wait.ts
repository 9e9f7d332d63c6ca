import { blocksOf } from "./address.ts";
import { FairQueue, type Payer } from "./fair-queue.ts";
import { Problem, unavailable } from "./problem.ts";

interface Waiting {
  readonly go: () => void;
  readonly giveUp: (why: Problem) => void;
}

/** Who pays for what an address asks for: many addresses of one site, or of one provider, are not many strangers. */
export function payerAt(ip: string): Payer {
  const { provider, site } = blocksOf(ip);
  return { team: provider, credential: site };
}

/** Those who wait for their turn, a bounded number: whoever has fewer waiting takes the place of whoever has most. */
export class FairWait {
  readonly #waiting = new FairQueue<Waiting>();
  readonly #most: number;
  readonly #message: string;

  /** @param most that wait at the same time @param message to those who cannot */
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
