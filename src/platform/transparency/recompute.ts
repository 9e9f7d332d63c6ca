import type { Core } from "../../core.ts";
import { sameDigest } from "../../kit/hash.ts";
import { Frontier, HASH_BYTES } from "../../kit/merkle.ts";
import { allLeaves, leafCount } from "./leaves.ts";
import { rows } from "./rows.ts";
import type { TreeHead } from "./tree.ts";

/** A fault of the stored tree: at which leaf, from 1 on, and what it is. */
export interface TreeFault {
  readonly leaf: number;
  readonly detail: string;
}

/**
 * Computes the tree from its leaves alone, and compares it with what is stored.
 * @param sizes sizes of the tree whose roots are wanted, too
 * @param claim called with each leaf's number; returns whether the record that the leaf is about is stored
 * @returns the whole tree's head, the roots at those sizes that it has, and the faults
 */
export function recomputeTree(
  core: Core,
  sizes: readonly number[],
  claim: (n: number) => boolean,
): { head: TreeHead; roots: ReadonlyMap<number, Buffer>; faults: TreeFault[] } {
  const faults: TreeFault[] = [];
  const frontier = new Frontier();
  const stored = new Map(
    rows(core.store)
      .subtrees.all()
      .map(({ n, sha256 }) => [n, sha256]),
  );
  const roots = new Map([[0, frontier.root()]]);
  for (const { n, sha256 } of allLeaves(core)) {
    if (n !== frontier.size + 1) {
      faults.push({ leaf: frontier.size + 1, detail: "it is missing, and the tree ends before it" });
      break;
    }
    if (sha256.length !== HASH_BYTES) {
      faults.push({ leaf: n, detail: "it was altered, and the tree ends before it" });
      break;
    }
    const subtree = frontier.append(sha256)[8];
    const kept = subtree && stored.get((n - 256) / 256);
    if (subtree && kept && !sameDigest(subtree, kept))
      faults.push({ leaf: n, detail: "the subtree that it ends was altered" });
    if (!claim(n)) faults.push({ leaf: n, detail: "nothing is held of what it tells of" });
    if (sizes.includes(n)) roots.set(n, frontier.root());
  }
  return { head: { size: leafCount(core), root: frontier.root() }, roots, faults };
}
