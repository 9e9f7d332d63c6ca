/**
 * Matches a pattern with one table look-up for each character. A regular expression is fast where it can refuse at once, and slow on a text
 * that is made to have it try every alternative at every place; each call takes some fifty nanoseconds besides. So the patterns that are
 * asked of each value and name are compiled into deterministic automata, at first use or before (`compileAll`).
 */
import type { Slices } from "../kit/slices.ts";
import { BEYOND, type Kind, type Node, nodeOf } from "./pattern.ts";

interface State {
  /** Transitions that read a character, by its kind. */
  readonly moves: { readonly kind: Kind; readonly to: State }[];
  /** Transitions that read nothing. */
  readonly free: State[];
}

/** A further condition on a match, asked of the place of its last character. */
type Accepts = (units: Uint16Array, at: number) => boolean;

const DEAD = 0;

const declared: Automaton[] = [];

/** Compiles all declared automata in pieces of some milliseconds, so that no request has to wait for it. */
export function* compileAll(): Slices<void> {
  for (const automaton of declared) yield* automaton.compile();
}

/** Sets of states that one piece of the compilation takes. */
const PIECE = 100;

export class Automaton {
  readonly #pattern: RegExp;
  readonly #mode: "start" | "first" | "end" | "anywhere";
  /** The group of each character: the pattern does not tell characters of one group apart. */
  readonly #groups = new Uint8Array(1 << 16);
  #groupCount = 0;
  /** The next state by state and group. A state is the offset of its row in this table; its complement says that a match ends there. */
  #next = new Int32Array();

  /**
   * @param pattern in the syntax that `pattern.ts` reads
   * @param mode where a match begins: where the stretch does, anywhere in it, or at its end, read backwards. `first` is `start` for callers
   * that ask only whether there is a match: it ends with the shortest one, and is compiled at first use
   */
  constructor(pattern: RegExp, mode: "start" | "first" | "end" | "anywhere" = "start") {
    this.#pattern = pattern;
    this.#mode = mode;
    if (mode !== "first") declared.push(this);
  }

  /** Compiles it in pieces; does nothing when that is done. */
  *compile(): Slices<void> {
    if (this.#groupCount === 0) yield* this.#inPieces();
  }

  /**
   * Whether a match stands in the stretch: one that begins where the mode says.
   */
  test(units: Uint16Array, start: number, end: number, accepts?: Accepts): boolean {
    if (this.#groupCount === 0) this.#build();
    return this.#mode === "end"
      ? this.#testBackwards(units, start, end, accepts)
      : this.#testForwards(units, start, end, accepts);
  }

  #testForwards(units: Uint16Array, start: number, end: number, accepts: Accepts | undefined): boolean {
    const next = this.#next;
    const groups = this.#groups;
    let state = this.#groupCount;
    for (let i = start; i < end; i++) {
      state = next[state + (groups[units[i] as number] as number)] as number;
      if (state > DEAD) continue;
      if (state === DEAD) return false;
      if (accepts === undefined || accepts(units, i)) return true;
      state = ~state;
    }
    return false;
  }

  #testBackwards(units: Uint16Array, start: number, end: number, accepts: Accepts | undefined): boolean {
    const next = this.#next;
    const groups = this.#groups;
    let state = this.#groupCount;
    for (let i = end - 1; i >= start; i--) {
      state = next[state + (groups[units[i] as number] as number)] as number;
      if (state > DEAD) continue;
      if (state === DEAD) return false;
      if (accepts === undefined || accepts(units, i)) return true;
      state = ~state;
    }
    return false;
  }

  /** Whether a text ends in a match, read backwards. */
  ends(text: string): boolean {
    if (this.#groupCount === 0) this.#build();
    let state = this.#groupCount;
    for (let i = text.length - 1; i >= 0 && state > DEAD; i--)
      state = this.#next[state + (this.#groups[text.charCodeAt(i)] as number)] as number;
    return state < DEAD;
  }

  /** The end of the longest match that begins where the stretch does, or -1. */
  endOf(units: Uint16Array, start: number, end: number): number {
    if (this.#groupCount === 0) this.#build();
    const next = this.#next;
    const groups = this.#groups;
    let last = -1;
    let state = this.#groupCount;
    for (let i = start; i < end; i++) {
      state = next[state + (groups[units[i] as number] as number)] as number;
      if (state > DEAD) continue;
      if (state === DEAD) break;
      last = i + 1;
      state = ~state;
    }
    return last;
  }

  /** Whether the stretch is a match as a whole. */
  spans(units: Uint16Array, start: number, end: number): boolean {
    return this.endOf(units, start, end) === end;
  }

  #build(): void {
    for (const _ of this.#inPieces());
  }

  *#inPieces(): Slices<void> {
    const kinds = new Set<Kind>();
    const last: State = { moves: [], free: [] };
    const first = wire(nodeOf(this.#pattern), last, this.#mode === "end", kinds);
    const samples = this.#group([...kinds]);
    const always = this.#mode === "anywhere" ? [first] : [];
    const numbers = new Map<State, number>();
    const keyOf = (states: Iterable<State>): string =>
      Array.from(states, (state) => numbers.get(state) ?? numbers.set(state, numbers.size).size - 1)
        .sort((a, b) => a - b)
        .join(" ");
    // State 0 is the dead end, state 1 the start.
    const sets = [closure([]), closure([first])];
    const known = new Map(sets.map((set, i) => [keyOf(set), i]));
    const place = (set: Set<State>): number => {
      const key = keyOf(set);
      const number = known.get(key) ?? sets.push(set) - 1;
      known.set(key, number);
      return number;
    };
    const groupsOf = new Map(Array.from(kinds, (kind) => [kind, groupsWithin(kind, samples)]));
    // Many sets lead to the same few states.
    const led = new Map<string, number>();
    const numberOf = (to: readonly State[]): number => {
      const key = keyOf(to);
      const number = led.get(key) ?? place(closure([...to, ...always]));
      led.set(key, number);
      return number;
    };
    const nowhere = numberOf([]);
    const next: number[] = samples.map(() => DEAD);
    for (let i = DEAD + 1; i < sets.length; i++) {
      if (i % PIECE === 0) yield;
      const row = next.length;
      for (let group = 0; group < samples.length; group++) next.push(nowhere);
      const set = sets[i] as Set<State>;
      if (this.#mode === "first" && set.has(last)) continue;
      for (const [group, to] of ledTo(set, groupsOf)) next[row + group] = numberOf(to);
    }
    const accepts = sets.map((set) => set.has(last));
    this.#next = Int32Array.from(next, (state) =>
      accepts[state] ? ~(state * samples.length) : state * samples.length,
    );
    this.#groupCount = samples.length;
  }

  /** Groups the characters. @returns one of each group */
  #group(kinds: readonly Kind[]): number[] {
    const groups = new Map<string, number>();
    const samples: number[] = [];
    for (let code = 0; code <= BEYOND; code++) {
      const key = kinds.map((kind) => kind[code]).join("");
      const group = groups.get(key) ?? samples.push(code) - 1;
      groups.set(key, group);
      this.#groups[code] = group;
    }
    this.#groups.fill(this.#groups[BEYOND] as number, BEYOND);
    return samples;
  }
}

/**
 * Whether an automaton of the mode `anywhere` matches in stretches of one text. Asked roughly from first to last, it reads each character
 * once.
 */
export class Met {
  readonly #automaton: Automaton;
  readonly #most: number;
  /** Between these places nothing matches. */
  #from = 0;
  #to = 0;

  /** @param most the length of its longest match */
  constructor(automaton: Automaton, most: number) {
    this.#automaton = automaton;
    this.#most = most;
  }

  in(units: Uint16Array, start: number, end: number): boolean {
    const goesOn = start >= this.#from && start <= this.#to;
    if (this.#automaton.test(units, goesOn ? Math.max(start, this.#to - this.#most) : start, end)) return true;
    if (!goesOn) this.#from = start;
    this.#to = goesOn ? Math.max(end, this.#to) : end;
    return false;
  }
}

/** The state from which a node leads to `to`. @param isReversed whether the text is read backwards */
function wire(node: Node, to: State, isReversed: boolean, kinds: Set<Kind>): State {
  if ("kind" in node) {
    kinds.add(node.kind);
    return { moves: [{ kind: node.kind, to }], free: [] };
  }
  if ("any" in node) return { moves: [], free: node.any.map((part) => wire(part, to, isReversed, kinds)) };
  if ("all" in node) {
    const parts = isReversed ? node.all : node.all.toReversed();
    return parts.reduce((after, part) => wire(part, after, isReversed, kinds), to);
  }
  let at = to;
  for (let count = node.most; count > 0; count--) {
    const once = wire(node.node, at, isReversed, kinds);
    at = count > node.least ? { moves: [], free: [once, to] } : once;
  }
  return at;
}

/** The groups of characters that a kind holds. @param samples one character of each group */
const groupsWithin = (kind: Kind, samples: readonly number[]): number[] =>
  [...samples.keys()].filter((group) => kind[samples[group] as number] === 1);

/** The states that some states lead to, by the group of the character that is read. */
function ledTo(states: Set<State>, groupsOf: ReadonlyMap<Kind, readonly number[]>): Map<number, State[]> {
  const led = new Map<number, State[]>();
  for (const { moves } of states)
    for (const { kind, to } of moves)
      for (const group of groupsOf.get(kind) ?? []) {
        const others = led.get(group);
        if (others) others.push(to);
        else led.set(group, [to]);
      }
  return led;
}

/** All states that are reached without reading. */
function closure(states: readonly State[]): Set<State> {
  const all = new Set(states);
  for (const state of all) for (const free of state.free) all.add(free);
  return all;
}
