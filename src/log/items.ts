import type { Core } from "../core.ts";
import { sameDigest } from "../kit/hash.ts";
import { inclusionProof, rootOf } from "../kit/merkle.ts";
import { commitTo, type Items, itemsUnder, itemUnder, saltOf } from "../platform/transparency/transparency.ts";
import { type DeliveryRow, rows } from "./rows.ts";

/** The first item of every delivery: what its leaf does not tell in the open. */
const contextText = (repoKey: string, mode: string | null) => JSON.stringify({ repoKey, mode });

/** Commits to what a delivery brought. @param texts of its items, from the second on */
export const deliveryItems = (repoKey: string, mode: string | null, texts: readonly (string | Uint8Array)[]): Items =>
  commitTo([contextText(repoKey, mode), ...texts]);

/**
 * Notes the hash of an item that is about to be replaced, so that its delivery's root can still be made. Call inside the transaction
 * that replaces it; does nothing for what was delivered before there were items.
 * @param item its place in the delivery, from 1 on
 */
export function keepItem(core: Core, deliveryId: number, item: number | null, text: string): void {
  const key = item === null ? undefined : rows(core.store).whole.get(deliveryId)?.itemKey;
  if (key && item !== null) rows(core.store).putItem.run(deliveryId, item, itemUnder(key, item, text));
}

/**
 * Whether what is held of a delivery is what it brought.
 * @param texts by item, from 1 on, as held now; those that were replaced since are absent
 * @param digest what was noted of it before there were items
 */
export function isAsDelivered(
  core: Core,
  row: DeliveryRow,
  texts: ReadonlyMap<number, string | Uint8Array>,
  digest: () => Buffer | undefined,
): boolean {
  if (!row.itemKey) {
    const found = row.chainSha256 ? digest() : undefined;
    return found !== undefined && sameDigest(found, row.contentSha256);
  }
  return sameDigest(itemHashes(core, row, row.itemKey, texts)?.root ?? Buffer.alloc(0), row.contentSha256);
}

/** An item of a delivery with what leads from it to the delivery's root. */
export interface ProvedItem {
  readonly index: number;
  readonly count: number;
  readonly salt: Buffer;
  readonly text: string;
  readonly path: readonly Buffer[];
}

/**
 * Proves items of a delivery against its root.
 * @param texts by item, from 1 on, of all that are held
 * @param chosen which of them; item 0 says for which repository the delivery was, and in which mode
 * @returns undefined where the delivery has no items, or what is held is not what it brought
 */
export function proveItems(
  core: Core,
  row: DeliveryRow,
  texts: ReadonlyMap<number, string | Uint8Array>,
  chosen: readonly number[],
): ProvedItem[] | undefined {
  const items = row.itemKey ? itemHashes(core, row, row.itemKey, texts) : undefined;
  if (!items || !row.itemKey || !sameDigest(items.root, row.contentSha256)) return undefined;
  const { hashes } = items;
  const key = row.itemKey;
  return chosen.map((index) => ({
    index,
    count: hashes.length,
    salt: saltOf(key, index),
    text: index === 0 ? contextText(row.repoKey, row.mode) : String(texts.get(index)),
    path: inclusionProof(index, hashes.length, (level, n) =>
      rootOf(hashes.slice(n * 2 ** level, (n + 1) * 2 ** level)),
    ),
  }));
}

/** The hashes of all items of a delivery; undefined where one is neither held nor noted. */
function itemHashes(
  core: Core,
  row: DeliveryRow,
  key: Buffer,
  texts: ReadonlyMap<number, string | Uint8Array>,
): Items | undefined {
  const replaced = rows(core.store).items.all(row.id);
  const all = Array.from({ length: row.itemCount ?? 0 }, (_, i) =>
    i === 0 ? contextText(row.repoKey, row.mode) : texts.get(i),
  );
  const items = itemsUnder(
    key,
    all.map((text) => text ?? ""),
  );
  if (texts.size >= all.length) return undefined;
  if (replaced.length === 0) return all.includes(undefined) ? undefined : items;
  const hashes = [...items.hashes];
  for (const { item, sha256 } of replaced) if (!texts.has(item)) hashes[item] = sha256;
  const isWhole = all.every((text, i) => text !== undefined || replaced.some(({ item }) => item === i));
  return isWhole ? { key, hashes, root: rootOf(hashes) } : undefined;
}
