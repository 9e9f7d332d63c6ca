import type { Core } from "../../core.ts";
import { parseJson } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { SparseTree, type Subtree, subtreesOf } from "../../kit/sparse-tree.ts";
import { appendLeaf } from "./leaves.ts";
import { type LeafRow, rows } from "./rows.ts";
import { type TreeHead, tree } from "./tree.ts";

/*
 * A team that moves here from another instance brings its leaves: they are appended as they were there, and a leaf of the import names the
 * head of the log that they come from. The subtrees that lead from them to that head are stored, too, so that they can be proved here.
 */

/** Facts of leaves that came from another log. */
export interface LogImport {
  readonly team: string;
  /** The log's name, its size and root (in hexadecimal digits), and the key that it was signed with. */
  readonly origin: string;
  readonly size: number;
  readonly root: string;
  readonly key: string;
  /** How many of its leaves came. */
  readonly leaves: number;
  /** The SHA-256 of the signed manifest of the file that they came in, in hexadecimal digits. */
  readonly manifest: string;
  /**
   * Erasures there that are stated only in leaves that did not come, or in none: their ids, and the number of events whose names were
   * removed without a statement. Absent from imports of earlier versions.
   */
  readonly erasures?: readonly string[];
  readonly unstatedEvents?: number;
}

const importText = (facts: LogImport): string => JSON.stringify({ v: 2, kind: "import", ...facts });

/** Row change: appends the leaf of an import, whose leaves were appended before it. @returns its number */
export function recordImport(core: Core, facts: LogImport): number {
  const leaf = appendLeaf(core, importText(facts));
  rows(core.store).insertImport.run(leaf, facts.team, JSON.stringify(facts));
  return leaf;
}

/**
 * All imports with the numbers and texts of their leaves, oldest first. A row whose data is unreadable is left out; its leaf shows that it
 * was altered.
 */
export const logImports = (core: Core): { readonly leaf: number; readonly text: string; readonly facts: LogImport }[] =>
  rows(core.store)
    .imports.all()
    .flatMap(({ leaf, data }) => {
      const stored = parseJson(data);
      if (!isObject(stored) || typeof stored.team !== "string") return [];
      const facts = stored as unknown as LogImport;
      return [{ leaf, text: importText(facts), facts }];
    });

/** Whether the leaves of an import belong to the signed head of the log that they come from. */
export function isImportSound(core: Core, leaf: number, { size, root, leaves }: LogImport): boolean {
  const { importLeaves, importNodes } = rows(core.store);
  const counted = { leaves: 0 };
  const found = rootOfParts(importLeaves.iterate(leaf), importNodes.iterate(leaf), counted);
  return found?.size === size && counted.leaves === leaves && found.root.toString("hex") === root;
}

/**
 * The head of a tree from some of its leaves and the subtrees between them.
 * @param leaves by their numbers, from 1 on
 * @param between by the indices of their first leaves
 * @returns undefined when they do not make a tree
 */
export function rootOfParts(
  leaves: Iterable<LeafRow>,
  between: Iterable<Subtree & { readonly sha256: Buffer }>,
  counted = { leaves: 0 },
): TreeHead | undefined {
  const parts = new SparseTree();
  const nodes = between[Symbol.iterator]();
  let node = nodes.next();
  const takeUpTo = (size: number): boolean => {
    for (; !node.done && node.value.first < size; node = nodes.next())
      if (!parts.append(node.value, node.value.sha256)) return false;
    return true;
  };
  try {
    for (const { n, sha256 } of leaves) {
      counted.leaves++;
      if (!takeUpTo(n - 1) || !parts.append({ first: n - 1, level: 0 }, sha256)) return undefined;
    }
    return takeUpTo(Number.POSITIVE_INFINITY) ? { size: parts.size, root: parts.root() } : undefined;
  } finally {
    // Rows that are still being read would keep their connection busy.
    nodes.return?.();
  }
}

/** The subtrees between some leaves of the tree. @param leaves their numbers, ascending @param size of the tree */
export function* subtreesBetween(
  core: Core,
  leaves: Iterable<number>,
  size: number,
): Generator<Subtree & { sha256: Buffer }> {
  const own = tree(core);
  own.sync();
  const hashed = (part: Subtree) => ({ ...part, sha256: own.nodeAt(part.level, part.first / 2 ** part.level) });
  let next = 0;
  for (const n of leaves) {
    for (const part of subtreesOf(next, n - 1)) yield hashed(part);
    next = n;
  }
  for (const part of subtreesOf(next, size)) yield hashed(part);
}
