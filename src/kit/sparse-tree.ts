import { EMPTY_ROOT, HASH_BYTES, nodeHash } from "./merkle.ts";

/*
 * Some leaves of a Merkle tree (RFC 9162 section 2.1), with the roots of the complete subtrees between them. Together they prove that each
 * leaf is in the tree, with a hash for each gap and level instead of a path for each leaf.
 */

/** A complete subtree of 2^level leaves; the index of its first leaf, `first`, is a multiple of 2^level. */
export interface Subtree {
  readonly first: number;
  readonly level: number;
}

/** The fewest subtrees that cover the leaves from one index up to another, from left to right. @param to not included */
export function* subtreesOf(from: number, to: number): Generator<Subtree> {
  for (let first = from; first < to; ) {
    let level = 0;
    // The largest subtree that its first index and the leaves left allow.
    while (first % 2 ** (level + 1) === 0 && first + 2 ** (level + 1) <= to) level++;
    yield { first, level };
    first += 2 ** level;
  }
}

/** Computes the root of a tree from leaves and subtrees that are appended from left to right without a gap. */
export class SparseTree {
  #size = 0;
  /** Roots of the complete subtrees so far, from left to right, each smaller than the one before. */
  readonly #nodes: { readonly level: number; readonly hash: Buffer }[] = [];

  /** Leaves that it covers. */
  get size(): number {
    return this.#size;
  }

  /** @returns false when the subtree does not begin where the last one ended, or is none */
  append({ first, level }: Subtree, hash: Buffer): boolean {
    const leaves = 2 ** level;
    const isNext = first === this.#size && Number.isSafeInteger(first + leaves) && first % leaves === 0;
    if (!isNext || !Number.isInteger(level) || level < 0 || hash.length !== HASH_BYTES) return false;
    let node = { level, hash };
    for (let left = this.#nodes.at(-1); left?.level === node.level; left = this.#nodes.at(-1)) {
      this.#nodes.pop();
      node = { level: node.level + 1, hash: nodeHash(left.hash, node.hash) };
    }
    this.#nodes.push(node);
    this.#size += leaves;
    return true;
  }

  root(): Buffer {
    const [last, ...rest] = this.#nodes.toReversed();
    return rest.reduce((right, left) => nodeHash(left.hash, right), last?.hash ?? EMPTY_ROOT);
  }
}
