/**
 * Bounds on a JSON text, judged before anything parses it: the number of values decides what parsing costs, not the length. A text that is
 * no valid JSON gets some answer, and always gets one.
 */

import { finish, inSlices, type Slices } from "./slices.ts";

/** How much a text may hold. */
export interface JsonLimits {
  /** Arrays and objects inside one another. */
  readonly depth: number;
  /** Values in all, roughly: commas, arrays and objects. */
  readonly values: number;
  /** Arrays and objects, each of which costs many times what a number does. */
  readonly containers: number;
  /**
   * Distinct beginnings of objects, that is, sequences of their first members' names. The parser remembers a shape for each, and objects
   * that share one are cheap. A beginning that it no longer remembers, because too many others had the same start, counts each time it
   * comes. Beginnings with the same hash count once.
   */
  readonly beginnings: number;
}

/** How much of a text is looked at in one piece, in UTF-16 code units: a few milliseconds. */
export const PIECE_UNITS = 256 * 1024;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

/** A text shorter than this holds no beginnings worth counting. */
const UNCOUNTED_UNITS = 64 * 1024;
/** UTF-16 units of a name that go into its hash. */
const HASHED_UNITS = 64;
const HASH_BITS = 20;
/**
 * Names after one beginning that the parser is taken to remember; V8 remembers 1,536 (`kMaxNumberOfTransitions`), other engines other
 * numbers.
 */
const REMEMBERED = 1_000;

/**
 * The bound that a text exceeds first, or undefined.
 * @param pause awaited after every piece of the text
 */
export const exceededBound = (
  text: string,
  limits: JsonLimits,
  pause: () => Promise<void> | undefined,
): Promise<keyof JsonLimits | undefined> => inSlices(judgePieces(text, limits), pause);

/** As `exceededBound`, without a pause: for a process that serves nobody else. */
export const exceededBoundNow = (text: string, limits: JsonLimits): keyof JsonLimits | undefined =>
  finish(judgePieces(text, limits));

/** Judges a text piece by piece. */
function* judgePieces(text: string, limits: JsonLimits): Slices<keyof JsonLimits | undefined> {
  const beginnings = text.length > UNCOUNTED_UNITS ? new BeginningCounter(limits) : undefined;
  let depth = 0;
  let values = 0;
  let containers = 0;
  let nameStart = 0;
  let nameEnd = 0;
  let pauseAt = PIECE_UNITS;
  for (let i = 0; i < text.length; i++) {
    if (i >= pauseAt) {
      pauseAt = i + PIECE_UNITS;
      yield;
    }
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      nameStart = i + 1;
      i = closingQuote(text, i);
      nameEnd = i;
    } else if (code === COMMA) {
      if (++values > limits.values) return "values";
    } else if (code === 0x5b || code === 0x7b) {
      if (++depth > limits.depth) return "depth";
      if (++containers > limits.containers) return "containers";
      if (++values > limits.values) return "values";
      beginnings?.open(depth);
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === COLON && beginnings?.exceededBy(depth, hashOf(text, nameStart, nameEnd))) return "beginnings";
  }
  return undefined;
}

/** Where the string that opens at `at` closes; the text's end when it never does. */
export function closingQuote(text: string, at: number): number {
  for (let close = text.indexOf('"', at + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close;
  }
  return text.length;
}

function hashOf(text: string, start: number, end: number): number {
  let hash = end - start;
  const last = Math.min(end, start + HASHED_UNITS);
  for (let i = start; i < last; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}

/** A set of hashes, one bit each. */
class HashSet {
  readonly #bits = new Uint32Array(1 << (HASH_BITS - 5));

  has(hash: number): boolean {
    return ((this.#bits[hash >>> 5] as number) & (1 << (hash & 31))) !== 0;
  }

  add(hash: number): void {
    this.#bits[hash >>> 5] = (this.#bits[hash >>> 5] as number) | (1 << (hash & 31));
  }
}

class BeginningCounter {
  readonly #most: number;
  /** Hash of the beginning, so far, of the object at each depth. */
  readonly #current: Uint32Array;
  readonly #known = new HashSet();
  readonly #forgotten = new HashSet();
  /** How many names follow each beginning. */
  readonly #next = new Uint16Array(1 << HASH_BITS);
  #count = 0;

  constructor(limits: JsonLimits) {
    this.#most = limits.beginnings;
    this.#current = new Uint32Array(limits.depth + 1);
  }

  /** An array or object opens. */
  open(depth: number): void {
    this.#current[depth] = 0;
  }

  /** Counts the next member of the object at a depth, and tells whether that makes too many. */
  exceededBy(depth: number, name: number): boolean {
    // A text that is no JSON may close more than it opened.
    const before = this.#current[depth] ?? 0;
    const hash = Math.imul(Math.imul(before, 31) + name, 0x9e3779b1) >>> (32 - HASH_BITS);
    this.#current[depth] = hash;
    if (!this.#known.has(hash)) {
      this.#known.add(hash);
      const following = (this.#next[before] as number) + 1;
      this.#next[before] = Math.min(following, REMEMBERED + 1);
      if (following > REMEMBERED) this.#forgotten.add(hash);
    } else if (!this.#forgotten.has(hash)) return false;
    return ++this.#count > this.#most;
  }
}
