import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  completeSubtrees,
  consistencyProof,
  EMPTY_ROOT,
  Frontier,
  inclusionProof,
  itemHash,
  leafHash,
  type NodeAt,
  nodeHash,
  nodesOver,
  rootAt as rootFromNodes,
  rootOf,
  saltsOf,
  verifyConsistency,
  verifyInclusion,
} from "../../../src/kit/merkle.ts";

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

/** The roots of two or more leaves computed so far, by their leaves. */
const known = new Map<string, Buffer>();
/** MTH of RFC 6962 section 2.1, word for word, except that no tree is hashed twice. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return sha256();
  if (leaves.length === 1) return leaves[0] as Buffer;
  const all = Buffer.concat(leaves).toString("latin1");
  const before = known.get(all);
  if (before) return before;
  const k = splitAt(leaves.length);
  const root = sha256(Buffer.of(1), naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
  known.set(all, root);
  return root;
}
/** PATH of RFC 6962 section 2.1.1. */
function naivePath(m: number, leaves: readonly Buffer[]): Buffer[] {
  if (leaves.length === 1) return [];
  const k = splitAt(leaves.length);
  return m < k
    ? [...naivePath(m, leaves.slice(0, k)), naiveRoot(leaves.slice(k))]
    : [...naivePath(m - k, leaves.slice(k)), naiveRoot(leaves.slice(0, k))];
}
/** SUBPROOF of RFC 6962 section 2.1.2. */
function naiveProof(m: number, leaves: readonly Buffer[], isWhole = true): Buffer[] {
  if (m === leaves.length) return isWhole ? [] : [naiveRoot(leaves)];
  const k = splitAt(leaves.length);
  return m <= k
    ? [...naiveProof(m, leaves.slice(0, k), isWhole), naiveRoot(leaves.slice(k))]
    : [...naiveProof(m - k, leaves.slice(k), false), naiveRoot(leaves.slice(0, k))];
}
const splitAt = (size: number) => 2 ** Math.floor(Math.log2(size - 1));

const MAX = 300;
const leaves = Array.from({ length: MAX }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)));
const roots = Array.from({ length: MAX + 1 }, (_, size) => naiveRoot(leaves.slice(0, size)));
const rootAt = (size: number) => roots[size] as Buffer;
const leafAt = (index: number) => leaves[index] as Buffer;
/** Returns complete subtrees of a tree of `size` leaves, and no others. */
const nodesOf =
  (size: number): NodeAt =>
  (level, n) => {
    const [start, end] = [n * 2 ** level, (n + 1) * 2 ** level];
    if (!Number.isInteger(n) || end > size) throw new Error(`no complete subtree ${level}/${n} in ${size}`);
    return naiveRoot(leaves.slice(start, end));
  };
const flip = (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === 7 ? byte ^ 1 : byte)));

describe("hashing", () => {
  it("gives the known hashes of RFC 6962's test trees", () => {
    expect(EMPTY_ROOT.toString("hex")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(leafHash(Buffer.alloc(0)).toString("hex")).toBe(
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    );
    expect(nodeHash(leafAt(0), leafAt(1))).toEqual(sha256(Buffer.of(1), leafAt(0), leafAt(1)));
  });

  it("hashes leaves and items of every length, those beyond its scratch space too", () => {
    const salt = Buffer.alloc(16, 7);
    for (const length of [0, 1, 100, 8174, 8175, 8176, 8190, 8191, 8192, 8193, 100_000]) {
      const text = Buffer.alloc(length, "x");
      expect(leafHash(text)).toEqual(sha256(Buffer.of(0), text));
      expect(itemHash(salt, text)).toEqual(sha256(Buffer.of(0), salt, text));
    }
  });

  it("draws salts from one stream, so that a longer draw begins with the shorter one", () => {
    const key = Buffer.alloc(32, 1);
    const expected = createHash("shake256", { outputLength: 160 }).update(key).digest();
    expect(saltsOf(key, 10)).toEqual(expected);
    expect(saltsOf(key, 3)).toEqual(expected.subarray(0, 48));
    expect(saltsOf(key, 0)).toHaveLength(0);
  });
});

describe("trees of up to 300 leaves", () => {
  it("have the root that the recursion gives, at once and leaf by leaf", () => {
    const frontier = new Frontier();
    for (let size = 0; size <= MAX; size++) {
      expect(rootOf(leaves.slice(0, size))).toEqual(rootAt(size));
      expect(rootFromNodes(size, nodesOf(size))).toEqual(rootAt(size));
      expect([frontier.size, frontier.root()]).toEqual([size, rootAt(size)]);
      const restored = new Frontier(
        size,
        completeSubtrees(size).map(({ level, n }) => nodesOf(size)(level, n)),
      );
      expect(restored.roots).toEqual(frontier.roots);
      expect(new Frontier(size, frontier.roots).root()).toEqual(rootAt(size));
      if (size === MAX) break;
      const completed = frontier.append(leafAt(size));
      expect(completed).toEqual(completed.map((_, level) => nodesOf(size + 1)(level, (size + 1) / 2 ** level - 1)));
      expect((size + 1) % 2 ** completed.length).not.toBe(0);
    }
  });

  it("prove every leaf in every tree", () => {
    for (let size = 1; size <= MAX; size += size < 70 ? 1 : 23)
      for (let index = 0, nodeAt = nodesOver(leaves.slice(0, size)); index < size; index++) {
        const proof = inclusionProof(index, size, nodesOf(size));
        expect(inclusionProof(index, size, nodeAt)).toEqual(proof);
        expect(proof).toEqual(naivePath(index, leaves.slice(0, size)));
        expect(verifyInclusion(index, size, leafAt(index), proof, rootAt(size))).toBe(true);
      }
  });

  it("prove every tree in every later one", () => {
    for (let n = 0; n <= MAX; n += n < 70 ? 1 : 23)
      for (let m = 0; m <= n; m++) {
        const proof = consistencyProof(m, n, nodesOf(n));
        if (m > 0) expect(proof).toEqual(naiveProof(m, leaves.slice(0, n)));
        expect(verifyConsistency(m, n, rootAt(m), rootAt(n), proof)).toBe(true);
      }
  });

  it("refuse a proof with any part replaced", () => {
    const size = fc.integer({ min: 1, max: MAX });
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (n, a, b) => {
        const index = a % n;
        const proof = inclusionProof(index, n, nodesOf(n));
        const bad = b % (proof.length || 1);
        const altered = proof.map((one, i) => (i === bad ? flip(one) : one));
        const fits = (i: number, s: number, leaf: Buffer, path: Buffer[], root: Buffer) =>
          verifyInclusion(i, s, leaf, path, root);
        if (proof.length > 0) expect(fits(index, n, leafAt(index), altered, rootAt(n))).toBe(false);
        expect(fits(index, n, flip(leafAt(index)), proof, rootAt(n))).toBe(false);
        expect(fits(index, n, leafAt(index), proof, flip(rootAt(n)))).toBe(false);
        expect(fits(index, n, leafAt(index), [...proof, leafAt(0)], rootAt(n))).toBe(false);
        expect(fits(index, n, leafAt(index), proof.slice(1), rootAt(n))).toBe(n === 1);
        for (let other = 0; other < n; other++)
          if (other !== index) expect(fits(other, n, leafAt(index), proof, rootAt(n))).toBe(false);
      }),
      { numRuns: 200 },
    );
    fc.assert(
      fc.property(size, fc.nat(), fc.nat(), (n, a, b) => {
        const m = 1 + (a % n);
        const proof = consistencyProof(m, n, nodesOf(n));
        const fits = (path: Buffer[], old = rootAt(m), grown = rootAt(n)) => verifyConsistency(m, n, old, grown, path);
        if (proof.length > 0) {
          expect(fits(proof.map((one, i) => (i === b % proof.length ? flip(one) : one)))).toBe(false);
          expect(fits(proof.slice(1))).toBe(false);
        }
        expect(fits(proof, flip(rootAt(m)))).toBe(false);
        expect(fits(proof, rootAt(m), flip(rootAt(n)))).toBe(false);
        expect(fits([...proof, leafAt(0)])).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it("refuse invalid sizes, indexes and hashes", () => {
    const root = rootAt(1);
    for (const odd of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      expect(verifyInclusion(odd, 1, root, [], root)).toBe(false);
      expect(verifyInclusion(0, odd, root, [], root)).toBe(false);
      expect(verifyConsistency(odd, 1, root, root, [])).toBe(false);
      expect(verifyConsistency(1, odd, root, root, [])).toBe(false);
      expect(() => inclusionProof(0, odd, nodesOf(1))).toThrow(RangeError);
      expect(() => consistencyProof(odd, 1, nodesOf(1))).toThrow(RangeError);
      expect(() => new Frontier(odd, [])).toThrow(RangeError);
    }
    expect(verifyInclusion(0, 1, root.subarray(1), [], root)).toBe(false);
    expect(verifyInclusion(0, 2, root, [Buffer.alloc(31)], root)).toBe(false);
    expect(verifyInclusion(0, 2 ** 52, root, Array(5_000).fill(root), root)).toBe(false);
    expect(verifyConsistency(2, 1, root, root, [])).toBe(false);
    expect(verifyInclusion(0, 2, leafAt(0), [leafAt(1)], rootAt(2))).toBe(true);
    expect(verifyInclusion(0, 2, leafAt(0), [leafAt(1).subarray(0, 31)], rootAt(2))).toBe(false);
    expect(verifyInclusion(3, 2, leafAt(1), [leafAt(0)], rootAt(2))).toBe(false);
    expect(verifyInclusion(0, 1, leafAt(1), [leafAt(0)], rootAt(2))).toBe(false);
    expect(verifyConsistency(0, 2, root, rootAt(2), [])).toBe(false);
    expect(verifyConsistency(0, 2, EMPTY_ROOT, rootAt(2), [root])).toBe(false);
    expect(() => new Frontier(3, [root])).toThrow(RangeError);
  });

  it("count leaves beyond 32 bits", () => {
    const size = 2 ** 40 + 2 ** 33 + 5;
    const known = new Map<number, Buffer>();
    const nodeAt: NodeAt = (level, n) => {
      if ((n + 1) * 2 ** level > size) throw new Error("incomplete");
      const below = level === 0 ? leafAt(0) : (known.get(level) ?? nodeAt(level - 1, 0));
      const node = level === 0 ? below : (known.get(level) ?? nodeHash(below, below));
      known.set(level, node);
      return node;
    };
    const root = new Frontier(
      size,
      completeSubtrees(size).map(({ level, n }) => nodeAt(level, n)),
    ).root();
    const index = size - 7;
    expect(verifyInclusion(index, size, leafAt(0), inclusionProof(index, size, nodeAt), root)).toBe(true);
    const m = 2 ** 33 + 12_345;
    const old = new Frontier(
      m,
      completeSubtrees(m).map(({ level, n }) => nodeAt(level, n)),
    ).root();
    expect(verifyConsistency(m, size, old, root, consistencyProof(m, size, nodeAt))).toBe(true);
  });
});
