import { itemHash, rootOf, saltsOf } from "../../kit/merkle.ts";
import { systemRandom } from "../../kit/random.ts";

/**
 * What a leaf commits to: texts, each hashed with a salt of its own, so that neither a short one can be guessed from its hash nor one
 * be forgotten without the others' proofs holding on. The salts follow from one key.
 */
export interface Items {
  /** 32 random bytes, see `saltsOf`. */
  readonly key: Buffer;
  readonly hashes: readonly Buffer[];
  /** The root (RFC 6962, section 2.1) over the hashes. */
  readonly root: Buffer;
}

/** Salt of one item, in bytes. */
const SALT_BYTES = 16;

/** Commits to texts under a new key. */
export const commitTo = (texts: readonly (string | Uint8Array)[]): Items => itemsUnder(systemRandom(32), texts);

/** The same under a key that is known, for who checks. */
export function itemsUnder(key: Buffer, texts: readonly (string | Uint8Array)[]): Items {
  const salts = saltsOf(key, texts.length);
  const hashes = texts.map((text, i) => itemHash(saltAt(salts, i), bytesOf(text)));
  return { key, hashes, root: rootOf(hashes) };
}

/** The salt of one of the items under a key. */
export const saltOf = (key: Buffer, item: number): Buffer => saltAt(saltsOf(key, item + 1), item);

/** The hash of one of the items under a key. */
export const itemUnder = (key: Buffer, item: number, text: string): Buffer =>
  itemHash(saltOf(key, item), bytesOf(text));

const saltAt = (salts: Buffer, i: number) => salts.subarray(i * SALT_BYTES, (i + 1) * SALT_BYTES);
const bytesOf = (text: string | Uint8Array) => (typeof text === "string" ? Buffer.from(text) : text);
