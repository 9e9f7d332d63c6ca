/**
 * Bounds on a JSON text, judged before anything parses it: what a text costs is decided by how many values it holds and not by
 * its length. Needs no valid JSON; of a text that is none it says something or nothing, and ends in any case.
 */

/** How much a text may hold. */
export interface JsonLimits {
  /** Arrays and objects inside one another. */
  readonly depth: number;
  /** Values in all, roughly: commas, arrays and objects. */
  readonly values: number;
  /** Arrays and objects, each of which costs many times what a number does. */
  readonly containers: number;
  /** Different names of members: the parser enters each in a table for good. Two names of one hash count once. */
  readonly names: number;
}

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;

/** A text shorter than this holds no names worth counting. */
const UNCOUNTED_UNITS = 64 * 1024;
/** Of longer names only so much tells them apart. */
const HASHED_UNITS = 64;
const HASH_BITS = 20;

/** The bound that a text exceeds first, or undefined. */
export function exceededBound(text: string, limits: JsonLimits): keyof JsonLimits | undefined {
  const names = text.length > UNCOUNTED_UNITS ? new NameCounter(limits.names) : undefined;
  let depth = 0;
  let values = 0;
  let containers = 0;
  let nameStart = 0;
  let nameEnd = 0;
  for (let i = 0; i < text.length; i++) {
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
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === COLON && names?.exceededBy(text, nameStart, nameEnd)) return "names";
  }
  return undefined;
}

/** Where the string that opens at `at` closes; the text's end when it never does. */
function closingQuote(text: string, at: number): number {
  for (let close = text.indexOf('"', at + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0;
    while (text.charCodeAt(close - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return close;
  }
  return text.length;
}

class NameCounter {
  readonly #most: number;
  readonly #known = new Uint32Array(1 << (HASH_BITS - 5));
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Counts a name, and tells whether that makes too many. */
  exceededBy(text: string, start: number, end: number): boolean {
    let hash = end - start;
    const last = Math.min(end, start + HASHED_UNITS);
    for (let i = start; i < last; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
    const bit = Math.imul(hash, 0x9e3779b1) >>> (32 - HASH_BITS);
    const word = this.#known[bit >>> 5] as number;
    const mask = 1 << (bit & 31);
    if ((word & mask) !== 0) return false;
    this.#known[bit >>> 5] = word | mask;
    return ++this.#count > this.#most;
  }
}
