import { type Core, slot } from "../../core.ts";
import { nodeHash, rootAt, rootOf } from "../../kit/merkle.ts";
import { cooperative } from "../../kit/yield.ts";
import { rows } from "./rows.ts";

/** Complete subtrees of 2^8 leaves are stored, and those above them kept in memory: 32 bytes for 256 leaves. */
const STORED_LEVEL = 8;
const STORED_LEAVES = 2 ** STORED_LEVEL;
/** Leaves read by one statement. */
const CHUNK = 4_096;

/** The stored leaves are not those of a tree: one is missing. */
class BrokenTree extends Error {
  override readonly name = "BrokenTree";
}

/**
 * The Merkle tree (RFC 6962, section 2.1) over the stored leaves read so far. It keeps all nodes of the upper levels, and those of the
 * lower levels only for the last, unfinished 256 leaves; others are computed from the leaves when they are asked for.
 */
class Tree {
  readonly #core: Core;
  /** By level from 0: the complete nodes; below `STORED_LEVEL` only those of the unfinished 256 leaves. */
  readonly #levels: Buffer[][] = [];
  /** Number of subtrees that are in the store. */
  #stored = 0;
  #size = 0;
  /** The leaves of the block that was read last: proofs ask for many of one block. */
  #recent: { readonly block: number; readonly leaves: readonly Buffer[] } = { block: -1, leaves: [] };

  constructor(core: Core) {
    this.#core = core;
    for (const { n, sha256 } of rows(core.store).subtrees.iterate()) {
      if (n !== this.#stored) break;
      this.#push(STORED_LEVEL, sha256);
      this.#stored++;
    }
    this.#size = this.#stored * STORED_LEAVES;
  }

  /** Leaves that were read. */
  get size(): number {
    return this.#size;
  }

  /** Reads leaves committed since, also by other processes. @throws BrokenTree */
  sync(): void {
    while (this.#syncSome() === CHUNK);
  }

  /** As `sync`, letting others in between: after an upgrade there may be millions of leaves. @throws BrokenTree */
  async syncInSlices(): Promise<void> {
    const yieldNow = cooperative(this.#core.clock);
    while (this.#syncSome() === CHUNK) await yieldNow();
  }

  /** Complete subtrees of 256 leaves that are not in the store yet, as rows for it. */
  unstored(): { readonly n: number; readonly sha256: Buffer }[] {
    const complete = this.#levels[STORED_LEVEL] ?? [];
    return complete.slice(this.#stored).map((sha256, i) => ({ n: this.#stored + i, sha256 }));
  }

  /** Notes that `unstored` ones are in the store now. @param count all that are */
  noteStored(count: number): void {
    this.#stored = count;
  }

  /** The root over the first leaves. @param size at most `this.size` */
  rootAt(size: number): Buffer {
    return rootAt(size, this.nodeAt);
  }

  /** The hash of the complete subtree of 2^level leaves, the nth of its level from 0. */
  nodeAt = (level: number, n: number): Buffer => {
    if (level >= STORED_LEVEL) return this.#levels[level]?.[n] as Buffer;
    const perBlock = 2 ** (STORED_LEVEL - level);
    const block = Math.floor(n / perBlock);
    const isLast = block === Math.floor(this.#size / STORED_LEAVES);
    if (isLast) return this.#levels[level]?.[n - block * perBlock] as Buffer;
    const first = (n % perBlock) * 2 ** level;
    return rootOf(this.#leavesOf(block).slice(first, first + 2 ** level));
  };

  #syncSome(): number {
    const read = rows(this.#core.store).after.all(this.#size, CHUNK);
    for (const { n, sha256 } of read) {
      if (n !== this.#size + 1) throw new BrokenTree(`leaf ${this.#size + 1} is missing`);
      this.#push(0, sha256);
      this.#size++;
      if (this.#size % STORED_LEAVES === 0) for (let level = 0; level < STORED_LEVEL; level++) this.#levels[level] = [];
    }
    return read.length;
  }

  #push(level: number, hash: Buffer): void {
    this.#levels[level] ??= [];
    const nodes = this.#levels[level];
    nodes.push(hash);
    if (nodes.length % 2 === 0)
      this.#push(level + 1, nodeHash(nodes[nodes.length - 2] as Buffer, nodes[nodes.length - 1] as Buffer));
  }

  #leavesOf(block: number): readonly Buffer[] {
    if (this.#recent.block !== block) {
      const read = rows(this.#core.store).after.all(block * STORED_LEAVES, STORED_LEAVES);
      this.#recent = { block, leaves: read.map(({ sha256 }) => sha256) };
    }
    return this.#recent.leaves;
  }
}

/** The tree of an instance, or of a command. */
export const tree = slot((core) => new Tree(core));

/** Size and root of a tree. */
export interface TreeHead {
  readonly size: number;
  readonly root: Buffer;
}

/** Whether a database has a tree: those of older programs, which are only looked at, have none. */
export const hasTree = ({ store }: Core): boolean => rows(store).hasTree;

/**
 * Size and root of the tree as it is committed now. Whoever notes them can prove later that nothing up to there changed.
 * @throws BrokenTree
 */
export function treeHead(core: Core): TreeHead {
  const own = tree(core);
  own.sync();
  return { size: own.size, root: own.rootAt(own.size) };
}

/** The root over the first leaves as they are committed now. @param size at most how many there are @throws BrokenTree */
export function rootOfFirst(core: Core, size: number): Buffer {
  const own = tree(core);
  own.sync();
  return own.rootAt(size);
}

/** Rows of one transaction: after an upgrade there may be thousands. */
const MAX_SUBTREES = 500;

/** Stores computed subtrees, some at a time, so that the next start need not compute them. */
export async function storeSubtrees(core: Core): Promise<void> {
  const own = tree(core);
  const missing = own.unstored().slice(0, MAX_SUBTREES);
  const last = missing.at(-1);
  if (!last) return;
  await core.store.write(() => {
    for (const { n, sha256 } of missing) rows(core.store).insertSubtree.run(n, sha256);
  });
  own.noteStored(last.n + 1);
}
