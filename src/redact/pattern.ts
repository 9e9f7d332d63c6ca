/**
 * Patterns taken apart: the part of the regular-expression syntax that the table keeps to, which is literals, classes,
 * `\w \d \s`, groups that capture nothing, alternatives and bounded quantifiers.
 */
import { anyOf } from "./units.ts";

/** A set of characters, one entry for each: 1 when it belongs to the set. The last entry is for every character above 254. */
export type Kind = Uint8Array;
export const KIND_SIZE = 256;
/** The entry for every character above 254. */
export const BEYOND = KIND_SIZE - 1;

/** A pattern, taken apart. */
export type Node =
  | { readonly kind: Kind }
  | { readonly all: readonly Node[] }
  | { readonly any: readonly Node[] }
  | { readonly node: Node; readonly least: number; readonly most: number };

/** @param code a UTF-16 code unit */
export const mayStand = (kind: Kind, code: number): boolean => (code < BEYOND ? kind[code] : kind[BEYOND]) === 1;

const codes = new WeakMap<Kind, readonly number[]>();

/** The characters of a kind, as code units; kept, since the few kinds that there are are asked for again and again. */
export function codesOf(kind: Kind): readonly number[] {
  const known = codes.get(kind);
  if (known) return known;
  const found: number[] = [];
  for (let code = 0; code < KIND_SIZE; code++) if (kind[code] === 1) found.push(code);
  codes.set(kind, found);
  return found;
}

/** How many characters are of a kind. */
export const choiceOf = (kind: Kind): number => codesOf(kind).length;

const complements = new Map<Kind, RegExp>();

/** An expression that finds the next character that is not of a kind. */
export function othersThan(kind: Kind): RegExp {
  const known = complements.get(kind);
  if (known) return known;
  const others = Array.from({ length: BEYOND }, (_, code) => code).filter((code) => kind[code] === 0);
  const made = anyOf(others, kind[BEYOND] === 0 ? BEYOND : undefined);
  complements.set(kind, made);
  return made;
}

/** A kind from what a class holds between its brackets: `0-9A-Za-z_`. */
export function kindOf(classBody: string): Kind {
  return new Parser(`[${classBody}]`, false).kind();
}

/** The kind of each place of a text of literals and classes. @param fold whether case is ignored */
export function kindsOf(text: string, fold: boolean): Kind[] {
  const node = new Parser(text.replaceAll(/[$^*+?.()|{}\\]/g, "\\$&"), fold).whole();
  return ("all" in node ? node.all : []).flatMap((part) => ("kind" in part ? [part.kind] : []));
}

/** @throws Error where a pattern leaves the syntax above */
export const nodeOf = (pattern: RegExp): Node => new Parser(pattern.source, pattern.ignoreCase).whole();

const unions = new Map<string, Kind>();
const numbers = new Map<Kind, number>();

/** The union of several kinds. The same kinds give the same object. */
export function union(kinds: ReadonlySet<Kind>): Kind {
  const [only] = kinds;
  if (only !== undefined && kinds.size === 1) return only;
  const key = Array.from(kinds, (kind) => numbers.get(kind)).join(" ");
  const cached = unions.get(key);
  if (cached) return cached;
  const all = new Uint8Array(KIND_SIZE);
  for (const kind of kinds)
    for (let code = 0; code < KIND_SIZE; code++) all[code] = (all[code] as number) | (kind[code] as number);
  unions.set(key, all);
  return all;
}

const atoms = new Map<string, Kind>();

/** The kind of an atom by its spelling, made once. */
function interned(spelling: string, make: () => Kind): Kind {
  const known = atoms.get(spelling);
  if (known) return known;
  const kind = make();
  atoms.set(spelling, kind);
  numbers.set(kind, numbers.size);
  return kind;
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
    const bounds = this.#peek() === "{" && /^\{(\d+)(?:,(\d+))?\}/.exec(this.#source.slice(this.#at));
    if (!bounds) return node;
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
    const fold = this.#fold ? "i" : "";
    const known = atoms.get(`${fold}${this.#peek()}`);
    if (known) {
      this.#at++;
      return known;
    }
    const made = this.#take("[") ? this.#class() : this.#single();
    return interned(`${fold}${this.#source.slice(from, this.#at)}`, () => made);
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
