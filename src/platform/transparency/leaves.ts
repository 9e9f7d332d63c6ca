import type { Core } from "../../core.ts";
import { sameDigest } from "../../kit/hash.ts";
import { leafHash } from "../../kit/merkle.ts";
import { rows } from "./rows.ts";

/** The number of the newest leaf, which is the tree's size; 0 before the first. */
export const leafCount = (core: Core): number => rows(core.store).last.get() ?? 0;

/** The number that the next leaf gets; to be asked inside the transaction that appends it. */
export const nextLeaf = (core: Core): number => leafCount(core) + 1;

/**
 * Appends a leaf; call inside the transaction that stores what it is about.
 * @param n `nextLeaf`, when it is known already
 * @returns its number, from 1 on
 */
export function appendLeaf(core: Core, text: string, n = nextLeaf(core)): number {
  rows(core.store).insert.run(n, leafHash(text));
  return n;
}

/** The hash of a leaf as it is stored; undefined where there is none. */
export const findLeaf = (core: Core, n: number): Buffer | undefined => rows(core.store).leaf.get(n);

/** Whether a leaf is the one of a text. */
export const isLeaf = (core: Core, n: number, text: string): boolean =>
  sameDigest(findLeaf(core, n) ?? Buffer.alloc(0), leafHash(text));

/** All leaves as they are stored, in their order. */
export const allLeaves = (core: Core): IterableIterator<{ readonly n: number; readonly sha256: Buffer }> =>
  rows(core.store).all.iterate();
