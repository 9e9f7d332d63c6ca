import { HASH_BYTES, itemHash, itemHashes, rootOver, SALT_BYTES, saltsOf } from "./merkle.ts";
import { systemRandom } from "./random.ts";

/**
 * What a leaf commits to: texts, each hashed with a salt of its own. So a short text cannot be guessed from its hash, and a text can be
 * erased while the proofs of the others still hold. All salts follow from one key.
 */
export interface Items {
  /** 32 random bytes, see `saltsOf`. */
  readonly key: Buffer;
  readonly count: number;
  /** The root (RFC 6962, section 2.1) over the items' hashes. */
  readonly root: Buffer;
}

/** Commits to texts under a new key. */
export function commitTo(texts: readonly (string | Uint8Array)[]): Items {
  const key = systemRandom(32);
  return { key, count: texts.length, root: rootOver(hashesOf(key, texts)) };
}

/** The items of a delivery, hashed before it is known whether all of them are stored as they came. */
export interface HashedItems {
  readonly key: Buffer;
  /** Hashes of the items, one after another. */
  readonly hashes: Buffer;
  readonly root: Buffer;
}

/** Hashes the items of a delivery. @param texts see `deliveryItems` */
export function hashItems(repoKey: string, mode: string | null, texts: Iterable<string>): HashedItems {
  const key = systemRandom(32);
  const hashes = hashesOf(key, [contextText(repoKey, mode), ...texts]);
  return { key, hashes, root: rootOver(hashes) };
}

/** The commitment of a delivery after some of its items were replaced. @param others the replacements by index, from 0 on */
export function commitHashed({ key, hashes, root }: HashedItems, others: ReadonlyMap<number, string>): Items {
  const count = hashes.length / HASH_BYTES;
  if (others.size === 0) return { key, count, root };
  const salts = saltsOf(key, count);
  const all = Buffer.from(hashes);
  for (const [i, other] of others) all.set(itemHash(saltAt(salts, i), other), i * HASH_BYTES);
  return { key, count, root: rootOver(all) };
}

/** An item as an export holds it. */
export interface ExportedItem {
  readonly deliveryId: number;
  /** From 1 on. */
  readonly item: number;
  readonly text: string;
  /** Facts that the item's line and its delivery both state, by the names of members. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** The text of every delivery's first item: facts that its leaf does not show in the open. */
export const contextText = (repoKey: string, mode: string | null): string => JSON.stringify({ repoKey, mode });

/** Commits to what a delivery brought. @param texts of its items, from the second on */
export const deliveryItems = (repoKey: string, mode: string | null, texts: readonly (string | Uint8Array)[]): Items =>
  commitTo([contextText(repoKey, mode), ...texts]);

const hashesOf = (key: Buffer, texts: readonly (string | Uint8Array)[]): Buffer =>
  itemHashes(saltsOf(key, texts.length), texts);

/** The salt of one of the items under a key. */
export const saltOf = (key: Buffer, item: number): Buffer => saltAt(saltsOf(key, item + 1), item);

/** The hash of one of the items under a key. */
export const itemUnder = (key: Buffer, item: number, text: string): Buffer => itemHash(saltOf(key, item), text);

/** The salt of one of the items whose salts lie end to end. */
export const saltAt = (salts: Buffer, i: number): Buffer => salts.subarray(i * SALT_BYTES, (i + 1) * SALT_BYTES);
