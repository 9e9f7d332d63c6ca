import { createHash, hash } from "node:crypto";
import { sameDigest } from "./hash.ts";

/*
 * Merkle trees over SHA-256 as in RFC 6962 section 2.1 and RFC 9162 section 2.1, the hashing of C2SP tlog-tiles. Sizes and indices are
 * whole numbers up to 2^53 - 1, so halves are taken by division and not by shifting.
 */

/** Bytes of every hash here. */
export const HASH_BYTES = 32;
/** Hashes in the longest proof that a tree of at most 2^53 - 1 leaves can need. */
export const MAX_PROOF_HASHES = 64;
export const SALT_BYTES = 16;

const LEAF = 0x00;
const NODE = 0x01;

/** The root of a tree without leaves. */
export const EMPTY_ROOT: Buffer = hash("sha256", "", "buffer");

/** The hash of the complete subtree of 2^level leaves that is the n-th of its kind from the left. */
export type NodeAt = (level: number, n: number) => Buffer;

// One call of `hash` that gives a string takes a third of the time of one that gives a buffer, which it allocates outside of the heap.
const digestOf = (data: Uint8Array): string => hash("sha256", data, "latin1");
const asBuffer = (digest: string): Buffer => Buffer.from(digest, "latin1");

/** Buffers in which the input of a hash is put together; nothing in them outlives a call. */
const scratch = Buffer.alloc(32 * 1024);
const pair = Buffer.alloc(1 + 2 * HASH_BYTES, NODE);

/** Whether data fits into `scratch` from a place on: a UTF-16 unit takes three bytes at most. */
const fits = (data: string | Uint8Array, start: number) =>
  start + data.length * (typeof data === "string" ? 3 : 1) <= scratch.length;

/** SHA-256(0x00 ‖ salt ‖ data) as latin1. */
function saltedDigest(salt: Uint8Array, data: string | Uint8Array): string {
  const start = 1 + salt.length;
  if (!fits(data, start))
    return createHash("sha256").update(Buffer.of(LEAF)).update(salt).update(data).digest("latin1");
  scratch[0] = LEAF;
  scratch.set(salt, 1);
  let length = data.length;
  if (typeof data === "string") length = scratch.write(data, start);
  else scratch.set(data, start);
  return digestOf(scratch.subarray(0, start + length));
}

const NO_SALT = new Uint8Array();

/** SHA-256(0x00 ‖ data). */
export function leafHash(data: string | Uint8Array): Buffer {
  return asBuffer(saltedDigest(NO_SALT, data));
}

/** SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  pair.set(left, 1);
  pair.set(right, 1 + HASH_BYTES);
  return asBuffer(digestOf(pair));
}

/** The salts of items 0 to count - 1, 16 bytes each: the SHAKE-256 stream (FIPS 202) of a key. */
export function saltsOf(itemKey: Uint8Array, count: number): Buffer {
  if (count === 0) return Buffer.alloc(0);
  return hash("shake256", itemKey, { outputEncoding: "buffer", outputLength: count * SALT_BYTES });
}

/** SHA-256(0x00 ‖ salt ‖ text): a leaf that says nothing of its text to whoever does not have the salt. */
export function itemHash(salt: Uint8Array, text: string | Uint8Array): Buffer {
  return asBuffer(saltedDigest(salt, text));
}

/** The hashes of several items, one after another. @param salts see `saltsOf` */
export function itemHashes(salts: Buffer, texts: readonly (string | Uint8Array)[]): Buffer {
  const row = Buffer.alloc(texts.length * HASH_BYTES);
  for (const [i, text] of texts.entries()) {
    const salt = salts.subarray(i * SALT_BYTES, (i + 1) * SALT_BYTES);
    row.write(saltedDigest(salt, text), i * HASH_BYTES, HASH_BYTES, "latin1");
  }
  return row;
}

/** The root over leaf hashes in their order; that of no leaves is SHA-256 of nothing. */
export const rootOf = (hashes: readonly Uint8Array[]): Buffer => rootOver(Buffer.concat(hashes));

/** The root over leaf hashes that lie one after another in a buffer. */
export function rootOver(hashes: Buffer): Buffer {
  if (hashes.length === 0) return EMPTY_ROOT;
  const row = Buffer.from(hashes);
  // Row by row, each written over the one below it; the last of an odd row rises as it is, which gives the tree of the RFC.
  for (let width = hashes.length / HASH_BYTES; width > 1; width = Math.ceil(width / 2)) {
    for (let i = 0; i + 1 < width; i += 2) {
      row.copy(pair, 1, i * HASH_BYTES, (i + 2) * HASH_BYTES);
      row.write(digestOf(pair), (i / 2) * HASH_BYTES, HASH_BYTES, "latin1");
    }
    if (width % 2 === 1) row.copy(row, ((width - 1) / 2) * HASH_BYTES, (width - 1) * HASH_BYTES, width * HASH_BYTES);
  }
  return Buffer.from(row.subarray(0, HASH_BYTES));
}

/** Computes complete subtrees over leaf hashes, each of them once, however many proofs need it. */
export function nodesOver(leaves: readonly Buffer[]): NodeAt {
  const levels = [leaves];
  return (level, n) => {
    while (levels.length <= level) {
      const below = levels.at(-1) as readonly Buffer[];
      const pairs = Array.from({ length: Math.floor(below.length / 2) }, (_, i) => below.slice(2 * i, 2 * i + 2));
      levels.push(pairs.map(([left, right]) => nodeHash(left as Buffer, right as Buffer)));
    }
    return levels[level]?.[n] as Buffer;
  };
}

/** The complete subtrees that a tree is made of, from left to right: one for each bit of its size. */
export function completeSubtrees(size: number): { readonly level: number; readonly n: number }[] {
  const found: { level: number; n: number }[] = [];
  for (let level = 0, rest = size; rest >= 1; level++, rest = Math.floor(rest / 2))
    if (rest % 2 === 1) found.unshift({ level, n: rest - 1 });
  return found;
}

/** The largest power of two below a size of 2 or more: where a tree of that size divides. */
function splitOf(size: number): number {
  let split = 1;
  while (split * 2 < size) split *= 2;
  return split;
}

/** The root over leaves start to end - 1, where start is where a subtree of that size can stand. */
function rootBetween(start: number, end: number, nodeAt: NodeAt): Buffer {
  const subtrees = completeSubtrees(end - start);
  let at = end;
  let root: Buffer | undefined;
  for (const { level } of subtrees.toReversed()) {
    at -= 2 ** level;
    const node = nodeAt(level, at / 2 ** level);
    root = root ? nodeHash(node, root) : node;
  }
  return root ?? EMPTY_ROOT;
}

/** The root of a tree of this size. @param nodeAt is asked for complete subtrees of it */
export const rootAt = (size: number, nodeAt: NodeAt): Buffer => rootBetween(0, size, nodeAt);

/**
 * The audit path of a leaf, from its sibling up (RFC 9162 section 2.1.3.1).
 * @param nodeAt is asked for subtrees that are complete in a tree of `size` leaves, one by one
 * @throws RangeError where the tree has no such leaf
 */
export function inclusionProof(index: number, size: number, nodeAt: NodeAt): Buffer[] {
  if (!isSize(size) || !isSize(index) || index >= size) throw new RangeError(`no leaf ${index} in a tree of ${size}`);
  const path: Buffer[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      path.unshift(rootBetween(middle, end, nodeAt));
      end = middle;
    } else {
      path.unshift(rootBetween(start, middle, nodeAt));
      start = middle;
    }
  }
  return path;
}

/**
 * The proof that the tree of the first m leaves is the beginning of the tree of n (RFC 9162 section 2.1.4.1); empty for m = 0 and m = n.
 * @throws RangeError when m is more than n
 */
export function consistencyProof(m: number, n: number, nodeAt: NodeAt): Buffer[] {
  if (!isSize(m) || !isSize(n) || m > n) throw new RangeError(`no tree of ${m} begins one of ${n}`);
  if (m === 0 || m === n) return [];
  const path: Buffer[] = [];
  let [start, end] = [0, n];
  while (m < end) {
    const middle = start + splitOf(end - start);
    if (m <= middle) {
      path.unshift(rootBetween(middle, end, nodeAt));
      end = middle;
    } else {
      path.unshift(rootBetween(start, middle, nodeAt));
      start = middle;
    }
  }
  // The verifier has the old root already where that is a subtree of the new tree.
  return start === 0 ? path : [rootBetween(start, end, nodeAt), ...path];
}

/** Whether a leaf hash stands at an index of the tree with this size and root (RFC 9162 section 2.1.3.2). */
export function verifyInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  if (!isSize(index) || !isSize(size) || index >= size || !areHashes(proof, leaf, root)) return false;
  const sides = sidesOf(index, size - 1, proof.length);
  if (!sides) return false;
  const reached = proof.reduce<Uint8Array>(
    (node, one, i) => (sides[i] === "left" ? nodeHash(one, node) : nodeHash(node, one)),
    leaf,
  );
  return sameDigest(reached, root);
}

/** Whether the tree of m leaves and this root is the beginning of the tree of n leaves and that root (RFC 9162 section 2.1.4.2). */
export function verifyConsistency(
  m: number,
  n: number,
  rootM: Uint8Array,
  rootN: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  if (!isSize(m) || !isSize(n) || m > n || !areHashes(proof, rootM, rootN)) return false;
  if (m === n) return proof.length === 0 && sameDigest(rootM, rootN);
  if (m === 0) return proof.length === 0 && sameDigest(rootM, EMPTY_ROOT);
  let [fn, sn] = [m - 1, n - 1];
  for (; fn % 2 === 1; fn = half(fn)) sn = half(sn);
  // A power of two is a subtree of the new tree, whose root is the old one.
  const [first, ...rest] = fn === 0 ? [rootM, ...proof] : proof;
  const sides = sidesOf(fn, sn, rest.length);
  if (!first || !sides) return false;
  let [old, grown] = [first, first];
  for (const [i, one] of rest.entries())
    if (sides[i] === "left") [old, grown] = [nodeHash(one, old), nodeHash(one, grown)];
    else grown = nodeHash(grown, one);
  return sameDigest(old, rootM) && sameDigest(grown, rootN);
}

/**
 * The side on which each hash of a proof joins the path from the fn-th node of a row whose last is the sn-th (RFC 9162 section 2.1.3.2);
 * undefined when `count` hashes do not lead from there to the root.
 */
function sidesOf(fn: number, sn: number, count: number): ("left" | "right")[] | undefined {
  const sides: ("left" | "right")[] = [];
  for (; sides.length < count; [fn, sn] = [half(fn), half(sn)]) {
    if (sn === 0) return undefined;
    const isRight = fn % 2 === 1 || fn === sn;
    if (isRight) for (; fn % 2 === 0 && fn !== 0; fn /= 2) sn = half(sn);
    sides.push(isRight ? "left" : "right");
  }
  return sn === 0 ? sides : undefined;
}

const half = (n: number) => Math.floor(n / 2);
const isSize = (n: number) => Number.isSafeInteger(n) && n >= 0;
const areHashes = (proof: readonly Uint8Array[], ...others: readonly Uint8Array[]) =>
  proof.length <= MAX_PROOF_HASHES && [...proof, ...others].every((one) => one.length === HASH_BYTES);

/** The right edge of a tree that grows: what must be kept to append to it and to know its root. */
export class Frontier {
  #size: number;
  /** Roots of the complete subtrees, from left to right. */
  readonly #roots: Buffer[];

  /**
   * @param roots of `completeSubtrees(size)`, in that order
   * @throws RangeError when their number does not fit the size
   */
  constructor(size = 0, roots: readonly Buffer[] = []) {
    if (!isSize(size) || completeSubtrees(size).length !== roots.length)
      throw new RangeError(`${roots.length} subtrees do not make a tree of ${size}`);
    this.#size = size;
    this.#roots = [...roots];
  }

  get size(): number {
    return this.#size;
  }

  /** What another frontier can be made of; later appends do not change it. */
  get roots(): readonly Buffer[] {
    return [...this.#roots];
  }

  /** @returns the roots of the subtrees that it completes, by their level: the leaf's own hash first */
  append(leaf: Buffer): readonly Buffer[] {
    const completed = [leaf];
    let node = leaf;
    for (let rest = this.#size; rest % 2 === 1; rest = half(rest)) {
      node = nodeHash(this.#roots.pop() as Buffer, node);
      completed.push(node);
    }
    this.#roots.push(node);
    this.#size++;
    return completed;
  }

  root(): Buffer {
    return (
      this.#roots.reduceRight<Buffer | undefined>((right, left) => (right ? nodeHash(left, right) : left), undefined) ??
      EMPTY_ROOT
    );
  }
}
