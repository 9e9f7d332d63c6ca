/** For whom work is done: a team and one of its credentials. Without a credential, blocks of the address stand for both, see `payerAt`. */
export interface Payer {
  readonly team: string;
  readonly credential: string;
}

/** A queue that takes turns between teams, and within a team between its credentials. Items of one credential stay in order. */
export class FairQueue<T> {
  /** In the order of turns: the next team first. */
  readonly #teams = new Map<string, Map<string, T[]>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push({ team, credential }: Payer, item: T): void {
    this.#teams.getOrInsert(team, new Map()).getOrInsert(credential, []).push(item);
    this.#length++;
  }

  /** Removes the newest item of the payer with most waiting, when that is more than `payer` would have; undefined otherwise. */
  displaceFor({ team, credential }: Payer): T | undefined {
    const [most, ofMost] = largest(this.#teams, sizeOf) ?? [];
    const [heaviest, ofHeaviest] = largest(ofMost ?? new Map<string, T[]>(), ({ length }) => length) ?? [];
    if (most === undefined || heaviest === undefined || !ofMost || !ofHeaviest) return undefined;
    const own = this.#teams.get(team);
    const isLighter =
      most === team
        ? (own?.get(credential)?.length ?? 0) + 1 < ofHeaviest.length
        : sizeOf(own ?? new Map()) + 1 < sizeOf(ofMost);
    if (!isLighter) return undefined;
    const item = ofHeaviest.pop();
    if (ofHeaviest.length === 0) ofMost.delete(heaviest);
    if (ofMost.size === 0) this.#teams.delete(most);
    this.#length--;
    return item;
  }

  /** Takes the next item. Its team and credential move to the end. */
  shift(): T | undefined {
    const [team, ofTeam] = this.#teams.entries().next().value ?? [];
    const [credential, ofCredential] = ofTeam?.entries().next().value ?? [];
    if (team === undefined || !ofTeam || credential === undefined || !ofCredential) return undefined;
    const item = ofCredential.shift();
    ofTeam.delete(credential);
    if (ofCredential.length > 0) ofTeam.set(credential, ofCredential);
    this.#teams.delete(team);
    if (ofTeam.size > 0) this.#teams.set(team, ofTeam);
    this.#length--;
    return item;
  }
}

const sizeOf = (ofTeam: ReadonlyMap<string, { readonly length: number }>): number =>
  ofTeam.values().reduce((sum, { length }) => sum + length, 0);

function largest<V>(map: ReadonlyMap<string, V>, size: (value: V) => number): [string, V] | undefined {
  let found: [string, V] | undefined;
  for (const one of map) if (!found || size(one[1]) > size(found[1])) found = one;
  return found;
}
