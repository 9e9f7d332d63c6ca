import fc from "fast-check";
import { expect, it } from "vitest";
import { leafHash, rootOf } from "../../../src/kit/merkle.ts";
import { SparseTree, subtreesOf } from "../../../src/kit/sparse-tree.ts";

const leaves = (count: number) => Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)));

it("computes the root of the whole tree from some leaves and the subtrees between them", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), fc.array(fc.nat(299)), (size, some) => {
      const all = leaves(size);
      const chosen = [...new Set(some)].filter((index) => index < size).sort((a, b) => a - b);
      const tree = new SparseTree();
      let nodes = 0;
      const between = (from: number, to: number) => {
        for (const part of subtreesOf(from, to)) {
          nodes++;
          const own = all.slice(part.first, part.first + 2 ** part.level);
          expect(tree.append(part, rootOf(own))).toBe(true);
        }
      };
      let next = 0;
      for (const index of chosen) {
        between(next, index);
        expect(tree.append({ first: index, level: 0 }, all[index] as Buffer)).toBe(true);
        next = index + 1;
      }
      between(next, size);
      expect([tree.size, tree.root()]).toEqual([size, rootOf(all)]);
      // Never more than two for each level of a gap.
      expect(nodes).toBeLessThanOrEqual((chosen.length + 1) * 2 * 9);
    }),
  );
});

it("refuses a subtree that is out of order, misaligned or invalid", () => {
  const [hash] = leaves(1) as [Buffer];
  const tree = new SparseTree();
  expect(tree.append({ first: 1, level: 0 }, hash)).toBe(false);
  expect(tree.append({ first: 0, level: 0 }, hash)).toBe(true);
  for (const part of [
    { first: 0, level: 0 },
    { first: 1, level: 1 },
    { first: 1, level: -1 },
    { first: 1, level: 0.5 },
    { first: 1, level: 60 },
  ])
    expect([part, tree.append(part, hash)]).toEqual([part, false]);
  expect(tree.append({ first: 1, level: 0 }, hash.subarray(1))).toBe(false);
  expect(tree.size).toBe(1);
});
