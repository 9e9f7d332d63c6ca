import { createPrivateKey } from "node:crypto";
import { Frontier, inclusionProof, itemHash, leafHash, type NodeAt, rootOf, saltsOf } from "../../src/kit/merkle.ts";
import type { ItemProof } from "../../src/kit/transparency/bundle.ts";
import { checkpointText } from "../../src/kit/transparency/checkpoint.ts";
import { COSIGNATURE_V1, ED25519, type NoteSigner, noteSigner, signNote } from "../../src/kit/transparency/note.ts";

/** An Ed25519 private key from a seed (RFC 8410 section 7). */
export const keyOf = (seed: number) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, seed)]),
    format: "der",
    type: "pkcs8",
  });

export const logSigner = noteSigner("reckon.example/ledger/4f00", ED25519, keyOf(1));
export const cosignerOf = (name: string, seed: number) => noteSigner(name, COSIGNATURE_V1, keyOf(seed));

/** A log in memory, of leaves with the texts that it is given. */
export class TestLog {
  readonly signer: NoteSigner;
  /** A restore opens the next one, under a name of its own. */
  epoch = 1;
  readonly leaves: string[] = [];
  readonly #nodes = new Map<string, Buffer>();
  readonly #frontier = new Frontier();
  readonly #roots = [this.#frontier.root()];

  constructor(signer = logSigner) {
    this.signer = signer;
  }

  append(...texts: readonly string[]): this {
    for (const text of texts) {
      this.leaves.push(text);
      const completed = this.#frontier.append(leafHash(Buffer.from(text)));
      for (const [level, hash] of completed.entries())
        this.#nodes.set(`${level} ${this.leaves.length / 2 ** level - 1}`, hash);
      this.#roots.push(this.#frontier.root());
    }
    return this;
  }

  get size(): number {
    return this.leaves.length;
  }

  readonly nodeAt: NodeAt = (level, n) => {
    const node = this.#nodes.get(`${level} ${n}`);
    if (!node) throw new Error(`no node ${level} ${n}`);
    return node;
  };

  rootAt(size: number): Buffer {
    return this.#roots[size] as Buffer;
  }

  get origin(): string {
    return `${this.signer.name}/${this.epoch}`;
  }

  checkpoint(size = this.size): string {
    return signNote(checkpointText({ origin: this.origin, size, root: this.rootAt(size) }), this.signer);
  }

  inclusion(index: number, size = this.size): Buffer[] {
    return inclusionProof(index, size, this.nodeAt);
  }
}

/** Items under a key: their root as a leaf gives it, and the proof of each. */
export function itemsOf(key: Buffer, texts: readonly string[]): { root: string; proofs: ItemProof[] } {
  const salts = saltsOf(key, texts.length);
  const salt = (i: number) => salts.subarray(i * 16, (i + 1) * 16);
  const hashes = texts.map((text, i) => itemHash(salt(i), Buffer.from(text)));
  const log: NodeAt = (level, n) => rootOf(hashes.slice(n * 2 ** level, (n + 1) * 2 ** level));
  const proofs = texts.map((text, index) => ({
    index,
    count: texts.length,
    salt: salt(index),
    text,
    path: inclusionProof(index, texts.length, log),
  }));
  return { root: rootOf(hashes).toString("hex"), proofs };
}
