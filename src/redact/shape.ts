/**
 * What every match of a rule's pattern has in common: how long it is at least, and which characters may stand at each
 * place. A scan looks at these before it runs the pattern, so that rows of marks cost a look at a character or two.
 *
 * Reads the part of the regular-expression syntax that the table keeps to: literals, classes, `\w \d \s`, groups that
 * capture nothing, alternatives and bounded quantifiers.
 */

/** Places looked at; a few forms are longer, and what lies behind is the pattern's to judge. */
const MAX_PLACES = 256;

/** One entry a character: 1 where it may stand. The last entry is for every character above 254. */
export type Kind = Uint8Array;
const KIND_SIZE = 256;
/** The entry for every character above 254. */
export const BEYOND = KIND_SIZE - 1;

export interface Shape {
  /** Fewest characters of a match. */
  readonly fewest: number;
  /** Most characters of a match. */
  readonly most: number;
  /** The first places of every match but for `run`, those that leave the least choice first. */
  readonly places: Uint16Array;
  /** What may stand at each of `places`. */
  readonly kinds: readonly Kind[];
  /** The longest stretch of places that may hold the same; none of them is in `places`. */
  readonly run: { readonly from: number; readonly to: number; readonly kind: Kind };
  readonly hinge: Hinge | undefined;
}

/** A stretch of one kind that has no fixed length, and a sign behind it that ends it for sure. */
export interface Hinge {
  /** Where in a match the stretch begins. */
  readonly from: number;
  readonly least: number;
  readonly most: number;
  readonly kind: Kind;
  /** What may stand behind it. */
  readonly next: Kind;
  /** Whether a match may begin with any of the signs before it, so that only what stands behind it remains to be asked. */
  readonly isAll: boolean;
}

/** A pattern, taken apart. */
export type Node =
  | { readonly kind: Kind }
  | { readonly all: readonly Node[] }
  | { readonly any: readonly Node[] }
  | { readonly node: Node; readonly least: number; readonly most: number };

/** @param code a UTF-16 code unit */
export const mayStand = (kind: Kind, code: number): boolean => (code < BEYOND ? kind[code] : kind[BEYOND]) === 1;

/** A kind from what a class holds between its brackets: `0-9A-Za-z_`. */
export function kindOf(classBody: string): Kind {
  return new Parser(`[${classBody}]`, false).kind();
}

/** @throws Error where a pattern leaves the syntax above */
export const nodeOf = (pattern: RegExp): Node => new Parser(pattern.source, pattern.ignoreCase).whole();

/**
 * @param known the places from the one to the other hold what the pattern wants more often than not, and are looked at last
 * @throws Error where a pattern leaves the syntax above
 */
export function shapeOf(pattern: RegExp, known: readonly [from: number, to: number] = [0, 0]): Shape {
  const root = nodeOf(pattern);
  const [fewest, most] = lengths(root);
  const places = Array.from({ length: Math.min(fewest, MAX_PLACES) }, () => new Set<Kind>());
  mark(root, new Set([0]), places);
  const kinds = places.map(union);
  const run = longestRun(kinds);
  const choice = kinds.map(
    (kind, place) =>
      kind.reduce((sum, stands) => sum + stands, 0) + (place >= known[0] && place < known[1] ? KIND_SIZE : 0),
  );
  const order = Uint16Array.from(kinds.keys().filter((place) => place < run.from || place >= run.to)).sort(
    (a, b) => (choice[a] as number) - (choice[b] as number) || a - b,
  );
  return {
    fewest,
    most,
    places: order,
    kinds: Array.from(order, (place) => kinds[place] as Kind),
    run,
    hinge: hingeOf("all" in root ? root.all : []),
  };
}

/** What the first part of no fixed length and what follows it make, where the two have no sign in common. */
function hingeOf(parts: readonly Node[]): Hinge | undefined {
  let from = 0;
  for (const [i, part] of parts.entries()) {
    const [fewest, most] = lengths(part);
    if (fewest === most) {
      from += most;
      continue;
    }
    if (!("node" in part && "kind" in part.node)) return undefined;
    const { kind } = part.node;
    const firsts = new Set<Kind>();
    if (!begin(parts.slice(i + 1), firsts)) return undefined;
    const next = union(firsts);
    if (next.some((stands, code) => stands === 1 && kind[code] === 1)) return undefined;
    const isAll = parts.slice(0, i).every((one) => "kind" in one || ("node" in one && "kind" in one.node));
    return { from, least: fewest, most, kind, next, isAll };
  }
  return undefined;
}

/** Collects what parts in a row may begin with. @returns whether they hold at least one sign */
function begin(parts: readonly Node[], firsts: Set<Kind>): boolean {
  for (const part of parts) {
    if ("kind" in part) {
      firsts.add(part.kind);
      return true;
    }
    const isSure =
      "any" in part
        ? part.any.map((one) => begin([one], firsts)).every(Boolean)
        : begin("all" in part ? part.all : [part.node], firsts) && !("least" in part && part.least === 0);
    if (isSure) return true;
  }
  return false;
}

/** The longest stretch of places that may hold the same. */
function longestRun(kinds: readonly Kind[]): Shape["run"] {
  let longest = { from: 0, to: 0, kind: kinds[0] as Kind };
  for (let from = 0, to = 0; from < kinds.length; from = to) {
    const kind = kinds[from] as Kind;
    while (kinds[to] === kind) to++;
    if (to - from > longest.to - longest.from) longest = { from, to, kind };
  }
  return longest;
}

const unions = new Map<string, Kind>();
const numbers = new Map<Kind, number>();

/** What may stand where any of several kinds may. The same kinds give the same union. */
function union(kinds: ReadonlySet<Kind>): Kind {
  const [only] = kinds;
  if (only !== undefined && kinds.size === 1) return only;
  const key = Array.from(kinds, (kind) => numbers.get(kind)).join(" ");
  const held = unions.get(key);
  if (held) return held;
  const all = new Uint8Array(KIND_SIZE);
  for (const kind of kinds)
    for (let code = 0; code < KIND_SIZE; code++) all[code] = (all[code] as number) | (kind[code] as number);
  unions.set(key, all);
  return all;
}

const atoms = new Map<string, Kind>();

/** The kind an atom of this spelling is, made once. */
function interned(spelling: string, make: () => Kind): Kind {
  const held = atoms.get(spelling);
  if (held) return held;
  const kind = make();
  atoms.set(spelling, kind);
  numbers.set(kind, numbers.size);
  return kind;
}

function lengths(node: Node): [number, number] {
  if ("kind" in node) return [1, 1];
  if ("node" in node) {
    const [fewest, most] = lengths(node.node);
    return [fewest * node.least, most * node.most];
  }
  const parts = ("all" in node ? node.all : node.any).map(lengths);
  const fewest = parts.map(([few]) => few);
  const most = parts.map(([, many]) => many);
  const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
  return "all" in node ? [sum(fewest), sum(most)] : [Math.min(...fewest), Math.max(...most)];
}

/** Marks what a node may hold where it starts at any of `starts`. @returns where it may end; places past the last are left out */
function mark(node: Node, starts: ReadonlySet<number>, places: readonly Set<Kind>[]): Set<number> {
  const ends = new Set<number>();
  if ("kind" in node) {
    for (const start of starts) {
      if (start >= places.length) continue;
      places[start]?.add(node.kind);
      ends.add(start + 1);
    }
    return ends;
  }
  if ("all" in node) return node.all.reduce<Set<number>>((at, part) => mark(part, at, places), new Set(starts));
  if ("any" in node) return node.any.reduce<Set<number>>((all, part) => all.union(mark(part, starts, places)), ends);
  let at = new Set(starts);
  let all = node.least === 0 ? at : ends;
  for (let count = 1; count <= node.most && at.size > 0; count++) {
    at = mark(node.node, at, places);
    if (count >= node.least) all = all.union(at);
  }
  return all;
}

const SHORTHANDS: Readonly<Record<string, string>> = {
  w: "0-9A-Za-z_",
  d: "0-9",
  s: " \t\n\v\f\r",
  n: "\n",
  r: "\r",
  t: "\t",
};

class Parser {
  readonly #source: string;
  readonly #fold: boolean;
  #at = 0;

  constructor(source: string, fold: boolean) {
    this.#source = source;
    this.#fold = fold;
  }

  whole(): Node {
    const node = this.#alternatives();
    if (this.#at < this.#source.length) throw new Error(`cannot read ${this.#source} at ${this.#at}`);
    return node;
  }

  #peek(): string {
    return this.#source[this.#at] ?? "";
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #alternatives(): Node {
    const any: Node[] = [this.#sequence()];
    while (this.#take("|")) any.push(this.#sequence());
    return any.length === 1 ? (any[0] as Node) : { any };
  }

  #sequence(): Node {
    const all: Node[] = [];
    while (this.#at < this.#source.length && this.#peek() !== "|" && this.#peek() !== ")") {
      all.push(this.#quantified(this.#group() ?? { kind: this.kind() }));
    }
    return { all };
  }

  #quantified(node: Node): Node {
    if (this.#take("?")) return { node, least: 0, most: 1 };
    const bounds = /^\{(\d+)(?:,(\d+))?\}/.exec(this.#source.slice(this.#at));
    if (bounds === null) return node;
    this.#at += bounds[0].length;
    return { node, least: Number(bounds[1]), most: Number(bounds[2] ?? bounds[1]) };
  }

  #group(): Node | undefined {
    if (!this.#take("(?:")) return undefined;
    const group = this.#alternatives();
    if (!this.#take(")")) throw new Error(`unclosed group in ${this.#source}`);
    return group;
  }

  /** A class, or one character. */
  kind(): Kind {
    const from = this.#at;
    const made = this.#take("[") ? this.#class() : this.#single();
    return interned(`${this.#fold ? "i" : ""}${this.#source.slice(from, this.#at)}`, () => made);
  }

  #single(): Kind {
    if (/[\^$.*+()]/.test(this.#peek())) throw new Error(`cannot read ${this.#source} at ${this.#at}`);
    const kind = new Uint8Array(KIND_SIZE);
    this.#add(kind, this.#one());
    return kind;
  }

  #class(): Kind {
    const kind = new Uint8Array(KIND_SIZE);
    const isNegated = this.#take("^");
    while (!this.#take("]")) {
      const from = this.#one();
      const isRange = from.length === 1 && this.#peek() === "-" && this.#source[this.#at + 1] !== "]";
      if (!isRange) {
        this.#add(kind, from);
        continue;
      }
      this.#at++;
      const to = this.#one().charCodeAt(0);
      for (let code = from.charCodeAt(0); code <= to; code++) this.#add(kind, String.fromCharCode(code));
    }
    return isNegated ? kind.map((stands) => 1 - stands) : kind;
  }

  /** The characters one literal, escape or shorthand stands for; a shorthand's as a class body. */
  #one(): string {
    const char = this.#source[this.#at++] as string;
    if (char !== "\\") return char;
    const escaped = this.#source[this.#at++] as string;
    if (/[Db-cB-CS-Wx-z]/.test(escaped)) throw new Error(`cannot read \\${escaped} in ${this.#source}`);
    return SHORTHANDS[escaped] ?? escaped;
  }

  #add(kind: Kind, chars: string): void {
    if (chars.length > 1 && chars[1] === "-") {
      kindOf(chars).forEach((stands, code) => {
        kind[code] = (kind[code] as number) | stands;
      });
      return;
    }
    for (const char of chars) {
      for (const one of this.#fold ? [char, char.toLowerCase(), char.toUpperCase()] : [char])
        kind[one.charCodeAt(0)] = 1;
    }
  }
}
