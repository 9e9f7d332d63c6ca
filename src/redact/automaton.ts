/**
 * Matches a pattern with one table look-up for each character. A regular expression is fast where it can refuse at once, and slow on a text
 * that is made to have it try every alternative at every place; each call takes some fifty nanoseconds besides. So the patterns that are
 * asked of each value and name are deterministic automata, of which each transition is made when a text first takes it (as RE2 does: Cox,
 * "Regular Expression Matching in the Wild", 2010): most texts take few of them, and no process waits for the others.
 */
import { BEYOND, type Kind, type Node, nodeOf } from "./pattern.ts";

interface State {
  readonly number: number;
  /** The transition that reads a character. */
  readonly move: { readonly kind: Kind; readonly to: State } | undefined;
  /** Transitions that read nothing. */
  readonly free: readonly State[];
}

/** A further condition on a match, asked of the place of its last character. */
type Accepts = (units: Uint16Array, at: number) => boolean;

const DEAD = 0;
/** Stands for a transition that no text took yet; below every complement of a state. */
const UNMADE = -(2 ** 31);

export class Automaton {
  readonly #pattern: RegExp;
  readonly #mode: "start" | "first" | "end" | "anywhere";
  /** The group of each character: the pattern does not tell characters of one group apart. */
  #groups = new Uint8Array();
  /** A character of each group; none before the first use. */
  #samples: readonly number[] = [];
  /** The next state by state and group. A state is the offset of its row in this table; its complement says that a match ends there. */
  #next = new Int32Array();
  /** What each row stands for: the places in the pattern where a match may be. The first row is the dead end, the second the start. */
  readonly #sets: ReadonlySet<State>[] = [];
  /** States by the numbers of the places that a character led to. */
  readonly #states = new Map<string, number>();
  /** Where the pattern ends. */
  readonly #last: State = { number: 0, move: undefined, free: [] };
  /** Where a match may begin at every place. */
  #always: readonly State[] = [];

  /**
   * @param pattern in the syntax that `pattern.ts` reads
   * @param mode where a match begins: where the stretch does, anywhere in it, or at its end, read backwards. `first` is `start` for callers
   * that ask only whether there is a match: it ends with the shortest one
   */
  constructor(pattern: RegExp, mode: "start" | "first" | "end" | "anywhere" = "start") {
    this.#pattern = pattern;
    this.#mode = mode;
  }

  /**
   * Whether a match stands in the stretch: one that begins where the mode says.
   */
  test(units: Uint16Array, start: number, end: number, accepts?: Accepts): boolean {
    return this.#mode === "end"
      ? this.#testBackwards(units, start, end, accepts)
      : this.#testForwards(units, start, end, accepts);
  }

  #testForwards(units: Uint16Array, start: number, end: number, accepts: Accepts | undefined): boolean {
    let state = this.#start();
    const groups = this.#groups;
    let next = this.#next;
    for (let i = start; i < end; i++) {
      const from = state;
      const group = groups[units[i] as number] as number;
      state = next[from + group] as number;
      if (state > DEAD) continue;
      if (state === UNMADE) {
        state = this.#make(from, group);
        next = this.#next;
        if (state > DEAD) continue;
      }
      if (state === DEAD) return false;
      if (accepts === undefined || accepts(units, i)) return true;
      state = ~state;
    }
    return false;
  }

  #testBackwards(units: Uint16Array, start: number, end: number, accepts: Accepts | undefined): boolean {
    let state = this.#start();
    const groups = this.#groups;
    let next = this.#next;
    for (let i = end - 1; i >= start; i--) {
      const from = state;
      const group = groups[units[i] as number] as number;
      state = next[from + group] as number;
      if (state > DEAD) continue;
      if (state === UNMADE) {
        state = this.#make(from, group);
        next = this.#next;
        if (state > DEAD) continue;
      }
      if (state === DEAD) return false;
      if (accepts === undefined || accepts(units, i)) return true;
      state = ~state;
    }
    return false;
  }

  /** Whether a text ends in a match, read backwards. */
  ends(text: string): boolean {
    let state = this.#start();
    for (let i = text.length - 1; i >= 0 && state > DEAD; i--) {
      const from = state;
      const group = this.#groups[text.charCodeAt(i)] as number;
      state = this.#next[from + group] as number;
      if (state === UNMADE) state = this.#make(from, group);
    }
    return state < DEAD;
  }

  /** The end of the longest match that begins where the stretch does, or -1. */
  endOf(units: Uint16Array, start: number, end: number): number {
    let last = -1;
    let state = this.#start();
    const groups = this.#groups;
    let next = this.#next;
    for (let i = start; i < end; i++) {
      const from = state;
      const group = groups[units[i] as number] as number;
      state = next[from + group] as number;
      if (state > DEAD) continue;
      if (state === UNMADE) {
        state = this.#make(from, group);
        next = this.#next;
        if (state > DEAD) continue;
      }
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

  /** The start. Makes ready what all transitions need. */
  #start(): number {
    if (this.#samples.length > 0) return this.#samples.length;
    const kinds = new Set<Kind>();
    let count = 1;
    const first = wire(nodeOf(this.#pattern), this.#last, this.#mode === "end", (move, free) => {
      if (move) kinds.add(move.kind);
      return { number: count++, move, free };
    });
    this.#samples = this.#group(kinds);
    this.#add(new Set());
    if (this.#mode === "anywhere") this.#always = [first];
    else this.#states.set("", DEAD);
    return this.#add(closure([first]));
  }

  /** Groups the characters. @returns one of each group */
  #group(kinds: ReadonlySet<Kind>): number[] {
    let groups = Array.from({ length: BEYOND + 1 }, () => 0);
    for (const kind of kinds) {
      const parts = new Map<number, number>();
      groups = groups.map((group, code) => {
        const part = 2 * group + (kind[code] as number);
        const number = parts.get(part) ?? parts.size;
        parts.set(part, number);
        return number;
      });
    }
    this.#groups = new Uint8Array(1 << 16).fill(groups[BEYOND] as number);
    this.#groups.set(groups);
    const samples: number[] = [];
    for (const [code, group] of groups.entries()) samples[group] ??= code;
    return samples;
  }

  /** Adds a row. @returns its offset */
  #add(set: ReadonlySet<State>): number {
    const offset = (this.#sets.push(set) - 1) * this.#samples.length;
    if (offset === this.#next.length) {
      const longer = new Int32Array(Math.max(8 * this.#samples.length, 2 * offset)).fill(UNMADE);
      longer.set(this.#next);
      this.#next = longer;
    }
    return offset;
  }

  /** Makes the transition from a state by a group. The table may be another one afterwards. */
  #make(from: number, group: number): number {
    const sample = this.#samples[group] as number;
    const set = this.#sets[from / this.#samples.length] as ReadonlySet<State>;
    const to = new Set<State>();
    const isOver = this.#mode === "first" && set.has(this.#last);
    for (const { move } of isOver ? [] : set) if (move?.kind[sample] === 1) to.add(move.to);
    const state = this.#stateOf(to);
    this.#next[from + group] = state;
    return state;
  }

  /** The state of a match that may be at some places. */
  #stateOf(places: ReadonlySet<State>): number {
    const key = Array.from(places, ({ number }) => number)
      .sort((a, b) => a - b)
      .join(" ");
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const set = closure([...places, ...this.#always]);
    const offset = this.#add(set);
    const state = set.has(this.#last) ? ~offset : offset;
    this.#states.set(key, state);
    return state;
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

/** Makes a state. */
type Make = (move: State["move"], free: State["free"]) => State;

/** The state from which a node leads to `to`. @param isReversed whether the text is read backwards */
function wire(node: Node, to: State, isReversed: boolean, make: Make): State {
  if ("kind" in node) return make({ kind: node.kind, to }, []);
  if ("any" in node) {
    const free = node.any.map((part) => wire(part, to, isReversed, make));
    return make(undefined, free);
  }
  if ("all" in node) {
    const parts = isReversed ? node.all : node.all.toReversed();
    return parts.reduce((after, part) => wire(part, after, isReversed, make), to);
  }
  let at = to;
  for (let count = node.most; count > 0; count--) {
    const once = wire(node.node, at, isReversed, make);
    at = count > node.least ? make(undefined, [once, to]) : once;
  }
  return at;
}

/** All states that are reached without reading. */
function closure(states: readonly State[]): Set<State> {
  const all = new Set(states);
  for (const state of all) for (const free of state.free) all.add(free);
  return all;
}
