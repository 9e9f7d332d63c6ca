import { type Core, slot } from "../../core.ts";
import { BlockCache, compressBlockNow } from "../../kit/blocks.ts";
import { type ContentPlace, contentRows } from "./content-rows.ts";

const blocks = slot(() => new BlockCache());

const textsOf = (core: Core, blockId: number): Buffer =>
  blocks(core).texts(blockId, (id) => contentRows(core.store).block.get(id));

/** A file's content as it was stored; empty where it is withheld, and where its block is missing or damaged, which verifying reports. */
export function contentOf(core: Core, { plain, blockId, blockAt, bytes }: ContentPlace): string {
  if (blockId === null || blockAt === null) return plain;
  return textsOf(core, blockId).toString("utf8", blockAt, blockAt + bytes);
}

/**
 * Removes contents. What lay in a block with them is packed anew, so that the file holds nothing of them. Call inside a transaction.
 * @returns how many there were
 */
export function removeContents(core: Core, ids: readonly number[]): number {
  const sql = contentRows(core.store);
  const touched = new Set<number>();
  let removed = 0;
  for (const id of ids) {
    const { blockId = null } = sql.place.get(id) ?? {};
    if (blockId !== null) touched.add(blockId);
    removed += sql.dropBlob.run(id).changes;
  }
  for (const blockId of touched) packAnew(core, blockId);
  return removed;
}

/** Replaces a block by one of what is left in it. What cannot be read any more goes with it. */
function packAnew(core: Core, blockId: number): void {
  const sql = contentRows(core.store);
  const left = sql.inBlock.all(blockId);
  const [first] = left;
  const texts = first ? textsOf(core, blockId) : Buffer.alloc(0);
  if (first && texts.length > 0) {
    const kept = Buffer.concat(left.map(({ bytes, blockAt }) => texts.subarray(blockAt, blockAt + bytes)));
    const id = Number(sql.insertBlock.run(first.teamId, compressBlockNow(kept)).lastInsertRowid);
    let blockAt = 0;
    for (const blob of left) {
      sql.moveBlob.run(id, blockAt, blob.id);
      blockAt += blob.bytes;
    }
  }
  sql.dropBlock.run(blockId);
}
