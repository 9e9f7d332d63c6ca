import type { Core } from "../core.ts";
import { sameDigest } from "../kit/hash.ts";
import { contextText, saltAt } from "../kit/items.ts";
import { inclusionProof, itemHash, nodesOver, rootOf, saltsOf } from "../kit/merkle.ts";
import type { ItemProof } from "../kit/transparency/bundle.ts";
import { leafTextOf } from "./leaf.ts";
import { type DeliveryRow, rows } from "./rows.ts";

/**
 * Stores the hashes of items that are about to be replaced, so that their delivery's root can still be computed. Call inside the
 * transaction that replaces them, once for a delivery, since all its salts are derived together. Does nothing for deliveries from before
 * there were items.
 * @param texts by item, from 1 on
 */
export function keepItems(core: Core, deliveryId: number, texts: ReadonlyMap<number, string | Uint8Array>): void {
  noteItems(core, deliveryId, texts);
}

/** @returns the salts of all items; undefined where there are none */
function noteItems(core: Core, deliveryId: number, texts: ReadonlyMap<number, string | Uint8Array>) {
  const salts = saltsFor(rows(core.store).whole.get(deliveryId));
  if (salts)
    for (const [item, text] of texts) rows(core.store).putItem.run(deliveryId, item, hashAt(salts, item, text));
  return salts;
}

/**
 * Forgets items that are about to be erased: their hashes stay, their salts go, and with them the key that would give the salts back. Call
 * inside the transaction that erases them. Does nothing for deliveries from before there were items.
 * @param texts by item, from 1 on
 */
export function forgetItems(core: Core, deliveryId: number, texts: ReadonlyMap<number, string | Uint8Array>): void {
  const salts = noteItems(core, deliveryId, texts);
  if (!salts) return;
  for (const item of texts.keys()) saltAt(salts, item).fill(0);
  rows(core.store).keepSalts.run(salts, deliveryId);
}

/** More items than any delivery has: memory is allocated by a stored count, which may have been altered. */
const MAX_ITEMS = 1_000_000;

/** The salts of a delivery's items, end to end, in memory of their own; undefined where it has none. */
function saltsFor(row: DeliveryRow | undefined): Buffer | undefined {
  if (!row?.itemCount || row.itemCount < 0 || row.itemCount > MAX_ITEMS) return undefined;
  return row.itemKey ? saltsOf(row.itemKey, row.itemCount) : row.itemSalts ? Buffer.from(row.itemSalts) : undefined;
}

const hashAt = (salts: Buffer, item: number, text: string | Uint8Array) => itemHash(saltAt(salts, item), text);

/**
 * The hashes of items of a delivery, in hexadecimal digits by their places; none where it was delivered before there were items.
 * @param texts by item, from 1 on
 */
export function itemDigests(
  core: Core,
  deliveryId: number,
  texts: ReadonlyMap<number, string | Uint8Array>,
): Record<string, string> {
  const salts = saltsFor(rows(core.store).whole.get(deliveryId));
  return salts
    ? Object.fromEntries([...texts].map(([item, text]) => [item, hashAt(salts, item, text).toString("hex")]))
    : {};
}

/**
 * Whether the stored content of a delivery is what it brought.
 * @param texts by item, from 1 on, as stored now; items that were replaced since are absent
 * @param digest of the content, as it was stored before there were items
 */
export function isAsDelivered(
  core: Core,
  row: DeliveryRow,
  texts: ReadonlyMap<number, string | Uint8Array>,
  digest: () => Buffer | undefined,
): boolean {
  if (row.itemCount === null) {
    const found = row.chainSha256 ? digest() : undefined;
    return found !== undefined && sameDigest(found, row.contentSha256);
  }
  // A session that grew has replaced items, whose hashes are stored. In all other kinds an absent item was erased, or is missing.
  if (row.kind !== "traces" && row.erasedBy === null && texts.size < row.itemCount - 1) return false;
  const hashes = itemHashes(core, row, texts);
  return hashes !== undefined && sameDigest(rootOf(hashes), row.contentSha256);
}

/**
 * The text of a delivery's leaf, with proofs of some items against its root.
 * @param texts by item, from 1 on, of all that are stored
 * @param chosen which items are proved; item 0 says for which repository the delivery was, and in which mode
 * @returns undefined when there is no such delivery; without items when it has none, or the stored content is not what it brought
 */
export function proveDelivery(
  core: Core,
  deliveryId: number,
  texts: ReadonlyMap<number, string | Uint8Array>,
  chosen: readonly number[],
): { readonly leaf: string; readonly items: readonly ItemProof[] | undefined } | undefined {
  const row = rows(core.store).whole.get(deliveryId);
  return row && { leaf: leafTextOf(row), items: proveItems(core, row, texts, chosen) };
}

function proveItems(
  core: Core,
  row: DeliveryRow,
  texts: ReadonlyMap<number, string | Uint8Array>,
  chosen: readonly number[],
): ItemProof[] | undefined {
  const salts = saltsFor(row);
  const hashes = itemHashes(core, row, texts);
  const isHeld = chosen.every((item) => item === 0 || texts.has(item));
  if (!isHeld || !salts || !hashes || !sameDigest(rootOf(hashes), row.contentSha256)) return undefined;
  const nodeAt = nodesOver(hashes);
  return chosen.map((index) => ({
    index,
    count: hashes.length,
    salt: saltAt(salts, index),
    text: index === 0 ? contextText(row.repoKey, row.mode) : String(texts.get(index)),
    path: inclusionProof(index, hashes.length, nodeAt),
  }));
}

/** The hashes of all items of a delivery; undefined where one is neither held nor noted. */
function itemHashes(
  core: Core,
  row: DeliveryRow,
  texts: ReadonlyMap<number, string | Uint8Array>,
): Buffer[] | undefined {
  const salts = saltsFor(row);
  const count = row.itemCount ?? 0;
  if (!salts || texts.size >= count) return undefined;
  const noted = new Map(
    rows(core.store)
      .items.all(row.id)
      .map(({ item, sha256 }) => [item, sha256]),
  );
  const hashes: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const text = i === 0 ? contextText(row.repoKey, row.mode) : texts.get(i);
    const hash = text === undefined ? noted.get(i) : hashAt(salts, i, text);
    if (!hash) return undefined;
    hashes.push(hash);
  }
  return hashes;
}
