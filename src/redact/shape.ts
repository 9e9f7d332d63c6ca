/**
 * What every match of a rule's pattern has in common: how long it is at least, and which characters may stand at each
 * place. A scan looks at these before it runs the pattern, so that rows of marks cost a look at a character or two.
 */
import { choiceOf, KIND_SIZE, type Kind, type Node, nodeOf, union } from "./pattern.ts";

/** Places of a form that are looked at; the pattern judges what lies behind, in the few longer forms. */
const MAX_PLACES = 256;

export interface Shape {
  /** Fewest characters of a match. */
  readonly fewest: number;
  /** Most characters of a match. */
  readonly most: number;
  /** The kind of each of the first places of every match. */
  readonly all: readonly Kind[];
  /** Those places without `run`, the ones with the least choice first. */
  readonly places: Uint16Array;
  /** The kind of each of `places`. */
  readonly kinds: readonly Kind[];
  /** The longest stretch of places of one kind; none of them is in `places`. */
  readonly run: { readonly from: number; readonly to: number; readonly kind: Kind };
  readonly hinge: Hinge | undefined;
  /** The literal text that every match ends with; empty for none. */
  readonly tail: string;
  /** Whether every text that fits the kinds of all places is a match. */
  readonly isPlain: boolean;
}

/** A stretch of one kind without a fixed length, and a character after it that cannot belong to it. */
interface Hinge {
  /** Where in a match the stretch begins. */
  readonly from: number;
  readonly least: number;
  readonly most: number;
  readonly kind: Kind;
  /** The kind of the character after it. */
  readonly next: Kind;
  /** Whether every part before it is of one kind. Then a failed match rules out all starts that lead to the same hinge. */
  readonly isAll: boolean;
}

/** A text that every match in question has at one place. It was seen already, so its places are looked at last. */
export interface Anchored {
  readonly at: number;
  readonly signs: readonly Kind[];
}

/**
 * @param anchored leaves out the alternatives of the pattern that do not fit
 * @throws Error where a pattern leaves the syntax above
 */
export function shapeOf(pattern: RegExp, anchored?: Anchored): Shape {
  const root = pruned(nodeOf(pattern), anchored);
  const known = anchored === undefined ? [0, 0] : [anchored.at, anchored.at + anchored.signs.length];
  const [fewest, most] = lengths(root);
  const places = Array.from({ length: Math.min(fewest, MAX_PLACES) }, () => new Set<Kind>());
  mark(root, new Set([0]), places);
  const kinds = places.map(union);
  const run = longestRun(kinds);
  const choice = kinds.map(
    (kind, place) => choiceOf(kind) + (place >= (known[0] as number) && place < (known[1] as number) ? KIND_SIZE : 0),
  );
  const order = Uint16Array.from(kinds.keys().filter((place) => place < run.from || place >= run.to)).sort(
    (a, b) => (choice[a] as number) - (choice[b] as number) || a - b,
  );
  return {
    fewest,
    most,
    all: kinds,
    places: order,
    kinds: Array.from(order, (place) => kinds[place] as Kind),
    run,
    hinge: hingeOf("all" in root ? root.all : []),
    tail: tailOf("all" in root ? root.all : []),
    isPlain: fewest <= MAX_PLACES && "all" in root && isPlain(root.all),
  };
}

/** Whether each part is of one kind, and of one length except for the last that must be there. */
function isPlain(parts: readonly Node[]): boolean {
  const needed = parts.slice(0, parts.findLastIndex((part) => lengths(part)[0] > 0) + 1);
  const isFixed = (part: Node, i: number) =>
    "kind" in part || ("node" in part && "kind" in part.node && (i === needed.length - 1 || part.least === part.most));
  return needed.every(isFixed);
}

/** A pattern without the alternatives that do not have the anchored text at its place. */
function pruned(root: Node, anchored: Anchored | undefined): Node {
  if (anchored === undefined || !("all" in root)) return root;
  const { at, signs } = anchored;
  const fits = (node: Node): boolean => {
    const places = Array.from({ length: at + signs.length }, () => new Set<Kind>());
    mark(node, new Set([0]), places);
    return signs.every((sign, i) => {
      const kind = union(places[at + i] as Set<Kind>);
      return sign.some((stands, code) => stands === 1 && kind[code] === 1);
    });
  };
  const all = root.all.flatMap((part, i): readonly Node[] => {
    if (!("any" in part)) return [part];
    const any = part.any.filter((one) => fits({ all: root.all.with(i, one) }));
    const [only] = any;
    if (any.length !== 1 || only === undefined) return [{ any }];
    return "all" in only ? only.all : [only];
  });
  return { all };
}

/** So many characters before a hinge are read faster by the pattern than its end is found. */
const MIN_BEFORE_HINGE = 20;

/** The hinge of the first part without a fixed length and what follows it, when the two have no character in common. */
function hingeOf(parts: readonly Node[]): Hinge | undefined {
  let from = 0;
  for (const [i, part] of parts.entries()) {
    const [fewest, most] = lengths(part);
    if (fewest === most) {
      from += most;
      continue;
    }
    if (!("node" in part && "kind" in part.node) || most < MIN_BEFORE_HINGE) return undefined;
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

/** The literal characters at the end of a pattern, after a part without a fixed length. */
function tailOf(parts: readonly Node[]): string {
  let tail = "";
  for (const part of parts.toReversed()) {
    const codes = "kind" in part ? Array.from(part.kind.keys()).filter((code) => part.kind[code] === 1) : [];
    if (codes.length !== 1) break;
    tail = String.fromCharCode(codes[0] as number) + tail;
  }
  return tail;
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

/** The longest stretch of places of one kind. */
function longestRun(kinds: readonly Kind[]): Shape["run"] {
  let longest = { from: 0, to: 0, kind: kinds[0] as Kind };
  for (let from = 0, to = 0; from < kinds.length; from = to) {
    const kind = kinds[from] as Kind;
    while (kinds[to] === kind) to++;
    if (to - from > longest.to - longest.from) longest = { from, to, kind };
  }
  return longest;
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
