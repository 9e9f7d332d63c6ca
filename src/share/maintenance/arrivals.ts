import type { Core } from "../../core.ts";
import { logImports } from "../../platform/transparency/transparency.ts";

/** The leaves that came with a team, one after another, and what its import says of them. */
interface Arrival {
  readonly first: number;
  readonly last: number;
  readonly erasures: readonly string[] | undefined;
  /** Events without names of which nothing was stated there, and that were not met yet. */
  unstated: number;
}

/**
 * Leaves that came with teams from other instances. Some of what they tell of was erased there, and the events of those erasures stayed
 * behind: the import's own leaf says which there were.
 */
export class Arrivals {
  readonly #arrivals: readonly Arrival[];

  constructor(core: Core) {
    this.#arrivals = logImports(core)
      .map(({ leaf, facts: { leaves, erasures, unstatedEvents = Number.POSITIVE_INFINITY } }) => ({
        ...{ first: leaf - leaves, last: leaf - 1 },
        ...{ erasures, unstated: unstatedEvents },
      }))
      // Ranges may lie in each other, when a team moved twice: the later import speaks for both, so it is found first.
      .sort((a, b) => b.last - a.last);
  }

  #of(leaf: number): Arrival | undefined {
    return this.#arrivals.find(({ first, last }) => first <= leaf && leaf <= last);
  }

  has(leaf: number): boolean {
    return this.#of(leaf) !== undefined;
  }

  /** Whether an erasure came with what a leaf tells of. Imports of earlier versions did not say which did. */
  isErasure(leaf: number, erasureId: string): boolean {
    const arrival = this.#of(leaf);
    return arrival !== undefined && (arrival.erasures?.includes(erasureId) ?? true);
  }

  /** Counts an event without names of which nothing is stated. @returns whether it may have come so */
  takeUnstated(leaf: number): boolean {
    const arrival = this.#of(leaf);
    if (!arrival || arrival.unstated === 0) return false;
    arrival.unstated--;
    return true;
  }
}
