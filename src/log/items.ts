import type { Core } from "../core.ts";
import { sameDigest } from "../kit/hash.ts";
import { contextText, hashesUnder, itemUnder, saltOf } from "../kit/items.ts";
import { inclusionProof, rootOf } from "../kit/merkle.ts";
import { type DeliveryRow, rows } from "./rows.ts";

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
  const hashes = itemHashes(core, row, row.itemKey, texts);
  return hashes !== undefined && sameDigest(rootOf(hashes), row.contentSha256);
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
  const key = row.itemKey;
  const hashes = key ? itemHashes(core, row, key, texts) : undefined;
  if (!key || !hashes || !sameDigest(rootOf(hashes), row.contentSha256)) return undefined;
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
): Buffer[] | undefined {
  const count = row.itemCount ?? 0;
  if (texts.size >= count) return undefined;
  const replaced = rows(core.store).items.all(row.id);
  const all: (string | Uint8Array)[] = [contextText(row.repoKey, row.mode)];
  const noted: { item: number; sha256: Buffer }[] = [];
  for (let item = 1; item < count; item++) {
    const text = texts.get(item);
    const instead = text === undefined ? replaced.find((one) => one.item === item) : undefined;
    if (text === undefined && !instead) return undefined;
    if (instead) noted.push(instead);
    all.push(text ?? "");
  }
  const hashes = hashesUnder(key, all);
  for (const { item, sha256 } of noted) hashes[item] = sha256;
  return hashes;
}
